"""Asks why the losing outputs of a comparison lost, and writes `analysis.json`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from judgekit.cli import console as streams
from judgekit.cli.display import progress
from judgekit.cli.main import EXIT_FROZEN, EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_LIMIT
from judgekit.evaluation.comparing.analysing import analyse_pairs, to_analyse
from judgekit.report import view
from judgekit.report.formats.skill_analysis import write_analyses

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from judgekit.cli.setup import Options
    from judgekit.judge.judge import Judge
    from judgekit.records.compared import Analysis, AnalysisFailure, ComparisonInfo
    from judgekit.store.runs import RunStore

_CODES = {"budget": EXIT_LIMIT, "frozen_miss": EXIT_FROZEN}


def analyse_and_write(
    store: RunStore, info: ComparisonInfo, judge: Judge, path: Path, options: Options
) -> int:
    """Ask about every pair that has a winner and was not asked about yet, and write all answers."""
    try:
        failures = asyncio.run(_ask(store, info, judge, options))
    except KeyboardInterrupt:
        streams.note("interrupted; analyses so far are kept")
        return EXIT_INTERRUPTED
    n = write_analyses(path, info, store.compared(info.id), store.analyses(info.id))
    if not options.get("quiet"):
        streams.note(f"wrote {view.count(n, 'analysis', 'analyses')} to {path}")
    if not failures:
        return 0
    n_failed = view.count(len(failures), "analysis", "analyses")
    first = failures[0]
    streams.note(f"{n_failed} failed: {view.one_line(first.message, 300)}")
    return _CODES.get(first.kind, EXIT_INCOMPLETE)


async def _ask(
    store: RunStore, info: ComparisonInfo, judge: Judge, options: Options
) -> list[AnalysisFailure]:
    pairs = to_analyse(store, info)
    shown = not (options.get("quiet") or options.get("no_progress") or options.get("as_json"))
    folders = cast("Iterable[Path]", options.get("template_folders") or ())
    with progress(streams.stderr(), len(pairs), shown=shown, verb=("analysing", "analysed")) as bar:

        def told(said: Analysis | AnalysisFailure) -> None:
            bar.advance([], target_usd=said.cost_usd or 0.0)

        try:
            return await analyse_pairs(
                store, info, judge, pairs, template_folders=tuple(folders), told=told
            )
        finally:
            await judge.aclose()
