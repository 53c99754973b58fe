"""A prompt template and a model as the system under test, over the same cache as the judges."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.errors import ModelError, TemplateError
from judgekit.fingerprint import fingerprint
from judgekit.formats import as_path
from judgekit.models.request import ModelReply, ModelRequest, Subject
from judgekit.prompts import (
    IMAGE_MARKER,
    CompiledTemplate,
    chat_messages,
    find_template,
    make_environment,
    to_text,
)
from judgekit.records import Case, JsonObject, Output, Usage, show_images, shown_images
from judgekit.resources import shipped_file
from judgekit.targets.target import TargetCall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from judgekit.models import Connection

_BLOCKS = ("system", "user")


class TargetPrompt:
    """A prompt under test, compiled; turns a case into the messages a model is sent.

    A template has a block `user` and may have a block `system`; one without blocks is the user's
    message as a whole. With a block `system` alone, the input is sent as it is: a conversation as
    the messages it has, anything else as the user's message. It sees `input`, `context`,
    `metadata`, `variables` and `case`, never the reference or how the case is judged. What is not
    a text prints as JSON. `variables` is the input where that is an object, else the `variables`
    in the metadata. Nothing in a case is ever taken for template code.
    """

    def __init__(
        self, name: str, *, folder: Path | None = None, template_folders: Sequence[Path] = ()
    ) -> None:
        path = (folder or Path.cwd()) / as_path(name)
        if path.is_file():
            places = (path.resolve().parent, *template_folders, shipped_file("prompts"))
            file_name = path.name
        else:
            file_name, places = find_template(name, template_folders)
        self._compiled = CompiledTemplate(make_environment(places), file_name)
        # Of all the files it includes: a changed partial is another system under test.
        self.fingerprint = fingerprint(dict(self._compiled.sources))
        blocks = self._compiled.blocks
        if set(blocks) - set(_BLOCKS):
            raise TemplateError(
                f"template {file_name} has the blocks {', '.join(blocks)}",
                hint="a prompt under test has a block user, system or both, or has no blocks",
            )

    @property
    def shows_context(self) -> bool:
        """Whether the context of a case can be in the prompt."""
        return not self._compiled.variables().isdisjoint({"context", "case"})

    def messages(self, case: Case) -> tuple[dict[str, str], ...]:
        data = case_data(case)
        if not self._compiled.blocks:
            return ({"role": "user", "content": self._compiled.render(None, data)},)
        parts = (
            (role, self._compiled.render(role, data))
            for role in _BLOCKS
            if role in self._compiled.blocks
        )
        messages = [
            {"role": role, "content": text} for role, text in parts if text or role == "user"
        ]
        if "user" not in self._compiled.blocks:
            messages += chat_messages(case.input)
        return tuple(messages)


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
            request = self.request(case, repeat=repeat)
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


def case_data(case: Case) -> dict[str, JsonValue]:
    """What a prompt under test may show of a case."""
    variables = case.input if isinstance(case.input, dict) else case.metadata.get("variables")
    shown: dict[str, JsonValue] = {
        "input": _printable(show_images(case.input, IMAGE_MARKER)),
        "context": _printable(show_images(case.context, IMAGE_MARKER)),
        "metadata": _printable(case.metadata),
        "variables": _printable(variables if isinstance(variables, dict) else {}),
    }
    about: dict[str, JsonValue] = {
        "id": case.id,
        "name": case.name,
        "description": case.description,
        "tags": _printable(list(case.tags)),
    }
    return {**shown, "case": _Fields({**shown, **about})}


class _Fields(dict[str, "JsonValue"]):
    """An object that prints as JSON."""

    def __str__(self) -> str:
        return to_text(dict(self))


class _Items(list["JsonValue"]):
    """A list that prints as JSON."""

    def __str__(self) -> str:
        return to_text(list(self))


def _printable(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return _Fields({name: _printable(item) for name, item in value.items()})
    return _Items(map(_printable, value)) if isinstance(value, list) else value


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
    return output.model_copy(update=known)
