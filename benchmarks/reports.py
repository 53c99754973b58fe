"""What commands cost that read much and print little: `show` and `calibrate`.

python -m benchmarks.reports [--quick]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import machine
from benchmarks.figures import Figure, limited, report
from benchmarks.memory import write_files
from benchmarks.timing import child_cpu_s

N_SHOWN, N_LABELS = 10_000, 100_000
"""Cases of the run that is shown, and labels of the calibration."""

SHOW_AT_MOST_S = 0.5
"""CPU seconds of `show RUN` over those of a run with ten cases, on the reference machine."""

_GRADE = ["grade", "a.jsonl", "--rubric", "rubric.yaml", "--judge", "recorded:replies.jsonl", "-q"]


def measure(quick: bool) -> list[Figure]:  # noqa: FBT001 - what the command line hands in
    """The best of several runs of each command."""
    n_shown, n_labels = (N_SHOWN // 5, N_LABELS // 5) if quick else (N_SHOWN, N_LABELS)
    rounds = 3
    few, many = (_cpu_s(n, "show latest", rounds) for n in (10, n_shown))
    calibrated = _cpu_s(
        n_labels, "calibrate labels.jsonl --rubric rubric.yaml --results v.jsonl", rounds
    )
    speed = machine.speed()
    return [
        limited(
            f"show of {n_shown:,} cases, over 10 cases",
            many - few,
            unit="s CPU",
            at_most=SHOW_AT_MOST_S / speed,
            reference=f"10 cases {few:.2f} s CPU",
        ),
        limited(
            f"calibrate on {n_labels:,} labels",
            calibrated,
            unit="s CPU",
            reference=f"start included; this machine is {speed:.2f} times the reference",
        ),
    ]


def _cpu_s(n: int, words: str, rounds: int) -> float:
    """The CPU seconds of a command in a folder with a graded file of n outputs."""
    judgekit = [sys.executable, "-m", "judgekit"]
    with tempfile.TemporaryDirectory() as name:
        write_files(Path(name), n)
        subprocess.run(
            [*judgekit, *_GRADE, "-o", "v.jsonl"], cwd=name, capture_output=True, check=False
        )
        return min(child_cpu_s([*judgekit, *words.split()], Path(name)) for _ in range(rounds))


if __name__ == "__main__":
    report(measure)
