"""A page of every kind of result, from results made here: no judge is called."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

import judgekit as jk
from judgekit.calibration import OutputKey
from judgekit.evaluation import (
    AnswerRow,
    Outcome,
    OutputPair,
    Run,
    SuiteFindings,
    compare_side_scores,
    criterion_trends,
    explain_variance,
    rank_matches,
    size_curves,
    trend_of_suite,
    variants_side_by_side,
    version_history,
)
from judgekit.models.cache import MemoryCache
from judgekit.models.request import ModelReply
from judgekit.records import (
    AnalysisPoint,
    AnalysisSuggestion,
    ComparedPair,
    ComparedSide,
    ComparisonAnalysis,
    ComparisonInfo,
    Evidence,
    Output,
    Preference,
    TraceEvent,
    Usage,
)
from judgekit.report import (
    JudgeReplies,
    KnownAnswer,
    RankingCases,
    RunCases,
    audit_document,
    calibration_document,
    case_document,
    comparison_cases,
    comparison_document,
    explain_document,
    finding_document,
    findings_document,
    gate_document,
    history_document,
    ranking_document,
    rejudgment_document,
    run_document,
    score_comparison_document,
    side_by_side_document,
    suite_plan_document,
    trend_document,
    tuning_document,
)
from judgekit.store import RunStore
from tests.evaluation.comparison.test_scores import scored
from tests.evaluation.labelled import RUBRIC, Crowd
from tests.evaluation.pairs import compared, said as said_of_pair, several, summed
from tests.evaluation.ranking.fields import season
from tests.evaluation.test_findings import rates
from tests.factories import make_case, make_request, make_rubric
from tests.rejudgment.twice import contrasted
from tests.report.test_audit_page import whole
from tests.report.test_plan_terminal import plan
from tests.report.test_tuning_terminal import TUNING
from tests.store.observing import START, answer, begun, key, said

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from judgekit.records import Observation
    from judgekit.report import CaseTable, Document

EVIDENCE = "a refund within 30 days"
PIECE = Evidence(quote=EVIDENCE, match="exact", start=12, end=12 + len(EVIDENCE))
_REQUEST = make_request("Which one is better?")


def result_documents(folder: Path) -> dict[str, Document]:
    """A document of each kind; the stores that they come from are below `folder`."""
    return {
        **_stored(folder),
        "compare": comparison_document(
            summed(several(a=38, b=30, tie=12, first=6, open=1)), _compared(folder)
        ),
        "compare-scores": score_comparison_document(
            compare_side_scores(
                scored(*[0.2, 0.3, 0.5, 0.9] * 6, tags=("x",)),
                scored(*[0.8, 0.7, 0.9, 0.6] * 6, tags=("x",)),
                ("new", "old"),
            )
        ),
        "rank": ranking_document(
            rank_matches(
                season(np.random.default_rng(1), {"v1": 1.5, "v2": 0.2, "v3": -1.5}, 60, first=0.8),
                (),
            ),
            _ranked(),
        ),
        "calibrate": _calibrated(),
        "audit": audit_document(whole()),
        "tune": tuning_document(TUNING),
        "rejudge": rejudgment_document(
            contrasted([(1.0, 1.0)] * 8 + [(0.5, 1.0)] * 3 + [(1.0, 0.0)])
        ),
        "plan": suite_plan_document(plan()),
        "explain": _explained(),
    }


def _stored(folder: Path) -> dict[str, Document]:
    folder.mkdir(parents=True, exist_ok=True)
    store = RunStore(folder / "runs.db")
    followed = RunStore(folder / "followed.db")
    try:
        rates(followed, 9, 8, 9, 10, 9, 10, 9, 8, 7, 5, 4, 3, 2, measures="AAAAABBBBBBBB")
        begun(
            store, *_answers(), config={"name": "support", "gate": {"threshold": 0.75}}, n_cases=12
        )
        store.end("run-1", status="complete", at=START + timedelta(minutes=2))
        run = Run(store.run("run-1"), store)
        cases = RunCases(run.info)
        outcomes: list[Outcome] = []

        def watch(one: Outcome) -> None:
            cases.take(one)
            outcomes.append(one)

        summary = run.summary(watch=watch)
        gate = run.gate(summary)
        assert gate is not None
        findings = [*SuiteFindings(followed, "support").findings.values()]
        begun(store, *_answers(), name="run-2", n_cases=12, rubric=make_rubric("accuracy"))
        store.end("run-2", status="complete", at=START + timedelta(minutes=2))
        other = store.run("run-2")
        return {
            "sides": side_by_side_document(store, (run.info, "v1"), (run.info, "v2")),
            "sides-unlike": side_by_side_document(store, (run.info, "v1"), (other, "v2")),
            "run": run_document(summary, gate, answers=(cases.table(),)),
            "show": case_document(outcomes[0].result.case, outcomes[:2], data=dict),
            "gate": gate_document(summary, gate),
            "trend": trend_document(
                "support",
                trend_of_suite(followed, "support"),
                criterion_trends(followed, "support"),
            ),
            "history": history_document("support", version_history(followed, "support")),
            "findings": findings_document("support", findings, findings),
            "finding": finding_document(findings[0]),
        }
    finally:
        store.close()
        followed.close()


def _answers() -> Iterator[Observation]:
    """Twelve cases by two variants, with everything that an answer can have."""
    for place in range(12):
        case = make_case(
            id=f"case-{place}",
            name=f"Refund {place}",
            tags=["refund", f"t{place % 3}"],
            stratum="simple" if place % 2 else "complex",
            description="What the customer may send back.",
            reference="Refunds are possible within 30 days.",
        )
        for variant in ("v1", "v2"):
            output = Output(
                text=f"You can get {EVIDENCE}.\nSee the order {place}.",
                error="timed out" if place == 11 and variant == "v2" else None,
                duration_ms=820,
                usage=Usage(input_tokens=120, output_tokens=20, cost_usd=0.001),
                trace=[TraceEvent(type="tool_call", name="orders", content={"id": place})],
            )
            value = (place * 3 + (variant == "v2") * 2) % 5 / 4
            judged = tuple(
                said(name, value, evidence=(PIECE,), confidence=0.8, rationale="It says so.")
                for name in ("accuracy", "clarity")
            )
            yield answer(
                key(case.id, variant),
                place=place,
                case=case,
                output=output,
                said=() if output.error else judged,
            )


def _compared(folder: Path) -> CaseTable:
    """The pairs of a stored comparison, with everything that one can have."""
    analysis = ComparisonAnalysis(
        case_id="c0",
        winner="b",
        judge="fake",
        strengths=(AnalysisPoint(text="Clear.", quote=EVIDENCE, found=True),),
        suggestions=(AnalysisSuggestion(area="tone", before="a", after="b", reasoning="Short"),),
    )
    with closing(RunStore(folder / "compared.db")) as store:
        info = ComparisonInfo(
            id="cmp-1",
            a=ComparedSide(label="old"),
            b=ComparedSide(label="new"),
            rubric=make_rubric(),
            judge="fake",
            started_at=START,
        )
        store.begin_comparison(info)
        store.add_pairs(info.id, [_pair(n, outcome) for n, outcome in enumerate(("a", "open"))])
        store.add_analysis(info.id, 0, analysis)
        # Prompts and replies are foreign texts, too.
        return comparison_cases(store, info, JudgeReplies(_cache()))


def _cache() -> MemoryCache:
    cache = MemoryCache()
    cache.put(_REQUEST, ModelReply(text="The first one."))
    return cache


def _pair(place: int, outcome: str) -> ComparedPair:
    case, answers = f"c{place}", said_of_pair(outcome, f"c{place}")
    quoted = {"evidence_first": (PIECE,), "reply_key": _REQUEST.key, "confidence": 0.8}
    return ComparedPair(
        place=place,
        case=make_case(id=case, reference="Refunds are possible.", tags=("refund",)),
        a=_output("I am GPT-4.1. 😀", "old"),
        b=_output("See the order.", "new"),
        preferences=[
            one.model_copy(update=quoted) for one in answers if isinstance(one, Preference)
        ],
        failures=[one for one in answers if not isinstance(one, Preference)],
        is_done=True,
    )


def _output(end: str, variant: str) -> Output:
    return Output(text=f"You can get {EVIDENCE}.\n{end}", variant=variant)


def _ranked() -> CaseTable:
    cases = RankingCases(("GPT-4.1",))
    for k, names in enumerate((("v1", "v2"), ("v2", "v3"), ("v1", "v3"))):
        pair = _pair(0, "a")
        found = compared("a", "c0").comparison.model_copy(
            update={
                "variant_a": names[0],
                "variant_b": names[1],
                "preferences": pair.preferences,
                "error": "timed out" if k == 2 else None,
            }
        )
        first, second = (_output(name, name) for name in names)
        cases.take(found, OutputPair(pair.case, first, second))
    return cases.table(["v1", "v2", "v3"])


def _calibrated() -> Document:
    crowd = Crowd(45, variants=("v1", "v2"))
    rows = [row | {"rationale": "It leaves out the date."} for row in crowd.labels(70)]
    verdicts = crowd.verdicts(confidence=0.8)
    report = jk.calibrate(verdicts, rows, rubric=RUBRIC)
    answers = [
        (
            OutputKey(str(one.case_id), one.variant),
            KnownAnswer(
                make_case(id=str(one.case_id)),
                (_output("See the order.", str(one.variant)),),
                [each.model_copy(update={"evidence": (PIECE,)}) for each in one.judgments],
            ),
        )
        for one in verdicts
    ]
    return calibration_document(report, answers)


def _explained() -> Document:
    draw = np.random.default_rng(3)
    rows = [
        AnswerRow(
            "run-1",
            f"c{k}",
            float(np.clip((0.3 if size >= 16_000 else 0.9) + draw.normal(0, 0.08), 0, 1)),
            {
                "input_tokens": size + float(draw.integers(99)),
                "output_tokens": float(draw.integers(5, 90)),
            },
            {"variant": variant, "base": variant, "run": "run-1"},
        )
        for k in range(40)
        for size in (1000, 4000, 16_000, 64_000)
        for variant in ("v1", "v2")
    ]
    curves = size_curves(rows, "input_tokens", 0.7)
    return explain_document("run-1", explain_variance(rows), curves, variants_side_by_side(rows))
