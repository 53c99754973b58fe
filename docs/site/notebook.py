# ruff: noqa: INP001 - a folder of documents, no package
"""Executes a notebook of the documentation, and writes it as a page with what its cells show.

The notebook is stored without outputs. Its cells run in this process, in the current folder and in
one namespace, as a kernel runs them: `await` stands at the top level, the value of the last line is
shown, and `!judgekit …` runs the command. A cell tagged `needs-NAME` is left out where the package
NAME is not installed.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import io
import json
import pprint
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class Cell(NamedTuple):
    """A cell and what it showed: printed text, and the value of its last line."""

    number: int
    kind: str
    source: str
    printed: str = ""
    value: object = None


def executed(path: Path) -> Iterator[Cell]:
    """Run the cells of a notebook one after the other; an error names its cell."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with asyncio.Runner() as runner:
        for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"], 1):
            source = "".join(cell["source"])
            kind, tags = cell["cell_type"], cell["metadata"].get("tags", ())
            needed = [tag.removeprefix("needs-") for tag in tags if tag.startswith("needs-")]
            if kind != "code" or not all(map(find_spec, needed)):
                yield Cell(number, kind, source)
                continue
            try:
                yield Cell(number, kind, source, *runner.run(_run(source, names)))
            except BaseException as error:
                error.add_note(f"{path.name}, cell {number}")
                raise


async def _run(source: str, names: dict[str, Any]) -> tuple[str, object]:
    if source.startswith("!"):
        program, *words = shlex.split(source[1:])
        command = [sys.executable, "-m", program, *words]
        ran = subprocess.run(  # noqa: ASYNC221, S603 - our own pages, and nothing runs beside them
            command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        return ran.stdout, None
    printed = io.StringIO()
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    value: object = None
    with redirect_stdout(printed):
        await _evaluated(tree, names)
        if isinstance(last, ast.Expr):
            value = await _evaluated(ast.Expression(last.value), names)
    return printed.getvalue(), value


async def _evaluated(tree: ast.Module | ast.Expression, names: dict[str, Any]) -> object:
    mode = "exec" if isinstance(tree, ast.Module) else "eval"
    code = compile(tree, "notebook", mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    value = eval(code, names)  # noqa: S307 - our own pages
    # What is executed has no value; with `await` in it, it is a coroutine.
    return await value if code.co_flags & inspect.CO_COROUTINE else value


def page(path: Path, text: Callable[[str], str] = str) -> str:
    """The executed notebook as Markdown: texts rewritten by `text`, results as HTML."""
    parts = [part for cell in executed(path) for part in _parts(cell, text)]
    # The title comes first, then where the page is from.
    title, _, first = parts[0].partition("\n\n")
    note = f"*This page is [a notebook]({path.name}), executed.*"
    return "\n\n".join([title, note, first, *parts[1:]]) + "\n"


def _parts(cell: Cell, text: Callable[[str], str]) -> Iterator[str]:
    if cell.kind != "code":
        yield text(cell.source)
        return
    yield f"```python\n{cell.source}\n```"
    if cell.printed:
        yield f"```text\n{cell.printed.rstrip()}\n```"
    shown = getattr(cell.value, "_repr_html_", None)
    if shown is not None:
        # The site styles tables without a class, and marks its dark theme in its own way. A blank
        # line would end the HTML for Markdown.
        fragment = shown().replace("<table>", '<table class="result">')
        fragment = fragment.replace(
            ".vscode-dark", ':is(.vscode-dark, [data-md-color-scheme="slate"])'
        )
        lines = [line for line in fragment.splitlines() if line.strip()]
        yield "\n".join(['<div class="notebook-output">', *lines, "</div>"])
    elif cell.value is not None:
        yield f"```text\n{pprint.pformat(cell.value, width=100)}\n```"
