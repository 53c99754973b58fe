"""What an evaluation script answers, in any of the forms it may have."""

from __future__ import annotations

from typing import Self

from pydantic import Field, JsonValue, model_validator

from judgekit.records.record import Fraction, JsonObject, Record

_ALIASES = {"pass": "passed", "score": "value", "reason": "message", "feedback": "message"}


class Scripted(Record):
    """The answer of an evaluation script."""

    passed: bool | None = None
    """Whether the output passes; None where it only gave a value."""

    value: Fraction | None = None
    """How good it is, on [0, 1]; None where it only said yes or no."""

    message: str = ""
    """Why."""

    actual: JsonValue = None
    """What it found in the output."""

    details: JsonObject = Field(default_factory=dict)
    """Whatever else it said."""

    @model_validator(mode="before")
    @classmethod
    def _reads_short_forms(cls, given: object) -> object:
        if isinstance(given, bool):
            return {"passed": given}
        if isinstance(given, int | float):
            return {"value": given}
        if not isinstance(given, dict):
            raise ValueError("an answer is an object, a truth value or a number")  # noqa: TRY004
        known: dict[str, object] = {}
        details = {}
        for name, value in given.items():
            field = _ALIASES.get(name, name)
            if field in known or field not in cls.model_fields or field == "details":
                details[name] = value
            else:
                known[field] = value
        return {**known, "details": details}

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.passed is None and self.value is None:
            raise ValueError("an answer says `passed`, `value`, or both")
        return self

    def as_value(self) -> float:
        """The answer as a number."""
        return self.value if self.value is not None else float(bool(self.passed))
