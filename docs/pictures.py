# ruff: noqa: INP001 - a folder of documents, no package
"""Draws the pictures of the statistics pages: `python docs/pictures.py` writes `docs/pictures/`.

Every curve and interval is computed by `judgekit.stats`, on counts that stand here or on draws of a
seeded generator, and drawn by the plots of judgekit's own pages.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from judgekit.report.document import Axis, Conclusion, Document, Plot, Series
from judgekit.report.html import render_html
from judgekit.stats.agreement import cohen_kappa
from judgekit.stats.alpha import krippendorff_alpha
from judgekit.stats.attribution import shapley_r2
from judgekit.stats.bias import perturbation_effect, position_bias
from judgekit.stats.calibration import fit_isotonic
from judgekit.stats.correction import CorrectedMean, corrected_mean
from judgekit.stats.intervals import clustered_proportion, proportion
from judgekit.stats.paired import win_rate
from judgekit.stats.power import mde_paired
from judgekit.stats.ranking import bradley_terry, length_controlled_win_rate
from judgekit.stats.reliability import reliability_table
from judgekit.stats.replacement import alt_test, ceiling_gap
from judgekit.stats.rogan_gladen import corrected_pass_rate, judge_rates
from judgekit.stats.selective import auroc, risk_coverage
from judgekit.stats.sequential import mean_confidence_sequence, win_e_value
from judgekit.stats.trend import cusum

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from judgekit.report.document import Point
    from judgekit.stats.estimate import Estimate

FOLDER = Path(__file__).with_name("pictures")

# The colours of judgekit's pages. The picture has a ground of its own, because a page can be dark
# where the reader's system is light.
_STYLE = """\
svg{--page:#fff;--ink:#1b2027;--dim:#57606a;--edge:#7d8590;--line:#d9dee4;--first:#0b5cad;\
--second:#a8320b;--third:#57606a;font:12px system-ui,sans-serif}
@media(prefers-color-scheme:dark){svg{--page:#12161b;--ink:#e8ebef;--dim:#a3adb8;--edge:#6b7681;\
--line:#333c46;--first:#7db7ff;--second:#ff9d6b;--third:#a3adb8}}
.ground{fill:var(--page)}text{fill:var(--dim);text-anchor:middle}.tick.y{text-anchor:end}
.axis{fill:var(--ink)}.key{fill:var(--ink);text-anchor:start}.frame{fill:none;stroke:var(--edge)}
.grid{stroke:var(--line)}.c0{stroke:var(--first)}.c1{stroke:var(--second)}.c2{stroke:var(--third)}
polyline{fill:none;stroke-width:1.8}.rule{stroke-dasharray:4 3;stroke-width:1.2}
.whisker{fill:none;stroke-width:1.8}.mark{fill-opacity:.7}.fill{fill-opacity:.55}
.mark.c0,.fill.c0{fill:var(--first)}.mark.c1,.fill.c1{fill:var(--second)}
.mark.c2,.fill.c2{fill:var(--third)}.hatch{display:none}
"""


def wilson() -> Plot:
    """The same rate of 90 % from more and more cases."""
    sizes = (10, 20, 50, 100, 200, 500, 1000)
    rates = [proportion(size * 9 // 10, size) for size in sizes]
    return Plot(
        "A pass rate of 90 % with its 95 % interval, for 10 to 1,000 cases: the interval narrows "
        "from 60 to 98 % to 88 to 92 %.",
        _names("cases", [f"{size:,}" for size in sizes]),
        Axis("pass rate", 0.5, 1),
        (_rule(0.9, len(sizes)), _estimates(rates)),
        is_wide=True,
    )


def clusters() -> Plot:
    """The same 60 outcomes, taken for independent or for three repeats of 20 cases."""
    outcomes = [1, 1, 1, 0, 0, 0] * 10
    cases = [n // 3 for n in range(60)]
    rates = [proportion(30, 60), clustered_proportion(outcomes, cases)]
    return Plot(
        "The interval of 60 outcomes with a pass rate of 50 %: narrow if they are taken for 60 "
        "cases, wide if they are three equal repeats of 20 cases.",
        _names("", ["60 cases", "20 cases, 3 repeats"]),
        Axis("pass rate", 0, 1),
        (_rule(0.5, 2), _estimates(rates)),
    )


def detectable() -> Plot:
    """How the smallest detectable difference falls with the number of cases."""
    sizes = (10, 20, 50, 100, 200, 500, 1000, 2000)
    series = [
        Series(
            tuple((n, mde_paired(n, sd).value) for n in sizes), kind="line", name=name, style=style
        )
        for name, sd, style in (
            ("the variants differ on 40 % of the cases", 0.4**0.5, 1),
            ("the variants differ on 10 % of the cases", 0.1**0.5, 0),
        )
    ]
    return Plot(
        "The smallest change of a pass rate that is found in 80 % of attempts, against the number "
        "of cases: with 100 cases 9 points or 18 points.",
        Axis("cases", 10, 2000, is_log=True),
        Axis("detectable difference", 0, 0.6),
        tuple(series),
        is_wide=True,
    )


def kappa() -> Plot:
    """Kappa at 90 % agreement, for more and more passes."""
    points = []
    for n_pass in range(50, 96, 5):
        # Both raters pass n_pass of 100 outputs and differ on 10 of them.
        human = [1] * n_pass + [0] * (100 - n_pass)
        judge = [1] * (n_pass - 5) + [0] * 5 + [1] * 5 + [0] * (95 - n_pass)
        points.append((n_pass / 100, cohen_kappa(human, judge, labels=[0, 1]).value))
    return Plot(
        "Cohen's kappa of two raters who agree on 90 % of 100 outputs, against the share that "
        "passes: it falls from 0.8 at 50 % to below 0 at 95 %.",
        Axis("share that passes", 0.45, 1),
        Axis("kappa", -0.2, 1),
        (_level(0, 0.45, 1), Series(tuple(points), kind="line"), Series(tuple(points))),
        is_wide=True,
    )


def alpha() -> Plot:
    """Krippendorff's alpha of three raters of whom more and more answers are drawn at random."""
    rng = np.random.default_rng(14)
    truth = rng.integers(1, 6, 200)
    found, shares = [], (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    for share in shares:
        noise = rng.integers(1, 6, (200, 3))
        is_noise = rng.random((200, 3)) < share
        found.append(krippendorff_alpha(np.where(is_noise, noise, truth[:, None]).tolist()))
    return Plot(
        "Krippendorff's alpha of three raters on five levels, against the share of their labels "
        "that is drawn at random: from 1 without any to 0 where all are.",
        Axis("share of labels drawn at random", 0, 1),
        Axis("alpha", -0.2, 1),
        (
            _level(0.667, 0, 1),
            Series(
                tuple((at, one.value) for at, one in zip(shares, found, strict=True)),
                intervals=tuple((one.low, one.high) for one in found),
            ),
        ),
        is_wide=True,
    )


def replacement() -> Plot:
    """The winning rate of a judge against four annotators, by the advantage it is given."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 120)

    def labels(accuracy: float) -> dict[int, float]:
        right = rng.random(120) < accuracy
        return dict(enumerate(np.where(right, truth, 1 - truth).tolist()))

    annotators = {name: labels(0.88) for name in "abcd"}
    found = alt_test(annotators, labels(0.86))
    return Plot(
        "The winning rate of a judge against four annotators rises with epsilon, the advantage "
        "that the judge is given; from a half on (dashed) the judge passes.",
        Axis("epsilon", 0.05, 0.25),
        Axis("winning rate", 0, 1),
        (
            _level(0.5, 0.05, 0.25),
            Series(found.by_epsilon, kind="line"),
            Series(found.by_epsilon, sizes=(4.0,) * len(found.by_epsilon)),
        ),
    )


def panel() -> Plot:
    """Three judges, each right on 80 % of pairs, who share more and more of their errors."""
    rng = np.random.default_rng(17)
    shares, n = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0), 2000
    truth = rng.integers(0, 2, n)
    agreement, accuracy = [], []
    for share in shares:
        own, common = rng.random((n, 3)) < 0.2, rng.random(n) < 0.2  # noqa: PLR2004
        is_wrong = np.where(rng.random((n, 1)) < share, common[:, None], own)
        winners = np.where(is_wrong, 1 - truth[:, None], truth[:, None])
        agreement.append((share, krippendorff_alpha(winners.tolist(), level="nominal").value))
        n_right = int((np.median(winners, axis=1) == truth).sum())
        accuracy.append((share, proportion(n_right, n).value))
    return Plot(
        "Three judges who are each right on 80 % of pairs, against the share of pairs on which "
        "they err together: their agreement rises to 1, and their majority falls from 90 to 80 %.",
        Axis("share of pairs with common errors", 0, 1),
        Axis("alpha, or share right", 0, 1),
        (
            Series(tuple(agreement), kind="line", name="alpha of the three judges"),
            Series(tuple(accuracy), kind="line", name="majority is right", style=1),
        ),
        is_wide=True,
    )


def error_rates() -> Plot:
    """The accuracy, TPR and TNR of two judges on outputs of which few are bad."""
    names, parts = ["accuracy", "TPR", "TNR"], []
    for right_pass, right_fail in ((95, 12), (100, 0)):
        rates = judge_rates(right_pass, 100, right_fail, 20)
        parts.append(
            [proportion(right_pass + right_fail, 120), rates.sensitivity, rates.specificity]
        )
    series = []
    for style, (name, found) in enumerate(zip(("a judge", "passes all"), parts, strict=True)):
        at = [n + 0.2 * style - 0.1 for n in range(1, 4)]
        series.append(
            replace(
                _estimates(found),
                points=tuple(zip(at, [one.value for one in found], strict=True)),
                name=name,
                style=style,
            )
        )
    return Plot(
        "Accuracy, TPR and TNR of two judges on 100 good and 20 bad outputs. One that passes "
        "everything has nearly the same accuracy, and a TNR of 0.",
        _names("", names),
        Axis("share", 0, 1),
        tuple(series),
        is_wide=True,
    )


def ceiling() -> Plot:
    """The gap of three judges to annotators who agree on most labels."""
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 150)

    def labels(accuracy: float) -> list[int]:
        return [int(one) for one in np.where(rng.random(150) < accuracy, truth, 1 - truth)]

    annotators = np.column_stack([labels(0.88) for _ in range(3)]).tolist()
    gaps = [ceiling_gap(annotators, labels(accuracy)) for accuracy in (0.7, 0.87, 0.97)]
    return Plot(
        "The gap of three judges to the agreement of annotators: one agrees clearly less with "
        "them than they with each other, one about as much, one more.",
        _names("share of outputs that the judge decides rightly", ["70 %", "87 %", "97 %"]),
        Axis("gap", -0.3, 0.2),
        (_rule(0, 3), _estimates(gaps)),
    )


def order() -> Plot:
    """How well a confidence separates right from wrong, and how well the same one shuffled."""
    confidence, right = (np.array(one) for one in _judged())
    series = []
    for name, stated, style in (
        ("stated confidence", confidence, 0),
        ("the same, shuffled", np.random.default_rng(1).permutation(confidence), 1),
    ):
        cuts = [1.0, *sorted(set(stated.tolist()), reverse=True)]
        points = tuple(
            (float((stated[right == 0] >= cut).mean()), float((stated[right == 1] >= cut).mean()))
            for cut in cuts
        )
        area = auroc(stated.tolist(), right.tolist()).value
        series.append(Series(points, kind="line", name=f"{name}: AUROC {area:.2f}", style=style))
    return Plot(
        "The share of right judgments above each threshold of the confidence, against the share "
        "of wrong ones. The area under the line is the AUROC: the more it bends upwards, the "
        "better confidence separates right from wrong.",
        Axis("share of wrong judgments above the threshold", 0, 1),
        Axis("share of right ones", 0, 1),
        tuple(series),
    )


def maps() -> Plot:
    """The human scores of a lenient judge's scores, and the monotone map fitted to them."""
    judge = [1, 2, 2, 3, 3, 4, 4, 4, 5, 5, 5, 5] * 5
    human = [1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 5, 4] * 5
    counts = Counter(zip(judge, human, strict=True))
    scores = [float(score) for score in range(1, 6)]
    mapped = fit_isotonic(judge, human).predict(scores)
    return Plot(
        "The scores of a lenient judge against the human scores of the same outputs (larger dots: "
        "more outputs), and the map fitted to them, which lies below the dashed diagonal.",
        Axis("judge", 0.5, 5.5),
        Axis("human", 0.5, 5.5),
        (
            Series(((0.5, 0.5), (5.5, 5.5)), kind="rule", style=2),
            Series(
                tuple((float(a), float(b)) for a, b in counts),
                sizes=tuple(2 + n**0.5 for n in counts.values()),
                name="labelled outputs",
                style=1,
            ),
            Series(
                tuple(zip(scores, [float(one) for one in mapped], strict=True)),
                kind="line",
                name="map",
            ),
        ),
    )


def corrected() -> Plot:
    """A rate by a lenient judge, corrected by labels of a random subset, and by its error rates."""
    by_labels = _random_subset()
    by_rates = corrected_pass_rate(736, 1000, 56, 60, 24, 40)
    parts = [by_labels.raw, by_labels.labels_only, by_labels.corrected, by_rates]
    return Plot(
        "A pass rate by a lenient judge alone, by 50 human labels alone, corrected by these labels "
        "(PPI or post-stratified), and corrected by the judge's error rates (Rogan and Gladen).",
        _names("", ["judge alone", "labels alone", "corrected", "by error rates"]),
        Axis("pass rate", 0, 1),
        (_estimates(parts),),
        is_wide=True,
    )


def reliability() -> Plot:
    """How often an overconfident judge is right at each confidence."""
    confidence, right = _judged()
    rows = reliability_table(confidence, right)
    return Plot(
        "The share of right judgments at each stated confidence, with intervals. The points lie "
        "below the dashed diagonal: the judge is overconfident.",
        Axis("stated confidence", 0.5, 1),
        Axis("share right", 0.3, 1),
        (
            Series(((0.5, 0.5), (1, 1)), kind="rule", style=2),
            Series(
                tuple((row.confidence, row.rate.value) for row in rows),
                intervals=tuple((row.rate.low, row.rate.high) for row in rows),
                sizes=(4.0,) * len(rows),
            ),
        ),
    )


def review() -> Plot:
    """The error among what is accepted without review."""
    found = risk_coverage(*_judged())
    return Plot(
        "The error rate among the judgments accepted without review, against the share accepted, "
        "most confident first. The dashed line is the allowed error of 10 %.",
        Axis("share accepted without review", 0, 1),
        Axis("error", 0, 0.3),
        (
            _level(0.1, 0, 1, style=1),
            Series(tuple(zip(found.coverage, found.risk, strict=True)), kind="line"),
        ),
    )


def wins() -> Plot:
    """Shares of wins that decide and that do not."""
    counts = {
        "12 : 8": (12, 0, 8), "30 : 20": (30, 0, 20), "60 : 40": (60, 0, 40),
        "30 : 20, 50 ties": (30, 50, 20), "10 : 0": (10, 0, 0),
    }  # fmt: skip
    return Plot(
        "The share of wins with its 95 % interval for five results. Only the interval of 10 to 0 "
        "and that of 60 to 40 exclude 50 %.",
        _names("wins of A : wins of B", [*counts]),
        Axis("A's share of wins", 0, 1),
        (_rule(0.5, len(counts)), _estimates([win_rate(*each) for each in counts.values()])),
        is_wide=True,
    )


def position() -> Plot:
    """Judges without and with a preference for the first slot."""

    def bias(both_first: int, both_second: int) -> Estimate:
        alike = 60 - both_first - both_second
        ab = ["first"] * (both_first + alike) + ["second"] * both_second
        ba = ["first"] * both_first + ["second"] * (alike + both_second)
        return position_bias(ab, ba)

    return Plot(
        "Position bias of four judges on 60 pairs, in both orders: none seen, too little data to "
        "say, a preference for the first output, and for the second.",
        _names("pairs won by the same slot in both orders", ["2 + 2", "8 + 4", "18 + 2", "1 + 14"]),
        Axis("position bias", -0.3, 0.3),
        (_rule(0, 4), _estimates([bias(2, 2), bias(8, 4), bias(18, 2), bias(1, 14)])),
        is_wide=True,
    )


def margins() -> Plot:
    """Effects of probes beside the band that does not matter."""
    rng = np.random.default_rng(5)
    effects = []
    for shift, spread, n in ((0.15, 0.1, 60), (0.01, 0.06, 120), (0.06, 0.22, 20)):
        before = np.full(n, 0.5)
        after = np.clip(before + rng.normal(shift, spread, n), 0, 1)
        effects.append(perturbation_effect(before.tolist(), after.tolist(), margin=0.05, step=0.01))
    return Plot(
        "Three bias probes: an interval beyond the margin is material, one within it shows no "
        "material bias, one across its edge is inconclusive.",
        _names("", ["material", "none seen", "inconclusive"]),
        Axis("change of the score", -0.1, 0.25),
        (_rule(0.05, 3, style=1), _rule(-0.05, 3, style=1), _rule(0, 3), _estimates(effects)),
    )


def length_control() -> Plot:
    """Shares of wins, raw and at equal length."""
    found = length_controlled_win_rate(*_lengths())
    raw = proportion(round(found.raw * found.n), found.n)
    return Plot(
        "A's share of wins is about 70 % as judged, and about 50 % at equal length: the judge "
        "prefers long answers.",
        _names("", ["as judged", "at equal length"]),
        Axis("A's share of wins", 0, 1),
        (_rule(0.5, 2), _estimates([raw, found])),
    )


def evidence() -> Plot:
    """The e-value after each pair, with and without a difference."""
    rng = np.random.default_rng(11)
    series = []
    for name, share, style in (("A wins 70 % of pairs", 0.7, 0), ("no difference", 0.5, 1)):
        won = np.cumsum(rng.random(120) < share)
        points = [(n, win_e_value(int(won[n - 1]), int(n - won[n - 1])).value) for n in _steps()]
        series.append(Series(tuple(points), kind="line", name=name, style=style))
    return Plot(
        "The e-value after each pair. Where A wins 70 % of pairs it passes 20 (dashed) and rises "
        "further; without a difference it stays near or below 1.",
        Axis("pairs", 0, 120),
        Axis("e-value", 0.1, 1e6, is_log=True),
        (_level(20, 0, 120), *series),
        is_wide=True,
    )


def sequence() -> Plot:
    """A confidence sequence beside intervals for a fixed number of cases."""
    rng = np.random.default_rng(8)
    won = rng.binomial(1, 0.6, 300).astype(float)
    steps = range(10, 301, 10)
    valid = [mean_confidence_sequence(won[:n].tolist()) for n in steps]
    fixed = [proportion(int(won[:n].sum()), n) for n in steps]

    def ends(found: Sequence[Estimate], name: str, style: int) -> list[Series]:
        low, high = (
            tuple((n, getattr(one, end)) for n, one in zip(steps, found, strict=True))
            for end in ("low", "high")
        )
        return [
            Series(low, kind="line", name=name, style=style),
            Series(high, kind="line", style=style),
        ]

    return Plot(
        "The ends of a confidence sequence and of ordinary 95 % intervals after every tenth pair, "
        "where A wins 60 %. The sequence is wider, and valid at all times together.",
        Axis("pairs", 0, 300),
        Axis("A's share of wins", 0, 1),
        (
            _level(0.5, 0, 300),
            *ends(valid, "confidence sequence", 0),
            *ends(fixed, "interval for a fixed number of pairs", 1),
        ),
        is_wide=True,
    )


def strengths() -> Plot:
    """Strengths of four variants."""
    found = bradley_terry(
        [
            {"i": 0, "j": 1, "wins_i": 22, "wins_j": 16, "ties": 2},
            {"i": 0, "j": 2, "wins_i": 28, "wins_j": 10, "ties": 2},
            {"i": 0, "j": 3, "wins_i": 33, "wins_j": 6, "ties": 1},
            {"i": 1, "j": 2, "wins_i": 24, "wins_j": 14, "ties": 2},
            {"i": 1, "j": 3, "wins_i": 31, "wins_j": 8, "ties": 1},
            {"i": 2, "j": 3, "wins_i": 26, "wins_j": 12, "ties": 2},
        ],
        4,
    )
    return Plot(
        "Bradley-Terry strengths of four variants with intervals: the first two overlap and share "
        "the ranks 1 and 2; the last is certainly the weakest.",
        _names("variant", ["v1", "v2", "v3", "v4"]),
        Axis("strength (log-odds)", -2, 2),
        (
            _rule(0, 4),
            Series(
                tuple(enumerate(found.ratings, 1)),
                intervals=tuple(zip(found.low, found.high, strict=True)),
                sizes=(4.0,) * 4,
            ),
        ),
        is_wide=True,
    )


def trend() -> Plot:
    """A series that falls for good after its eighth run."""
    scores = _series()
    intervals = tuple((score - 0.035, score + 0.035) for score in scores)
    return Plot(
        "The value of 16 runs with intervals. After run 8 the level falls by about 4 points.",
        Axis("run", 0, 17),
        Axis("value", 0.7, 0.9),
        (Series(tuple(enumerate(scores, 1)), intervals=intervals),),
    )


def shortfall() -> Plot:
    """The CUSUM of the same series."""
    found = cusum(_series(), 0.82, 0.02)
    return Plot(
        "The CUSUM of the same runs: it stays near 0, rises from run 9 on, and passes the alarm "
        "level of 4 (dashed).",
        Axis("run", 0, 17),
        Axis("shortfall in standard deviations", 0, 12),
        (
            _level(4, 0, 17, style=1),
            Series(tuple(enumerate(found.path, 1)), kind="line"),
            Series(tuple(enumerate(found.path, 1))),
        ),
    )


def shares() -> Plot:
    """What goes with a score, beside what chance gives."""
    rng = np.random.default_rng(2)
    tokens, calls, other = rng.normal(size=(3, 120))
    score = 0.6 * tokens + 0.3 * calls + rng.normal(size=120)
    found = shapley_r2(
        np.column_stack([tokens, calls, other]).tolist(), score.tolist(), [[0], [1], [2]], rng=rng
    )
    chance = tuple((n, floor) for n, floor in enumerate(found.noise_floor, 1))
    return Plot(
        "The share of the variance of a score that goes with three quantities, with intervals, "
        "beside what chance gives: the third is not distinguishable from chance.",
        _names("", ["tokens", "tool calls", "unrelated"]),
        Axis("share of variance", 0, 0.6),
        (
            Series(
                tuple(enumerate(found.lmg, 1)),
                intervals=tuple(zip(found.low, found.high, strict=True)),
                name="share",
                sizes=(4.0,) * 3,
            ),
            Series(chance, name="by chance", style=1, sizes=(3.0,) * 3),
        ),
    )


PICTURES: dict[str, Callable[[], Plot]] = {
    function.__name__: function
    for function in (
        wilson, clusters, detectable, kappa, alpha, panel, error_rates, ceiling, replacement,
        corrected, maps, reliability, order, review, wins, position, margins, length_control,
        evidence, sequence, strengths, trend, shortfall, shares,
    )
}  # fmt: skip


def written() -> dict[Path, str]:
    """What this script writes.

    Returns:
        The text of each file.
    """
    return {FOLDER / f"{name}.svg": svg_file(make()) for name, make in PICTURES.items()}


def svg_file(figure: Plot) -> str:
    """A plot as an SVG file of its own.

    Args:
        figure: The plot.

    Returns:
        SVG.
    """
    page = render_html(Document("", Conclusion(""), (figure,), data=dict))
    found = re.search(r'<svg role="img" aria-label="([^"]*)"(.*?)>(.*?)</svg>', page, re.DOTALL)
    if found is None:
        raise LookupError(figure.caption)
    caption, size, inside = found.groups()
    lines = "\n".join(line for line in inside.splitlines() if line.strip())
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" role="img"{size}>'
    ground = '<rect class="ground" width="100%" height="100%"/>'
    head = f"<title>{caption}</title>\n<style>\n{_STYLE}</style>"
    return f"{opening}\n{head}\n{ground}\n{lines}\n</svg>\n"


def _names(title: str, names: Sequence[str]) -> Axis:
    return Axis(title, 0.5, len(names) + 0.5, names=tuple(names))


def _estimates(found: Sequence[Estimate]) -> Series:
    return Series(
        tuple((n, one.value) for n, one in enumerate(found, 1)),
        intervals=tuple((one.low, one.high) for one in found),
        sizes=(4.0,) * len(found),
    )


def _rule(at: float, n_names: int, *, style: int = 2) -> Series:
    return _level(at, 0.5, n_names + 0.5, style=style)


def _level(at: float, low: float, high: float, *, style: int = 2) -> Series:
    ends: tuple[Point, ...] = ((low, at), (high, at))
    return Series(ends, kind="rule", style=style)


def _steps() -> range:
    return range(1, 121)


def _series() -> list[float]:
    rng = np.random.default_rng(21)
    level = np.repeat([0.82, 0.78], 8)
    return [round(float(score), 3) for score in level + rng.normal(0, 0.012, 16)]


def _judged() -> tuple[list[float], list[float]]:
    """The confidence of 400 judgments, and whether each is right: less often than stated."""
    rng = np.random.default_rng(6)
    confidence = rng.choice([0.55, 0.65, 0.75, 0.85, 0.95], 400, p=[0.1, 0.15, 0.2, 0.25, 0.3])
    right = rng.random(400) < confidence - 0.08 + 0.06 * (confidence > 0.9)  # noqa: PLR2004
    return confidence.tolist(), right.astype(float).tolist()


def _lengths() -> tuple[list[float], list[float], list[float]]:
    rng = np.random.default_rng(9)
    a, b = rng.normal(220, 50, 300), rng.normal(160, 50, 300)
    a_wins = rng.random(300) < 1 / (1 + np.exp(-(a - b) / 60))
    return a_wins.astype(float).tolist(), a.tolist(), b.tolist()


def _random_subset() -> CorrectedMean:
    labels = [1] * 30 + [0] * 20
    judged = [1] * 28 + [0] * 2 + [1] * 8 + [0] * 12
    return corrected_mean(labels, judged, [1] * 700 + [0] * 250, labels_are="random")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
