"""How fast a large suite is run and summed up, whether the rate holds, and in how much memory.

python -m benchmarks.runs [--quick]
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.figures import Figure, limited, report
from judgekit.evaluation import Session, evaluate_sync

if TYPE_CHECKING:
    from judgekit.records import CaseResult

N_CASES = 100_000
"""Cases of the whole measurement, each with a recorded output."""

IN_FLIGHT = 32
"""Answers in work at a time."""

RATIO_AT_LEAST = 0.8
"""The rate of the last thousands of answers against that of the first ones."""

MEMORY_MIB_AT_MOST = 300
"""Peak of resident memory."""

CPU_MS_AT_MOST = 1.2
"""CPU of an answer with three assertions that judge, from reading its case to the summary."""

_BATCH = 1_000
_ENDS = 5
_CURVE_LINES = 25
_BAR_WIDTH = 50
_SUITE = """\
name: large
dataset: cases.jsonl
judge: heuristic
variants:
  - {id: v1, outputs: v1.jsonl}
assertions:
  - {type: behavior.no_errors}
  - {type: contains, value: "refund"}
  - {type: output.equals, path: outputs.main.text, value: "no refund"}
"""


class Pace:
    """Notes the clocks at every thousandth answer."""

    def __init__(self) -> None:
        self.n = 0
        self.cpu_s: list[float] = []
        self.wall_s: list[float] = []

    def watch(self, result: CaseResult) -> None:
        """One more answer is there."""
        del result
        self.n += 1
        # The first answers are told of when all that were begun with them are worked out.
        if self.n >= IN_FLIGHT and (self.n - IN_FLIGHT) % _BATCH == 0:
            self.cpu_s.append(time.process_time())
            self.wall_s.append(time.perf_counter())

    def rates(self, marks: list[float]) -> list[float]:
        """Answers a second, thousand by thousand."""
        return [_BATCH / (later - earlier) for earlier, later in pairwise(marks)]


def measure(quick: bool) -> list[Figure]:  # noqa: FBT001 - what the command line hands in
    """One run over all cases, then its summary; a small one before it takes the imports."""
    n = N_CASES // 10 if quick else N_CASES
    with tempfile.TemporaryDirectory() as folder:
        _run(_suite(Path(folder) / "warm", _BATCH), Pace())
        path = _suite(Path(folder) / "large", n)
        pace = Pace()
        begun_cpu, begun = time.process_time(), time.perf_counter()
        took_run, took_all = _run(path, pace)
    print(_curve(pace), file=sys.stderr)
    return _figures(n, pace, took_run - begun_cpu, took_all - begun_cpu, begun)


def _run(path: Path, pace: Pace) -> tuple[float, float]:
    """Run a suite and sum it up; the CPU clock after each."""
    session = Session(watch=pace.watch, in_flight=IN_FLIGHT)
    with evaluate_sync(path, store=path.parent / "runs.db", session=session) as run:
        ran = time.process_time()
        summary = run.summary()
    if summary.variants[0].n_answers != run.info.n_cases:
        raise AssertionError("the run is not whole")
    return ran, time.process_time()


def _figures(n: int, pace: Pace, run_s: float, all_s: float, begun: float) -> list[Figure]:
    rates = pace.rates(pace.cpu_s)
    middle = len(rates) // 2
    is_whole = n == N_CASES  # a quick run is over before the noise of its thousands evens out
    first, last = median(rates[:_ENDS]), median(rates[-_ENDS:])
    ratio = last / first
    by_clock = pace.n / (pace.wall_s[-1] - begun)
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        2**20 if sys.platform == "darwin" else 2**10
    )
    return [
        Figure(
            f"run of {n:,} cases: last five thousands against the first",
            ours=f"{last:,.0f} /CPU s",
            reference=f"{first:,.0f} /CPU s",
            ratio=ratio,
            bar=f"ratio >= {RATIO_AT_LEAST:.2f}" if is_whole else "",
            met=ratio >= RATIO_AT_LEAST if is_whole else None,
        ),
        Figure(
            "  the middle thousand; the whole by the clock",
            ours=f"{rates[middle]:,.0f} /CPU s",
            reference=f"{by_clock:,.0f} /s",
        ),
        limited("  peak memory", peak_mib, unit="MiB", at_most=MEMORY_MIB_AT_MOST),
        limited("  an answer, run", run_s / n * 1e3, unit="CPU ms"),
        limited("  an answer, run and summary", all_s / n * 1e3, unit="CPU ms",
                at_most=CPU_MS_AT_MOST),
    ]  # fmt: skip


def _curve(pace: Pace) -> str:
    """The rate over the run, a line for each stretch of it."""
    marks = pace.cpu_s
    step = max(1, (len(marks) - 1) // _CURVE_LINES)
    places = range(0, len(marks) - step, step)
    rates = [(p + step, step * _BATCH / (marks[p + step] - marks[p])) for p in places]
    most = max(rate for _, rate in rates)
    return "\n".join(
        f"{end * _BATCH:>9,}  {rate:>7,.0f} /CPU s  {'#' * round(rate / most * _BAR_WIDTH)}"
        for end, rate in rates
    )


def _suite(folder: Path, n: int) -> Path:
    """A suite of so many cases with their recorded outputs."""
    folder.mkdir()
    with (folder / "cases.jsonl").open("w") as cases, (folder / "v1.jsonl").open("w") as outputs:
        for number in range(n):
            case_id = f"customer-{number:06}"
            case = {
                "id": case_id,
                "input": f"Customer {number} asks whether the goods may be sent back.",
                "reference": "Within thirty days, with the receipt.",
                "tags": ["even" if number % 2 == 0 else "odd"],
                "stratum": ("simple", "medium", "complex")[number % 3],
            }
            text = f"Dear customer {number}, there is a refund within thirty days."
            cases.write(json.dumps(case) + "\n")
            outputs.write(json.dumps({"case_id": case_id, "text": text}) + "\n")
    suite = folder / "judgekit.yaml"
    suite.write_text(_SUITE, encoding="utf-8")
    return suite


if __name__ == "__main__":
    report(measure)
