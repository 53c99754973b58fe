"""Writes answers as a skill's `grading.json` (S3.3): scores from 1 to 5, claims, conventions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from math import floor
from typing import TYPE_CHECKING

from judgekit.errors import StoreError
from judgekit.records.rubric import SAME, Rubric
from judgekit.report.formats.grading_notes import claims, eval_feedback, execution_metrics
from judgekit.report.formats.listing import json_text, write_list
from judgekit.report.formats.strategy_outcomes import unsaid_checks
from judgekit.report.replacing import check_place, replace_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from judgekit.evaluation.figures.concluding import Concluded
    from judgekit.records.record import JsonObject
    from judgekit.records.run import RunInfo

SUFFIXES = (".json", ".jsonl")
"""The files gradings can be written to, beside a folder with a file for each."""

CONVENTIONS = (
    "frontmatter", "description_field", "token_efficiency", "progressive_disclosure",
    "type_alignment",
)  # fmt: skip
"""The conventions a grading speaks of; its keys are fixed."""

check_grading_place = partial(check_place, suffixes=SUFFIXES, what="gradings", may_be_folder=True)
"""Refuses a path that gradings cannot be written to."""

_WORST, _BEST, _PASS = 1, 5, 3
_NOT_CHECKED = "not checked: the run has no criterion or assertion of this name"


@dataclass(frozen=True, slots=True)
class _Line:
    """One criterion or assertion as a grading has it."""

    criterion: str
    exact: float | None
    """The score from 1 to 5, not rounded; None where it is not known."""

    required: bool
    reasoning: str

    @property
    def score(self) -> int | None:
        """The whole score; rounding never lifts a score to the pass mark."""
        if self.exact is None:
            return None
        if self.exact < _PASS - SAME:
            return min(_PASS - 1, _rounded(self.exact))
        return _rounded(self.exact)

    @property
    def passed(self) -> bool | None:
        score = self.score
        return None if score is None else score >= _PASS

    def as_json(self) -> JsonObject:
        return {
            "criterion": self.criterion,
            "score": self.score,
            "passed": self.passed,
            "reasoning": self.reasoning,
        }


def grading(answer: Concluded, run: RunInfo) -> JsonObject:
    """An answer as a `grading.json`."""
    # A criterion's score is its value taken to 1 to 5 and to a whole number; it passes from 3 on,
    # which is the value 0.5. An assertion is a required criterion with 5 or 1. What was not judged
    # has the score null: it is no 1, and `overall_score` and `overall` are null where it could
    # alter them. `version` is the number in the variant's name (`v2`), else its place in the suite.
    result = answer.result
    lines = [*_criteria(answer, run), *_assertions(answer)]
    required = [line for line in lines if line.required]
    metadata = result.output.metadata
    summary = metadata.get("user_notes_summary")
    return {
        "case_id": result.case.id,
        "version": version_of(result.variant, run),
        "run": result.repeat + 1,
        "overall_score": _mean(lines),
        "required_score": _mean(required),
        "results": [line.as_json() for line in lines],
        "overall": _overall(answer, required),
        "convention_compliance": {name: _convention(name, lines) for name in CONVENTIONS},
        "claims": list(claims(answer)),
        "user_notes_summary": summary if isinstance(summary, str) else "",
        "eval_feedback": eval_feedback(answer, _rubric(answer, run)),
        "execution_metrics": execution_metrics(result.output),
        "judgekit": {
            "run_id": result.run_id,
            "variant": result.variant,
            "passed": answer.passed,
            "value": answer.value,
            "error": result.output.error,
        },
    }


def write_gradings(path: Path, run: RunInfo, answers: Iterable[Concluded]) -> int:
    """Write answers as gradings; every file is replaced as a whole or not at all."""
    check_grading_place(path)
    found = (grading(answer, run) for answer in answers)
    if path.suffix.lower() in SUFFIXES and not path.is_dir():
        return write_list(path, found, one_alone=True)
    return _write_folder(path, found)


def version_of(variant: str, run: RunInfo) -> int:
    """The number of a variant as a version of the skill."""
    names = [each.id for each in run.variants]
    numbers = [int(found[1]) for name in names if (found := re.fullmatch(r"v?(\d{1,9})", name))]
    if len(numbers) == len(names) and len(set(numbers)) == len(names) and variant in names:
        return numbers[names.index(variant)]
    return names.index(variant) if variant in names else len(names)


def _rubric(answer: Concluded, run: RunInfo) -> Rubric | None:
    own = answer.result.case.rubric
    return own if isinstance(own, Rubric) else run.rubric


def _criteria(answer: Concluded, run: RunInfo) -> Iterator[_Line]:
    rubric = _rubric(answer, run)
    if answer.verdict is None or rubric is None:
        return
    for criterion in answer.verdict.criteria:
        why = [j.rationale for j in answer.verdict.judgments if j.criterion == criterion.name]
        why += [
            f"no judgment: {f.message}"
            for f in answer.verdict.failures
            if f.criterion == criterion.name
        ]
        value = criterion.value
        yield _Line(
            criterion.name,
            None if value is None else _WORST + (_BEST - _WORST) * value,
            criterion.required,
            "\n".join(why) or "nobody has judged it",
        )


def _assertions(answer: Concluded) -> Iterator[_Line]:
    for check in unsaid_checks(answer.result):
        exact = None if check.passed is None else float(_BEST if check.passed else _WORST)
        yield _Line(check.type or "assertion", exact, required=True, reasoning=check.message)


def _overall(answer: Concluded, required: Sequence[_Line]) -> str | None:
    """Pass only where every required criterion passed; without any, what judgekit concludes."""
    passed = [line.passed for line in required]
    if not passed:
        passed = [answer.passed]
    if False in passed:
        return "fail"
    return None if None in passed else "pass"


def _mean(lines: Sequence[_Line]) -> float | None:
    scores = [line.score for line in lines if line.score is not None]
    if not lines or len(scores) < len(lines):
        return None
    return round(sum(scores) / len(scores), 1)


def _rounded(score: float) -> int:
    """The nearest whole score; the better one of a half."""
    return max(_WORST, min(_BEST, floor(score + 0.5 + SAME)))


def _convention(name: str, lines: Sequence[_Line]) -> JsonObject:
    for line in lines:
        last = line.criterion.replace("-", "_").replace(" ", "_").lower().split(".")[-1]
        if last == name:
            return {"passed": line.passed, "details": line.reasoning}
    return {"passed": None, "details": _NOT_CHECKED}


def _write_folder(folder: Path, gradings: Iterable[JsonObject]) -> int:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the folder {folder}: {error.strerror}") from error
    written: set[str] = set()
    for one in gradings:
        name = f"{_file_name(str(one['case_id']))}_v{one['version']}_run{one['run']}.json"
        if name.lower() in written:
            raise StoreError(
                f"two answers would both be written to {name}",
                hint="give the cases ids that differ in letters and digits, or write .jsonl",
            )
        written.add(name.lower())
        replace_text(folder / name, json_text(one, indent=2) + "\n")
    return len(written)


def _file_name(case_id: str) -> str:
    """A case's id without the characters that some file system refuses."""
    return re.sub(r"[^\w.-]", "-", case_id, flags=re.ASCII).lstrip(".")[:150] or "case"
