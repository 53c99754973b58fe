"""Reads the runs and judgments of a quality memory (S0) as outputs and judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.datasets.foreign.quality_format import (
    CriterionFields,
    JudgmentFields,
    TestCaseFields,
    TestRunFields,
)
from judgekit.datasets.foreign.quality_records import add_cases, read_export
from judgekit.datasets.foreign.results import ForeignResults
from judgekit.records.case import Dataset
from judgekit.records.judgment import Judgment
from judgekit.records.output import Output

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from judgekit.datasets.documents import Document
    from judgekit.datasets.foreign.quality_records import Export, Found
    from judgekit.records.record import JsonObject

_READ = frozenset(
    {"id", "testCaseId", "agentRunId", "actualOutput", "durationMs", "variant", "data", "error"}
)
_Run = tuple[Output, int]


def read_quality_results(document: Document) -> ForeignResults:
    """The runs and judgments of an export, with its cases."""
    # A run that names no prompt version has no variant. What it says of its own result (`passed`,
    # `totalScore`, …) is kept in the output's metadata, with the run's id as `test_run_id`.
    export = read_export(document)
    add_cases(export)
    runs = _runs(export)
    judgments = [
        judgment
        for found in export.of("eval-judgment", JudgmentFields).values()
        if (judgment := _judgment(found, runs, export)) is not None
    ]
    reading = export.reading
    reading.refuse_errors()
    dataset = reading.dataset() if reading.cases else Dataset(name=document.path.stem, cases=())
    outputs = tuple(output for output, _ in runs.values())
    return ForeignResults(dataset, outputs, tuple(judgments), dict(export.n_unread))


def run_rows(document: Document) -> Iterator[tuple[int, JsonObject]]:
    """The runs of an export as the rows of an outputs file."""
    export = read_export(document)
    runs = _runs(export)
    export.reading.refuse_errors()
    places = {key: found.at for key, found in export.of("test-run", TestRunFields).items()}
    cases = {key: found.fields for key, found in export.of("test-case", TestCaseFields).items()}
    for key, (output, _) in runs.items():
        case = cases.get(output.case_id or "")
        of_case: JsonObject = {}
        if case is not None:
            of_case = {"input": case.inputs, "reference": case.expected_outputs}
        yield document.line_of(*places[key]), {**of_case, **output.to_json()}


def _runs(export: Export) -> dict[str, _Run]:
    """Outputs by the id of their run, each with its number among those of its case and variant."""
    runs: dict[str, _Run] = {}
    n_seen: dict[tuple[str, str | None], int] = {}
    for key, found in export.of("test-run", TestRunFields).items():
        run = found.fields
        where = (*found.at, "fields", "testCaseId")
        if export.of("test-case", TestCaseFields):
            export.refer("test-case", run.test_case_id, where, case_id=run.test_case_id)
        place = (run.test_case_id, _variant(run))
        repeat = n_seen.get(place, 0)
        n_seen[place] = repeat + 1
        runs[key] = (_output(found, repeat), repeat)
    return runs


def _output(found: Found[TestRunFields], repeat: int) -> Output:
    run = found.fields
    text = run.actual_output if isinstance(run.actual_output, str) else None
    nothing = text is None and run.actual_output is None
    return Output(
        text=text,
        data=run.data if text is not None else run.actual_output,
        error=run.error or ("the run has no output" if nothing else None),
        case_id=run.test_case_id,
        variant=_variant(run),
        run_id=run.agent_run_id,
        duration_ms=run.duration_ms,
        metadata={**_said(run), "test_run_id": found.id, "repeat": repeat},
    )


def _variant(run: TestRunFields) -> str | None:
    return run.prompt_version_ref if run.variant is None else run.variant


def _said(run: TestRunFields) -> JsonObject:
    """What a run says of itself beside its output."""
    said = {name: item for name, item in run.as_given().items() if name not in _READ}
    if _variant(run) == run.prompt_version_ref:
        said.pop("promptVersionRef", None)
    return said


def _judgment(
    found: Found[JudgmentFields], runs: Mapping[str, _Run], export: Export
) -> Judgment | None:
    given = found.fields
    at = (*found.at, "fields")
    export.refer("test-run", given.test_run_id, (*at, "testRunId"))
    criteria = export.of("rubric-criterion", CriterionFields)
    criterion = criteria.get(given.criterion_id)
    if criterion is None and criteria:
        export.refer("rubric-criterion", given.criterion_id, (*at, "criterionId"))
    least = 0.0 if criterion is None else criterion.fields.min_score
    most = given.max_score if criterion is None else criterion.fields.max_score
    if not least <= given.score <= most or not least < most:
        message = f"`score` is {given.score:g}, off the scale from {least:g} to {most:g}"
        export.reading.add((*at, "score"), message)
        return None
    run = runs.get(given.test_run_id)
    return Judgment(
        criterion=given.criterion_id if criterion is None else criterion.fields.name,
        raw=given.score,
        value=(given.score - least) / (most - least),
        rationale=given.rationale,
        confidence=given.confidence,
        source=given.judged_by_type,
        judge=given.judged_by,
        case_id=None if run is None else run[0].case_id,
        variant=None if run is None else run[0].variant,
        repeat=0 if run is None else run[1],
    )
