"""Runs the benchmarks, each in a process of its own, and prints one table.

python -m benchmarks [--quick] [NAME ...]; without a name all of them
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from benchmarks.figures import Figure, exit_code, table

NAMES = (
    "startup", "lists", "checks", "pages", "resampling", "growth", "cached", "cold", "runs",
    "memory", "reports", "killed",
)  # fmt: skip
"""Every benchmark, the quick ones first."""

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Run what was named, or everything; exit 1 when a bar is missed."""
    arguments = _arguments()
    figures: list[Figure] = []
    for name in arguments.names or NAMES:
        print(f"{name} …", file=sys.stderr, flush=True)
        figures += _run(name, quick=arguments.quick)
    print(table(figures))
    sys.exit(exit_code(figures))


def _run(name: str, *, quick: bool) -> list[Figure]:
    """The figures of one benchmark; one that broke is a figure whose bar is missed."""
    command = [sys.executable, "-m", f"benchmarks.{name}", "--json"]
    done = subprocess.run(
        [*command, *(["--quick"] if quick else [])],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        cwd=ROOT,
    )
    lines = done.stdout.splitlines()
    if not lines:
        return [Figure(name, f"broke off with exit code {done.returncode}", met=False)]
    return [Figure(**figure) for figure in json.loads(lines[-1])]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--quick", action="store_true", help="smaller runs, for a first look")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(NAMES))
    if unknown:
        parser.error(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(NAMES)}")
    return arguments


if __name__ == "__main__":
    main()
