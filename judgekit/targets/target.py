"""The interface of every system under test, and how its answer or failure becomes an `Output`."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from pydantic_core import PydanticSerializationError

from judgekit.datasets import read_output
from judgekit.errors import DatasetError
from judgekit.formats import TEXT_REPAIRED, FileRow, decode_utf8, parse_strict_json
from judgekit.models import mask_secrets, redact
from judgekit.records import Case, JsonObject, Output, TargetErrorKind, words_text
from judgekit.subprocess import printable_text


@runtime_checkable
class Target(Protocol):
    """A variant that answers cases."""

    @property
    def id(self) -> str:
        """The variant's name."""

    async def answer(self, case: Case, *, repeat: int = 0) -> Output:
        """Answer one case."""

    async def aclose(self) -> None:
        """Let go of files and connections."""


_SHOWN_CHARACTERS = 200
# Errors are stored and shown in reports; a program may write megabytes to stderr.
_LONGEST_ERROR = 1_000
_FORMAT_HINT = 'write an object, for example {"text": "…"}'


@dataclass(frozen=True, slots=True)
class TargetCall:
    """The call of a system under test with one case, and how long it has taken."""

    case: Case
    variant: str
    secrets: tuple[str, ...] = ()
    """Values that must not appear in an error."""

    folder: Path | None = None
    """Where a program of the user's own may name files, such as images; None for an endpoint."""

    begun_s: float = field(default_factory=time.perf_counter)
    """When the call began, on the clock of `time.perf_counter`."""

    @property
    def duration_ms(self) -> float:
        return round((time.perf_counter() - self.begun_s) * 1000, 3)

    def failed(self, kind: TargetErrorKind, message: str) -> Output:
        """The output that records why a system gave none."""
        # Redacted before it is cut: half of a secret would no longer be found.
        text = redact(message, secrets=self.secrets)
        if len(text) > _LONGEST_ERROR:
            text = f"{text[:_LONGEST_ERROR]}…"
        return Output(
            error=text,
            error_kind=kind,
            case_id=self.case.id,
            variant=self.variant,
            duration_ms=self.duration_ms,
        )

    def read_bytes(self, raw: bytes, *, source: str) -> Output:
        """Bytes that a system wrote, as its output."""
        try:
            text = decode_utf8(raw, path=Path(source))
            value, is_repaired = parse_strict_json(text.strip(), path=Path(source))
        except DatasetError as error:
            message = f"{error.message}; it begins: {_beginning(raw)}; {_FORMAT_HINT}"
            return self.failed("unreadable", message)
        if not isinstance(value, dict):
            message = f"{source} holds no JSON object; it begins: {_beginning(raw)}; {_FORMAT_HINT}"
            return self.failed("unreadable", message)
        # The case and the variant are ours: an answer cannot claim to belong to another case.
        whole = {**value, "case_id": self.case.id, "variant": self.variant}
        read = read_output(FileRow(1, whole, is_repaired=is_repaired), folder=self.folder)
        if isinstance(read, list):
            faults = "; ".join(
                f"{fault.message} ({fault.remedy})" if fault.remedy else fault.message
                for fault in read
            )
            return self.failed("unreadable", f"what it returned is no output: {faults}")
        return self.with_details(read.output)

    def read_text(self, raw: bytes, *, charset: str) -> Output:
        try:
            return self.with_details(Output(text=raw.decode(charset)))
        except (ValueError, LookupError) as error:
            return self.failed("unreadable", f"the reply is not text: {error}")

    def with_details(self, output: Output) -> Output:
        """An output with its case, variant and duration."""
        known: dict[str, object] = {"case_id": self.case.id, "variant": self.variant}
        # A duration the system measured itself leaves out the start of its process.
        if output.duration_ms is None:
            known["duration_ms"] = self.duration_ms
        if output.error is not None and output.error_kind is None:
            known["error_kind"] = "exception"
        return self.without_secrets(output.model_copy(update=known))

    def without_secrets(self, output: Output) -> Output:
        """The output without the keys in this environment, if it repeats one."""
        try:
            whole = output.model_dump_json()
        except PydanticSerializationError:  # of a lone surrogate, which no UTF-8 text can hold
            metadata = {**output.metadata, TEXT_REPAIRED: True}
            fields = output.model_copy(update={"metadata": metadata}).to_json()
            output = Output.model_validate_json(words_text(json.dumps(fields, ensure_ascii=False)))
            whole = output.model_dump_json()
        # Not without everything its variant was given: a value may be an ordinary word.
        masked = mask_secrets(whole)
        return output if masked == whole else Output.model_validate_json(masked)


def encode_call(case: Case, repeat: int, about: JsonObject) -> bytes:
    """A case as it is sent to a system under test, with the variant that it is to be."""
    # Lone surrogates have no UTF-8: they are sent escaped, so that one bad character stops no run.
    whole = {**case.to_json(), "repeat": repeat, "variant": about}
    return json.dumps(whole, ensure_ascii=False).encode("utf-8", "backslashreplace")


def call_timeout_s(case: Case, timeout_s: float) -> float:
    """How long a system may take for a case."""
    own = None if case.evaluation is None else case.evaluation.timeout_s
    return timeout_s if own is None else own


def _beginning(raw: bytes) -> str:
    text = printable_text(raw[: 4 * _SHOWN_CHARACTERS])
    return repr(text[:_SHOWN_CHARACTERS]) if text else "nothing"
