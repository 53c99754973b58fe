"""How fast and how small the statistics are on ten thousand items.

python -m benchmarks.resampling [--quick]
"""

from __future__ import annotations

import tracemalloc
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.figures import Figure, compared, limited, report
from benchmarks.timing import Stopwatch, Took, alternated
from judgekit.stats.agreement import pairwise_accuracy
from judgekit.stats.alpha import krippendorff_alpha
from judgekit.stats.method_comparison import correlation
from judgekit.stats.resample import bootstrap

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS_AT_MOST = 1.0
"""CPU seconds of 10,000 items and 2,000 resamples."""

MIB_AT_MOST = 16.0
"""Memory at the peak, beyond the input."""

N_ITEMS = 10_000
N_RESAMPLES = 2_000


def measure(quick: bool) -> list[Figure]:  # noqa: FBT001 - what the command line hands in
    """CPU seconds and peaks, and the speed of a mean against a loop over `rng.choice`."""
    rounds = 1 if quick else 3
    rng = np.random.default_rng(1)
    x = rng.normal(size=N_ITEMS)
    cases = np.repeat(np.arange(N_ITEMS // 10), 10).tolist()
    pairs = np.column_stack([x, x + rng.normal(size=N_ITEMS)])
    human, judge = pairs[: N_ITEMS // 2].T.tolist()
    few = pairs[:2000].tolist()
    draw = partial(bootstrap, n_resamples=N_RESAMPLES, seed=1)
    work: dict[str, Callable[[], object]] = {
        "mean": lambda: draw(x, "mean"),
        "mean over cases": lambda: draw(x, "mean", clusters=cases),
        "median, BCa": lambda: draw(x, "median", method="bca"),
        "median over cases": lambda: draw(x, "median", clusters=cases),
        "sd, BCa": lambda: draw(x, "sd", method="bca"),
        "paired difference": lambda: draw(pairs[:, 1] - pairs[:, 0], "mean"),
        "correlation, any function": lambda: draw(pairs, _r),
        "tau-b of 5,000 outputs": lambda: correlation(human, judge, "kendall"),
        "pairs of 5,000 outputs": lambda: pairwise_accuracy(human, judge),
        "ordinal alpha, 4,000 levels": lambda: krippendorff_alpha(few, "ordinal"),
    }
    ours, loops = alternated(rounds, partial(_resamples, x), partial(_loop, x))
    speeds, others = ([took.per_cpu_s for took in side] for side in (ours, loops))
    found = [compared("bootstrap of a mean, against a loop", speeds, others, unit="/CPU s")]
    for name, run in work.items():
        seconds = min(_seconds(run) for _ in range(rounds))
        found.append(limited(name, seconds, unit="CPU s", at_most=SECONDS_AT_MOST))
        found.append(limited(f"  {name}, peak", _peak(run), unit="MiB", at_most=MIB_AT_MOST))
    return found


def _r(rows: np.ndarray) -> float:
    centred = rows - rows.mean(axis=0)
    shared = centred.T @ centred
    return float(shared[0, 1] / np.sqrt(shared[0, 0] * shared[1, 1]))


def _resamples(x: np.ndarray) -> Took:
    watch = Stopwatch()
    bootstrap(x, "mean", n_resamples=N_RESAMPLES, seed=1)
    return watch.took(N_RESAMPLES)


def _loop(x: np.ndarray) -> Took:
    watch, rng = Stopwatch(), np.random.default_rng(1)
    np.quantile([rng.choice(x, len(x)).mean() for _ in range(N_RESAMPLES)], [0.025, 0.975])
    return watch.took(N_RESAMPLES)


def _seconds(run: Callable[[], object]) -> float:
    watch = Stopwatch()
    run()
    return watch.took(1).cpu_s


def _peak(run: Callable[[], object]) -> float:
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


if __name__ == "__main__":
    report(measure)
