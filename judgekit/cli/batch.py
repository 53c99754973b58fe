"""`judgekit batch`: sends requests as provider batches at half price, and collects the replies."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from judgekit import batches  # loaded when used
from judgekit.cli import console
from judgekit.cli.batch_requests import (
    batches_document,
    send_requests,
    watch_requests,
    without_calls,
)
from judgekit.cli.cache import CacheOptions
from judgekit.cli.exit_codes import STOP_CODES, Exit, exit_code
from judgekit.cli.help import HelpGroup, command
from judgekit.cli.options import TalkOptions, flag, max_cost_option, option
from judgekit.cli.outputs import show_document
from judgekit.cli.plan import JobOptions, is_run
from judgekit.cli.progress import run_until_stopped
from judgekit.cli.run import prepared_run, run_with_progress
from judgekit.cli.setup import cache_place, open_cache, stop_words
from judgekit.cli.suite_setup import GradeOptions, RunOptions, RunSetup, grade_run_setup, run_setup
from judgekit.errors import SettingsError

if TYPE_CHECKING:
    from judgekit.batches import BatchFolder, BatchRecord
    from judgekit.models.cache import ReplyCache


@click.group(cls=HelpGroup)
def batch_command() -> None:
    """Have judge requests answered in batches: half the price, within 24 hours.

    Replies go into the reply cache under the keys that calls have, so that any later run is
    answered by them. Batches need a model openai/NAME, anthropic/NAME or gemini/NAME, and the
    machine may be off meanwhile.

    Examples:
        judgekit batch submit outputs.jsonl --rubric helpfulness
        judgekit batch collect
        judgekit grade outputs.jsonl --rubric helpfulness --frozen
    """


class _SubmitOptions(JobOptions, TalkOptions):
    max_cost: float | None = max_cost_option(
        "Send nothing if it may cost more than this in batches. Exit code 5."
    )


@command("submit", _SubmitOptions, batch_command)
@click.argument(
    "paths", nargs=-1, metavar="[SUITE | OUTPUTS]...", type=click.Path(path_type=Path, exists=True)
)
def batch_submit_command(options: _SubmitOptions, *, paths: tuple[Path, ...]) -> None:
    """Send every request of a run of SUITE or a grading of OUTPUTS that is not cached.

    It takes the options of judgekit run or judgekit grade. Requests that an earlier batch still
    holds are not sent again, and a submission that was interrupted is finished: it is looked for
    at the provider first. Exit code 4 while replies are awaited, 0 if every reply is cached.

    Examples:
        judgekit batch submit suite.yaml --max-cost 2
        judgekit batch submit outputs.jsonl --rubric helpfulness
    """
    options = without_calls(options)
    folder = cache_place(options)
    if folder is None:
        raise SettingsError("batches need a cache", hint="omit --no-cache")
    with (
        TemporaryDirectory(prefix="judgekit-batch-") as temporary,
        _setup(options, paths, Path(temporary)) as setup,
    ):
        if made := [
            one.id for one in setup.opened.variants if one.kind not in {"outputs", "model"}
        ]:
            raise SettingsError(
                f"the outputs of {', '.join(made)} are made again by each run",
                hint="judgekit run SUITE --batch, which stores them",
            )
        missed = watch_requests(setup)
        prepared_run(setup, resumes=False)
        run_until_stopped(run_with_progress(setup, options), "nothing was sent")
        if setup.session.reason is not None:
            console.note(f"{stop_words(setup.session)}; nothing was sent")
            sys.exit(STOP_CODES[setup.session.reason])
        sent = send_requests(missed, setup, folder, options)
    records = {one.name: one for one in (*sent.sent, *sent.waiting)}
    show_document(batches_document([*records.values()]), options)
    if missed:
        then = "collect the replies later: judgekit batch collect"
        console.note(then if records else "they have just been collected: submit the same again")
    # What was collected meanwhile may lead to further questions.
    sys.exit(Exit.INCONCLUSIVE if missed else 0)


def _setup(options: _SubmitOptions, paths: tuple[Path, ...], temporary: Path) -> RunSetup:
    """The run or the grading whose requests are sent; it is not stored."""
    if is_run(paths, options):
        run = RunOptions.of(options, output=(), store=str(temporary / "judgekit.db"))
        return run_setup(next(iter(paths), None), run)
    variant = next(iter(options.variant), None)
    return grade_run_setup(
        GradeOptions.of(options, outputs=paths, variant=variant, output=(), no_store=True)
    )


class _StatusOptions(CacheOptions):
    sent_as: str | None = option(
        "BATCH, whose submission was interrupted, is the batch ID at the provider.", metavar="ID"
    )
    not_sent: bool = flag(
        "BATCH, whose submission was interrupted, is none of the batches at the provider; the "
        "next `submit` sends it."
    )


@command("status", _StatusOptions, batch_command)
@click.argument("batch", required=False)
def batch_status_command(options: _StatusOptions, *, batch: str | None) -> None:
    """Ask the provider how far BATCH is, or all batches; exit code 4 while one is not collected.

    BATCH is its name, the beginning of it, or its id at the provider.

    Examples:
        judgekit batch status
        judgekit batch status judgekit-3f2a --sent-as msgbatch_01
    """
    folder, is_settled = batches.BatchFolder(options.cache_dir), options.sent_as or options.not_sent
    if is_settled and (batch is None or (options.sent_as and options.not_sent)):
        raise SettingsError(
            "--sent-as and --not-sent each need BATCH, and exclude each other",
            hint="judgekit batch status BATCH --sent-as ID",
        )
    if is_settled and batch is not None:
        asyncio.run(batches.settle_submission(folder, batch, options.sent_as))
    records = _refreshed(folder, batch, options)
    sys.exit(Exit.INCONCLUSIVE if any(one.is_open for one in records) else 0)


def _refreshed(
    folder: BatchFolder, batch: str | None, options: CacheOptions, cache: ReplyCache | None = None
) -> list[BatchRecord]:
    """Batches as they are now, which are printed; an error of one of them ends the command."""
    records, errors = asyncio.run(batches.refresh_batches(folder, batch, cache=cache))
    show_document(batches_document(records), options)
    for error in errors:
        console.note(f"error: {error}")
    if errors:
        sys.exit(exit_code(errors[0]))
    return records


@command("collect", CacheOptions, batch_command)
@click.argument("batch", required=False)
def batch_collect_command(options: CacheOptions, *, batch: str | None) -> None:
    """Store the replies of batches that have ended in the reply cache.

    Requests without a reply (refused, or expired) are listed and go into the next
    submission. Exit code 4 while a batch is not done, 3 if requests have no reply.

    Examples:
        judgekit batch collect
    """
    folder = batches.BatchFolder(options.cache_dir)
    with open_cache(options.cache_dir, writing=True) as cache:
        records = _refreshed(folder, batch, options, cache)
    if any(one.is_open for one in records):
        sys.exit(Exit.INCONCLUSIVE)
    sys.exit(Exit.INCOMPLETE if any(one.n_open for one in records) else 0)


@command("cancel", CacheOptions, batch_command)
@click.argument("batch")
def batch_cancel_command(options: CacheOptions, *, batch: str) -> None:
    """Cancel BATCH; what is answered by then is collected as usual, and paid for.

    Examples:
        judgekit batch cancel judgekit-3f2a
    """
    record = asyncio.run(batches.cancel_batch(batches.BatchFolder(options.cache_dir), batch))
    show_document(batches_document([record]), options)
