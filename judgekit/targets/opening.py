"""From a variant in a suite file to the target that answers for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.errors import SettingsError
from judgekit.processes import Limits, scrubbed_environment
from judgekit.targets.command import CommandTarget
from judgekit.targets.http import HttpTarget
from judgekit.targets.prompt import PromptTarget, TargetPrompt
from judgekit.targets.python import PythonTarget
from judgekit.targets.recorded import RecordedTarget
from judgekit.targets.variables import filled_all

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from judgekit.datasets.suite import Suite
    from judgekit.datasets.suite_settings import HttpTarget as HttpSettings
    from judgekit.datasets.suite_settings import VariantSettings
    from judgekit.models.connecting import Connection
    from judgekit.targets.target import Target


def open_target(
    settings: VariantSettings,
    suite: Suite,
    *,
    connect_model: Callable[[VariantSettings], Connection],
    template_folders: Sequence[Path],
    environment: Mapping[str, str],
    default_timeout_s: float,
) -> Target:
    """What answers for a variant; checked as far as it can be without asking it."""
    timeout_s = settings.timeout_s or default_timeout_s
    if settings.outputs is not None:
        return RecordedTarget(settings.id, suite.resolve(settings.outputs))
    if settings.python is not None:
        return PythonTarget(settings.id, settings.python, folder=suite.folder, timeout_s=timeout_s)
    if settings.command is not None:
        return _command(settings, suite, environment, timeout_s)
    if settings.http is not None:
        known = {**environment, **suite.settings.environment}
        return _http(settings.id, settings.http, known, timeout_s)
    return _prompt(settings, suite, connect_model, template_folders)


def _command(
    settings: VariantSettings, suite: Suite, environment: Mapping[str, str], timeout_s: float
) -> CommandTarget:
    own, secrets = filled_all(
        settings.environment, environment, where=f"variant {settings.id!r}: the variable"
    )
    return CommandTarget(
        settings.id,
        settings.command or (),
        folder=suite.folder,
        environment=scrubbed_environment({**suite.settings.environment, **own}, own=environment),
        limits=Limits(timeout_s=timeout_s, memory_bytes=None),
        secrets=secrets,
    )


def _http(
    variant: str, asked: HttpSettings, environment: Mapping[str, str], timeout_s: float
) -> HttpTarget:
    headers, secrets = filled_all(
        asked.headers, environment, where=f"variant {variant!r}: the header"
    )
    return HttpTarget(
        variant,
        asked.url,
        method=asked.method,
        headers=headers,
        timeout_s=timeout_s,
        secrets=secrets,
    )


def _prompt(
    settings: VariantSettings,
    suite: Suite,
    connect_model: Callable[[VariantSettings], Connection],
    template_folders: Sequence[Path],
) -> PromptTarget:
    prompt, parameters = settings.prompt, settings.parameters
    if not isinstance(prompt, str) or not isinstance(parameters, dict):
        raise SettingsError(
            f"variant {settings.id!r} stands for several",
            hint="open each of those that `expand_variants` makes of it",
        )
    return PromptTarget(
        settings.id,
        TargetPrompt(prompt, folder=suite.folder, template_folders=template_folders),
        connect_model(settings),
        parameters=parameters,
    )
