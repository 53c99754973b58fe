"""Installs the tools, measures them in turn, and prints the tables, or writes them into a page.

python -m benchmarks.peers [--quick] [--write PAGE] [TOOL ...]; without a tool all of them
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from benchmarks.peers import measure
from benchmarks.peers.measure import ToolError
from benchmarks.peers.tables import Row, machine, replaced, tables
from benchmarks.peers.tools import FLOOR, TOOLS, Tool

N, N_AGAIN, N_FAULTY, N_TOKENS = 320, 200, 200, 5
ROUNDS = 3


def main() -> None:
    """Measure what was named; exit 1 when a tool that is installed did not do its job."""
    arguments = _arguments()
    n, rounds = (128, 1) if arguments.quick else (N, ROUNDS)
    before = machine()
    rows = _rows([one for one in TOOLS if one is FLOOR or one.runner in arguments.names])
    there = {tool: row for tool, row in rows.items() if not row.problem}

    def cold(tool: Tool, row: Row) -> None:
        _cold(tool, row, n, rows[FLOOR])

    for _ in range(rounds):
        for tool, row in there.items():
            _step(tool, row, cold)
    for tool, row in there.items():
        for step in (_again, _starts, _faults, _tokens):
            _step(tool, row, step)
    shown = _with_joint(rows)
    text = tables(shown, (
        f"{before}. {n:,} items with one criterion, {measure.IN_FLIGHT} calls at a time, the "
        f"median of {rounds} rounds in which the tools took turns; {N_AGAIN} items again from the "
        f"tool's cache, and {N_FAULTY} items with faults, once each."
    ))  # fmt: skip
    print(text)
    if arguments.write is not None:
        page = arguments.write.read_text(encoding="utf-8")
        arguments.write.write_text(replaced(page, text), encoding="utf-8")
    sys.exit(any(row.problem for row in there.values()))


def _rows(tools: list[Tool]) -> dict[Tool, Row]:
    """An empty row for each tool, with what is said where it cannot be installed."""
    rows: dict[Tool, Row] = {}
    for tool in tools:
        print(f"{tool.name}: install …", file=sys.stderr, flush=True)
        problem = tool.install()
        rows[tool] = Row(tool.name, f"not installed: {problem}" if problem else "")
        rows[tool].absent = tool.absent
        if problem:
            print(f"{tool.name} is left out: {problem}", file=sys.stderr, flush=True)
    return rows


def _with_joint(rows: dict[Tool, Row]) -> list[Row]:
    """The rows, behind each tool that can ask about all criteria in one call what that takes."""
    shown: list[Row] = []
    for tool, row in rows.items():
        shown.append(row)
        if tool.one_call and not row.problem:
            shown.append(Row(f"{tool.name}, all in one call"))
            _step(replace(tool, name=shown[-1].name, option=tool.one_call), shown[-1], _tokens)
    return shown


def _step(tool: Tool, row: Row, step: Callable[[Tool, Row], None]) -> None:
    """One measurement; a tool that did not do its job is measured no further."""
    if row.problem:
        return
    print(f"{tool.name}: {step.__name__.strip('_')} …", file=sys.stderr, flush=True)
    try:
        step(tool, row)
    except ToolError as error:
        row.problem = str(error)
        print(f"{tool.name}: {error}", file=sys.stderr, flush=True)


def _cold(tool: Tool, row: Row, n: int, floor: Row) -> None:
    report = measure.cold(tool, n)
    row.add(wall_s=report.wall_s, cpu_ms=report.cpu_s / n * 1000, peak_mib=report.peak_mib)
    if "wall_s" in floor.figures:
        row.add(ratio=report.wall_s / floor.figures["wall_s"][-1])


def _again(tool: Tool, row: Row) -> None:
    if "warm_s" not in tool.absent:
        report = measure.warm(tool, N_AGAIN)
        row.add(warm_s=report.wall_s, n_warm_requests=report.n_requests)


def _starts(tool: Tool, row: Row) -> None:
    row.add(first_cpu_s=measure.first(tool).process_cpu_s)
    if "import_cpu_s" not in tool.absent:
        row.add(import_cpu_s=measure.start_cpu_s(tool.import_command))
    if "help_cpu_s" not in tool.absent:
        row.add(help_cpu_s=measure.start_cpu_s([str(tool.bin / tool.command), "--help"]))


def _faults(tool: Tool, row: Row) -> None:
    n_right, n_lost, faulty_s = measure.faults(tool, N_FAULTY)
    row.add(n_right=n_right, n_lost=n_lost, n_wrong=N_FAULTY - n_right - n_lost, faulty_s=faulty_s)


def _tokens(tool: Tool, row: Row) -> None:
    n_calls, prompt, schema = measure.tokens(tool, N_TOKENS)
    row.add(n_calls=n_calls, prompt=prompt, schema=schema, all_tokens=prompt + schema)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers")
    known = sorted({tool.runner for tool in TOOLS})
    parser.add_argument("names", nargs="*", metavar="TOOL", help=", ".join(known))
    parser.add_argument("--quick", action="store_true", help="fewer items and one round")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="the page with the tables")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(known))
    if unknown:
        parser.error(f"no tool is called {', '.join(unknown)}; there are {', '.join(known)}")
    if arguments.names and arguments.write:
        parser.error("--write takes the figures of all tools, so name none")
    arguments.names = arguments.names or known
    return arguments


if __name__ == "__main__":
    main()
