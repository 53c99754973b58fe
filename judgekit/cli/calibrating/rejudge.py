"""`judgekit rejudge`: outputs that were judged before, judged by another judge."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from judgekit.cli import console as streams
from judgekit.cli.display import progress
from judgekit.cli.interrupts import Interrupts
from judgekit.cli.main import (
    EXIT_FROZEN,
    EXIT_INCOMPLETE,
    EXIT_INTERRUPTED,
    EXIT_LIMIT,
)
from judgekit.cli.options import (
    cache_options,
    judge_options,
    limit_options,
    max_cost_option,
    store_option,
    talk_options,
)
from judgekit.cli.setup import grade_setup, make_judge
from judgekit.datasets.loading import load_rubric
from judgekit.errors import SettingsError
from judgekit.evaluation.grading import grade_answers
from judgekit.evaluation.rejudging.calibration import (
    calibration_of_files,
    calibration_of_runs,
    calibration_words,
)
from judgekit.evaluation.rejudging.contrasting import contrast
from judgekit.evaluation.rejudging.files import joined, read_verdicts
from judgekit.evaluation.rejudging.runs import (
    Rejudging,
    first_judged,
    judged_twice,
    rejudge_run,
    rejudged_run,
)
from judgekit.models.budget import Budget
from judgekit.report import rejudge_terminal, view
from judgekit.report.replacing import check_place, replace_text
from judgekit.store.run_rows import LATEST
from judgekit.store.runs import RunStore

if TYPE_CHECKING:
    from judgekit.cli.setup import GradeSetup, Options
    from judgekit.evaluation.rejudging.figures import Rejudged
    from judgekit.judge.judge import Judge
    from judgekit.records.rubric import Rubric
    from judgekit.records.run import RunInfo
    from judgekit.records.verdict import Verdict

_EXITS = {
    "interrupted": EXIT_INTERRUPTED,
    "stopped": EXIT_LIMIT,
    "incomplete": EXIT_INCOMPLETE,
}
_VERB = ("judging again", "judged again")


@click.command()
@click.argument("source", metavar="RUN | VERDICTS")
@click.argument("outputs", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--rubric", metavar="FILE|NAME", help="Another rubric; needed for VERDICTS.")
@click.option(
    "--cases",
    type=click.Path(path_type=Path, exists=True),
    help="Cases that OUTPUTS answer (inputs, references).",
)
@judge_options
@limit_options
@cache_options
@store_option
@talk_options
@click.option(
    "--calibration",
    type=click.Path(path_type=Path, exists=True),
    metavar="MAPS",
    help="Say whether these maps (a file, or a folder of them) hold for the new judge too.",
)
@max_cost_option()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write everything that was found to FILE: .json.",
)
def rejudge(
    *,
    source: str,
    outputs: tuple[Path, ...],
    store: str,
    output: Path | None,
    **options: object,
) -> None:
    """Judge what was judged before with --judge NEW, and say what changes."""
    # RUN is a stored run: its id, the beginning of one, or `latest` (the last one that made its
    # outputs itself). Its outputs are judged again as they are, no system under test is asked, and
    # what the new judge says is kept as a run of its own that names the old one. VERDICTS is a file
    # that `judgekit grade -o` wrote; give the OUTPUTS it is about and the --rubric with it.
    # Exit 0 whatever changes, 3 when the new judge failed somewhere, 5 when the money did not
    # suffice.
    if options.get("judge_model") is None:
        raise SettingsError(
            "no judge is named", hint="name the new one: --judge openai/gpt-4.1-mini"
        )
    if output is not None:
        check_place(output, (".json",), what="what changed", may_be_folder=False)
    limit = cast("float | None", options["max_cost"])
    options["budget"] = None if limit is None else Budget(limit)
    if Path(source).is_file():
        found, code = _of_file(Path(source), {**options, "outputs": outputs})
    elif outputs:
        raise SettingsError(f"OUTPUTS go with a file of verdicts, and {source} is none")
    else:
        with closing(RunStore(store, create=False)) as kept:
            found, code = _of_run(source, kept, options)
    if found is not None:
        _show(found, options, output)
    sys.exit(code)


def _of_run(name: str, store: RunStore, options: Options) -> tuple[Rejudged | None, int]:
    old = store.run(name)
    if name == LATEST:
        old = first_judged(old, store)
    named = cast("str | None", options["rubric"])
    with make_judge(options, None) as judge:
        new = rejudged_run(
            old,
            judge,
            rubric=None if named is None else load_rubric(named),
            now=datetime.now(UTC),
        )
        sitting = Rejudging(in_flight=max(4, judge.connection.max_concurrency))
        try:
            ended = asyncio.run(_judge_run(old, new, judge, store, sitting, options))
        except asyncio.CancelledError:  # the second Ctrl-C
            streams.note(_again("stopped at once"))
            return None, EXIT_INTERRUPTED
        maps = cast("Path | None", options["calibration"])
        by_rubric = cast("Rubric", ended.rubric)  # without one no run is planned
        words = (
            calibration_words(old, new)
            if maps is None
            else calibration_of_runs(maps, old, by_rubric, judge)
        )
    left_out: Counter[str] = Counter()
    twices = list(judged_twice(old, ended, store, left_out=left_out))
    found = None
    if twices or sitting.status is None:
        found = contrast(
            twices,
            (old.rubric, by_rubric),
            (old.panel.judges, ended.panel.judges),
            calibration=words,
            runs=(old.id, ended.id),
            left_out=left_out,
        )
    if sitting.status is not None:
        streams.note(_again(sitting.status))
        return found, _EXITS[sitting.status]
    return found, EXIT_FROZEN if sitting.n_missed else _code(found)


async def _judge_run(
    old: RunInfo,
    new: RunInfo,
    judge: Judge,
    store: RunStore,
    sitting: Rejudging,
    options: Options,
) -> RunInfo:
    total = sum(1 for _ in store.progress(old.id))
    with (
        progress(streams.stderr(), total, shown=_is_shown(options), verb=_VERB) as display,
        Interrupts(lambda: sitting.end("interrupted")),
    ):
        sitting.watch = lambda result: display.advance([*result.judgments, *result.failures])
        async with judge:
            return await rejudge_run(old, new, judge, store, sitting)


def _of_file(path: Path, options: Options) -> tuple[Rejudged | None, int]:
    if not options["outputs"]:
        raise SettingsError(
            f"{path.name} holds verdicts, and the outputs they are about are needed too",
            hint=f"judgekit rejudge {path.name} outputs.jsonl --rubric … --judge …",
        )
    old = read_verdicts(path)
    setup = grade_setup({**options, "calibration": None})
    maps = cast("Path | None", options["calibration"])
    words = calibration_of_files(maps, old, setup.rubric, setup.judge)
    try:
        verdicts, is_stopped = asyncio.run(_grade(setup, options))
    except asyncio.CancelledError:  # the second Ctrl-C
        streams.note(_again("stopped at once"))
        return None, EXIT_INTERRUPTED
    finally:
        setup.judge.close()
    both = joined(old, verdicts)
    if not both.twices and not is_stopped:
        raise SettingsError(
            f"no output has a verdict in {path.name}",
            hint="both need the same case_id and variant",
        )
    prints = {verdict.rubric_fingerprint for verdict in old.values()}
    same = setup.rubric if prints == {setup.rubric.fingerprint} else None
    judges = [one.judge for verdict in old.values() for one in verdict.judgments]
    found = None
    if both.twices:
        found = contrast(
            both.twices,
            (same, setup.rubric),
            (judges, (setup.judge.id,)),
            calibration=words,
            left_out=both.left_out,
        )
    if is_stopped:
        streams.note(_again("interrupted"))
        return found, EXIT_INTERRUPTED
    return found, _code(found)


async def _grade(setup: GradeSetup, options: Options) -> tuple[list[Verdict], bool]:
    stop = asyncio.Event()
    in_flight = max(4, setup.judge.connection.max_concurrency)
    graded = []
    total, _ = setup.counts()
    with (
        progress(streams.stderr(), total, shown=_is_shown(options), verb=_VERB) as display,
        Interrupts(stop.set),
    ):
        async with setup.judge:
            async for item in grade_answers(
                setup.judge, setup.answers(), setup.rubric, in_flight=in_flight, stop=stop
            ):
                graded.append(item)
                display.advance([*item.verdict.judgments, *item.verdict.failures])
    graded.sort(key=lambda item: item.index)
    return [item.verdict for item in graded], stop.is_set()


def _show(found: Rejudged, options: Options, output: Path | None) -> None:
    as_json = rejudge_terminal.rejudged_json(found)
    if output is not None:
        replace_text(output, json.dumps(as_json, ensure_ascii=False, indent=2) + "\n")
    if options["as_json"]:
        streams.print_json(as_json)
    else:
        rejudge_terminal.print_rejudged(
            streams.stdout(), found, every_flip=bool(options["verbose"])
        )
    if output is not None and not options["quiet"]:
        streams.note(f"wrote what changed to {view.printable(str(output))}")


def _is_shown(options: Options) -> bool:
    return not (options["quiet"] or options["no_progress"] or options["as_json"])


def _again(what: str) -> str:
    return f"{what}; run the same command again: nothing that was answered is asked twice"


def _code(found: Rejudged | None) -> int:
    failures = {} if found is None else found.new_failures
    if "frozen_miss" in failures:
        return EXIT_FROZEN
    if "budget" in failures:
        return EXIT_LIMIT
    return EXIT_INCOMPLETE if failures else 0
