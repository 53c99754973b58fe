"""`judgekit rejudge`: grades stored outputs with another judge, and shows what changes."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from judgekit.cli import console
from judgekit.cli.exit_codes import EXIT_FROZEN, EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_LIMIT
from judgekit.cli.grading import grade_all
from judgekit.cli.help import HelpCommand
from judgekit.cli.options import (
    cache_options,
    judge_model_options,
    limit_options,
    max_cost_option,
    store_option,
    talk_options,
)
from judgekit.cli.outputs import output_option, show_document, sort_outputs
from judgekit.cli.progress import show_progress
from judgekit.cli.setup import grade_setup, make_judge
from judgekit.cli.signals import Interrupts
from judgekit.datasets import load_rubric
from judgekit.errors import SettingsError
from judgekit.models import Budget
from judgekit.rejudgment import (
    RejudgeSession,
    compare_verdicts,
    describe_calibration,
    describe_file_calibration,
    describe_run_calibration,
    new_rejudgment,
    original_run,
    pair_verdicts,
    paired_verdicts,
    read_verdicts,
    rejudge_run,
)
from judgekit.report import rejudgment_document
from judgekit.store import LATEST_RUN, RunStore

if TYPE_CHECKING:
    from judgekit.cli.setup import Options
    from judgekit.judge import Judge
    from judgekit.records import Rubric, RunInfo
    from judgekit.rejudgment import Rejudged

_EXITS = {
    "interrupted": EXIT_INTERRUPTED,
    "stopped": EXIT_LIMIT,
    "incomplete": EXIT_INCOMPLETE,
}

_VERB = ("judging again", "judged again")


@click.command("rejudge", cls=HelpCommand)
@click.argument("source", metavar="RUN | VERDICTS")
@click.argument("outputs", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--rubric", metavar="FILE|NAME", help="Another rubric; required for VERDICTS.")
@click.option(
    "--cases",
    type=click.Path(path_type=Path, exists=True),
    help="Cases of OUTPUTS (inputs, references).",
)
@judge_model_options
@limit_options
@cache_options
@store_option
@talk_options
@click.option(
    "--calibration",
    type=click.Path(path_type=Path, exists=True),
    metavar="MAPS",
    help="Check whether these calibration maps (file or folder) fit the new judge.",
)
@max_cost_option()
@output_option("Write the findings to FILE: .json, .md or .html.")
def rejudge_command(
    *,
    source: str,
    outputs: tuple[Path, ...],
    store: str,
    output: tuple[Path, ...],
    **options: object,
) -> None:
    """Judge stored outputs again with --judge NEW and show what changes.

    RUN is a stored run: its id, the beginning of its id, or latest (the last run that produced its
    own outputs). Its outputs are judged again as they are, no system under test is called, and the
    result is stored as a new run that refers to the old one. VERDICTS is a file written by judgekit
    grade -o; it needs the OUTPUTS it is about and the --rubric.

    Exit code 0 whatever changes, 3 if the new judge failed, 5 if the cost limit was reached.

    Examples:
        judgekit rejudge latest --judge anthropic/claude-sonnet-4-5
        judgekit rejudge verdicts.jsonl outputs.jsonl --rubric r.yaml --judge local
    """
    if options.get("judge_model") is None:
        raise SettingsError(
            "no judge is named", hint="name the new one: --judge openai/gpt-4.1-mini"
        )
    files = sort_outputs(output, what="a rejudgment")
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
        show_document(rejudgment_document(found), options, files)
    sys.exit(code)


def _of_run(name: str, store: RunStore, options: Options) -> tuple[Rejudged | None, int]:
    old = store.run(name)
    if name == LATEST_RUN:
        old = original_run(old, store)
    named = cast("str | None", options["rubric"])
    with make_judge(options, None) as judge:
        new = new_rejudgment(
            old,
            judge,
            rubric=None if named is None else load_rubric(named),
            now=datetime.now(UTC),
        )
        sitting = RejudgeSession(in_flight=max(4, judge.connection.max_concurrency))
        try:
            ended = asyncio.run(_judge_run(old, new, judge, store, sitting, options))
        except asyncio.CancelledError:  # the second Ctrl-C
            console.note(_again("stopped at once"))
            return None, EXIT_INTERRUPTED
        maps = cast("Path | None", options["calibration"])
        by_rubric = cast("Rubric", ended.rubric)  # without one no run is planned
        words = (
            describe_calibration(old, new)
            if maps is None
            else describe_run_calibration(maps, old, by_rubric, judge)
        )
    left_out: Counter[str] = Counter()
    pairs = list(paired_verdicts(old, ended, store, left_out=left_out))
    found = None
    if pairs or sitting.status is None:
        found = compare_verdicts(
            pairs,
            (old.rubric, by_rubric),
            (old.panel.judges, ended.panel.judges),
            calibration=words,
            runs=(old.id, ended.id),
            left_out=left_out,
        )
    if sitting.status is not None:
        console.note(_again(sitting.status))
        return found, _EXITS[sitting.status]
    return found, EXIT_FROZEN if sitting.n_missed else _code(found)


async def _judge_run(
    old: RunInfo,
    new: RunInfo,
    judge: Judge,
    store: RunStore,
    sitting: RejudgeSession,
    options: Options,
) -> RunInfo:
    total = sum(1 for _ in store.progress(old.id))
    with (
        show_progress(console.stderr(), total, shown=_is_shown(options), verb=_VERB) as display,
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
    words = describe_file_calibration(maps, old, setup.rubric, setup.judge)
    try:
        graded, is_stopped = grade_all(setup, options, verb=_VERB)
    except asyncio.CancelledError:  # the second Ctrl-C
        console.note(_again("stopped at once"))
        return None, EXIT_INTERRUPTED
    finally:
        setup.judge.close()
    both = pair_verdicts(old, [one.verdict for one in graded])
    if not both.pairs and not is_stopped:
        raise SettingsError(
            f"no output has a verdict in {path.name}",
            hint="both need the same case_id and variant",
        )
    prints = {verdict.rubric_fingerprint for verdict in old.values()}
    same = setup.rubric if prints == {setup.rubric.fingerprint} else None
    judges = [one.judge for verdict in old.values() for one in verdict.judgments]
    found = None
    if both.pairs:
        found = compare_verdicts(
            both.pairs,
            (same, setup.rubric),
            (judges, (setup.judge.id,)),
            calibration=words,
            left_out=both.left_out,
        )
    if is_stopped:
        console.note(_again("interrupted"))
        return found, EXIT_INTERRUPTED
    return found, _code(found)


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
