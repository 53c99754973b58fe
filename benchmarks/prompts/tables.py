"""The figures of cells as tables: those of `judgekit.calibrate` and of `judgekit.stats`.

Answers are only mapped to outcomes here; every interval is clustered by case.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

import judgekit as jk
from benchmarks.prompts.cells import Cell, Record, overall_choices, records_of
from judgekit import calibration, evaluation
from judgekit.errors import NotEnoughDataError
from judgekit.records import WINNER_POINTS, preferred_output
from judgekit.report import Table, document, numbers, rate_cell
from judgekit.stats.intervals import mean, pooled_proportion
from judgekit.stats.method_comparison import correlation
from judgekit.stats.paired import bounded_difference, paired_difference

if TYPE_CHECKING:
    from judgekit.calibration import AlignedItems, OutputKey
    from judgekit.stats.estimate import Estimate

LEVEL = 0.95
Row = dict[str, str | document.Cell]


def tables(cells: Sequence[Cell]) -> list[Table]:
    """Agreement, habits and replies of the cells of one set, and differences from the first."""
    answered = [cell for cell in cells if cell.answers]
    measured = [(_pair_rows if c.labelled.is_pairs else _score_rows)(c) for c in answered]
    apart: list[Row] = []
    for cell in answered[1:]:
        differences = _more_right if cell.labelled.is_pairs else _more_alike
        apart += [{"template": cell.template, **row} for row in differences(answered[0], cell)]
    name, reference = cells[0].labelled.name, answered[0].template if answered else ""
    agreement = [row for rows, _ in measured for row in rows]
    habits = [row for _, row in measured]
    titles = {
        "agreement with human labels": agreement,
        "habits and replies, tokens of all calls about an item": habits,
        f"more than {reference}, on the same items": apart,
    }
    return [_table(f"{name}: {title}", rows) for title, rows in titles.items() if rows]


def _table(title: str, rows: Sequence[Row]) -> Table:
    return Table(document.text_columns(*rows[0]), tuple(tuple(row.values()) for row in rows), title)


def _pair_rows(cell: Cell) -> tuple[list[Row], Row]:
    report, outcomes = cell.report, _outcomes(cell)
    names = ("a first", "b first", "both", "averaged")
    right = {n: _share((one[n], key.case_id) for key, one in outcomes.items()) for n in names}
    head: Row = {"template": cell.template}
    row: Row = {**head, "n": str(len(outcomes)), "open": str(cell.n_open), **right}
    choices = [one for answer in cell.answers.values() for one in overall_choices(answer)]
    habits: Row = {
        **head,
        "ties": _share((float(one.choice == "tie"), one.case_id) for one in choices),
    }
    if (orders := report.overall.orders) is not None:
        habits["flips"] = rate_cell(orders.position_conflict)
        habits["first place"] = rate_cell(orders.first_shown)
    n_right = sum(one["averaged"] for one in outcomes.values())
    return [row], {**habits, **_replies(cell, n_right)}


def _outcomes(cell: Cell) -> dict[OutputKey, dict[str, float]]:
    """How each labelled pair was judged: 1 right, 0 not; an unusable reply is not right.

    `averaged` goes by the average preference of both orders, in probabilities where the judge gives
    them; an even average is not right.
    """
    sides = {points: side for side, points in WINNER_POINTS.items()}
    parts = cell.report.aligned.values()
    labels = {item.place: sides.get(part.label(item)) for part in parts for item in part.items}
    found = {}
    for key, answer in cell.answers.items():
        if key not in labels or not isinstance(answer, jk.Comparison):
            continue
        right = {
            one.order: float(preferred_output(one.choice, one.order) == labels[key])
            for one in overall_choices(answer)
        }
        ab, ba = right.get("ab", 0.0), right.get("ba", 0.0)
        averaged = float(answer.winner == labels[key])
        found[key] = {"a first": ab, "b first": ba, "both": ab * ba, "averaged": averaged}
        found[key]["single"] = (ab + ba) / 2
    return found


def _score_rows(cell: Cell) -> tuple[list[Row], Row]:
    """Spread is that of the judge's scores through that of the labels."""
    head: Row = {"template": cell.template}
    rows: list[Row] = []
    for name, one in cell.report.criteria.items():
        used = one.leniency.judge_levels
        rows.append({
            **head, "criterion": name, "n": str(one.n), "open": str(cell.n_open),
            "rho": document.mean_cell(one.agreement.spearman),
            "kappa": document.mean_cell(one.agreement.kappa_quadratic),
            "exact": rate_cell(one.agreement.exact),
            "spread": document.mean_cell(one.leniency.scale_use),
            "levels used": numbers.DASH if used is None else str(used.n_distinct),
            "commonest": numbers.DASH if used is None else numbers.format_share(used.modal_share),
        })  # fmt: skip
    every = [one for one in cell.report.criteria.values() if one.n]
    return rows, {**head, **_replies(cell, sum(one.agreement.exact.value * one.n for one in every))}


def _replies(cell: Cell, n_right: float) -> Row:
    answers = {key: records_of(answer) for key, answer in cell.answers.items()}
    every = [one for records in answers.values() for one in records]
    failed = jk.PreferenceFailure | jk.JudgeFailure
    usages = {key: own for key, records in answers.items() if (own := _usages(records))}
    prices = [one.price_usd for one in every if one.price_usd is not None]
    is_priced = n_right > 0 and len(prices) == len(every)
    return {
        "unusable": _share((float(isinstance(one, failed)), one.case_id) for one in every),
        "evidence found": _share(
            (float(quote.found), one.case_id) for one in every for quote in _quotes(one)
        ),
        "prompt": _mean({key: sum(u.input_tokens for u in own) for key, own in usages.items()}),
        "reply": _mean({key: sum(u.output_tokens for u in own) for key, own in usages.items()}),
        "price per right": numbers.format_usd(sum(prices) / n_right if is_priced else None),
    }


def _usages(records: Sequence[Record]) -> list[jk.Usage]:
    """The tokens of all replies about an item; none where one of them does not name its own."""
    # A joint reply names them once, with its first part.
    usages = [one.usage for one in records if one.usage is not None]
    return usages if len(usages) >= len(evaluation.one_per_reply(records)) else []


def _quotes(one: object) -> Sequence[jk.Evidence]:
    if isinstance(one, jk.Preference):
        return (*one.evidence_first, *one.evidence_second)
    return one.evidence if isinstance(one, jk.Judgment) else ()


def _share(outcomes: Iterable[tuple[float, Hashable]]) -> document.Cell:
    rows = list(outcomes)
    return rate_cell(
        calibration.estimate_or_undefined(
            pooled_proportion, [x for x, _ in rows], [case for _, case in rows], level=LEVEL
        )
    )


def _mean(tokens: Mapping[OutputKey, float]) -> document.Cell:
    cases = [key.case_id for key in tokens]
    found = mean(list(tokens.values()), clusters=cases, level=LEVEL) if tokens else None
    return document.mean_cell(found, 0)


def _more_right(a: Cell, b: Cell) -> list[Row]:
    """How much more often B is right."""
    left, right = _outcomes(a), _outcomes(b)
    shared = [key for key in left if key in right]
    row: Row = {"n": str(len(shared))}
    for name in ("single", "both", "averaged"):
        x, y = ([of[key][name] for key in shared] for of in (left, right))
        try:
            gap = paired_difference(x, y, clusters=[key.case_id for key in shared], level=LEVEL)
        except NotEnoughDataError:
            return []
        gap = bounded_difference(gap)
        row[name] = document.Cell(numbers.format_rate_difference(gap), estimate=gap)
        # Without an item that differs there is no p.
        row[f"p {name}"] = numbers.format_p_value(None if isnan(gap.p_value) else gap.p_value)
    return [row]


def _more_alike(a: Cell, b: Cell) -> list[Row]:
    """How much higher the rank correlation of B is, by criterion."""
    shared = [name for name in a.report.criteria if name in b.report.criteria]
    gaps: dict[str, Estimate] = {}
    for name in shared:
        with suppress(NotEnoughDataError):
            gaps[name] = _higher_rho(a.report.aligned[name], b.report.aligned[name])
    return [
        {"criterion": name, "n": str(gap.n), "rho": document.difference_cell(gap)}
        for name, gap in gaps.items()
    ]


def _higher_rho(a: AlignedItems, b: AlignedItems) -> Estimate:
    of_a, of_b = ({item.place: item for item in part.both} for part in (a, b))
    shared = [place for place in of_a if place in of_b]
    x, y = (
        np.array([(of[place].judge, calibration.mean_rating(of[place])) for place in shared])
        for of in (of_a, of_b)
    )

    def rho(rows: np.ndarray) -> float:
        judge, human = rows.T.tolist()
        return correlation(judge, human).value

    clusters = [of_a[place].cluster for place in shared]
    return calibration.coefficient_difference("rho", x, y, rho, clusters, level=LEVEL)
