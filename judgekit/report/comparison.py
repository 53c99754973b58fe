"""Builds the documents of comparisons of two variants: blind preferences and stored scores.

Stored comparisons are listed in `listings`.
"""

from __future__ import annotations

from dataclasses import asdict
from math import isnan
from typing import TYPE_CHECKING

from judgekit.report import message, numbers
from judgekit.report.document import (
    MIN_SEGMENT_CASES,
    Block,
    Cell,
    Conclusion,
    Details,
    Document,
    LabelledText,
    Lines,
    Table,
    Tone,
    mean_cell,
    not_empty,
    rate_cell,
    text_columns,
)
from judgekit.report.numbers import format_p_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from judgekit.evaluation import (
        ComparisonDecision,
        ComparisonSummary,
        PanelFigures,
        ScoreComparison,
        ScoreDifference,
        WinFigures,
    )
    from judgekit.records import Comparison, PairAnswer
    from judgekit.stats.bias import PositionBias

_MOST_SHOWN = 220
_WINNERS = {"a": "A", "b": "B", "tie": "tie", None: "open"}

_RULE_WORDS = {
    "consistent": "who wins in both orders",
    "average": "who is preferred by more than half of both orders wins",
}
"""What each rule for two orders says."""


def comparison_document(summary: ComparisonSummary) -> Document:
    """A blind comparison: the decision, who won how often, and what limits the result."""
    a, b = (message.printable(name, 40) for name in (summary.a, summary.b))
    overall, segments = _wins_tables(summary)
    blocks: list[Block | None] = [
        overall,
        segments,
        None if summary.panel is None else panel_table(summary.panel),
        Lines(tuple(comparison_notes(summary))),
    ]
    return Document(
        title=f"{message.printable(summary.rubric)}: A is {a}, B is {b}",
        conclusion=_concluded(summary.decision, summary.a, summary.b),
        blocks=not_empty(blocks),
        data=lambda: comparison_data(summary),
    )


def _concluded(decision: ComparisonDecision, a: str, b: str) -> Conclusion:
    tone: Tone = "inconclusive" if decision.winner is None else "better"
    return Conclusion(comparison_decision(decision, a, b), tone)


def comparison_decision(decision: ComparisonDecision, a: str, b: str) -> str:
    """Which side is better, or why that is open."""
    p = "" if decision.p is None else f", p {format_p_value(decision.p)}"
    if decision.winner is not None:
        better = a if decision.winner == "a" else b
        return f"{message.printable(better)} is better: {decision.reason}{p}"
    more = ""
    if decision.n_to_decide is not None:
        more = f"; about {numbers.format_count(decision.n_to_decide, 'case')} are needed to decide"
    return f"no decision: {decision.reason}{p}{more}"


def comparison_data(summary: ComparisonSummary) -> dict[str, object]:
    """A comparison's figures under the keys of its JSON."""
    return asdict(summary)


def comparison_lines(found: Comparison) -> str:
    """One comparison: the case, the winner, and what the judge said of the whole in each order."""
    contradicts = "  (the two orders conflict)" if found.consistent is False else ""
    case = message.printable(found.case_id or "?")
    lines = [f"{_WINNERS[found.winner]:<5} {case}{contradicts}"]
    if found.error is not None:
        lines.append(f"      no output: {message.one_line(found.error, _MOST_SHOWN)}")
    names = _short_judge_names(one.judge for one in found.judges)
    if names:
        votes = [f"{names[one.judge]} {_WINNERS[one.winner]}" for one in found.judges]
        lines.append(f"      votes: {'; '.join(votes)}")
    for said in found.preferences:
        about = _about(said, names)
        why = message.printable(said.rationale, _MOST_SHOWN)
        lines.append(f"      {about}, {said.order.upper()}: {said.choice}  {why}")
    for failure in found.failures:
        about = _about(failure, names)
        why = message.one_line(failure.message, _MOST_SHOWN)
        lines.append(f"      {about}, {failure.order.upper()}: {failure.kind}  {why}")
    return "\n".join(lines)


def _about(said: PairAnswer, names: Mapping[str, str]) -> str:
    about = message.printable(said.criterion or "overall")
    return f"{names[said.judge]}, {about}" if names else about


def comparison_notes(summary: ComparisonSummary) -> list[LabelledText]:
    """Everything beside the table."""
    return [
        *(("judge", f"{message.printable(judge)}") for judge in summary.judges),
        ("calls", f"{numbers.format_spending(summary.spent)}"),
        *rule_lines(summary.rule),
        *_about_judge(summary),
        *_about_sides(summary),
        *_about_gaps(summary),
    ]


def rule_lines(rule: str | None) -> list[LabelledText]:
    """Which rule was applied, where it is not the usual one."""
    return [("rule", f"{rule}: {_RULE_WORDS[rule]}")] if rule == "average" else []


def _about_judge(summary: ComparisonSummary) -> list[LabelledText]:
    lines = []
    if not isnan(summary.flip_rate.value):
        lines.append(
            ("flips", f"{numbers.format_rate(summary.flip_rate)} of pairs change with the order")
        )
    if summary.position is not None:
        lines.append(
            (
                "position",
                f"the answer shown first was preferred {_first_position_share(summary.position)}",
            )
        )
    who = "the judge" if summary.panel is None else "the panel"
    lines += [
        ("warning", f"{who} {_judge_flag_words(flag, summary.position)}") for flag in summary.flags
    ]
    return lines if summary.panel is None else [*lines, *panel_lines(summary.panel)]


def _about_sides(summary: ComparisonSummary) -> list[LabelledText]:
    lines = []
    if summary.length_controlled is not None:
        found = summary.length_controlled
        rate = f"{found.value * 100:.0f} %" if isnan(found.low) else numbers.format_rate(found)
        lines.append(("length", f"A would win {rate} if both outputs were equally long"))
    if summary.raw_a is not None and summary.raw_b is not None:
        higher = {"a": "A is higher", "b": "B is higher", "tie": "equal", None: ""}
        lines.append(
            (
                "scores",
                (
                    f"A {summary.raw_a:.2f}, B {summary.raw_b:.2f} of 10 on average: "
                    f"{higher[summary.raw_winner]} (no decision by itself)"
                ),
            )
        )
    if summary.evidence is not None:
        seen = summary.evidence
        where = "no decision" if seen.stopped_at is None else f"stopped after {seen.stopped_at:,}"
        lines.append(
            (
                "sequential",
                (
                    f"tested after each of {numbers.format_count(seen.n_cases, 'case')}: "
                    f"e-value {seen.e_value:.3g}, {where}"
                ),
            )
        )
    return lines


def _about_gaps(summary: ComparisonSummary) -> list[LabelledText]:
    lines = []
    whole = summary.whole
    if whole.n_undecided:
        low, high = whole.bounds
        lines.append(
            (
                "bounds",
                (
                    f"A's share would be {low * 100:.0f} to {high * 100:.0f} % depending on the "
                    f"{numbers.format_count(whole.n_undecided, 'undecided pair')}"
                ),
            )
        )
    lines += _about_names(summary)
    if summary.n_identical:
        lines.append(
            (
                "same",
                f"{numbers.format_count(summary.n_identical, 'pair')} identical: counted as ties without a call",  # noqa: E501
            )
        )
    if summary.n_errors:
        n_errors = numbers.format_count(summary.n_errors, "pair")
        lines.append(("errors", f"{n_errors} with an output that records an error; not judged"))
    out = summary.left_out
    for n, what, cases in (
        (out.n_only_a, "only in A", out.only_a),
        (out.n_only_b, "only in B", out.only_b),
        (out.n_other_input, "with different inputs", out.other_input),
    ):
        if n:
            some = ", ".join(message.printable(case, 40) for case in cases)
            dots = ", …" if n > len(cases) else ""
            lines.append(("left out", f"{numbers.format_count(n, 'case')} {what}: {some}{dots}"))
    for kind, n_failed in summary.failures.items():
        lines.append(
            (
                "failed",
                f"{numbers.format_count(n_failed, 'question')}: {message.FAILURE_WORDS[kind]}",
            )
        )
        lines.append(("", f"{message.one_line(summary.failure_messages[kind], 300)}"))
    return lines


def _about_names(summary: ComparisonSummary) -> list[LabelledText]:
    if summary.n_scrubbed is None:
        return [("names", "model names were left in the outputs (--no-scrub)")]
    if not summary.n_scrubbed:
        return []
    n_scrubbed = numbers.format_count(summary.n_scrubbed, "passage")
    return [("names", f"{n_scrubbed} that named the model hidden from the judge")]


def _wins_tables(summary: ComparisonSummary) -> tuple[Table, Block | None]:
    """Who won overall and on each criterion, and the same by stratum and tag."""
    segments = {
        **{f"stratum {name}": figures for name, figures in summary.strata.items()},
        **{f"tag {name}": figures for name, figures in summary.tags.items()},
    }
    by_segment = _wins_table(segments, "By segment")
    is_small = summary.whole.rate.n < MIN_SEGMENT_CASES
    return (
        _wins_table({"overall": summary.whole, **summary.criteria}),
        Details("By segment", not_empty([by_segment])) if is_small else by_segment,
    )


def _wins_table(rows: Mapping[str, WinFigures], title: str = "") -> Table:
    cells: list[tuple[str | Cell, ...]] = []
    for name, figures in rows.items():
        p = figures.p if figures.p_adjusted is None else figures.p_adjusted
        counts = (figures.wins, figures.ties, figures.inconsistent, figures.losses)
        cells.append((
            name,
            *(f"{n:,}" for n in counts),
            rate_cell(figures.rate),
            numbers.DASH if p is None else format_p_value(p),
        ))  # fmt: skip
    heads = ("", "A wins", "ties", "flips", "B wins", "A's share, 95 %", "p")
    return Table(text_columns(*heads), tuple(cells), title)


_TESTS = {
    "mcnemar": "McNemar's test (mid-p), for pass or fail",
    "t": "the paired t test (15 cases or more)",
    "sign-flip": "an exact sign-flip test (fewer than 15 cases, or equal differences)",
}


def score_comparison_document(compared: ScoreComparison) -> Document:
    """A comparison of stored scores: the decision, the differences, and how they were tested."""
    a, b = (message.printable(name, 40) for name in (compared.a, compared.b))
    overall = {"value": compared.value, "pass rate": compared.pass_rate, **compared.criteria}
    segments = {
        **{f"stratum {name}": found for name, found in compared.strata.items()},
        **{f"tag {name}": found for name, found in compared.tags.items()},
    }
    by_segment = _scores_table(segments, "By segment")
    leading = compared.value or compared.pass_rate
    is_small = leading is None or leading.estimate.n < MIN_SEGMENT_CASES
    return Document(
        title=f"A is {a}, B is {b}",
        conclusion=_concluded(compared.decision, compared.a, compared.b),
        blocks=not_empty([
            _scores_table(overall),
            Details("By segment", not_empty([by_segment])) if is_small else by_segment,
            Lines((*_test_lines(compared), *_missing_lines(compared))),
        ]),
        data=lambda: asdict(compared),
    )  # fmt: skip


def _test_lines(compared: ScoreComparison) -> list[LabelledText]:
    """What the decision rests on, and what other looks at the same cases say."""
    lines = []
    leading = compared.value or compared.pass_rate
    if leading is not None and leading.p is not None:
        measure = "values" if compared.value is not None else "pass rates"
        lines.append(("test", f"{measure}, by {_TESTS[leading.test]}"))
        lines += _second_opinions(leading, compared.decision.alpha)
    changed = None if compared.pass_rate is None else compared.pass_rate.changed
    if changed is not None:
        only_a, only_b = (numbers.format_count(n, "case") for n in changed)
        lines.append(("passes", f"{only_a} only with A, {only_b} only with B"))
    return lines


def _second_opinions(found: ScoreDifference, alpha: float) -> list[LabelledText]:
    if found.p is None or found.test == "mcnemar":
        return []
    p = found.ranks.p_value
    agrees = (p <= alpha) == (found.p <= alpha)
    word = "agrees" if agrees else "disagrees: check single cases before relying on the result"
    return [
        ("also", f"Wilcoxon's signed ranks p {format_p_value(p)}: {word}"),
        ("", f"bootstrap over cases {numbers.format_mean(found.resampled, 3)}"),
        ("", f"B is higher on {numbers.format_rate(found.higher)} of cases, ties count half"),
    ]


def _missing_lines(compared: ScoreComparison) -> list[LabelledText]:
    pairs = ((compared.n_only_a, "A"), (compared.n_only_b, "B"))
    lines = [
        ("left out", f"{numbers.format_count(n, 'case')} only in {side}") for n, side in pairs if n
    ]
    if compared.n_unscored:
        n_unscored = numbers.format_count(compared.n_unscored, "case")
        sides = f"A for {compared.n_unscored_a:,}, B for {compared.n_unscored_b:,}"
        lines.append(("left out", f"{n_unscored} with a missing value ({sides})"))
    if compared.bounds is not None and compared.value is not None:
        low, high = compared.bounds
        lines.append(
            ("bounds", f"B - A would be {low:+.3f} to {high:+.3f} depending on the missing values")
        )
    return lines


def _scores_table(rows: Mapping[str, ScoreDifference | None], title: str = "") -> Table:
    heads = ("", "cases", "A", "B", "B - A", "p", "effect", "detectable")
    cells = [(name, *_score_cells(found)) for name, found in rows.items() if found is not None]
    return Table(text_columns(*heads), tuple(cells), title)


def _score_cells(found: ScoreDifference) -> list[str | Cell]:
    p = found.p if found.p_adjusted is None else found.p_adjusted
    return [
        f"{found.estimate.n:,}",
        f"{found.a:.3f}",
        f"{found.b:.3f}",
        mean_cell(found.estimate, 3),
        numbers.DASH if p is None else format_p_value(p),
        numbers.DASH if found.effect_size is None else f"{found.effect_size:+.2f}",
        numbers.DASH if found.detectable is None else f"{found.detectable:.3f}",
    ]


_JUDGE_FLAG_WORDS = {
    "position_bias": "favours the output it sees {place}",
    "mostly_inconsistent": "contradicts itself on most pairs when the order is swapped",
}
"""What is said of a judge with a flag."""


def _short_judge_names(judges: Iterable[str]) -> dict[str, str]:
    """What judges are called where there is little room."""
    known = list(dict.fromkeys(judges))
    models = [judge.rpartition(" ")[0] or judge for judge in known]
    return {
        judge: message.printable(model if models.count(model) == 1 else judge.partition("@")[0])
        for judge, model in zip(known, models, strict=True)
    }


def _judge_flag_words(flag: str, position: PositionBias | None) -> str:
    """What a flag says of a judge."""
    is_second = position is not None and position.value < 0
    return _JUDGE_FLAG_WORDS[flag].format(place="second" if is_second else "first")


def _first_position_share(position: PositionBias) -> str:
    """How often the answer shown first is preferred: `51 % of the time [8, 94]`."""
    # The bias is counted from one half, and a reader looks for a share.
    share, low, high = (
        numbers.DASH if isnan(x) else f"{(0.5 + x) * 100:.0f}"
        for x in (position.value, position.low, position.high)
    )
    return f"{share} % of the time [{low}, {high}]"


def panel_lines(panel: PanelFigures) -> list[LabelledText]:
    """How far the judges agree, and which of them are doubtful."""
    agreed = numbers.DASH if isnan(panel.agreed) else f"{panel.agreed * 100:.0f} %"
    alpha = panel.alpha
    beyond = (
        "" if alpha is None or isnan(alpha.value) else f" ({numbers.format_mean(alpha)} by alpha)"
    )
    lines = [("panel", f"each judge has one vote; two judges agree on {agreed} of winners{beyond}")]
    names = _short_judge_names(one.judge for one in panel.judges)
    for one in panel.judges:
        if one.flags:
            words = "; ".join(_judge_flag_words(flag, one.position) for flag in one.flags)
            lines.append(("warning", f"{names[one.judge]} {words}"))
    return lines


def panel_table(panel: PanelFigures, *, wins: bool = True) -> Table:
    """A row for each judge."""
    names = _short_judge_names(one.judge for one in panel.judges)
    rows: list[tuple[str | Cell, ...]] = []
    for one in panel.judges:
        whole = one.whole
        counts = (whole.wins, whole.ties, whole.losses) if wins else ()
        rows.append((
            names[one.judge],
            *(f"{n:,}" for n in counts),
            rate_cell(one.flip_rate),
            numbers.DASH if one.position is None else _position_points(one.position),
        ))  # fmt: skip
    heads = (*(_WINS if wins else ()), "flips, 95 %", "position bias")
    return Table(text_columns("", *heads), tuple(rows), "Each judge")


_WINS = ("A wins", "ties", "B wins")


def _position_points(position: PositionBias) -> str:
    value, low, high = _signed_shares(position)
    return f"{value} [{low}, {high}]"


def _signed_shares(position: PositionBias) -> tuple[str, ...]:
    return tuple(_signed(x) for x in (position.value, position.low, position.high))


def _signed(share: float) -> str:
    return numbers.DASH if isnan(share) else f"{share * 100:+.0f}"
