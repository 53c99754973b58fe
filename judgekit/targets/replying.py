"""Turns what a system under test returned into an output, and what went wrong into its error."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.datasets.json_text import parse_json
from judgekit.datasets.outputs import read_output
from judgekit.datasets.texts import decode
from judgekit.errors import DatasetError
from judgekit.models.redaction import redact
from judgekit.processes import neutralised
from judgekit.records.output import Output

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

    from judgekit.records.case import Case
    from judgekit.records.output import TargetErrorKind

_SHOWN_CHARACTERS = 200
_LONGEST_ERROR = 1_000
_WANTED = 'write an object, for example {"text": "…"}'


@dataclass(frozen=True, slots=True)
class Asked:
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

    def said(self, text: str) -> Output:
        """The output of a system that answered with a text."""
        return Output(
            text=text, case_id=self.case.id, variant=self.variant, duration_ms=self.duration_ms
        )

    def read_bytes(self, raw: bytes, *, source: str) -> Output:
        """What a system wrote, as its output."""
        try:
            text = decode(raw, path=Path(source))
            value, is_repaired = parse_json(text.strip(), path=Path(source))
        except DatasetError as error:
            message = f"{error.message}; it begins: {_beginning(raw)}; {_WANTED}"
            return self.failed("unreadable", message)
        if not isinstance(value, dict):
            message = f"{source} holds no JSON object; it begins: {_beginning(raw)}; {_WANTED}"
            return self.failed("unreadable", message)
        return self.read_object(value, is_repaired=is_repaired)

    def read_text(self, raw: bytes, *, charset: str) -> Output:
        """A plain text a system sent, as its output."""
        try:
            return self.said(raw.decode(charset))
        except (ValueError, LookupError) as error:
            return self.failed("unreadable", f"the reply is not text: {error}")

    def read_object(self, fields: Mapping[str, JsonValue], *, is_repaired: bool = False) -> Output:
        """What a system returned, as its output."""
        whole = {**fields, "case_id": self.case.id, "variant": self.variant}
        read = read_output(whole, is_repaired=is_repaired)
        if isinstance(read, list):
            told = "; ".join(f"{fault.message} ({fault.remedy})" for fault in read)
            return self.failed("unreadable", f"what it returned is no output: {told}")
        return self.finished(read[0])

    def finished(self, output: Output) -> Output:
        """An output with what is known of its making."""
        known: dict[str, object] = {"case_id": self.case.id, "variant": self.variant}
        if output.duration_ms is None:
            known["duration_ms"] = self.duration_ms
        if output.error is not None and output.error_kind is None:
            known["error_kind"] = "exception"
        return output.model_copy(update=known)


def asked_as_json(case: Case, repeat: int) -> bytes:
    """A case as it is sent to a system under test."""
    whole = {**case.to_json(), "repeat": repeat}
    return json.dumps(whole, ensure_ascii=False).encode("utf-8", "backslashreplace")


def time_allowed(case: Case, timeout_s: float) -> float:
    """How long a system may take for a case."""
    own = None if case.evaluation is None else case.evaluation.timeout_s
    return timeout_s if own is None else own


def _beginning(raw: bytes) -> str:
    text = neutralised(raw[: 4 * _SHOWN_CHARACTERS])
    if not text:
        return "nothing"
    return repr(text[:_SHOWN_CHARACTERS])
