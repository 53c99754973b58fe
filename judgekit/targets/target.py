"""The interface of every system under test, and how its answer or failure becomes an `Output`.

Each kind of target is a module of its own; `factory` chooses one.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from judgekit.datasets import read_output
from judgekit.errors import DatasetError
from judgekit.formats import decode_utf8, parse_strict_json
from judgekit.models import redact
from judgekit.records import Output
from judgekit.subprocess import printable_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

    from judgekit.records import Case, TargetErrorKind


@runtime_checkable
class Target(Protocol):
    """A variant that can be asked for its answer to a case."""

    @property
    def id(self) -> str:
        """The variant's name."""
        ...

    async def answer(self, case: Case, *, repeat: int = 0) -> Output:
        """Answer one case."""
        ...

    async def aclose(self) -> None:
        """Let go of files and connections."""
        ...


_SHOWN_CHARACTERS = 200

_LONGEST_ERROR = 1_000

_FORMAT_HINT = 'write an object, for example {"text": "…"}'


@dataclass(frozen=True, slots=True)
class TargetCall:
    """One case on its way to a system under test, and how long it has been there."""

    case: Case
    """The case."""

    variant: str
    """The variant that is asked."""

    secrets: tuple[str, ...] = ()
    """Values that must not stand in an error."""

    begun_s: float = field(default_factory=time.perf_counter)
    """When it was asked, on the clock of `time.perf_counter`."""

    @property
    def duration_ms(self) -> float:
        """How long it has taken, in milliseconds."""
        return round((time.perf_counter() - self.begun_s) * 1000, 3)

    def failed(self, kind: TargetErrorKind, message: str) -> Output:
        """The output of a system that gave none."""
        told = redact(message, secrets=self.secrets)
        if len(told) > _LONGEST_ERROR:
            told = f"{told[:_LONGEST_ERROR]}…"
        return Output(
            error=told,
            error_kind=kind,
            case_id=self.case.id,
            variant=self.variant,
            duration_ms=self.duration_ms,
        )

    def text_output(self, text: str) -> Output:
        """The output of a system that answered with a text."""
        return Output(
            text=text, case_id=self.case.id, variant=self.variant, duration_ms=self.duration_ms
        )

    def read_bytes(self, raw: bytes, *, source: str) -> Output:
        """What a system wrote, as its output."""
        try:
            text = decode_utf8(raw, path=Path(source))
            value, is_repaired = parse_strict_json(text.strip(), path=Path(source))
        except DatasetError as error:
            message = f"{error.message}; it begins: {_beginning(raw)}; {_FORMAT_HINT}"
            return self.failed("unreadable", message)
        if not isinstance(value, dict):
            message = f"{source} holds no JSON object; it begins: {_beginning(raw)}; {_FORMAT_HINT}"
            return self.failed("unreadable", message)
        return self.read_object(value, is_repaired=is_repaired)

    def read_text(self, raw: bytes, *, charset: str) -> Output:
        """A plain text a system sent, as its output."""
        try:
            return self.text_output(raw.decode(charset))
        except (ValueError, LookupError) as error:
            return self.failed("unreadable", f"the reply is not text: {error}")

    def read_object(self, fields: Mapping[str, JsonValue], *, is_repaired: bool = False) -> Output:
        """What a system returned, as its output."""
        whole = {**fields, "case_id": self.case.id, "variant": self.variant}
        read = read_output(whole, is_repaired=is_repaired)
        if isinstance(read, list):
            told = "; ".join(f"{fault.message} ({fault.remedy})" for fault in read)
            return self.failed("unreadable", f"what it returned is no output: {told}")
        return self.with_details(read[0])

    def with_details(self, output: Output) -> Output:
        """An output with what is known of its making."""
        known: dict[str, object] = {"case_id": self.case.id, "variant": self.variant}
        if output.duration_ms is None:
            known["duration_ms"] = self.duration_ms
        if output.error is not None and output.error_kind is None:
            known["error_kind"] = "exception"
        return output.model_copy(update=known)


def encode_call(case: Case, repeat: int) -> bytes:
    """A case as it is sent to a system under test."""
    whole = {**case.to_json(), "repeat": repeat}
    return json.dumps(whole, ensure_ascii=False).encode("utf-8", "backslashreplace")


def call_timeout_s(case: Case, timeout_s: float) -> float:
    """How long a system may take for a case."""
    own = None if case.evaluation is None else case.evaluation.timeout_s
    return timeout_s if own is None else own


def _beginning(raw: bytes) -> str:
    text = printable_text(raw[: 4 * _SHOWN_CHARACTERS])
    if not text:
        return "nothing"
    return repr(text[:_SHOWN_CHARACTERS])
