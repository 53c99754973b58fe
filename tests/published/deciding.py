"""The figures of judges that say yes or no, or choose between two, by the protocol."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from judgekit.stats.agreement import agreement_rate, cohen_kappa, scott_pi
from judgekit.stats.correlations import correlation
from judgekit.stats.intervals import mean, proportion
from judgekit.stats.paired import paired_proportions
from judgekit.stats.raters import fleiss_kappa
from judgekit.stats.rogan_gladen import corrected_pass_rate
from tests.published.correlating import alpha
from tests.published.material import judges_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.published.material import Figure, Figures, Rows

SIDES = ["A", "B", "tie"]
POINTS = {"A": 1.0, "B": 0.0, "tie": 0.5, None: 0.5}
FIRST = {"ab": "A", "ba": "B"}
OTHER = {"A": "B", "B": "A"}


def ttcw(rows: Rows) -> Figures:
    """Every figure of the tests of creative writing, by `judge/statistic`."""
    found: Figures = {}
    people = [int(sum(row["human"]) * 2 > len(row["human"])) for row in rows]
    for judge in judges_of(rows):
        # A judge without an answer said No, as its authors count it.
        said = [row["judge_parsed"].get(judge, [0])[0] for row in rows]
        own = _binary(said, people) | {"rogan_gladen_rate": _corrected(rows, said, people)}
        own["per_story_pearson"] = _per_story(rows, said, people)
        own["n_unreadable"] = {"value": said.count(None), "n": len(said)}
        found |= {f"{judge}/{name}": figure for name, figure in own.items()}
    found["experts/alpha_nominal"] = alpha([row["human"] for row in rows], "nominal")
    by_test = _by(rows, "criterion")
    kappas = {name: fleiss_kappa([r["human"] for r in own]).value for name, own in by_test.items()}
    for name, kappa in kappas.items():
        found[f"experts/fleiss_kappa[{name}]"] = {"value": kappa, "n": len(by_test[name])}
    met = {"value": mean([*kappas.values()]).value, "n": len(kappas)}
    found["experts/fleiss_kappa_mean_of_criteria"] = met
    for system, items in _by(rows, "system_id").items():
        votes = [vote for row in items for vote in row["human"]]
        passed = {"value": proportion(sum(votes), len(votes)).value, "n": len(votes)}
        found[f"experts/pass_rate[{system}]"] = passed
    return found


def pairs(rows: Rows) -> Figures:
    """Every figure of judges asked in both orders, by `judge/statistic`."""
    found: Figures = {}
    human = [row["human"] for row in rows]
    for judge in judges_of(rows):
        said = [row["judge_parsed"][judge] for row in rows]
        found |= {f"{judge}/{name}": one for name, one in pair_figures(said, human).items()}
    return found


def pair_figures(said: Sequence[dict[str, Any]], human: Sequence[str]) -> Figures:
    """Every figure of one judge: what it said in both orders, folded back, and the labels."""
    n = len(said)
    right = {order: [s[order] == h for s, h in _zip(said, human)] for order in FIRST}
    settled = [s["ab"] if s["ab"] == s["ba"] and s["ab"] else "tie" for s in said]
    both = [s for s in said if None not in s.values()]
    chosen = [(s[order], order) for s in said for order in FIRST if s[order] in OTHER]
    met = cohen_kappa([s["ab"] for s in both], [s["ba"] for s in both], labels=SIDES, ci="none")
    return {
        "accuracy_ab": share(right["ab"], interval=True),
        "accuracy_ba": share(right["ba"]),
        "accuracy_mean": share([*right["ab"], *right["ba"]], n=n),
        "accuracy_both": share([a and b for a, b in _zip(right["ab"], right["ba"])]),
        "position_conflict": share([s["ab"] != s["ba"] for s in said], interval=True),
        "kappa_orders": {"value": met.value, "n": n},
        "first_shown_rate": share([side == FIRST[order] for side, order in chosen], n=n),
        "swap_accuracy": share([_swap(s, h) > 0 for s, h in _zip(said, human)], interval=True),
        "consistent_or_tie_winrate_a": {"value": mean([POINTS[s] for s in settled]).value, "n": n},
        "agreement_consistent_or_tie": share([s == h for s, h in _zip(settled, human)]),
        "n_unreadable": {
            "value": sum(one is None for s in said for one in s.values()),
            "n": 2 * n,
        },
    }


def mcnemar(rows: Rows, one: str, other: str) -> Figure:
    """Two judges on the same pairs, by which of them reads the first order right."""
    a, b = ([row["judge_parsed"][j]["ab"] == row["human"] for row in rows] for j in (one, other))
    counts = [
        sum((x, y) == kind for x, y in _zip(a, b))
        for kind in ((True, True), (True, False), (False, True), (False, False))
    ]
    found = paired_proportions(*counts)
    return {"value": found.p_exact, "n": found.n, "discordant": counts[1:3]}


def reviews(rows: Rows) -> Figures:
    """The figures of one order of reviews with a score for each side, by `judge/statistic`."""
    human = [row["human"] for row in rows]
    found: Figures = {"human/labels": {"value": _counted(human), "n": len(human)}}
    for judge in judges_of(rows):
        said = [_winner(*row["judge_parsed"][judge]["ab"]) for row in rows]
        kappa = cohen_kappa(said, human, labels=SIDES, ci="none").value
        own: Figures = {
            "accuracy_ab": share([s == h for s, h in _zip(said, human)]),
            "cohen_kappa": {"value": kappa, "n": len(said)},
            "labels": {"value": _counted(said), "n": len(said)},
            "winrate_a_ties_half": {
                "value": mean([POINTS[s] for s in said]).value,
                "n": len(said),
            },
        }
        found |= {f"{judge}/{name}": figure for name, figure in own.items()}
    return found


def share(hits: Sequence[bool], *, n: int | None = None, interval: bool = False) -> Figure:
    """A share, over `n` where that counts items instead of hits."""
    found = proportion(sum(hits), len(hits))
    ends = {"wilson95": [found.low, found.high]} if interval else {}
    return {"value": found.value, "n": len(hits) if n is None else n, **ends}


def _binary(said: Sequence[int], people: Sequence[int]) -> Figures:
    true_pos = sum(s and h for s, h in _zip(said, people))
    recall = proportion(true_pos, sum(people)).value
    precision = proportion(true_pos, sum(said)).value
    true_neg = sum(not s and not h for s, h in _zip(said, people))
    tnr = proportion(true_neg, len(people) - sum(people)).value
    both = [[s, h] for s, h in _zip(said, people)]
    accuracy = agreement_rate(said, people)
    values = {
        "balanced_accuracy": (recall + tnr) / 2,
        "cohen_kappa": cohen_kappa(said, people, labels=[0, 1], ci="none").value,
        "f1": 2 * precision * recall / (precision + recall),
        "human_rate": proportion(sum(people), len(people)).value,
        "judge_rate": proportion(sum(said), len(said)).value,
        "phi": correlation(said, people, "pearson").value,
        "precision": precision,
        "recall": recall,
        "scott_pi": scott_pi(said, people).value,
    }
    found: Figures = {name: {"value": value, "n": len(said)} for name, value in values.items()}
    ends = [accuracy.low, accuracy.high]
    found["accuracy"] = {"value": accuracy.value, "n": len(said), "wilson95": ends}
    return found | {"alpha_nominal": alpha(both, "nominal")}


def _corrected(rows: Rows, said: Sequence[int], people: Sequence[int]) -> Figure:
    """Rogan and Gladen's rate; one half of the rows, by the hash of the id, calibrates."""
    even = [int(hashlib.sha256(r["id"].encode()).hexdigest(), 16) % 2 == 0 for r in rows]
    known = [(s, h) for s, h, e in zip(said, people, even, strict=True) if e]
    rest = [(s, h) for s, h, e in zip(said, people, even, strict=True) if not e]
    n_pos = sum(h for _, h in known)
    found = corrected_pass_rate(
        sum(s for s, _ in rest), len(rest), sum(s and h for s, h in known), n_pos,
        sum(not s and not h for s, h in known), len(known) - n_pos,
    )  # fmt: skip
    return {
        "value": found.value, "n": found.n, "n_calibration": len(known), "tpr": found.tpr,
        "tnr": found.tnr, "observed_rate": found.observed,
        "true_rate": proportion(sum(h for _, h in rest), len(rest)).value,
    }  # fmt: skip


def _per_story(rows: Rows, said: Sequence[int], people: Sequence[int]) -> Figure:
    """How many tests a story passes by the judge, and by the majority of experts."""
    judge: dict[str, float] = {}
    human: dict[str, float] = {}
    for row, one, other in zip(rows, said, people, strict=True):
        story = row["doc_id"]
        judge[story] = judge.get(story, 0) + one
        human[story] = human.get(story, 0) + other
    found = correlation([*judge.values()], [*human.values()], "pearson")
    return {"value": found.value, "n": found.n}


def _swap(said: dict[str, Any], human: str) -> int:
    return sum((s == human) - (s == OTHER.get(human)) for s in said.values() if s)


def _winner(x: float, y: float) -> str:
    return "tie" if x == y else "A" if x > y else "B"


def _counted(sides: Sequence[str]) -> dict[str, int]:
    return {side: sides.count(side) for side in SIDES}


def _by(rows: Rows, key: str) -> dict[str, Rows]:
    found: dict[str, Rows] = {}
    for row in rows:
        found.setdefault(row[key], []).append(row)
    return found


def _zip(a: Sequence[Any], b: Sequence[Any]) -> list[tuple[Any, Any]]:
    return list(zip(a, b, strict=True))
