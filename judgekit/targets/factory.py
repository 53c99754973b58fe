"""Opens the target that a variant of a suite describes."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from judgekit.assertions import CODE_PREFIX, CODE_STEP, ScriptSettings
from judgekit.errors import SettingsError
from judgekit.models import refuse_secret_address, refuse_secret_parameters
from judgekit.subprocess import ProcessLimits, scrub_environment
from judgekit.targets.external import CommandTarget, EndpointTarget
from judgekit.targets.prompt import CodeTarget, PromptTarget, TargetPrompt
from judgekit.targets.python import PythonTarget
from judgekit.targets.recorded_outputs import RecordedTarget

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.datasets import HttpTarget, Suite, VariantSettings
    from judgekit.models import Connection
    from judgekit.records import Case, JsonObject
    from judgekit.targets.target import Target


def open_target(
    settings: VariantSettings,
    suite: Suite,
    *,
    connect_model: Callable[[VariantSettings], Connection],
    template_folders: Sequence[Path],
    environment: Mapping[str, str],
    default_timeout_s: float,
    scripts: ScriptSettings | None = None,
) -> Target:
    """The target of a variant, checked as far as possible without calling it."""
    timeout_s, about = settings.timeout_s or default_timeout_s, _about(settings)
    if settings.outputs is not None:
        return RecordedTarget(settings.id, suite.resolve(settings.outputs))
    if settings.python is not None:
        return PythonTarget(
            settings.id, settings.python, folder=suite.folder, timeout_s=timeout_s, about=about
        )
    if settings.command is not None:
        own, secrets = expand_variables(
            settings.environment, environment, where=f"variant {settings.id!r}: the variable"
        )
        # The program gets no secret but those its variant names: an output under test is untrusted.
        shown = {**_variant_variables(settings), **suite.settings.environment, **own}
        return CommandTarget(
            settings.id,
            settings.command,
            folder=suite.folder,
            environment=scrub_environment(shown, own=environment),
            limits=ProcessLimits(timeout_s=timeout_s, memory_bytes=None),
            secrets=secrets,
            about=about,
        )
    if settings.http is not None:
        known = {**environment, **suite.settings.environment}
        return _endpoint(settings.http, settings.id, known, timeout_s, about)
    return _prompt(settings, suite, connect_model, template_folders, scripts)


def _endpoint(
    http: HttpTarget, name: str, known: Mapping[str, str], timeout_s: float, about: JsonObject
) -> EndpointTarget:
    refuse_secret_address(http.url)
    headers, secrets = expand_variables(http.headers, known, where=f"variant {name!r}: the header")
    url, keys = expand_variables({"url": http.url}, known, where=f"variant {name!r}: the")
    return EndpointTarget(
        name,
        url["url"],
        method=http.method,
        headers=headers,
        timeout_s=timeout_s,
        secrets=(*secrets, *keys),
        about=about,
        body=None if http.body is None else _body(http.body),
    )


def _body(value: JsonValue) -> Callable[[Case], JsonValue]:
    """Makes the body of a request; its texts are compiled once."""
    if isinstance(value, dict):
        fields = {name: _body(item) for name, item in value.items()}
        return lambda case: {name: made(case) for name, made in fields.items()}
    if isinstance(value, list):
        items = [_body(item) for item in value]
        return lambda case: [made(case) for made in items]
    if isinstance(value, str) and ("{{" in value or "{%" in value):
        prompt = TargetPrompt(value)
        return lambda case: prompt.messages(case)[0]["content"]
    return lambda _case: value


def _about(settings: VariantSettings) -> JsonObject:
    """What a system under test gets of its variant, so that one program can serve several."""
    return settings.model_dump(mode="json", include={"id", "model_by_node", "provider_by_node"})


def _variant_variables(settings: VariantSettings) -> dict[str, str]:
    known = {"VARIANT": settings.id} | {
        name.upper(): json.dumps(by_node)
        for name, by_node in _about(settings).items()
        if isinstance(by_node, dict) and by_node
    }
    return {f"JUDGEKIT_{name}": text for name, text in known.items()}


def _prompt(
    settings: VariantSettings,
    suite: Suite,
    connect_model: Callable[[VariantSettings], Connection],
    template_folders: Sequence[Path],
    scripts: ScriptSettings | None,
) -> PromptTarget | CodeTarget:
    prompt, parameters = settings.prompt, settings.parameters
    if not isinstance(prompt, str) or not isinstance(parameters, dict):
        raise SettingsError(
            f"variant {settings.id!r} stands for several",
            hint="open each of those that `expand_variants` makes of it",
        )
    refuse_secret_parameters(parameters)
    template = TargetPrompt(
        prompt, folder=suite.folder, template_folders=template_folders, scripts=scripts
    )
    if is_code(settings.model):
        return CodeTarget(
            settings.id,
            template,
            str(settings.model),
            parameters,
            scripts or ScriptSettings(suite.folder),
        )
    return PromptTarget(settings.id, template, connect_model(settings), parameters=parameters)


def is_code(name: object) -> bool:
    """Whether a prompt or a model is a function of a file."""
    return isinstance(name, str) and name.startswith(CODE_PREFIX)


def code_of(settings: VariantSettings) -> list[str]:
    """What a variant runs only where scripts are allowed."""
    named = [str(one) for one in (settings.prompt, settings.model) if is_code(one)]
    return named + ["code in its transform" for step in settings.transform if CODE_STEP in step]


_VARIABLE = re.compile(r"\$(?:(\$)|\{(\w+)\}|([A-Za-z_]\w*))")


def expand_variables(
    texts: Mapping[str, str], environment: Mapping[str, str], *, where: str
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Texts with the values of the variables they name, and what of them must not be shown."""
    # A text names a variable as `${NAME}` or `$NAME`; `$$` stands for a dollar sign.
    secrets: list[str] = []

    def value(match: re.Match[str]) -> str:
        variable = match[2] or match[3]
        if variable is None:
            return "$"
        if variable not in environment:
            raise SettingsError(
                f"{where} {name!r} names the environment variable {variable}, which is not set",
                hint=f"set {variable}, or write $$ for a dollar sign",
            )
        # Every value that was filled in may be a key, and is removed from error messages.
        secrets.append(environment[variable])
        return environment[variable]

    expanded: dict[str, str] = {}
    for name, text in texts.items():
        expanded[name] = _VARIABLE.sub(value, text)
    return expanded, tuple(filter(None, secrets))
