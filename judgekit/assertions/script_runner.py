"""Runs one evaluation script; started by path in its own process, imports nothing of judgekit."""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import os
import runpy
import sys

_FUNCTION = "evaluate"


# The source is parsed, not run: a script without the function runs once, as `__main__`.
def defines_evaluate(source: str) -> bool:
    """Whether a script defines the function that is to be called."""
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
    """What a script's `evaluate` says, as JSON."""
    function = runpy.run_path(path, run_name="judgekit_script")[_FUNCTION]
    given = [request["output"], request["case"], request["params"]]
    taken = inspect.signature(function).parameters.values()
    if not any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in taken):
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        given = given[: sum(each.kind in kinds for each in taken)]
    found = function(*given)
    if inspect.isawaitable(found):
        found = asyncio.run(_awaited(found))
    return json.dumps(found, allow_nan=False)


def run_script_file(path: str) -> None:
    """Run a script on the request in stdin."""
    sys.path.insert(0, os.path.dirname(path))  # noqa: PTH120 - a script may import its siblings
    sys.argv = [path]
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - pathlib costs 10 ms to import
        source = file.read()
    if not defines_evaluate(source):
        runpy.run_path(path, run_name="__main__")
        return
    request = json.load(sys.stdin)
    stdout = os.dup(1)
    os.dup2(2, 1)  # also for what a program of its own would print
    said = call_evaluate(path, request)
    sys.stdout.flush()
    with os.fdopen(stdout, "w", encoding="utf-8") as file:
        file.write(said)


async def _awaited(found: object) -> object:
    return await found  # type: ignore[misc]  # checked by `isawaitable`


if __name__ == "__main__":
    run_script_file(sys.argv[1])
