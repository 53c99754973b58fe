"""Measures the structure of the package: `python -m tests.structure` prints the table.

`LIMITS` has the limits, which `test_structure.py` enforces. The call path of a judgment is measured
by `call_path`.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tempfile
import tokenize
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PRAGMA = re.compile(r"#\s*(?:noqa|type:|pragma|pyright|mypy|fmt)")


# Pages, viewer, labelling and editor are 8,000 of the lines.
LIMITS = {
    "Python files": 402,
    "lines": 117_721,
    "longest file, lines": 600,
    "longest function, code lines": 50,
    "functions of complexity over 8": 0,
    "public names defined twice": 0,
    "comments per 100 code lines": 4.0,
}
"""The largest values allowed; of comments the smallest."""


@dataclass(frozen=True, slots=True)
class Structure:
    """What is measured of a package."""

    n_files: int
    n_lines: int
    n_code_lines: int
    n_comments: int
    longest_files: list[tuple[int, str]]
    longest_functions: list[tuple[int, str]]
    defined_twice: dict[str, list[str]]

    @property
    def comments_per_100(self) -> float:
        """Comment lines per 100 lines of code; pragmas such as `noqa` are no comments."""
        return 100 * self.n_comments / self.n_code_lines


def measure(package: Path = ROOT / "judgekit") -> Structure:
    """Reads every Python file of a package."""
    files = sorted(p for p in package.rglob("*.py") if "__pycache__" not in p.parts)
    n_lines = n_code = n_comments = 0
    lengths, functions = [], []
    homes: dict[str, list[str]] = defaultdict(list)
    for path in files:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        name = str(path.relative_to(package.parent))
        code, comments = code_lines(text, tree)
        n_lines += text.count("\n")
        n_code += len(code)
        n_comments += comments
        lengths.append((text.count("\n"), name))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                own = len(code.intersection(range(node.lineno, (node.end_lineno or 0) + 1)))
                functions.append((own, f"{name}:{node.lineno} {node.name}"))
        for public in public_names(tree):
            homes[public].append(name)
    return Structure(
        n_files=len(files),
        n_lines=n_lines,
        n_code_lines=n_code,
        n_comments=n_comments,
        longest_files=sorted(lengths, reverse=True)[:5],
        longest_functions=sorted(functions, reverse=True)[:5],
        defined_twice={k: v for k, v in sorted(homes.items()) if len(v) > 1},
    )


def code_lines(text: str, tree: ast.Module) -> tuple[set[int], int]:
    """The numbers of the lines that hold code, and how many lines hold a comment."""
    documentation = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    silent = {
        tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
        tokenize.ENDMARKER, tokenize.ENCODING,
    }  # fmt: skip
    code: set[int] = set()
    n_comments = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not PRAGMA.match(token.string):
            n_comments += 1
        if token.type not in silent:
            code.update(range(token.start[0], token.end[0] + 1))
    return code - documentation, n_comments


def public_names(tree: ast.Module) -> set[str]:
    """The public names that a module defines at its top level."""
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return {name for name in names if not name.startswith("_")}


def n_complex_functions(package: Path) -> int:
    """Functions whose cyclomatic complexity is over 8, as ruff counts it."""
    ruff = Path(sys.executable).with_name("ruff")
    options = ["--select", "C901", "--ignore-noqa", "--output-format", "concise", "--no-cache"]
    found = subprocess.run(
        [ruff, "check", *options, package], capture_output=True, text=True, check=False
    )
    return found.stdout.count(": C901 ")


def figures(package: Path = ROOT / "judgekit") -> dict[str, float]:
    """What `LIMITS` limits, as it is."""
    found = measure(package)
    return {
        "Python files": found.n_files,
        "lines": found.n_lines,
        "longest file, lines": found.longest_files[0][0],
        "longest function, code lines": found.longest_functions[0][0],
        "functions of complexity over 8": n_complex_functions(package),
        "public names defined twice": len(found.defined_twice),
        "comments per 100 code lines": round(found.comments_per_100, 2),
    }


def main(package: Path = ROOT / "judgekit") -> None:
    """Print the figures beside their limits, and what is longest."""
    rows: list[tuple[str, float, float]] = [
        (name, value, LIMITS[name]) for name, value in figures(package).items()
    ]
    if package == ROOT / "judgekit":
        from tests import call_path  # noqa: PLC0415 - imports judgekit, which need not be this one

        with tempfile.TemporaryDirectory() as folder:
            cold, hit = call_path.count_on_loopback(Path(folder))
        limits = call_path.LIMITS
        rows += [
            ("case to verdict, functions", cold.n_functions, limits["cold_functions"]),
            ("case to verdict, modules", len(cold.by_module), limits["cold_modules"]),
            ("cache hit, functions", hit.n_functions, limits["hit_functions"]),
        ]
    lines = [f"{name:<32} {value:>10,} {limit:>10,}" for name, value, limit in rows]
    found = measure(package)
    lines += [f"{n:>5}  {name}" for n, name in (*found.longest_files, *found.longest_functions)]
    print(f"{'':<32} {'now':>10} {'limit':>10}", *lines, sep="\n")  # noqa: T201 - a script


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "judgekit")
