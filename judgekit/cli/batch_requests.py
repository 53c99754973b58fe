"""Sends what a run or a grading has no cached reply for as provider batches, and lists batches.

`batch` has the commands; `run` and `grade` use this for `--batch`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from judgekit import batches, evaluation, models, report  # loaded when used
from judgekit.cli import console
from judgekit.cli.progress import run_async
from judgekit.cli.setup import open_cache
from judgekit.errors import ModelError, SettingsError
from judgekit.report import message, numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.batches import BatchRecord, Submission
    from judgekit.cli.judge_options import CallOptions
    from judgekit.cli.suite_setup import RunSetup
    from judgekit.models.cache import CacheLocation
    from judgekit.models.request import ModelRequest

_Options = TypeVar("_Options", bound="CallOptions")
_MOST_NOTES = 10


def without_calls(options: _Options) -> _Options:
    """The options of a run whose judges are not called: their requests go into batches."""
    settings = options.judge_settings
    against = {"no-cache": options.no_cache, "refresh": settings.refresh, "frozen": settings.frozen}
    for name, is_set in against.items():
        if is_set:
            raise SettingsError(
                f"--{name} and --batch contradict each other",
                hint="batches fetch what is not cached, into the cache",
            )
    frozen = settings.model_copy(update={"frozen": True})
    # Progress would show as failed what is only not answered yet.
    return options.model_copy(update={"judge_settings": frozen, "no_progress": True})


def watch_requests(setup: RunSetup) -> dict[str, ModelRequest]:
    """The requests that the cache does not answer, filled in during the run."""
    missed: dict[str, ModelRequest] = {}
    if setup.opened.cache is not None:
        setup.opened.cache.missed = missed
    return missed


def send_requests(
    missed: dict[str, ModelRequest], setup: RunSetup, cache: CacheLocation, options: CallOptions
) -> Submission:
    """Send requests as batches, less those that an open batch holds."""
    # The run has closed its own.
    with open_cache(cache, writing=True) as replies:
        sending = batches.submit_requests(
            batches.BatchFolder(cache),
            missed,
            cache=replies,
            prices=evaluation.price_table(setup.opened.suite),
            max_cost_usd=options.max_cost,
        )
        try:
            sent = run_async(sending)
        except ModelError:
            console.note("`judgekit batch status` shows what was sent; submit the same again later")
            raise
    if setup.opened.budget is not None:
        setup.opened.budget.spend(sent.most_usd)  # a folder of suites has one limit for all
    for record in sent.sent:
        n = numbers.format_count(record.n_requests, "request")
        most = "" if record.most_usd is None else f", at most {numbers.format_usd(record.most_usd)}"
        console.note(f"sent as a batch: {n} to {record.model}{most} ({record.batch_id})")
    if sent.n_waiting:
        n = numbers.format_count(sent.n_waiting, "request waits", "requests wait")
        console.note(f"{n} in earlier batches: {', '.join(one.name for one in sent.waiting)}")
    return sent


def batches_document(records: Sequence[BatchRecord]) -> report.Document:
    texts, counts = ("batch", "model", "state"), ("requests", "done", "replies", "open", "cost")
    columns = (*(report.Column(name, "text") for name in texts), *map(report.Column, counts))
    rows = tuple(
        (
            one.name,
            message.printable(one.model),
            _state(one),
            f"{one.n_requests:,}",
            f"{max(one.n_done, one.n_replies):,}",
            f"{one.n_replies:,}",
            f"{one.n_open:,}",
            "" if one.cost_usd is None else numbers.format_usd(one.cost_usd),
        )
        for one in records
    )
    n_open = sum(one.is_open for one in records)
    words = f"{numbers.format_count(len(records), 'batch', 'batches')}, {n_open} not collected yet."
    return report.Document(
        title="Batches",
        conclusion=report.Conclusion(words),
        blocks=report.not_empty(
            (report.Table(columns, rows), report.Notes(tuple(_notes(records))))
        ),
        data=lambda: {
            "price_share": models.BATCH_PRICE_SHARE,
            "batches": [one.model_dump(mode="json") | {"n_open": one.n_open} for one in records],
        },
    )


def _state(record: BatchRecord) -> str:
    if record.is_interrupted:
        return "interrupted"
    if record.state == "collected" and record.status in _COMPLETE:
        return "collected"
    return record.status or record.state


_COMPLETE = {None, "completed", "succeeded", "ended"}


def _notes(records: Sequence[BatchRecord]) -> list[str]:
    notes = []
    for one in records:
        if one.candidates:
            ids = message.one_line(" or ".join(one.candidates))
            notes.append(
                f"{one.name} was interrupted while it was sent, and may be {ids} at the provider; "
                "once that has ended, `judgekit batch submit` can tell. If you know it: "
                f"`judgekit batch status {one.name} --sent-as ID`, or --not-sent"
            )
        if one.problem:
            notes.append(f"{one.name} was refused: {message.one_line(one.problem)}")
        if one.n_rejected:
            n = numbers.format_count(one.n_rejected, "reply was", "replies were")
            notes.append(f"{one.name}: {n} truncated, filtered or empty; the question is repeated")
        notes += [
            f"{one.name}: no reply to {key[:12]}: {message.one_line(why.text)}"
            for key, why in [*one.refused.items()][:_MOST_NOTES]
        ]
        if (n_more := len(one.refused) - _MOST_NOTES) > 0:
            notes.append(f"{one.name}: {n_more:,} more without a reply; --json lists all")
    if any(one.n_open for one in records):
        notes.append("open requests go into the next batch: submit the same again")
    if any(one.is_interrupted and not one.candidates for one in records):
        notes.append(
            "an interrupted submission is finished when the same is submitted again; "
            "`judgekit batch cancel NAME` gives it up"
        )
    return notes
