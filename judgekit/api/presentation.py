"""Shows any result: as HTML in a notebook, as rows and frames, as a report in a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from judgekit import report
from judgekit.api.results import ComparisonResults, GradingResults
from judgekit.errors import InputError, SettingsError
from judgekit.evaluation import RankingSummary, Run, judge_usage
from judgekit.formats import make_frame
from judgekit.prompts import to_text
from judgekit.records import Comparison, JudgeFailure, Judgment, PreferenceFailure, Verdict
from judgekit.report import (
    PASS_TONES,
    REPORT_SUFFIXES,
    Block,
    Cell,
    Column,
    Conclusion,
    Document,
    Lines,
    Notes,
    Plot,
    Section,
    Table,
    numbers,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from judgekit.bias_audit import Audit
    from judgekit.evaluation import Outcome

    Row = dict[str, object]

# What builds the document of a result, by the name of its class: the classes themselves are not
# imported, as calibrations and audits load numpy.
_BUILDERS = {
    "RunSummary": "run_document",
    "ComparisonSummary": "comparison_document",
    "ScoreComparison": "score_comparison_document",
    "RankingSummary": "ranking_document",
    "CalibrationReport": "calibration_document",
    "Audit": "audit_document",
    "Rejudged": "rejudgment_document",
    "Tuning": "tuning_document",
}


def present(result: object) -> Presentation:
    """Present a result: as HTML, as rows, as a frame or in a file.

    Args:
        result: What `grade`, `compare`, `rank`, `evaluate`, `summarize`, `calibrate`, `audit`,
            `rejudge` or `tune` returned; or a verdict or a comparison.

    Returns:
        Its presentation.

    Raises:
        InputError: When it is no such result.
    """
    known = GradingResults | ComparisonResults | Run | Verdict | Comparison
    if not isinstance(result, known) and type(result).__name__ not in _BUILDERS:
        raise InputError(
            f"a {type(result).__name__} is no result that can be presented",
            hint="pass what grade, compare, rank, evaluate, calibrate, … returned",
        )
    return Presentation(result)


class Presentation:
    """The forms of a result, as the methods of `Presentable` describe them."""

    def __init__(self, result: Any) -> None:
        self.result = result

    def document(self, *, has_page: bool = False) -> Document:
        """The result as a document; for a page with all cases in full."""
        result = self.result
        if isinstance(result, GradingResults):
            return _grading_document(result, has_page=has_page)
        if isinstance(result, ComparisonResults):
            cases = report.pair_table(result.info, result.pairs, {}) if has_page else None
            return report.comparison_document(result.summary, cases)
        if isinstance(result, Run):
            return report.stored_run_document(result.store, result, has_page=has_page)
        if isinstance(result, Verdict):
            return _verdict_document(result)
        if isinstance(result, Comparison):
            return _pair_document(result)
        document: Document = getattr(report, _BUILDERS[type(result).__name__])(result)
        return document

    def html(self) -> str:
        document = self.document()
        # Plots are for the report, and how it was measured is folded: a cell shows the answer.
        blocks = tuple(_without_plots(document.blocks))
        lines = tuple(block for block in blocks if isinstance(block, Lines))
        folded = (report.Details("How it was measured", lines),) if lines else ()
        blocks = (*(block for block in blocks if not isinstance(block, Lines)), *folded)
        return report.render_fragment(replace(document, blocks=blocks))

    def line(self) -> str:
        """The result in one line: what it is, and its conclusion."""
        words = " ".join(self.document().conclusion.text.split())
        return f"<{type(self.result).__name__}: {words}>"

    def rows(self) -> list[Row]:
        result = self.result
        if isinstance(result, GradingResults):
            both = zip(result.in_input_order, result, strict=True)
            # A run calls outputs without a variant something, which its user does not know.
            return _even([_outcome_row(one) | {"variant": own.variant} for one, own in both])
        if isinstance(result, Run):
            return _even([_outcome_row(one) for one in result.concluded()])
        if isinstance(result, ComparisonResults):
            sides = result.summary.a, result.summary.b
            return _even([_pair_row(one, *sides) for one in result])
        if isinstance(result, RankingSummary):
            return [_side_row(side) for side in result.sides]
        if type(result).__name__ == "Audit":
            return _effect_rows(result)
        return _table_rows(self.document())

    def frame(self, library: str | None = None) -> Any:
        return make_frame(self.rows(), library or getattr(self.result, "library", None))

    def write(self, path: Path | str) -> None:
        path = Path(path)
        suffix = path.suffix.lower()
        if suffix not in REPORT_SUFFIXES:
            raise SettingsError(
                f"a report cannot be written to {path.name}",
                hint=f"use {', '.join(REPORT_SUFFIXES)}; a table: to_frame().to_csv(…)",
            )
        report.write_document(path, self.document(has_page=suffix == ".html"))


def _without_plots(blocks: Iterable[Block]) -> Iterator[Block]:
    for block in blocks:
        if isinstance(block, Section):
            if inner := tuple(_without_plots(block.blocks)):
                yield replace(block, blocks=inner)
        elif not (isinstance(block, Plot) or (isinstance(block, Table) and block.is_drawing)):
            yield block


def _grading_document(results: GradingResults, *, has_page: bool) -> Document:
    summary = results.summary
    # A notebook shows a few answers that did not pass.
    answers = report.RunAnswers(summary.run, most=5)
    cases = report.RunCases(summary.run) if has_page else None
    for outcome in results.outcomes:
        answers.take(outcome)
        if cases is not None:
            cases.take(outcome)
    blocks: Sequence[Block] = answers.blocks()
    if cases is not None:
        blocks = (cases.table(tuple(blocks), report.judging_and_cost(summary)),)
    stopped = (Notes((f"stopped: {results.stopped}",)),) if results.stopped else ()
    verdicts = list(results)

    def data() -> object:
        return {**report.run_json(summary, None), **report.grading_json(summary, verdicts)}

    shown = (*stopped, *blocks)
    return report.run_document(summary, answers=shown, is_stored=False, data=data)


def _verdict_document(verdict: Verdict) -> Document:
    raws = _raws(verdict.judgments)
    rows: list[tuple[str | Cell, ...]] = []
    for one in verdict.criteria:
        own = [judgment for judgment in verdict.judgments if judgment.criterion == one.name]
        value = Cell(numbers.format_decimal(one.value), PASS_TONES[one.passed])
        why = " / ".join(judgment.rationale for judgment in own)
        rows.append((one.name, numbers.format_decimal(raws.get(one.name), "g"), value, why))
    columns = (Column("criterion", "text"), Column("raw"), Column("value"))
    words = {True: "passes", False: "fails", None: "undecided"}[verdict.passed]
    shown = "no value" if verdict.value is None else f"value {verdict.value:.2f}"
    failures = [f"{one.criterion}: {one.kind}: {one.message}" for one in verdict.failures]
    failures += [verdict.error] if verdict.error else []
    name = " · ".join(filter(None, (verdict.case_id, verdict.variant)))
    return Document(
        title=name or verdict.rubric,
        conclusion=Conclusion(f"{words}, {shown}", PASS_TONES[verdict.passed]),
        blocks=(
            Table((*columns, Column("rationale", "ellipsis")), tuple(rows)),
            Notes(tuple(failures)),
        ),
        data=verdict.to_json,
        kind="Verdict",
    )


def _pair_document(pair: Comparison) -> Document:
    a, b = pair.variant_a or "a", pair.variant_b or "b"
    words = {"a": f"{a} is better", "b": f"{b} is better", "tie": "tie", None: "undecided"}
    order = "" if pair.consistent is not False else "; the orders disagree"
    rows = [
        (one.order, one.criterion or "overall", one.choice, one.rationale)
        for one in pair.preferences
    ]
    columns = (Column("order", "text"), Column("criterion", "text"), Column("preferred", "text"))
    failures = [f"{one.order}: {one.kind}: {one.message}" for one in pair.failures]
    failures += [pair.error] if pair.error else []
    return Document(
        title=pair.case_id or pair.rubric,
        conclusion=Conclusion(f"{words[pair.winner]}{order}"),
        blocks=(
            Table((*columns, Column("rationale", "ellipsis")), tuple(rows)),
            Notes(tuple(failures)),
        ),
        data=pair.to_json,
        kind="Comparison",
    )


def _raws(judgments: Iterable[Judgment]) -> dict[str, float]:
    """The mean raw score of each criterion, over judges and repeats."""
    found: dict[str, list[float]] = {}
    for one in judgments:
        found.setdefault(one.criterion, []).append(one.raw)
    return {name: fmean(raws) for name, raws in found.items()}


def _failure_text(failures: Iterable[JudgeFailure | PreferenceFailure]) -> str | None:
    return "; ".join(f"{one.criterion}: {one.kind}" for one in failures) or None


def _outcome_row(outcome: Outcome) -> Row:
    result, verdict = outcome.result, outcome.verdict
    judgments = result.judgments
    answers: list[Judgment | JudgeFailure] = [*judgments, *result.failures]
    raws, spent = _raws(judgments), judge_usage(answers)
    row: Row = {
        "case_id": result.case.id,
        "variant": result.variant,
        "repeat": result.repeat,
        "input": None if result.case.input is None else to_text(result.case.input),
        "output": result.output.text,
        "passed": outcome.passed,
        "value": outcome.value,
    }
    for one in () if verdict is None else verdict.criteria:
        rationales = [j.rationale for j in judgments if j.criterion == one.name]
        row[f"{one.name}.raw"] = raws.get(one.name)
        row[f"{one.name}.value"] = one.value
        row[f"{one.name}.rationale"] = "\n".join(rationales) or None
    return row | {
        "failures": _failure_text(result.failures),
        "error": result.output.error,
        "cached": all(one.cached for one in answers) if answers else None,
        "cost_usd": None if spent.cost_unknown else spent.cost_usd,
    }


def _pair_row(pair: Comparison, a: str, b: str) -> Row:
    names = {"a": a, "b": b, "tie": "tie"}
    row: Row = {
        "case_id": pair.case_id,
        "winner": names.get(pair.winner or ""),
        "consistent": pair.consistent,
        "probability": pair.probability,
    }
    for one in pair.criteria:
        row[f"{one.name}.winner"] = names.get(one.winner or "")
    return row | {
        "rationale": next((one.rationale for one in pair.preferences), None),
        "failures": _failure_text(pair.failures),
        "error": pair.error,
    }


def _side_row(side: Any) -> Row:
    names = ("name", "place", "best", "worst", "elo", "win_share", "n_comparisons")
    own, strength = {name: getattr(side, name) for name in names}, side.strength
    return own | {"strength": strength.value, "low": strength.low, "high": strength.high}


def _effect_rows(audit: Audit) -> list[Row]:
    ends, about = ("value", "low", "high"), ("margin", "verdict", "p", "p_adjusted", "note")
    return [
        {"probe": probe.name, "effect": effect.name}
        | {name: getattr(effect.estimate, name) for name in ends}
        | {name: getattr(effect, name) for name in about}
        for probe in audit.probes
        for effect in (*probe.effects, *probe.parts)
    ]


def _even(rows: list[Row]) -> list[Row]:
    """Rows with the same keys in each: cases may have criteria of their own."""
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in names} for row in rows]


def _table_rows(document: Document) -> list[Row]:
    """The rows of the first table of a document; a figure with its interval in three columns."""
    table = next((block for block in document.blocks if isinstance(block, Table)), Table((), ()))
    rows: list[Row] = []
    for cells in table.rows:
        row: Row = {}
        for column, cell in zip(table.columns, cells, strict=True):
            name = column.name or "name"
            estimate = cell.estimate if isinstance(cell, Cell) else None
            if estimate is None:
                row[name] = cell.text if isinstance(cell, Cell) else cell
            else:
                row |= {name: estimate.value, f"{name}.low": estimate.low}
                row[f"{name}.high"] = estimate.high
        rows.append(row)
    return _even(rows)
