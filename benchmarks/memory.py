"""How much memory each further case costs the commands that read many.

python -m benchmarks.memory [--quick]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.figures import Figure, limited, report

N_CASES = (20_000, 100_000)
"""Cases of the two measurements, whose difference is what further cases cost."""

KIB_A_CASE_AT_MOST = 2.0
MIB_AT_MOST = 300.0
"""Peak of resident memory of `grade` with the larger number."""

_RUBRIC = """\
name: memory
criteria:
  - {name: correct, question: Does it answer the question?, scale: {min: 1, max: 5}}
"""


def measure(quick: bool) -> list[Figure]:  # noqa: FBT001 - what the command line hands in
    """Every command with few and with many cases, each in a process and a folder of its own."""
    sizes = tuple(n // 5 for n in N_CASES) if quick else N_CASES
    peaks = [_peaks(n) for n in sizes]
    n_further = sizes[1] - sizes[0]
    figures = [
        limited(
            f"{command}: memory of each case from {sizes[0]:,} to {sizes[1]:,}",
            (peaks[1][command] - few) / n_further,
            unit="KiB",
            at_most=KIB_A_CASE_AT_MOST,
        )
        for command, few in peaks[0].items()
    ]
    whole = peaks[1]["grade"] / 1024
    return [
        limited(f"grade of {sizes[1]:,} outputs, peak", whole, unit="MiB", at_most=MIB_AT_MOST),
        *figures,
    ]


def _peaks(n: int) -> dict[str, float]:
    """The peak of resident memory of each command in KiB."""
    rubric = ("--rubric", "rubric.yaml")
    judge = (*rubric, "--judge", "recorded:replies.jsonl", "-q")
    pairs = (*rubric, "--judge", "recorded:pairs.jsonl", "--template", "pairwise/mt_bench", "-q")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_files(folder, n)
        return {
            words[0]: _peak(folder, words)
            for words in (
                ("grade", "a.jsonl", *judge, "-o", "verdicts.jsonl"),
                ("show", "latest"),
                ("export", "latest", "-o", "results.jsonl"),
                ("run", "cases.jsonl", "--outputs", "a.jsonl", *judge),
                ("compare", "a.jsonl", "b.jsonl", *pairs),
                ("calibrate", "labels.jsonl", "--results", "verdicts.jsonl", *rubric),
            )
        }


def _write_files(folder: Path, n: int) -> None:
    verdict = {"score": 4, "rationale": "It answers the question.", "confidence": 0.9}
    rows: dict[str, list[object]] = {
        "cases": [{"id": f"c{k}", "input": f"Question {k}?"} for k in range(n)],
        "labels": [
            {"case_id": f"c{k}", "annotator": "ann", "criterion": "correct", "raw": 4 - k % 3}
            for k in range(n)
        ],
        "replies": [
            {"case_id": f"c{k}", "text": json.dumps({"correct": {**verdict, "score": 4 - k % 2}})}
            for k in range(n)
        ],
        "pairs": [
            {"case_id": f"c{k}", "order": order, "text": f"The other one is short. [[{winner}]]"}
            for k in range(n)
            for order, winner in (("ab", "A"), ("ba", "B"))
        ],
    }
    for side in "ab":
        rows[side] = [
            {"case_id": f"c{k}", "input": f"Question {k}?", "text": f"Answer {k} of {side}, short."}
            for k in range(n)
        ]
    for name, lines in rows.items():
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (folder / "rubric.yaml").write_text(_RUBRIC, encoding="utf-8")


def _peak(folder: Path, words: tuple[str, ...]) -> float:
    command = [sys.executable, "-m", "judgekit", *words]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    with process:
        errors = b"" if process.stderr is None else process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in {0, 1}:
        raise AssertionError(
            f"{words[0]} ended with {process.returncode}: {errors.decode()[-300:]}"
        )
    return usage.ru_maxrss / (1024 if sys.platform == "darwin" else 1)


if __name__ == "__main__":
    report(measure)
