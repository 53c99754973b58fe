"""What starting costs: importing judgekit, and a command that only prints its help.

python -m benchmarks.startup [--quick]
"""

from __future__ import annotations

import json
import subprocess
import sys

from benchmarks.figures import Figure, limited, report
from benchmarks.timing import child_cpu_s

IMPORT_AT_MOST_S = 0.15
"""CPU seconds that `import judgekit` may add to a Python that has imported pydantic."""

HELP_AT_MOST_S = 0.4
"""CPU seconds that `judgekit --help` may take from start to end."""

SLOW = ("litellm", "scipy.stats", "pandas")
"""What neither may load."""

_PYDANTIC = "import pydantic; pydantic.BaseModel"
_IMPORT = f"{_PYDANTIC}; import judgekit"
_GRADING = f"{_PYDANTIC}; import judgekit.judge.judge"
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
    commands = {
        "python": [sys.executable, "-c", "pass"],
        "pydantic": [sys.executable, "-c", _PYDANTIC],
        "import": [sys.executable, "-c", _IMPORT],
        "grading": [sys.executable, "-c", _GRADING],
        "help": [sys.executable, "-m", "judgekit", "--help"],
    }
    best = _best(commands, rounds=5 if quick else 15)
    return [
        limited(
            "import judgekit, over pydantic",
            best["import"] - best["pydantic"],
            unit="s CPU",
            at_most=IMPORT_AT_MOST_S,
            reference=f"pydantic alone {best['pydantic']:.3f} s CPU",
        ),
        limited(
            "judgekit --help",
            best["help"],
            unit="s CPU",
            at_most=HELP_AT_MOST_S,
            reference=f"python alone {best['python']:.3f} s CPU",
        ),
        limited(
            "  all that grades, over pydantic", best["grading"] - best["pydantic"], unit="s CPU"
        ),
        _loaded("import judgekit", _IMPORT),
        _loaded("judgekit --help", _HELP),
    ]


def _best(commands: dict[str, list[str]], *, rounds: int) -> dict[str, float]:
    for command in commands.values():
        child_cpu_s(command)  # compiles what is not compiled yet
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            taken[name].append(child_cpu_s(command))
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
