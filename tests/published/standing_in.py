"""The figures of labels without words: annotators and models, confidences, win rates."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from judgekit.stats.correlations import correlation
from judgekit.stats.discrimination import auroc
from judgekit.stats.intervals import mean, proportion
from judgekit.stats.ranking import bradley_terry
from judgekit.stats.reliability import brier_decomposition, ece
from judgekit.stats.replacement import alt_test
from tests.published.correlating import alpha
from tests.published.material import judges_of

if TYPE_CHECKING:
    from tests.published.material import Figures, Rows

MIN_ITEMS = 30


def annotators(rows: Rows, *, epsilon: float) -> Figures:
    """Every figure of one data set of the alternative annotator test, by `judge/statistic`."""
    people = sorted({who for row in rows for who in row["human"]})
    numeric = all(isinstance(one, int | float) for row in rows for one in row["human"].values())
    table = [[row["human"].get(who) for who in people] for row in rows]
    found: Figures = {}
    for level in ("ordinal", "interval") if numeric else ("nominal",):
        found[f"annotators/alpha_{level}"] = alpha(table, level)
    humans = {w: {r["id"]: r["human"][w] for r in rows if w in r["human"]} for w in people}
    codes = {label: at for at, label in enumerate(sorted({*_labels(rows)}, key=str))}
    for judge in judges_of(rows):
        said = {row["id"]: row["judge_parsed"].get(judge) for row in rows}
        own: Figures = {}
        if numeric:
            own |= _correlations(rows, humans, said)
            test = alt_test(humans, said, score="neg_rmse", epsilon=epsilon)
        else:
            coded = {w: {i: codes[one] for i, one in by.items()} for w, by in humans.items()}
            answers = {i: codes.get(one) for i, one in said.items()}
            test = alt_test(coded, answers, score="accuracy", epsilon=epsilon)
            own |= _first_majority(rows, judge)
        n = len(test.raters)
        policy = {"epsilon": epsilon, "scoring": "neg_rmse" if numeric else "accuracy"}
        own["omega"] = {"value": test.winning_rate, "n": n, **policy}
        own["rho"] = {"value": test.advantage_probability, "n": n}
        found |= {f"{judge}/{name}": figure for name, figure in own.items()}
    return found


def confidences(rows: Rows) -> Figures:
    """Every figure of judges that say how probable each side is, by `judge/statistic`."""
    found: Figures = {}
    for judge in rows[0]["judge_probability"]:
        sides = [row["judge_probability"][judge] for row in rows]
        sure = [max(one.values()) / sum(one.values()) for one in sides]
        chosen = ["A" if one["A"] > one["B"] else "B" for one in sides]
        right = [float(c == row["human"]) for c, row in zip(chosen, rows, strict=True)]
        order = sorted(range(len(rows)), key=lambda at: -sure[at])[: len(rows) // 2]
        values = {
            "accuracy": mean(right).value,
            "mean_confidence": mean(sure).value,
            "ece_10": ece(sure, right).value,
            "brier_of_being_right": brier_decomposition(sure, right).brier,
            "auroc_confidence_vs_right": auroc(sure, right).value,
        }
        own: Figures = {name: {"value": one, "n": len(rows)} for name, one in values.items()}
        top = {"value": mean([right[at] for at in order]).value, "n": len(order)}
        own["accuracy_top_half_confidence"] = top
        found |= {f"{judge}/{name}": figure for name, figure in own.items()}
    return found


def win_rates(rows: Rows) -> Figures:
    """The leaderboard figures of each row of preferences, by `judge/system/statistic`."""
    found: Figures = {}
    for row in rows:
        pairs = zip(row["preference"], row["len_a"], row["len_b"], strict=True)
        known = [(_share_b(p), a, b) for p, a, b in pairs if p is not None]
        shares = [share for share, _, _ in known]
        rate, n = mean(shares), len(shares)
        error = (sum((s - rate.value) ** 2 for s in shares) / (n - 1) / n) ** 0.5
        unlike = [(s, a, b) for s, a, b in known if a != b and s != _EVEN]
        longer = sum((s > _EVEN) == (b > a) for s, a, b in unlike)
        counts = [sum(s > _EVEN for s in shares), sum(s < _EVEN for s in shares)]
        own: Figures = {
            "win_rate_percent": {"value": 100 * rate.value, "n": n},
            "standard_error_percent": {"value": 100 * error, "n": n},
            "wins_losses_draws": {"value": [*counts, n - sum(counts)], "n": n},
            "share_longer_preferred": {
                "value": proportion(longer, len(unlike)).value,
                "n": len(unlike),
            },
        }
        key = f"{row['judge_name']}/{row['system_b']}"
        found |= {f"{key}/{name}": figure for name, figure in own.items()}
    return found


def strengths(rows: Rows) -> Figures:
    """Log-strengths and order of the systems of all reviews, by `judge/statistic`."""
    found: Figures = {}
    systems = sorted({row[side] for row in rows for side in ("system_a", "system_b")})
    for judge in judges_of(rows):
        results: list[Any] = []
        for row in rows:
            x, y = row["judge_parsed"][judge]["ab"]
            sides = {"i": systems.index(row["system_a"]), "j": systems.index(row["system_b"])}
            counts = {"wins_i": float(x > y), "wins_j": float(x < y), "ties": float(x == y)}
            results.append(sides | counts)
        fit = bradley_terry(results, len(systems))
        values = dict(zip(systems, fit.ratings, strict=True))
        ranking = sorted(systems, key=lambda system: -values[system])
        own = {"value": values, "n": len(results), "ranking": ranking}
        found[f"{judge}/bradley_terry_log_strength"] = own
    return found


_EVEN = 0.5


def _share_b(preference: float) -> float:
    """The chance that the system wins; 0 and 1.5 are draws."""
    return _EVEN if preference == 0 else preference - 1


def _labels(rows: Rows) -> list[Any]:
    said = [one for row in rows for one in row["human"].values()]
    return said + [one for row in rows for one in row["judge_parsed"].values() if one is not None]


def _correlations(rows: Rows, humans: dict[str, dict[str, Any]], said: dict[str, Any]) -> Figures:
    enough = [by for by in humans.values() if len(by) >= MIN_ITEMS]
    single = [correlation([said[i] for i in by], [*by.values()], "pearson").value for by in enough]
    means = [mean([*row["human"].values()]).value for row in rows]
    pooled = correlation([said[row["id"]] for row in rows], means, "pearson")
    return {
        "mean_of_annotators_pearson": {"value": mean(single).value, "n": len(single)},
        "pooled_pearson_with_mean_annotation": {"value": pooled.value, "n": pooled.n},
    }


def _first_majority(rows: Rows, judge: str) -> Figures:
    """The majority; of a tied vote the label met first."""
    tops = [Counter(row["human"].values()).most_common(1)[0][0] for row in rows]
    right = [top == row["judge_parsed"].get(judge) for top, row in zip(tops, rows, strict=True)]
    value = proportion(sum(right), len(right)).value
    return {"accuracy_vs_first_majority": {"value": value, "n": len(right)}}
