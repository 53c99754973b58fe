"""Runs one evaluation script; started by path in its own process, imports nothing of judgekit."""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import os
import runpy
import sys
import textwrap
from typing import Any

_FUNCTION = "evaluate"


def defines_evaluate(source: str) -> bool:
    """Whether a script defines the function to call."""
    # The source is parsed, not run: a script without the function runs once, as `__main__`.
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == _FUNCTION:
            return True
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == _FUNCTION for target in node.targets
        ):
            return True
        if isinstance(node, ast.ImportFrom) and any(
            _FUNCTION in (name.asname, name.name) for name in node.names
        ):
            return True
    return False


def call_evaluate(path: str, request: dict[str, object]) -> str:
    """The answer of a script's `evaluate`, as JSON."""
    function = runpy.run_path(path, run_name="judgekit_script")[_FUNCTION]
    arguments = [request["output"], request["case"], request["params"]]
    parameters = inspect.signature(function).parameters.values()
    if not any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in parameters):
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        arguments = arguments[: sum(each.kind in kinds for each in parameters)]
    return as_json(function(*arguments))


def as_json(found: object) -> str:
    """A result, awaited where it has to be, as JSON."""
    if inspect.isawaitable(found):
        found = asyncio.run(_awaited(found))
    return json.dumps(found, allow_nan=False)


def call_code(params: dict[str, Any]) -> object:
    """What a function of a file, or code in a text, returns for the arguments of a request."""
    if (code := params.get("code")) is None:
        path = os.path.abspath(params["file"])  # noqa: PTH100 - pathlib costs 10 ms to import
        sys.path.insert(0, os.path.dirname(path))  # noqa: PTH120 - it may import its siblings
        name, *members = params["function"].split(".")
        function = runpy.run_path(path, run_name="judgekit_script")[name]
        for member in members:  # of a class
            function = getattr(function, member)
    else:
        # One line is an expression, several lines are the body of a function.
        body = code if "\n" in code.strip() else f"return {code.strip()}"
        names: dict[str, Any] = {"json": json}
        head = f"def main({', '.join(params['names'])}):\n"
        exec(head + textwrap.indent(body, "    "), names)  # noqa: S102 - where scripts are allowed
        function = names["main"]
    return function(*params["arguments"])


def run_script_file(path: str) -> None:
    """Run a script on the request in stdin."""
    sys.path.insert(0, os.path.dirname(path))  # noqa: PTH120 - a script may import its siblings
    # The suite's folder is last, so that its modules hide no installed ones.
    sys.path.append(os.getcwd())  # noqa: PTH109 - pathlib costs 10 ms to import
    sys.argv = [path]
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - pathlib costs 10 ms to import
        source = file.read()
    is_call = path == __file__
    if not is_call and not defines_evaluate(source):
        runpy.run_path(path, run_name="__main__")
        return
    request = json.load(sys.stdin)
    stdout = os.dup(1)
    os.dup2(2, 1)  # so that prints, also those of subprocesses, are no part of the answer
    answer = as_json(call_code(request["params"])) if is_call else call_evaluate(path, request)
    sys.stdout.flush()
    with os.fdopen(stdout, "w", encoding="utf-8") as file:
        file.write(answer)


async def _awaited(found: object) -> object:
    return await found  # type: ignore[misc]  # checked by `isawaitable`


if __name__ == "__main__":
    run_script_file(sys.argv[1])
