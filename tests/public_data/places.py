"""Where each figure of the reference values stands in what `judgekit calibrate --json` prints.

A place is a path: `overall.groupings[case].within.kendall` is, in `overall`, the grouping of that
kind (a segment goes by its name). `n` stands beside the value, or has a place of its own.
"""

from __future__ import annotations

from math import atanh, sqrt, tanh
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.public_data.material import Figure, Figures

_METHODS = ("pearson", "spearman", "kendall")

Places = dict[str, tuple[str, ...]]
"""Where the value of a figure stands, and where its n, where that is not beside it."""

SCORES: Places = {
    **{f"pooled_{how}": (f"overall.agreement.{how}",) for how in _METHODS},
    **{f"per_document_{how}": (f"overall.groupings[case].within.{how}",) for how in _METHODS},
    **{f"per_system_{how}": (f"overall.groupings[variant].between.{how}",) for how in _METHODS},
    "mean_bias": ("overall.leniency.bias",),
    "mean_absolute_error": ("overall.leniency.mae",),
    "n_unreadable_samples": ("joined.n_judge_failures", "joined.n_answers"),
}
"""Of judges that score, on a scale of several levels."""

LEVELS: Places = {
    "qwk": ("overall.agreement.kappa_quadratic",),
    "cohen_kappa": ("overall.agreement.kappa",),
    "exact_agreement_with_median": ("overall.agreement.exact",),
}
"""Where people's labels are levels too."""

PEOPLE: Places = {
    "alpha_nominal": ("overall.people.alpha_nominal",),
    "alpha_ordinal": ("overall.people.alpha_ordinal",),
    "alpha_interval": ("overall.people.alpha_interval",),
    "mean_pairwise_qwk": ("overall.people.mean_pair_kappa", "overall.n_items"),
}
"""People among themselves."""

REPEATS: Places = {
    "mean_within_item_sd": ("overall.steadiness.within_sd", "overall.steadiness.n_items"),
    "self_consistency_alpha_interval": ("overall.steadiness.alpha_interval", "joined.n_labels"),
}
"""Of judges that were asked several times; the reference counts items without any reply too."""

ORDERS: Places = {
    "accuracy_ab": ("orders.accuracy_ab",),
    "accuracy_ba": ("orders.accuracy_ba",),
    "accuracy_mean": ("orders.accuracy_mean", "orders.n"),
    "accuracy_both": ("orders.accuracy_both",),
    "position_conflict": ("orders.position_conflict",),
    "kappa_orders": ("orders.kappa_orders", "orders.n"),
    "first_shown_rate": ("orders.first_shown", "orders.n"),
    "swap_accuracy": ("orders.swap_accuracy",),
    "consistent_or_tie_winrate_a": ("orders.win_rate_a",),
    "agreement_consistent_or_tie": ("orders.reconciled_accuracy",),
    "n_unreadable": ("orders.n_unusable", "orders.n_answers"),
}
"""Of judges that compare, below `overall` or a segment."""

ONE_ORDER: Places = {
    "accuracy_ab": ("orders.accuracy_ab",),
    "cohen_kappa": ("orders.kappa",),
    "winrate_a_ties_half": ("orders.win_rate_a",),
}
"""Of judges that compare and were asked in one order."""

YES_NO: Places = {
    "accuracy": ("pooled.pass_fail.accuracy",),
    "balanced_accuracy": ("pooled.pass_fail.balanced_accuracy", "pooled.n"),
    "cohen_kappa": ("pooled.pass_fail.kappa",),
    "f1": ("pooled.pass_fail.f1", "pooled.n"),
    "human_rate": ("pooled.pass_fail.human_rate",),
    "judge_rate": ("pooled.pass_fail.judge_rate",),
    "phi": ("pooled.pass_fail.phi",),
    "precision": ("pooled.pass_fail.precision", "pooled.n"),
    "recall": ("pooled.pass_fail.tpr", "pooled.n"),
    "scott_pi": ("pooled.agreement.scott_pi",),
    "alpha_nominal": ("pooled.agreement.alpha",),
    "n_unreadable": ("joined.n_judge_failures", "joined.n_answers"),
}
"""Of judges that say yes or no on several criteria, all together."""

PER_STORY: Places = {"per_story_pearson": ("overall.groupings[case].between.pearson",)}
"""The same, story by story, held against a majority that is handed in as one annotator."""

EXPERTS: Places = {
    "alpha_nominal": ("pooled.people.alpha_nominal",),
    "fleiss_kappa_mean_of_criteria": (
        "mean_of_criteria.people_fleiss_kappa",
        "mean_of_criteria.n_criteria",
    ),
}
"""Their annotators among themselves."""

CORRECTED: dict[str, str] = {
    "value": "overall.corrected_rate.corrected.value",
    "n": "overall.corrected_rate.n_unlabelled",
    "n_calibration": "overall.corrected_rate.n_labels",
    "observed_rate": "overall.corrected_rate.raw.value",
    "tpr": "overall.pass_fail.tpr.value",
    "tnr": "overall.pass_fail.tnr.value",
}
"""Rogan and Gladen's rate, with `--labels-are other` and the labels of a part."""

CONFIDENCE: Places = {
    "accuracy": ("overall.trust.accuracy",),
    "mean_confidence": ("overall.trust.mean_confidence", "overall.trust.n"),
    "ece_10": ("overall.trust.before.ece.value", "overall.trust.n"),
    "brier_of_being_right": ("overall.trust.before.brier.brier", "overall.trust.n"),
    "auroc_confidence_vs_right": ("overall.trust.before.auroc", "overall.trust.n"),
    "accuracy_top_half_confidence": ("overall.trust.accuracy_top_half", "overall.trust.n_top_half"),
}
"""Of judges that say how sure they are."""

STAND_IN: Places = {
    "omega": ("overall.stand_in.test.winning_rate", "overall.stand_in.test.raters"),
    "rho": ("overall.stand_in.test.advantage_probability", "overall.stand_in.test.raters"),
}
"""The alternative annotator test."""

ANNOTATORS: Places = {
    "mean_of_annotators_pearson": ("overall.people.mean_pearson",),
    "pooled_pearson_with_mean_annotation": ("overall.agreement.pearson",),
}
"""Judge and annotators, by number."""


MAJORITY: Places = {"accuracy_vs_first_majority": ("overall.agreement.exact",)}
"""Judge and a majority that is handed in as one annotator."""


def at(report: Mapping[str, Any], path: str) -> Any:
    """What stands at a path of a report.

    Args:
        report: The JSON.
        path: The place.

    Returns:
        The value there.
    """
    found: Any = report
    for step in path.split("."):
        name, _, wanted = step.partition("[")
        found = found[name]
        if wanted:
            chosen = wanted.rstrip("]").replace("·", ".")
            found = next(one for one in found if chosen in (one.get("name"), one["kind"]))
    return found


def figures(report: Mapping[str, Any], places: Places, below: str = "") -> Figures:
    """The figures that stand at some places.

    Args:
        report: The JSON.
        places: Their places.
        below: What the places lie below, with a dot at its end.

    Returns:
        Each with its value, n, and both ends where it has an interval.
    """
    return {name: _figure(report, below, *where) for name, where in places.items()}


def _figure(report: Mapping[str, Any], below: str, where: str, n: str | None = None) -> Figure:
    found = at(report, below + where)
    count = None if n is None else at(report, n if n.startswith(_ROOTS) else below + n)
    if isinstance(count, list):
        count = len(count)
    if not isinstance(found, dict):
        return {"value": found, "n": count}
    ends = [found["low"], found["high"]]
    known = found["n"] if count is None else count
    value = found["value"]
    return {"value": value, "n": known, "fisher95": _fisher(value, known), "wilson95": ends}


_FISHER_NEEDS = 3
"""Its standard error is 1 / sqrt(n - 3)."""


def _fisher(r: float | None, n: int) -> list[float] | None:
    """The authors' interval; the report has one that holds for coarse scores too."""
    if r is None or n <= _FISHER_NEEDS or abs(r) >= 1:
        return None
    half = NormalDist().inv_cdf(0.975) / sqrt(n - _FISHER_NEEDS)
    return [tanh(atanh(r) - half), tanh(atanh(r) + half)]


_ROOTS = ("overall.", "pooled.", "joined.", "mean_of_criteria.")
