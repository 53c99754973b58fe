"""Removes each guard of the package once, in a copy, and runs the tests that must notice.

python -m tests.mutation [--only WORDS] [--write]; --write puts the count into docs/reliability.md

A guard is a check that refuses something. It is found by its file, its function and the text of its
condition; one that cannot be found is an error, so that the list follows the code.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reliability.md"
_COPIED = ("judgekit", "tests", "prompts", "calibration", "docs", "benchmarks", ".ci")
_ROW = re.compile(r"(<!-- guards -->\n).*?(\n<!-- end of guards -->)", re.DOTALL)
_TIMEOUT_S = 1200
_HANGS_S = 90
_FAILED, _PASSED = 1, 0
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class Guard:
    """A check that refuses something: see `guards.toml`."""

    name: str
    file: str
    function: str
    text: str
    tests: tuple[str, ...]
    becomes: str = "False"


def guards() -> list[Guard]:
    """The guards of the list."""
    listed = tomllib.loads((ROOT / "tests" / "guards.toml").read_text(encoding="utf-8"))["guard"]
    return [
        Guard(**{**one, "tests": tuple(f"tests/{test}.py" for test in one["tests"])})
        for one in listed
    ]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A guard that was removed, and the test that noticed; None where none did."""

    guard: Guard
    killer: str | None
    seconds: float


class NoGuardError(LookupError):
    """A guard of the list is not in the code, or not only once."""


def without(guard: Guard, root: Path = ROOT) -> str:
    """The source of a module without a guard."""
    path = root / "judgekit" / guard.file
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = [node for one in _functions(tree, guard.function) for node in ast.walk(one)]
    # Compared as trees: Python's versions write the same f-string with other quotation marks.
    wanted = ast.dump(ast.parse(guard.text, mode="eval").body)
    found = [node for node in nodes if isinstance(node, ast.expr) and ast.dump(node) == wanted]
    if len(found) > 1:  # of several places, the one that decides
        found = [node.test for node in nodes if isinstance(node, ast.If) and node.test in found]
    if len(found) != 1:
        raise NoGuardError(f"{guard.name}: {len(found)} places of {guard.file} {guard.function}")
    instead = ast.parse(guard.becomes, mode="eval").body

    class Remover(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return instead if node is found[0] else self.generic_visit(node)

    return ast.unparse(ast.fix_missing_locations(Remover().visit(tree)))


def _functions(tree: ast.Module, name: str) -> Iterator[ast.AST]:
    """The functions of a dotted name; an empty one stands for the module."""
    if not name:
        yield tree
        return
    *classes, last = name.split(".")
    holders: list[ast.AST] = [tree]
    for part in classes:
        holders = [
            node
            for holder in holders
            for node in ast.iter_child_nodes(holder)
            if isinstance(node, _NAMED) and node.name == part
        ]
    for holder in holders:
        for node in ast.iter_child_nodes(holder):
            if isinstance(node, _NAMED) and node.name == last:
                yield node


def run(wanted: list[Guard]) -> Iterator[Mutant]:
    """Remove each guard in a copy of the project, one after the other."""
    with _copy() as folder:
        modules = sorted({test for guard in wanted for test in guard.tests})
        killer, said = _tests(folder, [*modules, "-n", "2"])
        if killer is not None:
            raise SystemExit(f"tests fail without any mutation: {killer}\n{said[-2000:]}")
        for guard in wanted:
            path = folder / "judgekit" / guard.file
            whole = path.read_text(encoding="utf-8")
            path.write_text(without(guard, folder), encoding="utf-8")
            started = time.monotonic()
            killer, _ = _tests(folder, list(guard.tests))
            path.write_text(whole, encoding="utf-8")
            yield Mutant(guard, killer, time.monotonic() - started)


def _tests(folder: Path, modules: list[str]) -> tuple[str | None, str]:
    """The first test that fails, and what was printed."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [
        sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly",
        "--no-header", "--tb=line", "-o", f"timeout={_HANGS_S}", *modules,
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False,
        timeout=_TIMEOUT_S,
    )  # fmt: skip
    if done.returncode == _PASSED:
        return None, done.stdout
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    # What waits for a refusal that never comes has noticed it, too.
    if failed is None and (hung := re.search(r"test_\w+", done.stderr + done.stdout)):
        return f"{hung[0]}, which hangs", done.stdout
    if done.returncode != _FAILED or failed is None:
        raise SystemExit(f"the tests could not be run:\n{done.stdout[-3000:]}{done.stderr[-500:]}")
    return failed[1], done.stdout


@contextmanager
def _copy() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="judgekit-mutants-") as name:
        folder = Path(name)
        ignored = shutil.ignore_patterns("__pycache__", "node_modules", "site")
        for part in _COPIED:
            if (ROOT / part).exists():
                shutil.copytree(ROOT / part, folder / part, ignore=ignored)
        for file in ROOT.glob("*"):
            if file.is_file():
                shutil.copy(file, folder)
        yield folder


def main() -> None:
    """Print which test kills each mutant; exit 1 where one survives."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("--only", default="", help="guards whose name or file contains this")
    parser.add_argument("--after", type=int, default=0, help="leave out the first N guards")
    parser.add_argument("--write", action="store_true", help=f"put it into {PAGE.name}")
    arguments = parser.parse_args()
    named = [one for one in guards() if arguments.only in f"{one.name} {one.file}"]
    chosen = named[arguments.after :]
    survivors = 0
    for number, mutant in enumerate(run(chosen), start=1 + arguments.after):
        survivors += mutant.killer is None
        killer = mutant.killer or "**none**"
        where = f"{mutant.guard.file} {mutant.guard.function}"
        print(f"| {number} | {mutant.guard.name} | {where} | {killer} |", flush=True)  # noqa: T201
    n_noticed = len(chosen) - survivors
    found = f"{len(chosen)} guards were removed, one at a time; tests noticed {n_noticed}."
    print(found)  # noqa: T201
    if arguments.write:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(_ROW.sub(lambda m: m[1] + found + m[2], page), encoding="utf-8")
    sys.exit(bool(survivors))


if __name__ == "__main__":
    main()
