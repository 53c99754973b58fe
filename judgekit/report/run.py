"""Builds the document of a run: pass rates, differences, how it was measured, and the gate.

Its answers are in `answers`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from math import isnan
from typing import TYPE_CHECKING, cast

from judgekit.evaluation import (
    DEFAULT_RUBRICS_KEY,
    SIMILARITY_KEY,
    UNASKED_CASES_KEY,
    UNASKED_RUBRICS_KEY,
    CoverageGateResult,
    DropGateResult,
    GateResult,
    Run,
    SuiteFindings,
    TierGateResult,
    calibration_of_run,
    has_model_judges,
    relations_of_run,
    small_strata,
)
from judgekit.records import HEURISTIC, JsonObject, RunInfo, Verdict, config_part, config_rows
from judgekit.report import message, numbers
from judgekit.report.document import (
    Block,
    Cell,
    Column,
    Conclusion,
    Details,
    Document,
    LabelledText,
    Lines,
    Table,
    Tone,
    count_lines,
    difference_cell,
    fields_of,
    mean_cell,
    not_empty,
    rate_cell,
)
from judgekit.report.exports import verdict_json
from judgekit.report.findings import changes_text
from judgekit.report.message import RUN_STATUS_WORDS, TARGET_ERROR_WORDS
from judgekit.report.numbers import format_p_value, nan_to_null
from judgekit.report.overview import relation_lines, relations_json
from judgekit.report.run_setup import judging_and_cost, run_plots
from judgekit.report.segments import format_pass_count, stratum_note, variant_segments

if TYPE_CHECKING:
    from judgekit.evaluation import FindingChanges, RunSummary, VariantDifference, VariantFigures
    from judgekit.report.case_table import JudgeReplies
    from judgekit.report.run_cases import RunCases
    from judgekit.store import RunStore

_MOST_NAMED = 3
_MOST_DIFFERENCES = 6

_GATE_CONCLUSIONS: dict[str, tuple[str, Tone]] = {
    "passed": ("Gate passed. ", "pass"),
    "failed": ("Gate failed. ", "fail"),
    "inconclusive": ("Gate undecided. ", "inconclusive"),
}


def stored_run_document(
    store: RunStore,
    run: Run,
    replies: JudgeReplies | None = None,
    *,
    followed: SuiteFindings | None = None,
    has_page: bool,
) -> Document:
    """A stored run with what refers to it; of a page also all its cases."""
    cases: RunCases | None = None
    if has_page:
        from judgekit.report import run_cases  # noqa: PLC0415 - pages alone have cases

        cases = run_cases.RunCases(run.info, replies)
    summary = run.summary(watch=None if cases is None else cases.take)
    gate, related = run.gate(summary), relations_of_run(store, run.info, followed)
    table = () if cases is None else (cases.table(about=judging_and_cost(summary)),)
    document = run_document(summary, gate, answers=table)
    return replace(
        document,
        blocks=not_empty((*document.blocks, relation_lines(run.id, related))),
        data=lambda: {**run_json(summary, gate), **relations_json(related)},
    )


def run_document(
    summary: RunSummary,
    gate: GateResult | None = None,
    *,
    answers: Sequence[Block] = (),
    changes: FindingChanges | None = None,
    is_stored: bool = True,
    data: Callable[[], object] | None = None,
) -> Document:
    """A run: the pass rate of each variant, their differences, `answers` of it, and the gate."""
    followed = "" if changes is None else changes_text(changes)
    n = numbers.format_count(summary.run.n_cases or 0, "case")
    run = summary.run
    mark = None if run.rubric is None else run.rubric.pass_threshold
    return Document(
        kind="Run",
        title=f"{run.suite}: {n}{_pass_rule(run)}",
        conclusion=replace(_conclusion(summary, gate), more=_rates_text(summary)),
        blocks=not_empty([
            _variant_table(summary.variants, gate),
            _differences(summary.differences),
            variant_segments(summary.variants, stratum_note(small_strata(summary))),
            *answers,
            Lines((
                *(() if gate is None else gate_lines(gate)),
                *([("findings", f"{followed}; see `judgekit findings`")] if followed else []),
                *run_notes(summary, is_stored=is_stored),
            )),
            run_plots(summary.variants, answers, mark),
        ]),
        data=data or (lambda: run_json(summary, gate)),
    )  # fmt: skip


def gate_document(summary: RunSummary, gate: GateResult) -> Document:
    """What a gate decides about a stored run."""
    return Document(
        kind="Gate",
        title=f"Gate of {summary.run.id}",
        conclusion=_conclusion(summary, gate),
        blocks=(Lines(tuple(gate_lines(gate))),),
        data=lambda: {"run": summary.run.id, "gate": gate_json(gate)},
    )


def _pass_rule(run: RunInfo) -> str:
    if run.rubric is None:
        return ""
    if run.config.get("rubric") is None and run.panel.judges == (HEURISTIC,):
        return "; an answer passes when every assertion holds"
    return f"; {run.rubric.name} passes from {run.rubric.pass_threshold:g}"


def _conclusion(summary: RunSummary, gate: GateResult | None) -> Conclusion:
    lead, tone = ("", None) if gate is None else _GATE_CONCLUSIONS[gate.held]
    if not summary.variants:
        return Conclusion(f"{lead}No answers.", tone or "inconclusive")
    texts = [f"{one.variant or 'all'} passed {format_pass_count(one)}" for one in summary.variants]
    if len(texts) > _MOST_NAMED:
        # With an undefined rate a variant is neither the best nor the worst.
        rated = [one for one in summary.variants if not isnan(one.pass_rate.value)]
        rated.sort(key=lambda one: one.pass_rate.value)
        ends = [f"{v.variant} {format_pass_count(v)}" for v in rated]
        spread = f"; passed from {ends[0]} to {ends[-1]}" if ends else ""
        texts = [f"{len(texts)} variants{spread}"]
    # Without a gate nothing defines what is good enough: a pass rate alone is no verdict.
    has_open = summary.is_blank or any(one.n_undecided for one in summary.variants)
    blank = "Nothing was decided: " if summary.is_blank else ""
    return Conclusion(
        f"{lead}{blank}{'; '.join(texts)}", tone or ("inconclusive" if has_open else "neutral")
    )


def _rates_text(summary: RunSummary) -> str:
    """The pass rates with their intervals, and what speaks against relying on them."""
    sentences = []
    if summary.calibration_state == "stale":
        why = summary.calibration.removeprefix("stale: ")
        sentences.append(f"The judge's calibration no longer applies ({why}).")
    for one in summary.variants[:_MOST_NAMED]:
        rate, name = one.pass_rate, one.variant or "all"
        if isnan(rate.value):
            continue
        text = f"{name} passes {numbers.format_rate_words(rate)}"
        text += f" of {numbers.format_count(rate.n, 'case')}"
        if n_open := one.n_undecided + one.n_errors:
            bounds = numbers.format_rate_range(rate.worst, rate.best, "and")
            answers = numbers.format_count(n_open, "answer has", "answers have")
            text += f"; {answers} no verdict, so the rate lies between {bounds}"
        sentences.append(f"{text}.")
    return " ".join(sentences)


def _variant_table(variants: Sequence[VariantFigures], gate: GateResult | None = None) -> Table:
    least = {
        one.variant: one.least
        for one in (() if gate is None else gate.tiers)
        if one.criterion is None
    }
    names = list(dict.fromkeys(name for variant in variants for name in variant.criteria))
    rows: tuple[tuple[str | Cell, ...], ...] = tuple(
        (
            variant.variant or numbers.DASH,
            format_pass_count(variant),
            rate_cell(variant.pass_rate),
            # The value decides, so that it never stands without its interval; criteria may.
            replace(mean_cell(variant.value), short=None, reference=least.get(variant.variant)),
            *(mean_cell(variant.criteria.get(name)) for name in names),
        )
        for variant in variants
    )
    columns = (
        Column("variant", "text", max_width=30),
        *map(Column, ("passed", "rate, 95 %", "value, 95 %")),
        *(Column(name, may_move=True, term="criterion mean") for name in names),
    )
    return Table(columns, rows)


def _differences(differences: Sequence[VariantDifference]) -> Table | Details:
    words = {"value": "value", "pass_rate": "pass rate"}
    rows: list[tuple[str | Cell, ...]] = []
    for one in differences:
        # Values differ by 1 at most: a larger difference cannot be detected by more cases.
        is_possible = one.detectable is not None and one.detectable <= 1
        rows.append((
            f"{one.second} - {one.first}",
            words.get(one.measure, one.measure),
            difference_cell(one.estimate),
            format_p_value(one.p, one.p_adjusted),
            f"{one.estimate.n:,}",
            numbers.format_decimal(one.detectable if is_possible else None),
        ))  # fmt: skip
    columns = (
        Column("variants", "text", max_width=30),
        Column("", "text"),
        *map(Column, ("difference, 95 %", "p", "cases", "detectable")),
    )
    adjusted = any(one.p_adjusted is not None for one in differences)
    adjustment = ", adjusted by Holm" if adjusted else ""
    note = f"p: no difference{adjustment}; detectable: the smallest difference with 80 % power"
    if len(rows) > _MOST_DIFFERENCES:  # pairs grow with the square of the variants
        return Details("Differences", (Table(columns, tuple(rows), notes=(note,)),))
    return Table(columns, tuple(rows), "Differences", (note,))


def run_json(
    summary: RunSummary,
    gate: GateResult | None = None,
    *,
    unmatched: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, object]:
    """A run's figures as JSON; what is undefined is null."""
    use = calibration_of_run(summary.run)
    whole = {
        "run": summary.run.to_json(),
        "variants": [asdict(variant) for variant in summary.variants],
        "differences": [asdict(difference) for difference in summary.differences],
        "n_waiting": summary.n_waiting,
        "small_strata": [
            {**asdict(one), "n_missing": one.n_missing} for one in small_strata(summary)
        ],
        "replaced_usd": summary.replaced_usd,
        "gate": gate_json(gate),
        "calibration": {
            "state": use.state,
            "words": use.words,
            "path": use.path,
            "criteria": list(use.applied),
            "decided_by": "calibrated" if summary.uncalibrated else "raw",
            "uncalibrated": [asdict(variant) for variant in summary.uncalibrated],
        },
        **({} if unmatched is None else {"unmatched_outputs": dict(unmatched)}),
    }
    return cast("dict[str, object]", nan_to_null(whole))


def grading_json(summary: RunSummary, verdicts: Sequence[Verdict]) -> dict[str, object]:
    """What the JSON of a grading has beside a run's: one summary, and every verdict."""

    def with_bounds(variants: Sequence[VariantFigures]) -> list[dict[str, object]]:
        return [
            {"n": one.n, "pass_rate_bounds": one.pass_rate_bounds, **asdict(one)}
            for one in variants
        ]

    whole = {
        **fields_of(summary, "rubric", "pass_threshold", "judges", "models"),
        **fields_of(summary, "failures", "failure_messages", "n_evidence", "n_evidence_found"),
        **fields_of(summary, "evidence", "flags", "calibration_state", "calibration"),
        "spent": asdict(summary.spent),
        "variants": with_bounds(summary.variants),
        "uncalibrated": with_bounds(summary.uncalibrated),
    }
    return {"summary": nan_to_null(whole), "verdicts": [verdict_json(one) for one in verdicts]}


def run_notes(summary: RunSummary, *, is_stored: bool = True) -> list[LabelledText]:
    """How a run ended, who judged, what it cost, and what limits its figures."""
    run = summary.run
    reason = f": {message.one_line(run.reason)}" if run.reason else ""
    name = run.id if is_stored else "not stored"
    lines = [("run", f"{name} ({RUN_STATUS_WORDS[run.status]}{reason})"), *_partial_lines(summary)]
    config = run.config
    about = {
        "started by": run.triggered_by,
        "owner": config.get("owner"),
        "similarity": config.get(SIMILARITY_KEY),
    }
    lines += [(label, message.one_line(str(known))) for label, known in about.items() if known]
    # A rubric that nobody named still decides what passes, so that it is reported.
    defaults = config_rows(run, DEFAULT_RUBRICS_KEY)
    lines += [("rubric", words) for words in default_rubric_lines(defaults)]
    n_without_judge = int(str(config.get(UNASKED_RUBRICS_KEY, 0)))
    without = "with a rubric not judged: no judge; add --judge MODEL"
    lines += count_lines("rubric", n_without_judge, "case", without)
    lines += [("judge", message.without_folders(judge)) for judge in run.panel.judges]
    if len(run.panel.judges) > 1:
        lines.append(("panel", run.panel.combine))
    if has_model_judges(run):
        lines += _calibration_lines(summary)
    lines += _reply_lines(summary)
    n_failing = Counter(kind for variant in summary.variants for kind in variant.failures)
    messages = {  # of several variants the first failure may be that of any
        kind: text if n_failing[kind] == 1 else f"first in the run: {text}"
        for kind, text in summary.failure_messages.items()
    }
    for variant in summary.variants:
        lines += _variant_lines(variant, messages, is_retried=run.repeats == 1)
    if summary.replaced_usd:
        replaced = numbers.format_usd(summary.replaced_usd)
        lines.append(("cost", f"{replaced} more for answers and judgments replaced since"))
    labelling = f"for human labelling: judgekit label {run.id}"
    return lines + count_lines("human", summary.n_waiting, "question", labelling)


# Judgments whose score rests on nothing that can be looked up.
_UNSUPPORTED = {
    "not_found": ("judgment quotes only others", "judgments quote only others"),
    "none": ("judgment quotes nothing", "judgments quote nothing"),
}


def _reply_lines(summary: RunSummary) -> list[LabelledText]:
    lines = []
    if summary.spent.n_replies:
        lines.append(("calls", numbers.format_spending(summary.spent)))
    if summary.n_evidence:
        passages = f"{summary.n_evidence_found} of {summary.n_evidence} quoted passages"
        kinds = [(kind, n) for kind in _UNSUPPORTED if (n := summary.evidence.get(kind))]
        counts = ", ".join(numbers.format_count(n, *_UNSUPPORTED[kind]) for kind, n in kinds)
        unsupported = f"; {counts}" if counts else ""
        lines.append(("evidence", f"{passages} are in the outputs{unsupported}"))
    return lines + [
        ("flagged", f"{numbers.format_count(n, 'judgment')}: {message.FLAG_WORDS.get(flag, flag)}")
        for flag, n in summary.flags.items()
        if flag != "evidence_not_found"  # counted in the line above
    ]


def default_rubric_lines(rubrics: Sequence[JsonObject]) -> list[str]:
    """Which shipped rubrics judge the cases that name none, and why."""
    reasons = {"profile": "the rubric of their profile"}
    return [
        f"{one['rubric']} (shipped) for "
        f"{numbers.format_count(int(str(one['n_cases'])), 'case')} without a rubric: "
        f"{reasons.get(str(one['because']), 'it compares with their reference')}"
        for one in rubrics
    ]


def _calibration_lines(summary: RunSummary) -> list[LabelledText]:
    """Whether the judge is calibrated, and the results by its own values where maps decide."""
    words = summary.calibration
    lines = [("calibration", words)]
    # The judge's own values show how much the maps change.
    if summary.uncalibrated:
        where = "" if words.startswith("calibrated") else " where there is a map"
        lines.append(("", f"calibrated values decide{where}; by the judge's own values:"))
    for variant in summary.uncalibrated:
        name = variant.variant or "all"
        rate, value = numbers.format_rate(variant.pass_rate), numbers.format_mean(variant.value)
        lines.append(("", f"{name}: passed {rate}, value {value}"))
    return lines


def undecided_reason(summary: RunSummary) -> str:
    """Why a run decided nothing, on one line."""
    variants = summary.variants
    n, n_errors = sum(v.n_answers for v in variants), sum(v.n_errors for v in variants)

    def every(n: int, noun: str) -> str:
        return f"the only {noun}" if n == 1 else f"each of {numbers.format_count(n, noun)}"

    # The first cause that applies is named: the others follow from it.
    if n and n_errors == n:
        return f"nothing was decided: {every(n, 'answer')} is an error of its variant"
    if summary.failures:
        return f"nothing was decided: {every(sum(summary.failures.values()), 'judgment')} failed"
    if any(variant.assertions for variant in variants):
        return "nothing was decided: no assertion could be checked"
    if summary.run.rubric is not None and not summary.run.panel.judges:
        return "nothing was decided: the rubric needs a judge; add `judge:` or --judge"
    return (
        "nothing was decided: the suite has neither `assertions` nor a `rubric` with a `judge`; "
        "--judge alone compares answers with the references of their cases"
    )


def _partial_lines(summary: RunSummary) -> list[LabelledText]:
    n_cases, lines = summary.run.n_cases, []
    # The first cases of a file need not be typical of all of them.
    unasked = config_part(summary.run, UNASKED_CASES_KEY)
    for variant in summary.variants:
        if n_cases is None:
            continue
        n_asked = n_cases - int(str(unasked.get(variant.variant, 0)))
        if n_asked < n_cases:  # the others are for other variants, and not missing
            words = f"{n_asked:,} of {numbers.format_count(n_cases, 'case')} are for it"
            lines.append(("asked", f"{variant.variant}: {words}"))
        if variant.n_cases >= n_asked and not variant.n_unfinished:
            continue
        cases = f"{variant.n_cases:,} of {numbers.format_count(n_asked, 'case')}"
        progress = "answered"
        if variant.n_unfinished:
            unfinished = numbers.format_count(variant.n_unfinished, "answer")
            progress = f"started, {unfinished} not fully judged"
        words = f"{cases} {progress}; the figures cover only these"
        lines.append(("partial", f"{variant.variant}: {words}"))
    return lines


def _variant_lines(
    variant: VariantFigures, messages: dict[str, str], *, is_retried: bool
) -> list[LabelledText]:
    name = variant.variant or "all"
    # What was free has its line in the calls already.
    lines = [("cost", f"{name}: {paid}")] if (paid := _cost(variant)) != "$0" else []
    # Undecided answers are left out of the rate: the bounds show how far they could move it.
    if n_open := variant.n_undecided + variant.n_errors:
        answers = numbers.format_count(n_open, "answer")
        bounds = numbers.format_rate_range(variant.pass_rate.worst, variant.pass_rate.best)
        words = f"the rate would be {bounds}, depending on {answers} without a verdict"
        lines.append(("bounds", f"{name}: {words}"))
    for kind, n in variant.errors.items():
        answers = numbers.format_count(n, "answer")
        lines.append(("errors", f"{name}: {answers}: {TARGET_ERROR_WORDS[kind]}"))
    for kind, n in variant.failures.items():
        judgments = f"{numbers.format_count(n, 'judgment')}: {message.failure_words(kind)}"
        lines.append(("failed", f"{name}: {judgments} (left out of the means, not counted as 0)"))
        # Several variants have the same failure: its message is shown once.
        if (first := messages.pop(kind, None)) is not None:
            lines.append(("", message.one_line(first, 300)))
    if variant.scores:
        lines.append(("scores", f"{name}: {_scores_text(variant)}"))
    if variant.n_flaky:
        flaky = numbers.format_count(variant.n_flaky, "case")
        words = "passed only after a retry" if is_retried else "passed in some repeats only"
        lines.append(("flaky", f"{name}: {flaky} {words}"))
    return lines


def _scores_text(variant: VariantFigures) -> str:
    parts = []
    for name, e in variant.scores.items():
        mean = "not measured" if isnan(e.value) else f"{e.value:.2f}"
        missing = numbers.format_count(e.n_missing, "answer")
        without = f" ({missing} without)" if e.n_missing else ""
        parts.append(f"{name} {mean}{without}")
    return ", ".join(parts)


def _cost(variant: VariantFigures) -> str:
    money = variant.money
    paid = numbers.format_usd(money.total_usd, unknown=not money.is_complete)
    if money.n_unreported:
        # A program that reports no cost may have cost anything: never show it as $0.
        is_all = money.n_unreported >= variant.n_answers and not money.targets_usd
        who = "its answers" if is_all else numbers.format_count(money.n_unreported, "answer")
        unknown = f"{who} reported no cost"
        amount = numbers.format_usd(money.total_usd)
        paid = f"{amount}, and {unknown}" if money.total_usd else unknown
    amounts = {
        "answers": money.targets_usd,
        "judges": money.judges_usd,
        "embeddings": money.checks_usd,
    }
    shares = [f"{numbers.format_usd(amount)} {name}" for name, amount in amounts.items() if amount]
    parts = [f"{paid} ({', '.join(shares)})" if len(shares) > 1 else paid]
    if money.saved_usd:
        parts.append(f"{numbers.format_usd(money.saved_usd)} saved")
    if money.recorded_usd:
        parts.append(f"its recorded answers had cost {numbers.format_usd(money.recorded_usd)}")
    if variant.latency_ms:
        times = {n: numbers.format_milliseconds(ms) for n, ms in variant.latency_ms.items()}
        parts.append(f"answers took {times['p50']} (p90 {times['p90']})")
    return ", ".join(parts)


def _coverage_text(one: CoverageGateResult) -> str:
    only = "" if one.held == "passed" else "only "
    share = f"{one.n_decided:,} of {numbers.format_count(one.n_answers, 'answer')}"
    return f"{one.variant}: {only}{share} have a verdict, {one.least * 100:g} % required"


def gate_lines(gate: GateResult) -> list[LabelledText]:
    """The result of each requirement of a gate, for each variant."""
    # The cases that are missing could still turn the result either way.
    if gate.is_partial:
        return [("gate", "not decided: the run is not complete")]
    lines = [("gate", _tier_text(one)) for one in gate.tiers]
    lines += [("gate", _coverage_text(one)) for one in gate.coverages]
    if gate.calibration is not None:
        met = "met" if gate.calibration.held == "passed" else "not met"
        words = gate.calibration.words
        lines.append(("gate", f"a calibration is required, {met}: {words}"))
    if gate.drops and all(one.baseline is None and one.problem is None for one in gate.drops):
        allowed = f"a drop of {gate.drops[0].max_drop:g} allowed"
        return [*lines, ("gate", f"pass rate: no earlier run to compare with, {allowed}")]
    for drop in gate.drops:
        lines.append(("gate", _drop_text(drop)))
        lines += [("", note) for note in drop.notes]
        if drop.hint is not None:
            lines.append(("", drop.hint))
    for trend in gate.trends:
        if trend.direction.direction != "stable":
            rates = " → ".join(f"{rate * 100:.0f}" for rate in trend.rates[-trend.direction.n :])
            runs = numbers.format_count(len(trend.rates), "comparable run")
            words = f"pass rate {trend.direction.direction} over {runs}: {rates} %"
            lines.append(("trend", f"{trend.variant}: {words}"))
    return lines


def gate_words(gate: GateResult) -> str:
    return "; ".join(text for label, text in gate_lines(gate) if label == "gate")


def gate_json(gate: GateResult | None) -> JsonObject | None:
    """The result of a gate as JSON types, still with nan."""
    return None if gate is None else {"held": gate.held, **asdict(gate)}


# The interval decides by default; another rule is named.
_RULE_WORDS = {"interval": "", "point": ", decided by the measured value (rule: point)"}


def _tier_text(one: TierGateResult) -> str:
    words = {"passed": "reaches", "failed": "is below", "inconclusive": "undecided for"}[one.held]
    what = one.variant if one.criterion is None else f"{one.variant}, required {one.criterion}"
    result = f"{what}: {words} {one.tier or 'the threshold'}"
    if isnan(one.value.value):
        return f"{result}: no answer has a value, {one.least:g} required"
    value = numbers.format_mean_beside(one.value, one.least)
    text = f"{result}: value {value}, {one.least:g} required{_RULE_WORDS[one.rule]}"
    if one.held != "inconclusive":
        return text
    if one.n_without:
        n = numbers.format_count(one.n_without, "answer")
        digits = numbers.digits_beside((one.low, one.high), one.least, 2)
        bounds = f"{one.low:.{digits}f} to {one.high:.{digits}f}"
        return f"{text}; {n} without a value counted as 0 and as 1: {bounds}"
    return f"{text}; more cases are needed"


def _drop_text(one: DropGateResult) -> str:
    variant = f"{one.variant}: pass rate"
    allowed = f"a drop of {one.max_drop:g} allowed{_RULE_WORDS[one.rule]}"
    if one.problem is not None:
        return f"{variant} undecided: {one.problem}"
    if one.baseline is None:
        return f"{variant}: no earlier run to compare with, {allowed}"
    if one.held is None:
        return f"{variant}: no case with a verdict in run {one.baseline}, {allowed}"
    undecided = ""
    if one.n_undecided:
        n = numbers.format_count(one.n_undecided, "case is", "cases are")
        undecided = f"; {n} undecided now and had a verdict then"
    words = {
        "passed": "within the allowed drop",
        "failed": "dropped too far",
        "inconclusive": "undecided",
    }[one.held]
    if one.change is None:
        return f"{variant} {words}: {allowed}{undecided}"
    e = one.change
    cases = numbers.format_count(e.n, "case")
    which = "the best run " if one.against == "best" else ""
    digits = numbers.digits_beside((e.value,), -one.max_drop, 2)
    change = f"{numbers.format_difference(e, digits)} since {which}{one.baseline} ({cases})"
    # The allowed drop is in points, the critical one a share of the earlier rate.
    lost = ""
    if one.relative is not None and one.relative > 0:
        digits = numbers.digits_beside((one.relative,), 0.1, 2) - 2
        critical = " (critical)" if one.is_critical else ""
        lost = f", {one.relative:.{digits}%} of the rate{critical}"
    text = f"{variant} {words}: {change}{lost}, {allowed}"
    return text + (undecided if one.held == "inconclusive" else "")
