"""A prompt template and a model as the system under test, over the same cache as the judges."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit import prompts
from judgekit.assertions import (
    CODE_PREFIX,
    CodeCall,
    ScriptFailedError,
    ScriptSettings,
    code_context,
    run_code,
)
from judgekit.errors import ModelError, TemplateError
from judgekit.fingerprint import fingerprint
from judgekit.formats import as_path, read_text
from judgekit.models.request import ModelReply, ModelRequest, Subject, message_text
from judgekit.records import Case, JsonObject, Output, Usage, show_images, shown_images
from judgekit.resources import shipped_file
from judgekit.targets.target import TargetCall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from judgekit.models import Connection

_BLOCKS = ("system", "user")

# A block of a longer conversation: its role, and its place in it.
_MESSAGE = re.compile(r"(system|developer|user|assistant)_(\d+)")

# A path has none of these: what has them is the template itself.
_INLINE = re.compile(r"\{\{|\{%|\n")
_INLINE_NAME = "prompt"


class TargetPrompt:
    """A prompt under test, compiled; turns a case into the messages a model is sent.

    It is the name of a file or, with a template's braces or several lines, the template itself. A
    template has a block `user` and may have a block `system`; a conversation has one for each
    message (`user_1`, `assistant_2`, …); one without blocks is the user's message. With a block
    `system` alone, the input is sent as it is: a conversation as the messages it has, anything else
    as the user's message. It sees `input`, `context`, `metadata`, `variables` and `case`, never the
    reference or how the case is judged. What is not a text prints as JSON. `variables` is the input
    where that is an object, else the `variables` in the metadata. Nothing in a case is ever taken
    for template code. `code:FILE:NAME` is a function that makes the prompt, called where scripts
    are allowed.
    """

    def __init__(
        self,
        name: str,
        *,
        folder: Path | None = None,
        template_folders: Sequence[Path] = (),
        scripts: ScriptSettings | None = None,
    ) -> None:
        self._scripts = scripts or ScriptSettings(folder or Path.cwd())
        self._call: CodeCall | None = None
        if name.startswith(CODE_PREFIX):
            self._call = CodeCall.named(name)
            path = (folder or Path.cwd()) / str(self._call.file)
            self.fingerprint = fingerprint([name, read_text(path)])
            return
        texts: dict[str, str] = {}
        if _INLINE.search(name):
            texts, places = {_INLINE_NAME: name}, (folder or Path.cwd(), *template_folders)
            file_name = _INLINE_NAME
        elif (path := (folder or Path.cwd()) / as_path(name)).is_file():
            places = (path.resolve().parent, *template_folders, shipped_file("prompts"))
            file_name = path.name
        else:
            file_name, places = prompts.find_template(name, template_folders)
        self._compiled = prompts.CompiledTemplate(
            prompts.make_environment(places, texts), file_name, prints_json=True
        )
        # Of all the files it includes: a changed partial is another system under test.
        self.fingerprint = fingerprint(dict(self._compiled.sources))
        self._blocks = _ordered(self._compiled.blocks)
        if self._blocks is None:
            raise TemplateError(
                f"template {file_name} has the blocks {', '.join(self._compiled.blocks)}",
                hint="a prompt under test has a block user, system or both, or one for each "
                "message of a conversation (user_1, assistant_2, …), or no blocks",
            )
        self._compiled.check_limits(case_data(Case(id="any", input="")))

    @property
    def is_code(self) -> bool:
        """Whether a function makes it."""
        return self._call is not None

    @property
    def shows_context(self) -> bool:
        """Whether the context of a case can be in the prompt."""
        return self._call is not None or not self._compiled.variables().isdisjoint(
            {"context", "case"}
        )

    def messages(self, case: Case) -> tuple[dict[str, str], ...]:
        if self._call is not None:
            return self._messages_of(self._call, case)
        data = case_data(case)
        if not self._blocks:
            return ({"role": "user", "content": self._compiled.render(None, data)},)
        parts = ((role, self._compiled.render(block, data)) for role, block in self._blocks)
        messages = [
            {"role": role, "content": text} for role, text in parts if text or role == "user"
        ]
        if [role for role, _ in self._blocks] == ["system"]:
            messages += prompts.chat_messages(case.input)
        return tuple(messages)

    def _messages_of(self, call: CodeCall, case: Case) -> tuple[dict[str, str], ...]:
        """What the function of a prompt returns: a text, messages, or an object with a `prompt`."""
        try:
            found = run_code(call, {"context": code_context(case)}, self._scripts)
        except ScriptFailedError as error:
            raise TemplateError(error.message) from error
        found = found.get("prompt") if isinstance(found, dict) else found
        if isinstance(found, str) and found[:1] == "[":  # a conversation may be a text of JSON
            with suppress(ValueError, RecursionError):
                found = json.loads(found)
        listed = found if isinstance(found, list) else [{"role": "user", "content": found}]
        if not all(isinstance(one, dict) and isinstance(one.get("content"), str) for one in listed):
            raise TemplateError(f"{call.title} returned neither a text nor a list of messages")
        return tuple(
            {name: str(one.get(name)) for name in ("role", "content")}
            for one in listed
            if isinstance(one, dict)
        )


def _ordered(blocks: Sequence[str]) -> list[tuple[str, str]] | None:
    """The blocks in the order of their messages, each with its role; None for unknown ones."""
    if not set(blocks) - set(_BLOCKS):
        return [(role, role) for role in _BLOCKS if role in blocks]
    found = [_MESSAGE.fullmatch(block) for block in blocks]
    numbered = [(int(match[2]), match[1], match[0]) for match in found if match is not None]
    is_known = len(numbered) == len(blocks) == len({number for number, _, _ in numbered})
    return [(role, block) for _, role, block in sorted(numbered)] if is_known else None


class PromptTarget:
    """Sends a rendered prompt to a model."""

    def __init__(
        self,
        variant: str,
        prompt: TargetPrompt,
        connection: Connection,
        *,
        parameters: JsonObject | None = None,
    ) -> None:
        self.id = variant
        self._prompt = prompt
        self._connection = connection
        self._parameters = parameters or {}

    @property
    def shows_context(self) -> bool:
        """Whether the context of a case can be in what is sent."""
        return self._prompt.shows_context

    def request(self, case: Case, *, repeat: int = 0) -> ModelRequest:
        return ModelRequest(
            model=self._connection.name,
            messages=(messages := self._prompt.messages(case)),
            images=shown_images(messages, case.images),
            parameters=self._parameters,
            subject=Subject(case_id=case.id, variant=self.id, repeat=repeat),
            api_base=self._connection.api_base,
        )

    async def answer(self, case: Case, *, repeat: int = 0) -> Output:
        call = TargetCall(case, self.id)
        try:
            # A function that makes a prompt runs in a thread, so that other cases continue.
            is_code = self._prompt.is_code
            request = (
                await asyncio.to_thread(self.request, case, repeat=repeat)
                if is_code
                else self.request(case, repeat=repeat)
            )
        except prompts.TemplateLimitError:
            raise  # it might take as long for every other case
        except TemplateError as error:
            # A template that fails for one case is a result of that case; the others are still
            # answered.
            return call.failed("exception", str(error))
        try:
            reply = await self._connection.model.complete(request)
        except ModelError as error:
            if error.kind == "cancelled":  # no call was made, so this is no result of the case
                raise
            # A refusal is behaviour of the system under test, and is counted apart from failed
            # calls.
            refused = error.kind == "content_filter"
            output = call.failed("refused" if refused else "model", error.message)
            return output.model_copy(update={"metadata": {"model_error": error.kind}})
        return _output(reply, call)

    async def aclose(self) -> None:
        await self._connection.aclose()


class CodeTarget:
    """Has a prompt answered by code of a file, called as promptfoo calls its providers."""

    def __init__(
        self,
        variant: str,
        prompt: TargetPrompt,
        model: str,
        options: JsonObject,
        scripts: ScriptSettings,
    ) -> None:
        self.id = variant
        self._prompt = prompt
        self._call = CodeCall.named(model, function="call_api")
        self._options: JsonObject = {"id": variant, "config": options}
        self._scripts = scripts

    async def answer(self, case: Case, *, repeat: int = 0) -> Output:  # noqa: ARG002 - no seed
        call = TargetCall(case, self.id)
        try:
            return await asyncio.to_thread(self._answer, case, call)
        except prompts.TemplateLimitError:
            raise
        except (TemplateError, ScriptFailedError) as error:
            return call.failed("exception", error.message)

    async def aclose(self) -> None:
        """Nothing is held between two cases."""

    def _answer(self, case: Case, call: TargetCall) -> Output:
        prompt = message_text(self._prompt.messages(case))
        context = code_context(case) | {"prompt": {"raw": prompt, "label": prompt}}
        # JavaScript's functions get the context before the options, all others after them.
        others: list[tuple[str, JsonValue]] = [("options", self._options), ("context", context)]
        ordered = reversed(others) if self._call.language == "javascript" else others
        arguments: JsonObject = {"prompt": prompt, **dict(ordered)}
        found = run_code(self._call, arguments, self._scripts, provider=self._options)
        fields: JsonObject = found if isinstance(found, dict) else {"output": found}
        answer, tokens = fields.get("output"), fields.get("tokenUsage")
        if fields.get("error") or answer is None:
            return call.failed("exception", str(fields.get("error") or "it returned no `output`"))
        counts = tokens if isinstance(tokens, dict) else {}
        known = {
            "input_tokens": counts.get("prompt"),
            "output_tokens": counts.get("completion"),
            "cost_usd": fields.get("cost"),
        }
        # What is no count says nothing of the answer.
        usage: JsonObject = {
            name: n
            for name, n in known.items()
            if isinstance(n, int | float) and not isinstance(n, bool) and n >= 0
            if name == "cost_usd" or float(n).is_integer()
        }
        content = {"text" if isinstance(answer, str) else "data": answer}
        return call.with_details(Output.model_validate({**content, "usage": usage or None}))


def case_data(case: Case) -> dict[str, JsonValue]:
    """What a prompt under test may show of a case."""
    variables = case.input if isinstance(case.input, dict) else case.metadata.get("variables")
    shown: dict[str, JsonValue] = {
        "input": show_images(case.input, prompts.IMAGE_MARKER),
        "context": show_images(case.context, prompts.IMAGE_MARKER),
        "metadata": case.metadata,
        "variables": variables if isinstance(variables, dict) else {},
    }
    about: dict[str, JsonValue] = {
        "id": case.id,
        "name": case.name,
        "description": case.description,
        "tags": list(case.tags),
    }
    return {**shown, "case": {**shown, **about}}


def _output(reply: ModelReply, call: TargetCall) -> Output:
    metadata = {
        "model": reply.model,
        "finish_reason": reply.finish_reason,
        "dropped_parameters": list(reply.dropped_parameters) or None,
        "cached": reply.cached,
        "key": reply.key,
    }
    usage = reply.usage or Usage()
    known: dict[str, object] = {
        "usage": usage.model_copy(update={"cost_usd": reply.cost_usd}),
        "duration_ms": reply.duration_ms,
        "metadata": {name: value for name, value in metadata.items() if value is not None},
    }
    if reply.finish_reason == "content_filter":
        refusal = f": {reply.text}" if reply.text else ""
        output = call.failed("refused", f"the provider filtered the answer{refusal}")
    elif reply.text is None:
        reason = f"finish_reason {reply.finish_reason}"
        output = call.failed("model", f"the model answered without a text ({reason})")
    else:
        output = Output(text=reply.text, case_id=call.case.id, variant=call.variant)
    return call.without_secrets(output.model_copy(update=known))
