"""A run's own row: what it set out to do, who runs it, how it ended, and finding it by name."""

from __future__ import annotations

import difflib
import json
import os
import socket
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, func, insert, select, update

from judgekit.errors import InputError, StoreError, UnknownNameError
from judgekit.fingerprint import fingerprint
from judgekit.records.output import Variant
from judgekit.records.run import RunInfo
from judgekit.store.snapshots import Row, insert_new, keep_config, keep_rubric, read_rubric
from judgekit.store.tables import configs, runs, variants
from judgekit.store.texts import (
    lookup_text,
    name_text,
    read_record,
    read_time,
    record_text,
    time_text,
    words_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from sqlalchemy.engine import Connection

    from judgekit.records.run import RunStatus

LATEST = "latest"
"""The name of the run that was begun last; `latest:SUITE` is the last one of a suite."""

TO_COMPARE = ": outputs to compare"
"""Ends the suite's name of a run that only made outputs for a comparison; such a run is `latest`
only where there is no other."""

_MOST_NAMED = 10


def begin_run(connection: Connection, run: RunInfo) -> int:
    """Keep what a run sets out to do."""
    at = time_text(run.started_at)
    if connection.scalar(select(runs.c.no).where(runs.c.id == name_text("run id", run.id))):
        raise StoreError(
            f"the run {run.id} was begun already",
            hint="go on with it (--resume), or give the new run another id",
        )
    row: Row = {
        "id": run.id,
        "suite": lookup_text(run.suite),
        "suite_version": lookup_text(run.suite_version),
        "started_at": at,
        "config_key": keep_config(connection, run.config),
        "config_fingerprint": lookup_text(run.config_fingerprint or fingerprint(run.config)),
        "dataset": None if run.dataset is None else lookup_text(run.dataset),
        "rubric_key": None if run.rubric is None else keep_rubric(connection, run.rubric, at),
        "json": _run_text(run),
        **_ending(run.status, run.reason, run.finished_at),
        **_holder(),
    }
    key = connection.execute(insert(runs), row).inserted_primary_key
    number = 0 if key is None else int(key[0])
    keep_variants(connection, number, enumerate(run.variants))
    return number


def end_run(
    connection: Connection, run_no: int, status: RunStatus, reason: str | None, at: datetime | None
) -> None:
    """Keep how a run ended, or that it goes on."""
    row = _ending(status, reason, at) | (_holder() if status == "running" else {})
    connection.execute(update(runs).where(runs.c.no == run_no).values(row))


def keep_variants(
    connection: Connection, run_no: int, found: Iterable[tuple[int, Variant]]
) -> None:
    """Keep variants of a run with their places in its order."""
    rows: list[Row] = [
        {
            "run_no": run_no,
            "no": no,
            "variant": name_text("variant id", variant.id),
            "json": record_text(variant),
        }
        for no, variant in found
    ]
    insert_new(connection, variants, rows)


def variant_numbers(connection: Connection, run_no: int) -> dict[str, int]:
    """The variants of a run."""
    query = select(variants.c.variant, variants.c.no).where(variants.c.run_no == run_no)
    return {row.variant: row.no for row in connection.execute(query.order_by(variants.c.no))}


def run_number(connection: Connection, run_id: str) -> int:
    """The number of a run."""
    number = connection.scalar(select(runs.c.no).where(runs.c.id == words_text(run_id)))
    if number is None:
        raise unknown_run(connection, run_id)
    return int(number)


def find_run(connection: Connection, name: str) -> int:
    """The number of the run that a person means."""
    exact = connection.scalar(select(runs.c.no).where(runs.c.id == words_text(name)))
    if exact is not None:
        return int(exact)
    word, _, suite = name.partition(":")
    found = _last_run(connection, suite) if word == LATEST else _run_beginning(connection, name)
    if found is None:
        raise unknown_run(connection, name)
    return found


def unknown_run(connection: Connection, name: str) -> UnknownNameError:
    """The error for a run that is not there."""
    known = list(connection.scalars(select(runs.c.id).order_by(*newest_first())))
    near = difflib.get_close_matches(name, known, n=3)
    error = UnknownNameError("run", name, near or known[:_MOST_NAMED])
    if not known:
        error.hint = "no run is kept here yet: judgekit run"
    return error


def newest_first() -> tuple[ColumnElement[object], ...]:
    """The order in which runs are listed."""
    return runs.c.started_at.desc(), runs.c.no.desc()


def read_runs(connection: Connection, numbers: Iterable[int]) -> list[RunInfo]:
    """What runs set out to do and how they ended."""
    return [_read_run(connection, number) for number in numbers]


def _read_run(connection: Connection, run_no: int) -> RunInfo:
    query = select(runs, configs.c.json.label("config")).join(configs)
    row = connection.execute(query.where(runs.c.no == run_no)).one()
    of_run = select(variants.c.json).where(variants.c.run_no == run_no).order_by(variants.c.no)
    found = [read_record(Variant, text) for text in connection.scalars(of_run)]
    return read_record(RunInfo, row.json).model_copy(
        update={
            "config": json.loads(row.config),
            "rubric": read_rubric(connection, row.rubric_key),
            "variants": tuple(found),
            "status": row.status,
            "reason": row.reason,
            "finished_at": read_time(row.finished_at),
        }
    )


def holder(connection: Connection, run_no: int) -> str:
    """Who ran a run last, in words."""
    row = connection.execute(select(runs.c.pid, runs.c.host).where(runs.c.no == run_no)).one()
    here = "" if row.host == socket.gethostname() else f" on {row.host}"
    return f"process {row.pid}{here}"


def _last_run(connection: Connection, suite: str) -> int | None:
    query = select(runs.c.no).order_by(*newest_first()).limit(1)
    if suite:
        return connection.scalar(query.where(runs.c.suite == lookup_text(suite)))
    own = connection.scalar(query.where(runs.c.suite.not_like(f"%{TO_COMPARE}")))
    return connection.scalar(query) if own is None else own


def _run_beginning(connection: Connection, start: str) -> int | None:
    """The one run whose id begins so; None where there is none."""
    start = words_text(start)
    if not start:
        return None
    query = select(runs.c.no, runs.c.id).where(func.substr(runs.c.id, 1, len(start)) == start)
    rows = connection.execute(query.order_by(*newest_first()).limit(_MOST_NAMED)).all()
    if len(rows) > 1:
        raise InputError(
            f"several runs begin with {start!r}: {', '.join(row.id for row in rows)}",
            hint="give more of the id",
        )
    return rows[0].no if rows else None


def _holder() -> Row:
    return {"pid": os.getpid(), "host": words_text(socket.gethostname())}


def _ending(status: RunStatus, reason: str | None, at: datetime | None) -> Row:
    return {
        "status": status,
        "reason": None if reason is None else words_text(reason),
        "finished_at": None if at is None else time_text(at),
    }


def _run_text(run: RunInfo) -> str:
    """The run without what has a column or a table of its own."""
    apart: dict[str, object] = {"config": {}, "rubric": None, "variants": ()}
    ended: dict[str, object] = {"status": "running", "finished_at": None, "reason": None}
    return record_text(run.model_copy(update=apart | ended))
