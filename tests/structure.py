"""Measures the structure of the package: `python -m tests.structure` prints the table.

The limits stand in `LIMITS`; `test_structure.py` holds them.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PRAGMA = re.compile(r"#\s*(?:noqa|type:|pragma|pyright|mypy|fmt)")


@dataclass(frozen=True, slots=True)
class Function:
    """One function: where it stands, and how many lines of code it has."""

    where: str
    n_code_lines: int


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


def table(found: Structure) -> str:
    """The measurements, a line each."""
    lines = [
        f"Python files            {found.n_files:>8,}",
        f"lines                   {found.n_lines:>8,}",
        f"code lines              {found.n_code_lines:>8,}",
        f"comments per 100        {found.comments_per_100:>8.1f}",
        f"longest file            {found.longest_files[0][0]:>8,}  {found.longest_files[0][1]}",
        (
            f"longest function        {found.longest_functions[0][0]:>8,}  "
            f"{found.longest_functions[0][1]}"
        ),
        f"public names defined twice {len(found.defined_twice):>5,}",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    package = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "judgekit"
    print(table(measure(package)))  # noqa: T201
