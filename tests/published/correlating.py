"""The figures of judges that score single outputs, by the protocol of the reference values."""

from __future__ import annotations

from math import floor
from statistics import median, stdev
from typing import TYPE_CHECKING, Any

from judgekit.stats.agreement import agreement_rate, cohen_kappa
from judgekit.stats.alpha import krippendorff_alpha
from judgekit.stats.correlations import correlation, grouped_correlation
from judgekit.stats.intervals import mean
from tests.published.material import judges_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from judgekit.stats.correlations import CorrelationMethod
    from tests.published.material import Figure, Figures, Rows

METHODS: tuple[CorrelationMethod, ...] = ("pearson", "spearman", "kendall")
LEVELS = [1, 2, 3, 4, 5]

Scored = tuple[dict[str, Any], float]


def scored_items(rows: Rows, judge: str) -> list[Scored]:
    """Items with the mean of the judge's readable samples; those without one are left out."""
    readable = [(row, _readable(row, judge)) for row in rows]
    return [(row, mean(samples).value) for row, samples in readable if samples]


def coefficients(items: Sequence[Scored]) -> Figures:
    """Pooled over items, within documents, and between systems."""
    human = [row["human_mean"] for row, _ in items]
    judge = [score for _, score in items]
    documents, systems = ([row[key] for row, _ in items] for key in ("doc_id", "system_id"))
    found: Figures = {}
    for method in METHODS:
        pooled = correlation(judge, human, method)
        found[f"pooled_{method}"] = {"value": pooled.value, "n": pooled.n}
        if method == "pearson":
            found["pooled_pearson"]["fisher95"] = [pooled.low, pooled.high]
        within = grouped_correlation(judge, human, documents, method)
        found[f"per_document_{method}"] = {"value": within.value, "n": within.n}
        between = correlation(_means(judge, systems), _means(human, systems), method)
        found[f"per_system_{method}"] = {"value": between.value, "n": between.n}
    return found


def errors(rows: Rows, items: Sequence[Scored], judge: str) -> Figures:
    """Distance to the people's mean, and samples that nobody could read."""
    gaps = [score - row["human_mean"] for row, score in items]
    samples = [one for row in rows for one in row["judge_parsed"].get(judge, ())]
    return {
        "mean_bias": {"value": mean(gaps).value, "n": len(gaps)},
        "mean_absolute_error": {"value": mean([abs(gap) for gap in gaps]).value, "n": len(gaps)},
        "n_unreadable_samples": {"value": samples.count(None), "n": len(samples)},
    }


def summeval(rows: Rows, reader: Callable[[str], float | None]) -> Figures:
    """Every figure of one criterion of SummEval, by `judge/statistic`."""
    found: Figures = {}
    for judge in judges_of(rows):
        items = scored_items(rows, judge)
        own = coefficients(items) | errors(rows, items, judge) | _on_levels(items)
        if judge.endswith("/rts") and not judge.startswith("llama"):
            own |= _authors_pooled(rows, judge, reader)
        found |= {f"{judge}/{name}": figure for name, figure in own.items()}
    experts = [row["human"] for row in rows]
    found["crowd/alpha_ordinal"] = alpha([row["human_crowd"] for row in rows], "ordinal")
    for level in ("nominal", "ordinal", "interval"):
        found[f"experts/alpha_{level}"] = alpha(experts, level)
    pairs = [(a, b) for a in range(3) for b in range(a)]
    agreed = [_qwk([e[a] for e in experts], [e[b] for e in experts]) for a, b in pairs]
    found["experts/mean_pairwise_qwk"] = {"value": mean(agreed).value, "n": len(rows)}
    crowd = [mean(row["human_crowd"]).value for row in rows]
    met = correlation(crowd, [row["human_mean"] for row in rows], "spearman")
    found["crowd_mean/pooled_spearman_with_experts"] = {"value": met.value, "n": met.n}
    return found


def topical(rows: Rows, reader: Callable[[str], float]) -> Figures:
    """Every figure of one criterion of Topical-Chat, by `judge/statistic`."""
    found: Figures = {}
    for judge in judges_of(rows):
        items = scored_items(rows, judge)
        samples = [_readable(row, judge) for row in rows]
        spread = [stdev(one) for one in samples if len(one) > 1]
        own = coefficients(items) | errors(rows, items, judge)
        own["mean_within_item_sd"] = {"value": mean(spread).value, "n": len(spread)}
        width = max(map(len, samples))
        whole = [[*one, *[None] * (width - len(one))] for one in samples]
        own["self_consistency_alpha_interval"] = alpha(whole, "interval")
        theirs = [
            (row, mean([reader(text) for text in row["judge"][judge]]).value) for row, _ in items
        ]
        figures = coefficients(theirs)
        for name in ("pooled_pearson", "per_document_kendall"):
            kept = {key: figures[name][key] for key in ("value", "n")}
            own[f"authors_reading_{name}"] = kept
        found |= {f"{judge}/{name}": figure for name, figure in own.items()}
    return found


def prometheus(rows: Rows) -> Figures:
    """Every figure of Prometheus' three samples, by `judge/statistic`."""
    found: Figures = {}
    for judge in judges_of(rows):
        samples = [row["judge_parsed"][judge] for row in rows]
        same = [float(len(set(one)) == 1) for one in samples]
        own: Figures = {"all_three_equal": {"value": mean(same).value, "n": len(same)}}
        for level in ("ordinal", "interval"):
            own[f"self_consistency_alpha_{level}"] = alpha(samples, level)
        by_system = _grouped(
            [mean(one).value for one in samples], [row["system_id"] for row in rows]
        )
        for system, scores in by_system.items():
            own[f"mean_score[{system}]"] = {"value": mean(scores).value, "n": len(scores)}
        found |= {f"{judge}/{name}": figure for name, figure in own.items()}
    return found


def alpha(ratings: Sequence[Sequence[Any]], level: Any) -> Figure:
    """Krippendorff's alpha of some ratings."""
    found = krippendorff_alpha(ratings, level, ci="none")
    return {"value": found.value, "n": len(ratings)}


def half_up(score: float) -> int:
    """The nearest level, a half up."""
    return floor(score + 0.5)


def _readable(row: dict[str, Any], judge: str) -> list[float]:
    return [one for one in row["judge_parsed"].get(judge, ()) if one is not None]


def _on_levels(items: Sequence[Scored]) -> Figures:
    judge = [half_up(score) for _, score in items]
    human = [half_up(median(row["human"])) for row, _ in items]
    n = len(items)
    plain = cohen_kappa(judge, human, labels=LEVELS, ci="none")
    return {
        "qwk": {"value": _qwk(judge, human), "n": n},
        "cohen_kappa": {"value": plain.value, "n": n},
        "exact_agreement_with_median": {"value": agreement_rate(judge, human).value, "n": n},
    }


def _qwk(a: Sequence[int], b: Sequence[int]) -> float:
    return cohen_kappa(a, b, labels=LEVELS, weights="quadratic", ci="none").value


def _authors_pooled(rows: Rows, judge: str, reader: Callable[[str], float | None]) -> Figures:
    theirs = [reader(row["judge"][judge][0]) for row in rows]
    human = [row["human_mean"] for row in rows]
    found = {method: correlation(theirs, human, method) for method in METHODS}
    return {
        f"authors_reading_pooled_{method}": {"value": one.value, "n": one.n}
        for method, one in found.items()
    }


def _means(values: Sequence[float], groups: Sequence[str]) -> list[float]:
    return [mean(own).value for own in _grouped(values, groups).values()]


def _grouped(values: Sequence[float], groups: Sequence[str]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for value, group in zip(values, groups, strict=True):
        found.setdefault(group, []).append(value)
    return found
