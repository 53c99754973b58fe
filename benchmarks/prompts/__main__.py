"""Measures judge templates on labelled sets; docs/prompts.md describes the tables.

python -m benchmarks.prompts --judge MODEL [--set NAME ...] [--template NAME ...]

Replies are cached: the same command continues where it stopped, and `--report` prints what is
there without a call.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import judgekit as jk
from benchmarks.prompts.cells import Cell
from benchmarks.prompts.sets import PUBLIC_SETS, LabelledSet, own_set, public_set
from benchmarks.prompts.tables import tables
from judgekit.errors import InputError, JudgekitError, SettingsError
from judgekit.prompts import is_pair_template
from judgekit.report import Conclusion
from judgekit.report.document import Document
from judgekit.report.markdown import render_markdown
from judgekit.report.numbers import format_count

if TYPE_CHECKING:
    from judgekit.models.cache import ReplyCache
    from judgekit.models.request import Model

# The cheapest replies first, so that an interrupted run has the most answers.
PAIR_TEMPLATES = "llmbar llmbar_vanilla letter joint criterion mt_bench arena_hard fair_eval"
SCORE_TEMPLATES = "rate_explain score_only analyze_rate reason_then_score joint criterion"


def main() -> None:
    """Run the benchmark, or print what is in the cache."""
    arguments = parser().parse_args()
    try:
        sys.exit(max(run(arguments, judge) for judge in arguments.judges))
    except JudgekitError as error:
        print(error, file=sys.stderr)
        sys.exit(2 if isinstance(error, InputError) else 3)
    except KeyboardInterrupt:
        print("interrupted; the same command continues", file=sys.stderr)
        sys.exit(130)


def run(arguments: argparse.Namespace, model: str | Model) -> int:
    """Ask what is missing and print the tables; 3 where items are left open.

    `model` is the judge: a name, or an object that answers requests.
    """
    sets = _sets(arguments)
    cache = jk.DiskCache(arguments.folder / "cache")
    try:
        rows = [_cells(one, model, cache, arguments) for one in sets]
        noted = arguments.folder / "held_out.jsonl"
        views = _note_view(noted, rows) if arguments.held_out else ""
        asyncio.run(_ask(rows, arguments.block, is_report=arguments.report))
        _print(rows, views)
    finally:
        cache.close()
    n_open = sum(cell.n_open for cells in rows for cell in cells)
    return 3 if n_open and not arguments.report else 0


def _sets(arguments: argparse.Namespace) -> list[LabelledSet]:
    if arguments.labels is None:
        found = [public_set(name) for name in arguments.sets or ["llmbar/natural"]]
    elif arguments.sets or not arguments.outputs or arguments.rubric is None:
        raise SettingsError(
            "--labels needs --outputs and --rubric, and no --set",
            hint="measure your own labels and the public sets in runs of their own",
        )
    else:
        cases = None if arguments.cases is None else jk.load_dataset(arguments.cases)
        rubric = jk.load_rubric(arguments.rubric)
        found = [own_set(arguments.labels, arguments.outputs, rubric, cases)]
    taken = [
        one.take("held_out" if arguments.held_out else "choosing", arguments.limit) for one in found
    ]
    for one in taken:
        if one.note:
            print(f"{one.name}: {one.note}", file=sys.stderr)
        if not one.items:
            raise SettingsError(f"no item of {one.name} is in the part {one.part}")
    return taken


def _cells(
    labelled: LabelledSet, model: str | Model, cache: ReplyCache, arguments: argparse.Namespace
) -> list[Cell]:
    folder, names = ("pairwise", PAIR_TEMPLATES) if labelled.is_pairs else (
        "pointwise", SCORE_TEMPLATES)  # fmt: skip
    templates = arguments.templates or [f"{folder}/{name}" for name in names.split()]
    if len(templates) > 1 and isinstance(model, str) and model.startswith("recorded:"):
        raise SettingsError("recorded replies are of one template", hint="--template NAME")
    for template in templates:
        if is_pair_template(template, arguments.folders) != labelled.is_pairs:
            kind = "pairs" if labelled.is_pairs else "single outputs"
            raise SettingsError(
                f"{labelled.name} has {kind}, which {template} does not judge",
                hint="measure pairwise and pointwise templates in runs of their own",
            )

    judge = partial(
        jk.Judge,
        model,
        api_base=arguments.api_base,
        cache=cache,
        template_folders=arguments.folders,
        max_tokens=arguments.max_tokens,
        logprobs=arguments.logprobs,
        max_concurrency=arguments.max_concurrency,
        timeout_s=arguments.timeout,
        # A reply that cannot be parsed is a result here, so there are no retries.
        max_reasks=0,
        rule="average",
    )
    asks = not arguments.report
    return [
        Cell(labelled, one, judge(template=one) if asks else None, judge(template=one, frozen=True))
        for one in templates
    ]


async def _ask(rows: Sequence[Sequence[Cell]], block: int, *, is_report: bool) -> None:
    """Ask block by block, each with every template, so that templates can be compared early."""
    for cells in rows:
        items, name = cells[0].labelled.items, cells[0].labelled.name
        for start in range(0, len(items), block):
            for cell in cells:
                before = cell.n_open
                await cell.ask(items[start : start + block])
                # Without a single answer the judge is not there, and every further call fails too.
                if cell.n_open == before and not is_report:
                    kinds = ", ".join(sorted(cell.problems))
                    raise JudgekitError(f"{cell.template}: nothing could be judged ({kinds})")
            if not is_report:
                done = min(start + block, len(items))
                print(f"{_now()} {name}: {done} of {len(items)}", file=sys.stderr, flush=True)


def _print(rows: Sequence[Sequence[Cell]], views: str) -> None:
    found = tuple(table for cells in rows for table in tables(cells))
    words = f"part {rows[0][0].labelled.part}; intervals of 95 %, clustered by case{views}"
    title = f"Templates with {rows[0][0].cached.connection.name}"
    print(render_markdown(Document(title, Conclusion(words), found, dict)))


def _note_view(path: Path, rows: Sequence[Sequence[Cell]]) -> str:
    """Write down that the held-out part is viewed, before anything of it is shown."""
    cells = [[cell.labelled.name, cell.template] for row in rows for cell in row]
    view = {"at": _now(), "judge": rows[0][0].cached.connection.name, "cells": cells}
    with path.open("a+", encoding="utf-8") as file:
        file.write(json.dumps(view) + "\n")
        file.seek(0)
        lines = file.read().splitlines()
    n_views = format_count(len(lines), "time")
    return f"; viewed {n_views} since {json.loads(lines[0])['at']}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def parser() -> argparse.ArgumentParser:
    """The options of the command line."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.prompts")
    add = made.add_argument
    add("--judge", dest="judges", required=True, nargs="+", help="as in `judgekit grade --judge`")
    add("--api-base", metavar="URL", help="the endpoint, where it is not the provider's own")
    add("--template", dest="templates", action="extend", nargs="+", help="the first is the base")
    add("--templates", dest="folders", action="append", default=[], type=Path, metavar="DIR")
    add("--set", dest="sets", action="append", choices=PUBLIC_SETS, help="a public set")
    add("--labels", type=Path, help="your own labels, with --outputs and --rubric")
    add("--outputs", type=Path, action="append", default=[])
    add("--rubric", help="a rubric file, or the name of a shipped rubric")
    add("--cases", type=Path)
    add("-n", "--limit", type=int, help="items of each set")
    add("--held-out", action="store_true", help="the held-out part; noted down as looked at")
    add("--report", action="store_true", help="print what is cached, without a call")
    add("--folder", type=Path, default=Path(".judgekit/prompts"), help="cache and notes")
    add("--block", type=int, default=10, help="items after which the next template has its turn")
    add("--logprobs", action="store_true", help="ask for token probabilities")
    add("--max-tokens", type=int, help="limit of a reply")
    add("--timeout", type=float, default=60.0, metavar="SECONDS")
    add("-j", "--max-concurrency", type=int, default=8)
    return made


if __name__ == "__main__":
    main()
