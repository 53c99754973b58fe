from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

from judgekit.records import (
    Alarm,
    AnalysisFailure,
    AnalysisPoint,
    AnalysisSuggestion,
    Approval,
    AssertionResult,
    CalibrationInUse,
    Case,
    CaseEvaluation,
    CaseResult,
    ComparedPair,
    ComparedSide,
    Comparison,
    ComparisonAnalysis,
    ComparisonInfo,
    Criterion,
    CriterionComparison,
    CriterionComparisons,
    CriterionVerdict,
    Dataset,
    EmbeddingUsage,
    Evidence,
    Example,
    Finding,
    FindingNote,
    Gate,
    GateDecision,
    HumanItem,
    ItemKey,
    JudgeFailure,
    Judgment,
    Label,
    LabelPacket,
    Level,
    MemberComparison,
    Occurrence,
    Output,
    PacketItem,
    PairAnswer,
    Preference,
    PreferenceFailure,
    Record,
    Rubric,
    RunInfo,
    RunPanel,
    Scale,
    Score,
    ScoreBreakdown,
    ScoreComparisonInfo,
    ScrubbedPassage,
    TraceEvent,
    UncalibratedVerdict,
    Usage,
    Variant,
    VariantVersion,
    Verdict,
)
from judgekit.records.comparison import PanelMember
from tests.calibrations import make_calibration

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKET_ITEM = PacketItem(id="i-1", case_id="c", variant="v1", probability=0.5)

USAGE = Usage(input_tokens=9, output_tokens=4, cached_input_tokens=2, cost_usd=0.1)
EVENT = TraceEvent.model_validate(
    {"type": "agent:complete", "name": "a", "content": {"x": [1]}, "durationMs": 12}
)
LEVEL = Level(value=0.7, name="good", description="Mostly right.")
SCALE = Scale(min=0, max=1, levels=(LEVEL,), between_levels=True)
EXAMPLE = Example(output="o", raw=0.7, input="i", reference="r", rationale="so", case_id="c")
CRITERION = Criterion(
    name="accuracy", question="Is it right?", scale=SCALE, scoring_guide="Check.", weight=2,
    required=True, pass_value=0.5, description="for people",
)  # fmt: skip
EVIDENCE = Evidence(quote="30 days", match="exact", start=2, end=9)
JUDGMENT = Judgment(
    criterion="accuracy", raw=4, value=0.75, rationale="Right.", evidence=(EVIDENCE,),
    confidence=0.5, stated_confidence=0.9, logprob_confidence=0.6, expected_raw=3.9,
    logprob_mass=0.99, repeat_confidence=0.5, judge="m t@1", model="m", case_id="c", variant="v",
    repeat=1, cached=True, cost_usd=0, price_usd=0.2, usage=USAGE, n_calls=2, duration_ms=10,
    reply_key="k", dropped_parameters=("seed",), flags=("smoke_model",),
)  # fmt: skip
FAILURE = JudgeFailure(criterion="style", kind="unreadable", message="no", reason="ambiguous")
CRITERION_VERDICT = CriterionVerdict(
    name="accuracy", value=0.75, passed=True, weight=2, required=True, n=1, n_failed=0
)
AT = datetime(2026, 11, 22, 2, 0, tzinfo=UTC)
EVALUATION = CaseEvaluation(strategy="hybrid", weights={"exact_match": 0.5}, threshold=0.7)
RUBRIC = Rubric(name="r", criteria=(CRITERION,))
CASE = Case(id="c", input=None, rubric=RUBRIC, evaluation=EVALUATION)
HELD = AssertionResult(passed=True, actual="t", message="It holds.", type="equals", weight=2)
UNDECIDED = AssertionResult(passed=None, error="no trace", message="no trace", parts=(HELD,))
SCORE = Score(name="latency", value=0.5, raw=500, unit="ms", method="linear", message="half")
ASKED = EmbeddingUsage(n_calls=2, n_owned=1, input_tokens=14, cost_usd=0.014, saved_usd=0.007)
PANEL = RunPanel(combine="cascade", judges=("a", "human"), weights={"a": 2}, escalate_below=0.8)
PREFERENCE = Preference(
    order="ba", criterion="accuracy", choice="second", rationale="It is right.", case_id="c",
    evidence_first=(EVIDENCE,), evidence_second=(EVIDENCE,), variant_first="v2", repeat=1,
    confidence=0.8, stated_confidence=0.9, logprob_first=0.1, raw_first=3, raw_second=8,
    judge="m t@1", model="m", usage=USAGE, n_calls=2, flags=("no_rationale",),
)  # fmt: skip
NOT_PREFERRED = PreferenceFailure(order="ab", kind="refusal", message="no", reply="Sorry.")
SCRUBBED = ScrubbedPassage(side="a", text="ChatGPT", start=3, end=10)
COMPARED = CriterionComparison(
    name="accuracy", winner=None, consistent=None, probability=None, probability_low=0.5,
    probability_high=1, raw_a=8, n=1, n_failed=1,
)  # fmt: skip
MARK = VariantVersion(fingerprint="f", prompt_fingerprint="p", prompt="a.j2", model="m")
SIDE = ComparedSide(label="a.j2", variant="a", run_id="r", version=MARK)
MEMBER = PanelMember(judge="m t@1", parameters={"temperature": 0.5}, repeats=2)
VOTE = MemberComparison(judge="m t@1", winner="a", consistent=None, probability=None)
POINT = AnalysisPoint(text="It names the period.", quote="30 days", found=True)
SUGGESTION = AnalysisSuggestion(area="tone", before="", after="Gladly.", reasoning="Friendlier.")
CALIBRATION = make_calibration(RUBRIC)
FINDING = Finding(
    id="f-1", suite="s", variant="v1", case_id="c", type="hallucination", severity="major",
    status="recurring", criteria=("accuracy",), description="It invents.", quotes=("90 days",),
    first_run="r1", last_run="r2", first_seen_at=AT, last_seen_at=AT, n_runs=2, n_resolved=1,
)  # fmt: skip
RECORDS: list[Record] = [
    CALIBRATION, CALIBRATION.maps[0], CALIBRATION.asked, CALIBRATION.asked.judges[0],
    CALIBRATION.kappa, UncalibratedVerdict(value=0.5, passed=None, criteria={"accuracy": 0.5}),
    CalibrationInUse(state="calibrated", words="w", path="m.json", calibration=CALIBRATION),
    MARK, SIDE, MEMBER, VOTE, POINT, SUGGESTION,
    Alarm(kind="critical-finding", episode="f-1", suite="s", run="r2", text="t", finding=FINDING),
    ComparisonInfo(id="cmp-1", a=SIDE, b=ComparedSide(label="b.jsonl", file="b.jsonl"),
                   rubric=RUBRIC, judge="m t@1", started_at=AT, chosen={"limit": 3},
                   panel=(MEMBER,)),
    ScoreComparisonInfo(id="cmp-2", a=SIDE, b=SIDE, suite="s", tags=("t",), started_at=AT),
    ComparedPair(place=0, case=CASE, a=Output(text="t"), b=Output(error="x"), is_done=True),
    ComparisonAnalysis(case_id="c", winner="b", strengths=(POINT,), suggestions=(SUGGESTION,), judge="j"),  # noqa: E501
    AnalysisFailure(case_id="c", kind="timeout", message="late"),
    Approval(id="apr-1", at=AT, variant="a", baseline="b", version=MARK, by="Ada", because="x",
             kind="blind", evidence=("cmp-1",), rubric="r", rubric_fingerprint="f", alpha=0.05,
             p=0.01, shown="9 of 10"),
    PairAnswer(order="ab"), PREFERENCE, NOT_PREFERRED, SCRUBBED, COMPARED,
    Comparison(case_id="c", variant_a="v1", rubric="r", rubric_fingerprint="f", winner=None,
               consistent=None, probability=None, probability_low=0.5, probability_high=1,
               raw_winner="a", criteria=CriterionComparisons((COMPARED,)), scrubbed=(SCRUBBED,),
               rule="average", judges=(VOTE,), agreement=0.5,
               preferences=(PREFERENCE,), failures=(NOT_PREFERRED,), labels=("QX", "MV")),
    Comparison(rubric="r", rubric_fingerprint="f", winner="tie", consistent=False, scrubbed=None,
               probability=0.5, probability_low=0.5, probability_high=0.5, error="no output"),
    CASE, EVALUATION, HELD, UNDECIDED, ASKED, SCORE, PANEL,
    ScoreBreakdown(overall=0.5, scores=(SCORE,)),
    RunInfo(id="r1", suite="s", started_at=AT, status="waiting", config={"name": "s"}, panel=PANEL,
            rubric=RUBRIC, variants=(Variant(id="v1"),)),
    CaseResult(run_id="r1", place=3, case=CASE, variant="v1", repeat=1, output=Output(text="t"),
               judgments=(JUDGMENT,), failures=(FAILURE,), checks=(HELD, UNDECIDED),
               scores=(SCORE,), is_done=True, ran_at=AT),
    Gate(threshold=0.8, max_drop=0.1, rule="point"),
    GateDecision(run_id="r1", at=AT, outcome="accepted", reason="harder cases", by="Ada"),
    PACKET_ITEM,
    LabelPacket(id="p-1", source="r1", made_at=AT, criteria=("right",), items=(PACKET_ITEM,)),
    FINDING, FindingNote(finding="f-1", at=AT, by="Ada", resolution="a line more", type="refusal"),
    Occurrence(variant="v1", case_id=None, type="regression", severity="critical",
               description="the pass rate fell"),
    HumanItem(run_id="r1", key=ItemKey("c", "v1", 1), criterion="accuracy", asked_at=AT),
    Label(case_id="c", variant="v1", criterion="accuracy", repeat=1, annotator="Ada", raw="good",
          rationale="Plain.", confidence=0.5, metadata={"doc": "d"}),
    USAGE, EVENT, LEVEL, SCALE, CRITERION, EVIDENCE, JUDGMENT, FAILURE, CRITERION_VERDICT,
    Case(id="c", input={"q": [1, None]}, reference="r", tags=("a",), stratum="very_complex",
         assertions=({"type": "output.contains"},), metadata={"author": "x"}),
    Dataset(name="d", cases=(Case(id="c", input="q"),)),
    Output(text="t", data={"n": 1.5}, trace=(EVENT,), usage=USAGE, metadata={"k": [True]}),
    Variant(id="v1", model_by_node={"n": "m"}, provider_by_node={"n": "p"}, tags=("t",)),
    Rubric(name="r", criteria=(CRITERION,), version="2a", metadata={"source": "x"}),
    EXAMPLE,
    Criterion(name="shown", question="Is it?", scale=SCALE, examples=(EXAMPLE,)),
    Verdict(case_id="c", variant=None, rubric="r", rubric_fingerprint="f", passed=None, value=None,
            value_low=0.1, value_high=0.9, required_value=None, criteria=(CRITERION_VERDICT,),
            judgments=(JUDGMENT,), failures=(FAILURE,)),
]  # fmt: skip


def subclasses(record: type[Record]) -> Iterator[type[Record]]:
    for below in record.__subclasses__():
        yield below
        yield from subclasses(below)


def test_every_record_is_tried_here() -> None:
    ours = {r for r in subclasses(Record) if r.__module__.startswith("judgekit.records.")}
    assert {type(record) for record in RECORDS} == ours


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_a_record_reads_back_from_its_json(record: Record) -> None:
    text = json.dumps(record.to_json(), allow_nan=False)
    back = type(record).model_validate(json.loads(text))
    assert back == record
    assert back.to_json() == record.to_json()


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_a_record_cannot_be_changed(record: Record) -> None:
    name = next(iter(type(record).model_fields))
    with pytest.raises(ValidationError, match="frozen"):
        setattr(record, name, getattr(record, name))


CLOSED = [record for record in RECORDS if not isinstance(record, TraceEvent)]


@pytest.mark.parametrize("record", CLOSED, ids=lambda record: type(record).__name__)
def test_a_misspelt_field_is_an_error(record: Record) -> None:
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        type(record).model_validate(record.to_json() | {"rubrik": 1})


def test_what_was_asked_adds_up_and_an_unknown_price_stays_unknown() -> None:
    twice = ASKED + ASKED
    assert (twice.n_calls, twice.n_owned, twice.cost_usd, twice.saved_usd) == (4, 2, 0.028, 0.014)
    unknown = EmbeddingUsage(n_calls=1)
    assert (ASKED + unknown).cost_usd is None
    assert (unknown + ASKED).cost_usd is None


def test_a_trace_event_keeps_fields_of_strangers() -> None:
    assert EVENT.to_json()["durationMs"] == 12


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
))  # fmt: skip
def test_any_json_value_survives_in_a_case(value: Any) -> None:
    case = Case(id="c", input=value, metadata={"more": value})
    assert Case.model_validate(json.loads(json.dumps(case.to_json()))) == case


@pytest.mark.parametrize("name", ["", " ", "\n\t"])
def test_a_blank_name_is_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="id"):
        Case(id=name, input="q")


def test_a_copy_with_another_field_has_a_fingerprint_of_its_own() -> None:
    made = Criterion(name="accuracy", question="Is it right?", scale=SCALE)
    before = made.fingerprint
    copy = made.model_copy(update={"question": "Is it wrong?"})
    assert copy.fingerprint == Criterion.model_validate(copy.to_json()).fingerprint != before
