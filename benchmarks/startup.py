"""What starting costs: importing judgekit, the help of commands, and commands themselves.

python -m benchmarks.startup [--quick]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import machine
from benchmarks.figures import Figure, limited, report
from benchmarks.timing import child_cpu_s

IMPORT_AT_MOST_S = 0.15
"""CPU seconds that `import judgekit` may add to a Python that has imported pydantic."""

HELP_AT_MOST_S = 0.2
"""CPU seconds that any `--help` may take, on the machine of `benchmarks.machine`."""

COMMAND_AT_MOST_S = 0.3
"""CPU seconds of a command that finds everything recorded or stored, on that machine."""

HELPS = ("grade", "run", "compare", "calibrate", "show", "plan", "trend", "label", "cache")
"""Commands whose help is asked for."""

COMMANDS = (
    "grade outputs/v1.jsonl --rubric rubrics/quality.yaml --judge recorded:replies.jsonl",
    "run -q",
    "compare outputs/v1.jsonl outputs/v2.jsonl",
    "calibrate labels.jsonl",
    "show",
    "show latest",
    "trend",
    "findings",
    "plan",
    "validate",
    "cache stats",
    "doctor",
)
"""What people run, in the folder that `judgekit init` makes, after a first run."""

SLOW = ("litellm", "scipy.stats", "pandas")
"""What neither may load."""

_PYDANTIC = "import pydantic; pydantic.BaseModel"
_IMPORT = f"{_PYDANTIC}; import judgekit"
_HELP = """
import sys
from judgekit.cli.main import main
try:
    main(["--help"])
except SystemExit:
    pass
"""
_SAY_LOADED = f"import json, sys; print(json.dumps([n for n in {SLOW!r} if n in sys.modules]))"


def measure(quick: bool) -> list[Figure]:  # noqa: FBT001 - what the command line hands in
    """The best of several starts, taken in turn."""
    judgekit = [sys.executable, "-m", "judgekit"]
    starts = {
        "python": [sys.executable, "-c", "pass"],
        "pydantic": [sys.executable, "-c", _PYDANTIC],
        "import": [sys.executable, "-c", _IMPORT],
        "--help": [*judgekit, "--help"],
        **{f"{name} --help": [*judgekit, name, "--help"] for name in HELPS},
        **{command.partition(" -")[0]: [*judgekit, *command.split()] for command in COMMANDS},
    }
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*judgekit, "init", "."], cwd=folder, check=True, capture_output=True)
        best = _best(starts, Path(folder), rounds=3 if quick else 9)
    python, speed = best["python"], machine.speed()
    return [
        limited(
            "import judgekit, over pydantic",
            best["import"] - best["pydantic"],
            unit="s CPU",
            at_most=IMPORT_AT_MOST_S,
            reference=f"pydantic alone {best['pydantic']:.3f} s CPU",
        ),
        *(
            limited(
                f"judgekit {name}",
                best[name],
                unit="s CPU",
                at_most=(HELP_AT_MOST_S if name.endswith("--help") else COMMAND_AT_MOST_S) / speed,
                reference=f"python alone {python:.3f} s CPU",
            )
            for name in [*starts][3:]
        ),
        _loaded("import judgekit", _IMPORT),
        _loaded("judgekit --help", _HELP),
    ]


def _best(starts: dict[str, list[str]], folder: Path, *, rounds: int) -> dict[str, float]:
    for command in starts.values():
        child_cpu_s(command, folder)  # compiles what is not compiled yet, and stores what is shown
    taken: dict[str, list[float]] = {name: [] for name in starts}
    for _ in range(rounds):
        for name, command in starts.items():
            taken[name].append(child_cpu_s(command, folder))
    return {name: min(times) for name, times in taken.items()}


def _loaded(what: str, code: str) -> Figure:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{_SAY_LOADED}"], capture_output=True, text=True, check=True
    )
    loaded = json.loads(done.stdout.splitlines()[-1])
    named = ", ".join(loaded) or f"none of {', '.join(SLOW)}"
    return limited(f"  slow packages loaded by {what}", len(loaded), at_most=0, reference=named)


if __name__ == "__main__":
    report(measure)
