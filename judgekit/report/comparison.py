"""Builds the documents of comparisons and rankings: blind preferences and stored scores.

Stored comparisons are listed in `listings`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from math import exp, isnan
from typing import TYPE_CHECKING

from judgekit.records import free_name
from judgekit.report import message, numbers
from judgekit.report.document import (
    Block,
    CaseTable,
    Cell,
    Column,
    Conclusion,
    Document,
    IntervalBar,
    LabelledText,
    Lines,
    Table,
    Tone,
    count_lines,
    failure_lines,
    mean_cell,
    not_empty,
    rate_cell,
    some_names,
    table_of,
    text_columns,
)
from judgekit.report.numbers import format_p_value
from judgekit.report.pair_cases import short_judge_names
from judgekit.report.segments import name_column, segment_block

if TYPE_CHECKING:
    from judgekit.evaluation import (
        ComparisonDecision,
        ComparisonSummary,
        PanelFigures,
        RankDecision,
        RankedSide,
        RankingSummary,
        ScoreComparison,
        ScoreDifference,
        SegmentWins,
        WinFigures,
    )
    from judgekit.stats.bias import PositionBias
    from judgekit.stats.estimate import Estimate

# The share of wins of two sides that are equally good.
_HALF = 0.5


def comparison_document(summary: ComparisonSummary, cases: CaseTable | None = None) -> Document:
    """A blind comparison: the decision, who won how often, its limits; on a page its `cases`."""
    a, b = (message.printable(name, 40) for name in (summary.a, summary.b))
    blocks: list[Block | None] = [
        _wins_table({free_name("overall", summary.criteria): summary.whole, **summary.criteria}),
        _first_slot_bar(summary),
        segment_block(
            summary.strata,
            summary.tags,
            _segment_wins_table,
            size=lambda one: one.rate.n,
            n_cases=summary.whole.rate.n,
        ),
        None if summary.panel is None else panel_table(summary.panel),
        cases,
        Lines(tuple(comparison_notes(summary))),
    ]
    return Document(
        title=f"{summary.rubric}: A is {a}, B is {b}",
        conclusion=replace(
            decision_conclusion(summary.decision, summary.a, summary.b),
            more=_share_text(summary.whole.rate, a),
        ),
        blocks=not_empty(blocks),
        kind="Comparison",
        data=lambda: asdict(summary),
    )


def decision_conclusion(decision: ComparisonDecision, a: str, b: str) -> Conclusion:
    """Which side is better, or why that is undecided."""
    p = "" if decision.p is None else f", p {format_p_value(decision.p)}"
    if decision.winner is not None:
        better = a if decision.winner == "a" else b
        return Conclusion(f"{better} is better: {decision.reason}{p}", "better")
    more = _needed_cases(decision.n_to_decide, "decide")
    return Conclusion(f"no decision: {decision.reason}{p}{more}", "inconclusive")


def _share_text(rate: Estimate, a: str) -> str:
    """The share of wins of a side, and what it does not show."""
    if isnan(rate.value) or isnan(rate.low):
        return ""
    share = f"{numbers.format_rate(rate)} over {numbers.format_count(rate.n, 'case')}"
    text = f"The share of wins of {a} is {share}, ties and flips counted as half."
    if rate.low <= _HALF <= rate.high:
        return f"{text} It includes 50 %, which does not show that they are equal."
    return text


def _needed_cases(n: int | None, aim: str) -> str:
    return "" if n is None else f"; about {numbers.format_count(n, 'case')} are needed to {aim}"


def comparison_notes(summary: ComparisonSummary) -> list[LabelledText]:
    lines = []
    if summary.length_controlled is not None:
        rate = numbers.format_rate(summary.length_controlled)
        lines.append(("length", f"A would win {rate} if both outputs were equally long"))
    if summary.raw_a is not None and summary.raw_b is not None:
        higher = {"a": "A is higher", "b": "B is higher", "tie": "equal", None: ""}
        scores = f"A {summary.raw_a:.2f}, B {summary.raw_b:.2f} of 10 on average"
        # Scores and choices can disagree, and only choices are tested.
        words = f"{scores}: {higher[summary.raw_winner]} (no decision by itself)"
        lines.append(("scores", words))
    if summary.evidence is not None:
        test = summary.evidence
        end = "no decision" if test.stopped_at is None else f"stopped after {test.stopped_at:,}"
        cases = numbers.format_count(test.n_cases, "case")
        words = f"tested after each of {cases}: e-value {test.e_value:.3g}, {end}"
        order = f"cases in random order (seed {test.order_seed})"
        if test.order_seed is None:
            # Stored before cases were shuffled: a sorted file makes its decision worthless.
            order = "cases in the order of the files: valid only if that is random"
        lines += [("sequential", words), ("order", order)]
    return [
        *(("judge", message.without_folders(judge)) for judge in summary.judges),
        ("calls", numbers.format_spending(summary.spent, summary.replaced_usd)),
        *rule_lines(summary.rule),
        *_judge_lines(summary),
        *lines,
        *_missing_pair_lines(summary),
    ]


def rule_lines(rule: str | None) -> list[LabelledText]:
    """Which rule was applied, where it is not the default one."""
    # `average` also counts a preference that holds in one order only, which a reader must know.
    if rule != "average":
        return []
    return [("rule", "average: who is preferred by more than half of both orders wins")]


def _judge_lines(summary: ComparisonSummary) -> list[LabelledText]:
    lines = []
    if not isnan(summary.flip_rate.value):
        flips = numbers.format_rate(summary.flip_rate)
        lines.append(("flips", f"{flips} of pairs change with the order"))
    if summary.position is not None:
        # The bias is counted from one half, and a reader looks for a share.
        share = _bias_text(summary.position, 0.5, ".0f", " % of the time")
        lines.append(("position", f"the answer shown first was preferred {share}"))
    who = "the judge" if summary.panel is None else "the panel"
    lines += [
        ("warning", f"{who} {_judge_flag_words(flag, summary.position)}") for flag in summary.flags
    ]
    return lines if summary.panel is None else [*lines, *panel_lines(summary.panel)]


def _missing_pair_lines(summary: ComparisonSummary) -> list[LabelledText]:
    lines = []
    whole = summary.whole
    if whole.n_undecided:
        bounds = numbers.format_rate_range(*whole.bounds)
        pairs = numbers.format_count(whole.n_undecided, "undecided pair")
        lines.append(("bounds", f"A's share would be {bounds} depending on the {pairs}"))
    if summary.n_scrubbed is None:
        lines.append(("names", "model names were left in the outputs (--no-scrub)"))
    hidden = "that named the model hidden from the judge"
    lines += count_lines("names", summary.n_scrubbed or 0, "passage", hidden)
    lines += count_lines(
        "same", summary.n_identical, "pair", "identical: counted as ties without a call"
    )
    lines += count_lines(
        "errors", summary.n_errors, "pair", "with an output that records an error; not judged"
    )
    out = summary.left_out
    for n, what, cases in (
        (out.n_only_a, "only in A", out.only_a),
        (out.n_only_b, "only in B", out.only_b),
        (out.n_other_input, "with different inputs", out.other_input),
    ):
        lines += count_lines("left out", n, "case", f"{what}: {some_names(cases, n)}")
    return lines + failure_lines(summary.failures, summary.failure_messages)


def _wins_table(rows: Mapping[str, WinFigures], title: str = "") -> Table:
    cells: list[tuple[str | Cell, ...]] = []
    for name, one in rows.items():
        counts = (f"{n:,}" for n in (one.wins, one.ties, one.inconsistent, one.losses))
        p = format_p_value(one.p, one.p_adjusted)
        cells.append((name, *counts, replace(rate_cell(one.rate), reference=_HALF), p))
    heads = ("", "A wins", "ties", "flips", "B wins", "A's share, 95 %", "p")
    return Table(text_columns(*heads), tuple(cells), title, _p_notes(rows.values()))


def _p_notes(rows: Iterable[WinFigures | ScoreDifference | None]) -> tuple[str, ...]:
    is_adjusted = any(one is not None and one.p_adjusted not in {None, one.p} for one in rows)
    return ("p of criteria: adjusted by Holm for their number",) if is_adjusted else ()


def _first_slot_bar(summary: ComparisonSummary) -> Table:
    """How often the output shown first wins, beside the line of one half."""
    found = summary.position
    rows = []
    if found is not None and not isnan(found.value):
        text = _bias_text(found, 0.5, ".0f", " %")
        bar = Cell(text, bar=IntervalBar(found, (-0.5, 0.5), 0))
        rows.append(("the output shown first", text, bar))
    columns = (Column("", "text"), Column("wins, 95 %"), Column("0 to 100 %, line at 50 %", "bar"))
    return Table(columns, tuple(rows), is_drawing=True)


def _segment_wins_table(rows: Mapping[str, WinFigures], title: str) -> Table:
    """The same with the number of cases; p, which decides nothing here, gives way to it."""
    table = _wins_table(rows, title)
    _, *counts, p = table.columns
    columns = (name_column(rows), Column("cases"), *counts, replace(p, may_drop=True))
    cells = zip(table.rows, rows.values(), strict=True)
    return replace(
        table,
        columns=columns,
        rows=tuple((row[0], f"{one.rate.n:,}", *row[1:]) for row, one in cells),
    )


_TESTS = {
    "mcnemar": "McNemar's test (mid-p), for pass or fail",
    "t": "the paired t test (15 cases or more)",
    "sign-flip": "an exact sign-flip test (fewer than 15 cases, or equal differences)",
}


def score_comparison_document(
    compared: ScoreComparison, cases: CaseTable | None = None
) -> Document:
    """A comparison of stored scores: the decision, the differences and their tests, the `cases`."""
    a, b = (message.printable(name, 40) for name in (compared.a, compared.b))
    measures = {"value": compared.value, "pass rate": compared.pass_rate}
    overall = {free_name(name, compared.criteria): one for name, one in measures.items()}
    leading = compared.value or compared.pass_rate
    # A missing value is no 0: such cases are left out, and the bounds show what they could do.
    sides = f"A for {compared.n_unscored_a:,}, B for {compared.n_unscored_b:,}"
    lines = [
        *count_lines("left out", compared.n_only_a, "case", "only in A"),
        *count_lines("left out", compared.n_only_b, "case", "only in B"),
        *count_lines("left out", compared.n_unscored, "case", f"with a missing value ({sides})"),
        *(("measured", note) for note in compared.notes),
    ]
    if compared.bounds is not None and compared.value is not None:
        bounds = "{:+.3f} to {:+.3f}".format(*compared.bounds)
        lines.append(("bounds", f"B - A would be {bounds} depending on the missing values"))
    if compared.anytime is not None:
        lines += _sequence_lines(compared.anytime)
    return Document(
        kind="Comparison of stored scores",
        title=f"A is {a}, B is {b}",
        conclusion=decision_conclusion(compared.decision, compared.a, compared.b),
        blocks=not_empty([
            _scores_table({**overall, **compared.criteria}),
            segment_block(
                compared.strata,
                compared.tags,
                _scores_table,
                size=lambda one: one.estimate.n,
                n_cases=0 if leading is None else leading.estimate.n,
            ),
            cases,
            Lines((*_test_lines(compared), *lines)),
        ]),
        data=lambda: asdict(compared),
    )  # fmt: skip


def _sequence_lines(found: Estimate) -> list[LabelledText]:
    """The confidence sequence that decides, and when it is valid."""
    interval = numbers.format_difference(found)
    words = f"B - A {interval}, a {100 * found.level:g} % confidence sequence: it decides"
    lines = [
        ("anytime", words),
        ("", "valid at any number of looks, if cases come in an order unrelated to their scores"),
    ]
    # Values that drift are the sign of an order that is not random.
    return lines if found.note is None else [*lines, ("warning", found.note)]


def _test_lines(compared: ScoreComparison) -> list[LabelledText]:
    lines = []
    leading = compared.value or compared.pass_rate
    if leading is not None and leading.p is not None:
        measure = "values" if compared.value is not None else "pass rates"
        lines.append(("test", f"{measure}, by {_TESTS[leading.test]}"))
        if leading.test != "mcnemar":
            lines += _second_opinions(leading, leading.p, compared.decision.alpha)
    changed = None if compared.pass_rate is None else compared.pass_rate.changed
    if changed is not None:
        only_a, only_b = (numbers.format_count(n, "case") for n in changed)
        lines.append(("passes", f"{only_a} only with A, {only_b} only with B"))
    return lines


def _second_opinions(found: ScoreDifference, first_p: float, alpha: float) -> list[LabelledText]:
    """Other tests of the same differences; they rest on other assumptions and decide nothing."""
    p = found.ranks.p_value
    agrees = (p <= alpha) == (first_p <= alpha)
    word = "agrees" if agrees else "disagrees: check single cases before relying on the result"
    return [
        ("also", f"Wilcoxon's signed ranks p {format_p_value(p)}: {word}"),
        ("", f"bootstrap over cases {numbers.format_mean(found.resampled, 3)}"),
        ("", f"B is higher on {numbers.format_rate(found.higher)} of cases, ties count half"),
    ]


def _scores_table(rows: Mapping[str, ScoreDifference | None], title: str = "") -> Table:
    return table_of(
        [(name, found) for name, found in rows.items() if found is not None],
        {
            "": lambda row: row[0],
            "cases": lambda row: f"{row[1].estimate.n:,}",
            "A": lambda row: f"{row[1].a:.3f}",
            "B": lambda row: f"{row[1].b:.3f}",
            "B - A": lambda row: replace(mean_cell(row[1].estimate, 3), reference=0.0),
            "p": lambda row: format_p_value(row[1].p, row[1].p_adjusted),
            "effect": lambda row: numbers.format_decimal(row[1].effect_size, "+.2f"),
            "detectable": lambda row: numbers.format_decimal(row[1].detectable, ".3f"),
        },
        title,
        _p_notes(rows.values()),
    )


def _judge_flag_words(flag: str, position: PositionBias | None) -> str:
    place = "second" if position is not None and position.value < 0 else "first"
    return {
        "position_bias": f"favours the output it sees {place}",
        "mostly_inconsistent": "contradicts itself on most pairs when the order is swapped",
    }[flag]


def panel_lines(panel: PanelFigures) -> list[LabelledText]:
    """How far the judges agree, and which of them are unreliable."""
    # Agreement is also high where one winner is frequent: alpha corrects for that chance.
    agreed = numbers.format_share(panel.agreed)
    beyond = ""
    if panel.alpha is not None and not isnan(panel.alpha.value):
        beyond = f" ({numbers.format_mean(panel.alpha)} by alpha)"
    lines = [("panel", f"each judge has one vote; two judges agree on {agreed} of winners{beyond}")]
    names = short_judge_names(one.judge for one in panel.judges)
    for one in panel.judges:
        if one.flags:
            words = "; ".join(_judge_flag_words(flag, one.position) for flag in one.flags)
            lines.append(("warning", f"{names[one.judge]} {words}"))
    return lines


def panel_table(panel: PanelFigures, *, wins: bool = True) -> Table:
    names = short_judge_names(one.judge for one in panel.judges)
    rows: list[tuple[str | Cell, ...]] = []
    for one in panel.judges:
        whole = one.whole
        counts = (f"{n:,}" for n in (whole.wins, whole.ties, whole.losses)) if wins else ()
        # Counted from one half, where there is no bias.
        points = numbers.DASH if one.position is None else _bias_text(one.position, 0, "+.0f")
        rows.append((names[one.judge], *counts, rate_cell(one.flip_rate), points))
    heads = (*(("A wins", "ties", "B wins") if wins else ()), "flips, 95 %", "position bias")
    return Table(text_columns("", *heads), tuple(rows), "Each judge")


def _bias_text(position: PositionBias, centre: float, form: str, unit: str = "") -> str:
    """A bias in hundredths with its interval, where there is one."""
    value, low, high = (
        numbers.format_decimal((centre + share) * 100, form)
        for share in (position.value, position.low, position.high)
    )
    return f"{value}{unit}{'' if isnan(position.low) else f' [{low}, {high}]'}"


# A wider matrix fits neither a terminal nor a page; every pair is in the JSON.
_MOST_IN_MATRIX = 10

_END_REASONS = {
    "decided": "the top places are decided",
    "comparisons": "the limit of comparisons is reached",
    "cost": "the cost limit allows no further call",
    "cases": "no cases are left for the pairs that matter",
    "model": "a model cannot be called",
    "interrupted": "interrupted",
}

_TIES = {
    "half": "half a win for each",
    "davidson": "a separate outcome, Davidson's nu",
    "rao-kupper": "a separate outcome, Rao and Kupper's theta",
}


def ranking_document(summary: RankingSummary, cases: CaseTable | None = None) -> Document:
    """A ranking: who is first, strengths with intervals, who won against whom, and the `cases`."""
    rubric = summary.questioned.rubric or ""
    sides = numbers.format_count(len(summary.sides), "variant")
    made = numbers.format_count(summary.n_comparisons, "comparison")
    counts = f"{sides}, {made} on {numbers.format_count(summary.n_cases, 'case')}"
    panel, is_small = summary.questioned.panel, len(summary.sides) <= _MOST_IN_MATRIX
    blocks: list[Block | None] = [
        _strengths(summary),
        _matrix(summary) if is_small else None,
        segment_block(
            summary.strata,
            summary.tags,
            _segment_wins,
            size=lambda one: one.n_cases,
            n_cases=summary.n_cases,
        ),
        None if panel is None else panel_table(panel, wins=False),
        cases,
        Lines(tuple(ranking_notes(summary))),
    ]
    tone: Tone = "better" if summary.decision.is_decided else "inconclusive"
    return Document(
        kind="Ranking",
        title=f"{rubric}: {counts}" if rubric else counts,
        conclusion=Conclusion(ranking_decision(summary.decision), tone),
        blocks=not_empty(blocks),
        data=lambda: asdict(summary),
    )


def _segment_wins(segments: Mapping[str, SegmentWins], title: str) -> Table:
    rows: list[tuple[str | Cell, ...]] = [
        (
            *(("", "") if number else (name, f"{one.n_cases:,}")),
            side,
            replace(rate_cell(rate), reference=_HALF),
        )
        for name, one in segments.items()
        for number, (side, rate) in enumerate(one.win_rates.items())
    ]
    names = (name_column(segments), Column("cases"), Column("variant", "text", max_width=40))
    columns = (*names, Column("wins, 95 %"))
    return Table(columns, tuple(rows), title)


def ranking_decision(decision: RankDecision) -> str:
    """Who is in the first places, or why that is undecided."""
    if decision.is_decided:
        names = decision.order
        who = f"{names[0]} is first" if len(names) == 1 else f"the order is {', '.join(names)}"
        return f"{who}: {decision.reason} (alpha {decision.alpha:g})"
    more = _needed_cases(decision.n_to_decide, "separate them")
    return f"no decision: {decision.reason} (alpha {decision.alpha:g}){more}"


def ranking_notes(summary: RankingSummary) -> list[LabelledText]:
    judging = summary.questioned
    lines = [("judge", message.without_folders(judge)) for judge in judging.judges]
    # A ranking of preferences from a file has no judge, and so nothing was spent.
    if judging.spent is not None:
        lines.append(("calls", numbers.format_spending(judging.spent)))
    lines += rule_lines(judging.rule)
    if judging.ended != "all":
        n_made = summary.n_comparisons + judging.n_errors
        made = f"after {n_made:,} of {judging.n_planned:,} comparisons"
        lines.append(("ended", f"{made}: {_END_REASONS[judging.ended]}"))
    if judging.is_adaptive:
        valid = "chosen adaptively: ranks and p-values are always-valid"
        lines.append(("pairs", f"{valid}, the intervals of the strengths are nominal"))
    # Strengths are only relative: without a link two groups share no scale.
    if len(summary.groups) > 1:
        groups = f"no decided comparison links these groups: {_joined_groups(summary.groups)}"
        lines.append(("groups", f"{groups}; ranks hold within each"))
    # A side that never lost has an infinite maximum-likelihood strength.
    if summary.levels:
        levels = f"only one side has ever won between {_joined_groups(summary.levels)}"
        shrunk = "each strength is shrunk by half a win and half a loss, and sign tests decide"
        lines.append(("one-way", f"{levels}: the distance has no upper bound; {shrunk}"))
    return [*lines, *_choice_lines(summary), *_left_out_lines(summary)]


def _choice_lines(summary: RankingSummary) -> list[LabelledText]:
    lines = []
    if not isnan(summary.flip_rate.value):
        flips = numbers.format_rate(summary.flip_rate)
        lines.append(("flips", f"{flips} of comparisons change with the order"))
    first = summary.position
    if first is None:
        lines.append(("position", f"position bias not estimated: {summary.position_reason}"))
    elif isnan(first.low):
        lines.append(("position", "no choice depended on the position"))
    else:
        odds = (exp(-log_odds) for log_odds in (first.value, first.low, first.high))
        value, low, high = (numbers.format_decimal(100 / (1 + odd), ".0f") for odd in odds)
        wins = f"between equal outputs the one shown first wins {value} % [{low}, {high}]"
        lines.append(("position", f"{wins}; strengths are corrected for it"))
    if summary.tie_share > 0:
        parameter = "" if summary.tie_parameter is None else f" {summary.tie_parameter:.2f}"
        share = f"{summary.tie_share * 100:.0f} %"
        lines.append(("ties", f"{share} of choices, counted as {_TIES[summary.ties]}{parameter}"))
    panel = summary.questioned.panel
    return lines if panel is None else [*lines, *panel_lines(panel)]


def _left_out_lines(summary: RankingSummary) -> list[LabelledText]:
    judging, lines = summary.questioned, []
    if summary.n_undecided:
        n = numbers.format_count(summary.n_undecided, "comparison")
        lines.append(("open", f"{n} undecided because of a failure; excluded"))
        for side in summary.sides[:_MOST_IN_MATRIX]:
            bounds, name = numbers.format_rate_range(*side.bounds), message.printable(side.name, 40)
            lines.append(("bounds", f"{bounds} wins of {name}, depending on these"))
    same = "of identical texts: counted as ties without a call"
    lines += count_lines("same", summary.n_identical, "comparison", same)
    errors = "with an output that records an error; not judged"
    lines += count_lines("errors", judging.n_errors, "comparison", errors)
    out = judging.left_out
    for n_cases, what, cases in (
        (out.n_only_a + out.n_only_b, "missing for some variants", (*out.only_a, *out.only_b)[:3]),
        (out.n_other_input, "with different inputs", out.other_input),
    ):
        lines += count_lines("left out", n_cases, "case", f"{what}: {some_names(cases, n_cases)}")
    return lines + failure_lines(judging.failures, judging.failure_messages)


def _strengths(summary: RankingSummary) -> Table:
    level = round((1 - summary.decision.alpha) * 100, 1)
    pairs = {(pair.a, pair.b): pair for pair in summary.pairs}
    rows, ends = [], set()
    for number, (side, shade) in enumerate(zip(summary.sides, _shades(summary.sides), strict=True)):
        below = summary.sides[number + 1 : number + 2]
        pair = pairs.get((side.name, below[0].name)) if below else None
        p = format_p_value(None if pair is None else pair.p_adjusted)
        cells = (f"{side.place}", side.name, *_strength_cells(side), p)
        rows.append(
            tuple(
                replace(cell, shade=shade) if isinstance(cell, Cell) else Cell(cell, shade=shade)
                for cell in cells
            )
        )
        if below and below[0].group != side.group:
            ends.add(number)
    heads = (f"strength, {level:g} %", "Elo", "wins", "rank", "p to next")
    columns = (Column("#"), Column("variant", "text", max_width=40), *map(Column, heads))
    notes = ("rank: the range of places that the comparisons allow",)
    return Table(columns, tuple(rows), notes=notes, rules_after=frozenset(ends))


def _shades(sides: Sequence[RankedSide]) -> Iterator[int]:
    """Sides whose places may be the same share a shade with those between them: 1 or 0 in turn."""
    shade = 1
    for n, side in enumerate(sides):
        worst = max((one.worst for one in sides[:n] if one.group == side.group), default=0)
        shade = 1 - shade if n and worst < side.best else shade
        yield shade


def _strength_cells(side: RankedSide) -> list[str | Cell]:
    if isnan(side.strength.value):
        return [numbers.DASH] * 4
    # The strength of a side that never lost, or never won, is only a bound.
    about = "≥ " if side.is_unbeaten else "≤ " if side.is_winless else ""
    places = f"{side.best}" if side.best == side.worst else f"{side.best}–{side.worst}"  # noqa: RUF001
    strength = mean_cell(side.strength)
    return [
        replace(strength, text=f"{about}{strength.text}", short=None),
        f"{side.elo:,.0f}",
        f"{side.win_share * 100:.0f} %",
        places,
    ]


def _matrix(summary: RankingSummary) -> Table:
    shares = {}
    for pair in summary.pairs:
        if not isnan(pair.share):
            shares[pair.a, pair.b] = f"{pair.share * 100:.0f}"
            shares[pair.b, pair.a] = f"{(1 - pair.share) * 100:.0f}"
    rows = tuple(
        (
            f"{number}",
            side.name,
            *(shares.get((side.name, other.name), numbers.DASH) for other in summary.sides),
        )
        for number, side in enumerate(summary.sides, start=1)
    )
    # Names as heads would not fit: a column is named by the place of its variant.
    heads = [Column(f"{number}") for number in range(1, len(summary.sides) + 1)]
    columns = (Column("#"), Column("variant", "text", max_width=40), *heads)
    return Table(columns, rows, "Wins of the row against the column, %")


def _joined_groups(groups: Iterable[Sequence[str]]) -> str:
    return " | ".join(map(some_names, groups))
