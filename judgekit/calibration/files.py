"""Reads files of verdicts, comparisons, or plain rows of scores and winners.

Runs and recorded replies are read in `sources`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import isnan
from pathlib import Path
from typing import TypeVar

from pydantic import JsonValue, ValidationError

from judgekit.calibration.inputs import (
    OrderedChoice,
    OutputKey,
    PairJudgment,
    PairwiseData,
    PointwiseData,
    ScoreSample,
    groups_of,
    pair_key,
    share_of_confidence,
)
from judgekit.calibration.sources import judged_from_records
from judgekit.datasets import LocatedLabel, parse_number, raise_problems, score_on_scale
from judgekit.errors import DatasetError, InputError
from judgekit.formats import (
    DOCUMENT_SUFFIXES,
    FileRow,
    as_texts,
    document_rows,
    read_cells,
    read_document,
    rename_fields,
    scan_rows,
    suffix_of,
    validation_faults,
)
from judgekit.records import (
    CalibratedPanel,
    Case,
    Comparison,
    Count,
    Finite,
    Fraction,
    JsonObject,
    Label,
    Name,
    PresentationOrder,
    Record,
    Rubric,
    Verdict,
    Winner,
)

_R = TypeVar("_R", bound=Record)
_ALIASES = {
    "id": "case_id",
    "case": "case_id",
    "score": "raw",
    "reason": "rationale",
    "output_repeat": "answer",
}
_TEXTS = ("case_id", "variant", "variant_a", "variant_b", "criterion")

# Columns are ignored by name, so that any other unknown column is reported as a typing error.
_SPARE = frozenset({
    "criterion_passed", "evidence", "evidence_found", "expected_raw", "source", "model", "cached",
    "cost_usd", "failure_message", "verdict_value", "verdict_passed", "case_name", "rubric",
    "run_id", "usage", "input", "reference", "text", "output", "passed", "weight",
})  # fmt: skip
"""Columns of result files that are irrelevant to agreement."""


class JudgedScoreRow(Record):
    """One score of a judge in a row of its own; the criterion is optional if there is only one.

    `answer` counts the variant's answers, `repeat` the judge's; `raw` may be the name of a level.
    """

    case_id: Name
    variant: Name | None = None
    answer: Count = 0
    criterion: Name | None = None
    repeat: Count = 0
    turn: Count | None = None
    raw: Finite | str | None = None
    value: Fraction | None = None
    confidence: Fraction | None = None
    rationale: str | None = None
    judge: str = ""
    failure_kind: str | None = None
    metadata: JsonObject | None = None


class JudgedWinnerRow(Record):
    """One winner that a judge chose, in a row of its own.

    `winner` is `a` or `b` as named and not as shown; without an order both are already reconciled.
    """

    case_id: Name
    variant_a: Name | None = None
    variant_b: Name | None = None
    repeat: Count = 0
    criterion: Name | None = None
    order: PresentationOrder | None = None
    winner: Winner | None = None
    probability: Fraction | None = None
    confidence: Fraction | None = None
    rationale: str | None = None
    judge: str = ""
    metadata: JsonObject | None = None


def read_judged_file(
    path: Path, *, rubric: Rubric | None = None, cases: Mapping[str, Case] | None = None
) -> PointwiseData | PairwiseData:
    """Judge answers from a file of verdicts, comparisons, scores or winners."""
    rows, damaged = _rows(path), list[DatasetError]()
    for row in rows:
        if isinstance(row, FileRow):
            every = chain(damaged, [row], rows)
            try:
                return _read_judged(every, row, path, rubric=rubric, cases=cases)
            except InputError as error:  # of judgments that do not go together
                if isinstance(error, DatasetError) or str(path) in error.message:
                    raise
                raise DatasetError(error.message, path=path, hint=error.hint) from None
        damaged.append(row)
    raise_problems(damaged, "rows")
    raise DatasetError("the file holds no rows", path=path)


def iter_verdicts(path: Path) -> Iterator[Verdict]:
    """The verdicts of a file with the evidence of the judge; none where it has other rows."""
    rows = (row for row in _rows(path) if isinstance(row, FileRow) and "criteria" in row.fields)
    return (verdict for _, verdict in _records(rows, Verdict, path))


def read_judged_rows(
    rows: Sequence[FileRow],
    *,
    rubric: Rubric | None = None,
    cases: Mapping[str, Case] | None = None,
) -> PointwiseData | PairwiseData:
    return _read_judged(rows, rows[0], None, rubric=rubric, cases=cases)


# A row, or why it cannot be read
_Rows = Iterable["FileRow | DatasetError"]


def _read_judged(
    rows: _Rows,
    one: FileRow,
    path: Path | None,
    *,
    rubric: Rubric | None,
    cases: Mapping[str, Case] | None,
) -> PointwiseData | PairwiseData:
    first = one.fields
    # One row is in memory at a time: a verdict with its evidence takes eight kilobytes.
    if "judgments" in first and "criteria" in first:
        verdicts = (verdict for _, verdict in _records(rows, Verdict, path))
        return judged_from_records(verdicts, rubric=rubric, cases=cases)
    if "preferences" in first:
        comparisons = (comparison for _, comparison in _records(rows, Comparison, path))
        return judged_from_records(comparisons, rubric=rubric, cases=cases)
    if "winner" in first:
        return _winners(rows, path, cases or {})
    if "raw" in first or "score" in first or "failure_kind" in first:
        return _scores(rows, path, rubric, cases or {})
    names = ", ".join(list(first)[:8])
    raise DatasetError(
        f"found no judgment in the fields: {names}",
        path=path,
        line=one.line,
        hint="give what `grade -o` or `compare -o` wrote, or rows with case_id and raw or winner; "
        "outputs are graded with --outputs FILE",
    )


def _rows(path: Path) -> Iterator[FileRow | DatasetError]:
    if suffix_of(path) not in DOCUMENT_SUFFIXES:
        yield from scan_rows(path)
        return
    document = read_document(path)
    value = document.value
    verdicts = value.get("verdicts") if isinstance(value, dict) else None
    if isinstance(verdicts, list):
        for item in verdicts:
            yield FileRow(1, item if isinstance(item, dict) else {})
        return
    yield from document_rows(document)


def _records(rows: _Rows, model: type[_R], path: Path | None) -> Iterator[tuple[FileRow, _R]]:
    """Each row with its record, one at a time, which saves memory; at the end what is wrong."""
    problems: list[DatasetError] = []
    is_plain = model in (JudgedScoreRow, JudgedWinnerRow)
    # Most verdicts of a file are of the same judges, whose settings are checked once.
    settings: JsonValue = None
    panel: CalibratedPanel | None = None
    for row in rows:
        if isinstance(row, DatasetError):
            problems.append(row)
            continue
        fields = _plain(row) if is_plain else row.fields
        is_known = panel is not None and fields.get("asked") == settings
        try:
            record = model.model_validate({**fields, "asked": panel} if is_known else fields)
            if isinstance(record, Verdict):
                settings, panel = row.fields.get("asked"), record.asked
            if getattr(record, "case_id", "") is None:  # not all models need one
                problems.append(DatasetError("it names no `case_id`", path=path, line=row.line))
                continue
            yield row, record
        except ValidationError as error:
            what = "; ".join(str(fault) for fault in validation_faults(error, model, fields))
            problems.append(DatasetError(what, path=path, line=row.line))
    raise_problems(problems, "rows")


def _score_of_level(
    record: JudgedScoreRow, line: int, path: Path | None, rubric: Rubric | None
) -> float:
    names = [] if rubric is None else [criterion.name for criterion in rubric.criteria]
    # A rubric with one criterion needs no name in the rows.
    name = names[0] if len(names) == 1 else record.criterion
    placed = LocatedLabel(Label(case_id=record.case_id, raw=record.raw), line, path)
    if rubric is None or name not in names:
        hint = "give the rubric that has it (--rubric), or scores"
        raise placed.fault(f"{record.raw!r} is a name, and its scale is not known", hint)
    return score_on_scale(placed, rubric.criterion(name))


def _plain(row: FileRow) -> dict[str, JsonValue]:
    fields, _ = rename_fields(row.fields, _ALIASES)
    if row.is_table:
        fields, _ = read_cells(fields, json_names=("metadata",), list_names=())
    used = {name: value for name, value in fields.items() if name not in _SPARE}
    raw = used.get("raw")
    # CSV has only text: "4" is a score, "good" is the name of a level.
    if isinstance(raw, str):
        used["raw"] = parse_number(raw) if raw.strip() else None
    winner = used.get("winner")
    if isinstance(winner, str):
        used["winner"] = winner.strip().lower() or None
    # pandas writes nan for a missing value.
    present: dict[str, JsonValue] = {
        name: value
        for name, value in used.items()
        if value is not None and not (isinstance(value, float) and isnan(value))
    }
    return as_texts(present, _TEXTS)


def _scores(
    rows: _Rows, path: Path | None, rubric: Rubric | None, cases: Mapping[str, Case]
) -> PointwiseData:
    grades = PointwiseData(rubric=rubric)
    problems: list[DatasetError] = []
    for row, record in _records(rows, JudgedScoreRow, path):
        place = OutputKey(record.case_id, record.variant, record.answer)
        grades.groups.setdefault(place, groups_of(cases.get(record.case_id), record.metadata))
        raw = record.raw
        try:
            if isinstance(raw, str):
                raw = _score_of_level(record, row.line, path, rubric)
        except DatasetError as error:
            problems.append(error)
            continue
        # The system under test failed, not the judge: this output was never judged.
        if record.failure_kind == "target_error":
            grades.n_errors += 1
            continue
        failure = record.failure_kind or (None if raw is not None else "unreadable")
        sample = ScoreSample.of(record, place)
        grades.samples.append(sample._replace(raw=raw, failure=failure))
    raise_problems(problems, "rows")
    return grades


def _winners(rows: _Rows, path: Path | None, cases: Mapping[str, Case]) -> PairwiseData:
    pairs = PairwiseData()
    by_pair: dict[tuple[OutputKey, str | None], list[JudgedWinnerRow]] = {}
    for _, row in _records(rows, JudgedWinnerRow, path):
        place = pair_key(row.case_id, row.variant_a, row.variant_b, row.repeat)
        pairs.groups.setdefault(place, groups_of(cases.get(row.case_id), row.metadata))
        by_pair.setdefault((place, row.criterion), []).append(row)
    problems: list[DatasetError] = []
    for (place, criterion), of_pair in by_pair.items():
        whole = [row for row in of_pair if row.order is None]
        if len(whole) > 1:
            hint = 'keep one, or add "order": "ab" or "ba"; calibrate each judge separately'
            what = f"{len(whole)} rows name its winner without an `order`"
            problems.append(DatasetError(what, path=path, case_id=place.case_id, hint=hint))
        choices = tuple(
            OrderedChoice(
                order=row.order,
                winner=row.winner,
                share=_share(row),
                rationale=row.rationale,
                judge=row.judge,
            )
            for row in of_pair
            if row.order is not None
        )
        winners = {row.winner for row in whole or of_pair}
        # One usable order is not enough for a conclusion about both.
        winner: Winner | None = None
        if None not in winners:
            winner = winners.pop() if len(winners) == 1 else "tie"
        pairs.pairs.append(
            PairJudgment(
                place=place,
                criterion=criterion,
                choices=choices,
                winner=winner,
                probability=_share(whole[0]) if whole else None,
                confidence=whole[0].confidence if whole else None,
            )
        )
    raise_problems(problems, "pairs")
    return pairs


def _share(row: JudgedWinnerRow) -> float | None:
    if row.probability is not None:
        return row.probability
    return share_of_confidence(row.confidence, row.winner)
