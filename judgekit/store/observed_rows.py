"""Observations as rows of the tables they are kept in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from judgekit.errors import StoreError
from judgekit.records.judgment import Judgment
from judgekit.store.texts import (
    content_key,
    lookup_text,
    name_text,
    record_text,
    slot_of,
    time_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judgekit.records.case import Case
    from judgekit.records.judgment import JudgeFailure
    from judgekit.records.output import Output
    from judgekit.records.run import Observed
    from judgekit.store.snapshots import Row

ANSWER = ("run_no", "place", "variant_no", "repeat")
"""The columns that tell one answer from every other."""

AnswerNo = tuple[int, int, int, int]
"""The values of these columns."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The rows of one call; of two with the same key the last is here."""

    cases: dict[str, tuple[Case, str, str]] = field(default_factory=dict)
    """Cases with their texts and when they are first seen, by key."""

    _begun: dict[AnswerNo, Row] = field(default_factory=dict)
    _answers: dict[AnswerNo, Row] = field(default_factory=dict)
    _outputs: dict[AnswerNo, Row] = field(default_factory=dict)
    _judgments: dict[tuple[AnswerNo, str], Row] = field(default_factory=dict)
    _failures: dict[tuple[AnswerNo, str], Row] = field(default_factory=dict)
    _checks: dict[AnswerNo, list[Row]] = field(default_factory=dict)
    _scores: dict[AnswerNo, list[Row]] = field(default_factory=dict)

    @classmethod
    def of(cls, run_no: int, variants: Mapping[str, int], observed: Sequence[Observed]) -> Self:
        """The rows of what was observed."""
        batch = cls()
        for each in observed:
            batch._take(run_no, variants[each.key.variant], each)
        return batch

    @property
    def begun(self) -> list[Row]:
        """Answers whose case was given."""
        whole = {answer: row["is_done"] for answer, row in self._answers.items()}
        return [{**row, "is_done": whole[answer]} for answer, row in self._begun.items()]

    @property
    def answers(self) -> list[Row]:
        """Every answer, and whether it is whole now."""
        return list(self._answers.values())

    @property
    def outputs(self) -> list[Row]:
        """What was produced."""
        return list(self._outputs.values())

    @property
    def judgments(self) -> list[Row]:
        """What judges said."""
        return list(self._judgments.values())

    @property
    def failures(self) -> list[Row]:
        """What judges failed to say."""
        return list(self._failures.values())

    @property
    def checks(self) -> list[list[Row]]:
        """What assertions found, for each answer."""
        return list(self._checks.values())

    @property
    def scores(self) -> list[list[Row]]:
        """What scorers measured, for each answer."""
        return list(self._scores.values())

    def _take(self, run_no: int, variant_no: int, each: Observed) -> None:
        answer = (run_no, each.place, variant_no, each.key.repeat)
        key: Row = dict(zip(ANSWER, answer, strict=True))
        at = time_text(each.at)
        self._take_answer(answer, key, each, at)
        if each.output is not None:
            self._outputs[answer] = output_row(key, each.output, at)
        for said in each.said:
            row = said_row(key, said, at)
            rows = self._judgments if isinstance(said, Judgment) else self._failures
            rows[answer, str(row["slot"])] = row
        if each.checks:
            self._checks[answer] = [
                {
                    **key,
                    "ordinal": ordinal,
                    "at": at,
                    "type": lookup_text(check.type),
                    "passed": check.passed,
                    "value": check.value,
                    "json": record_text(check),
                }
                for ordinal, check in enumerate(each.checks)
            ]
        if each.scores:
            self._scores[answer] = [
                {
                    **key,
                    "ordinal": ordinal,
                    "at": at,
                    "name": lookup_text(score.name),
                    "value": score.value,
                    "raw": score.raw,
                    "unit": None if score.unit is None else lookup_text(score.unit),
                    "json": record_text(score),
                }
                for ordinal, score in enumerate(each.scores)
            ]

    def _take_answer(self, answer: AnswerNo, key: Row, each: Observed, at: str) -> None:
        before = self._answers.get(answer)
        is_done = each.is_done or (before is not None and bool(before["is_done"]))
        case_id = name_text("case id", each.key.case_id)
        self._answers[answer] = {**key, "case_id": case_id, "is_done": is_done}
        if each.case is not None:
            if each.case.id != case_id:
                raise StoreError(f"case {each.case.id!r} was given for an answer to {case_id!r}")
            text = record_text(each.case)
            case_key = content_key(text)
            self.cases[case_key] = (each.case, text, at)
            begun = {"case_id": case_id, "case_key": case_key, "begun_at": at}
            self._begun.setdefault(answer, {**key, **begun})


def output_row(key: Row, output: Output, at: str) -> Row:
    """An output as a row."""
    text = record_text(output)
    return {
        **key,
        "at": at,
        "size": len(text),
        "is_error": output.error is not None,
        "error_kind": output.error_kind,
        "agent_run": None if output.run_id is None else lookup_text(output.run_id),
        "json": text,
    }


def said_row(key: Row, said: Judgment | JudgeFailure, at: str) -> Row:
    """A judgment or a judge's failure as a row."""
    row = {
        **key,
        "slot": slot_of(said.criterion, said.judge, said.repeat),
        "at": at,
        "criterion": lookup_text(said.criterion),
        "judge": lookup_text(said.judge),
        "judge_repeat": said.repeat,
        "cost_usd": said.cost_usd,
        "json": record_text(said),
    }
    if isinstance(said, Judgment):
        return row | {
            "raw": said.raw,
            "value": said.value,
            "confidence": said.confidence,
            "source": said.source,
        }
    return row | {"kind": said.kind}
