"""How much memory each further case costs the commands that read many.

python -m benchmarks.memory [--quick]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.figures import Figure, limited, report
from judgekit.models.cache.entries import CacheEntry, encode_line
from judgekit.models.request import ModelReply, ModelRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

N_CASES = (20_000, 100_000)
"""Cases of the two measurements, whose difference is what further cases cost."""

KIB_A_CASE_AT_MOST = 2.0
MIB_AT_MOST = 300.0
"""Peak of resident memory of `grade` with the larger number."""

_VERDICTS = ("--results", "verdicts.jsonl")
_ANSWERS = ("--outputs", "a.jsonl", "-q")
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
    judge = (*rubric, "--judge", "recorded:replies.jsonl")
    pairs = (*rubric, "--judge", "recorded:pairs.jsonl", "--template", "pairwise/mt_bench", "-q")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, n)
        return {
            title: _peak(folder, words)
            for title, words in {
                "grade": ("grade", "a.jsonl", *judge, "-q", "-o", "verdicts.jsonl"),
                "show": ("show", "latest"),
                "export": ("export", "latest", "-o", "results.jsonl"),
                "run": ("run", "cases.jsonl", "--outputs", "a.jsonl", *judge, "-q"),
                "compare": ("compare", "a.jsonl", "b.jsonl", *pairs),
                "calibrate --results": ("calibrate", "labels.jsonl", *rubric, *_VERDICTS),
                "calibrate --outputs": ("calibrate", "labels.jsonl", *judge, *_ANSWERS),
                "cache import": ("cache", "import", "cached.jsonl"),
                "cache export": ("cache", "export", "exported.jsonl"),
            }.items()
        }


def write_files(folder: Path, n: int) -> None:
    """Cases, outputs, replies, labels and a rubric for the commands."""
    verdict = {"score": 4, "rationale": "It answers the question.", "confidence": 0.9}
    # A value of each case is made when it is written: lists of them would be larger than judgekit.
    rows: dict[str, Callable[[int], Iterable[object]]] = {
        "cases": lambda k: [{"id": f"c{k}", "input": f"Question {k}?"}],
        "labels": lambda k: [
            {"case_id": f"c{k}", "annotator": "ann", "criterion": "correct", "raw": 4 - k % 3}
        ],
        "replies": lambda k: [
            {"case_id": f"c{k}", "text": json.dumps({"correct": {**verdict, "score": 4 - k % 2}})}
        ],
        "pairs": lambda k: [
            {"case_id": f"c{k}", "order": order, "text": f"The other one is short. [[{winner}]]"}
            for order, winner in (("ab", "A"), ("ba", "B"))
        ],
        **{side: partial(_outputs, side) for side in "ab"},
    }
    for name, of_case in rows.items():
        with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for k in range(n) for row in of_case(k))
    (folder / "rubric.yaml").write_text(_RUBRIC, encoding="utf-8")
    with (folder / "cached.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(encode_line(entry) + "\n" for entry in map(_cached, range(n)))


def _outputs(side: str, k: int) -> list[object]:
    return [
        {"case_id": f"c{k}", "input": f"Question {k}?", "text": f"Answer {k} of {side}, short."}
    ]


def _cached(number: int) -> CacheEntry:
    """A reply as `cache export` writes it, with a request of an ordinary length."""
    request = ModelRequest(
        model="openai/gpt-4.1-mini",
        messages=({"role": "user", "content": f"Grade the answer {number}. " + "So long. " * 100},),
    )
    reply = ModelReply(text='{"correct": {"score": 4}}', key=request.key)
    return CacheEntry(request.key, request.key_parts, reply, "2026-01-01T00:00:00+00:00")


# Linux counts the memory of the process that starts another as the other's own until it runs its
# program, so that a small process starts the command, which none of this one's memory is in.
_STARTER = """
import os, sys
nowhere = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
child = os.posix_spawn(sys.executable, sys.argv[1:], os.environ, file_actions=nowhere)
_, status, usage = os.wait4(child, 0)
print(usage.ru_maxrss, os.waitstatus_to_exitcode(status))
"""


def _peak(folder: Path, words: tuple[str, ...]) -> float:
    command = [sys.executable, "-S", "-c", _STARTER, sys.executable, "-m", "judgekit", *words]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    peak, code = map(int, done.stdout.split())
    if code not in {0, 1}:
        raise AssertionError(f"{words[0]} ended with {code}: {done.stderr[-300:]}")
    return peak / (1024 if sys.platform == "darwin" else 1)


if __name__ == "__main__":
    report(measure)
