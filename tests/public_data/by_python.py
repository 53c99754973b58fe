"""Figures of the published sets that take no labels: of `judgekit rank`, and counted in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import judgekit as jk
from judgekit.stats.alpha import krippendorff_alpha
from judgekit.stats.intervals import mean
from tests.public_data.by_command import of_pairs
from tests.public_data.door import own, ranked, replies, results
from tests.public_data.material import judges_of, rows_of

if TYPE_CHECKING:
    from tests.public_data.material import Figures


def prometheus(stem: str) -> Figures:
    """Every figure of a judge that was asked three times, by `judge/statistic`."""
    name = "prometheus_rubric"
    found: Figures = {}
    for judge in judges_of(rows_of(f"{name}/{stem}")):
        said = jk.read_replies(
            replies(name, stem, judge), template="pointwise/prometheus",
            rubric=own(name, f"{stem}.rubric.json"),
        )  # fmt: skip
        verdicts = [one for one in said if isinstance(one, jk.Verdict)]
        samples = [[one.raw for one in verdict.judgments] for verdict in verdicts]
        same = [float(len(set(one)) == 1) for one in samples]
        mine: Figures = {"all_three_equal": {"value": mean(same).value, "n": len(same)}}
        for level in ("ordinal", "interval"):
            alpha = krippendorff_alpha(samples, level, ci="none")
            mine[f"self_consistency_alpha_{level}"] = {"value": alpha.value, "n": len(samples)}
        by_system: dict[str, list[float]] = {}
        for verdict, one in zip(verdicts, samples, strict=True):
            by_system.setdefault(str(verdict.variant), []).append(mean(one).value)
        for system, scores in by_system.items():
            mine[f"mean_score[{system}]"] = {"value": mean(scores).value, "n": len(scores)}
        found |= {f"{judge}/{name_}": figure for name_, figure in mine.items()}
    return found


def strengths() -> Figures:
    """Log-strengths and order of the systems of all reviews, by `judge/statistic`."""
    name, stem = "vicuna80", "pairwise_all_models"
    found: Figures = {}
    for judge in judges_of(rows_of(f"{name}/{stem}")):
        said = jk.read_replies(replies(name, stem, judge), template="pairwise/fair_eval")
        ranked = jk.rank_comparisons([one for one in said if isinstance(one, jk.Comparison)])
        found[f"{judge}/bradley_terry_log_strength"] = {
            "value": {side.name: side.strength.value for side in ranked.sides},
            "n": len(said),
            "ranking": [side.name for side in ranked.sides],
        }
    return found


def mcnemar(one: str, other: str) -> Figures:
    """Two judges of LLMBar on the same pairs, by which of them reads the first order right."""
    first, second = (_first_order(judge) for judge in (one, other))
    found = first.against(second)[""]
    discordant = [found.n_only_this, found.n_only_other]
    return {"mcnemar_exact_p": {"value": found.p_exact, "n": found.n, "discordant": discordant}}


def _first_order(judge: str) -> jk.CalibrationReport:
    """One order of a judge of LLMBar, as it stands in the recorded words."""
    told = of_pairs(judge)
    read = told.told.readings | {part.reading: part.theirs for part in told.partings}
    said = [
        {"case_id": case, "order": order, "winner": winner}
        for (case, _, _, order, _), winner in read.items()
        if order == "ab"
    ]
    return jk.calibrate(said, own("llmbar", "pairwise.labels.jsonl"))


def win_rates() -> Figures:
    """The leaderboard figures of each row of preferences, by `judge/system/statistic`."""
    found: Figures = {}
    for row in rows_of("alpaca_winrates/preferences"):
        judge, system = row["judge_name"], row["system_b"]
        report = ranked(results("alpaca_winrates", "preferences", f"{judge}.{system}"))
        side = next(one for one in report["sides"] if one["name"] == system)
        rate, n = side["win_rate"], side["n_comparisons"]
        met = report["pairs"][0]
        wins = met["wins"], met["losses"]
        counts = [*(wins if met["a"] == system else wins[::-1]), met["ties"]]
        mine: Figures = {
            "win_rate_percent": {"value": 100 * rate["value"], "n": n},
            "standard_error_percent": {"value": 100 * rate["se"], "n": n},
            "wins_losses_draws": {"value": counts, "n": sum(counts)},
            "share_longer_preferred": _longer(row),
        }
        found |= {f"{judge}/{system}/{name}": figure for name, figure in mine.items()}
    return found


def _longer(row: dict[str, Any]) -> dict[str, Any]:
    """How often the longer of two outputs is preferred, where one is longer and one preferred."""
    pairs = zip(row["preference"], row["len_a"], row["len_b"], strict=True)
    unlike = [(said, a, b) for said, a, b in pairs if said not in (None, 0, 1.5) and a != b]
    share = mean([float((said > 1.5) == (b > a)) for said, a, b in unlike])
    return {"value": share.value, "n": len(unlike)}
