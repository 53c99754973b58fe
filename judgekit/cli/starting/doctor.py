"""`judgekit doctor`: whether the installation, keys, cache and a model are as they should be."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from judgekit.cli import console as streams
from judgekit.cli.main import EXIT_INCOMPLETE, EXIT_INPUT
from judgekit.cli.options import cache_dir_option, json_option, store_option
from judgekit.cli.starting.calibration_health import calibration_checks
from judgekit.cli.starting.health import (
    Check,
    cache_checks,
    key_checks,
    local_checks,
    offline_checks,
    shipped_check,
    version_checks,
)
from judgekit.cli.starting.store_health import store_checks
from judgekit.errors import JudgekitError
from judgekit.judge.judge import Judge
from judgekit.prompts.replies import read_reply
from judgekit.records.case import Case
from judgekit.records.output import Output
from judgekit.records.rubric import Criterion, Rubric, Scale
from judgekit.report import view

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from judgekit.models.request import ModelReply

_MARKS = {
    "ok": ("✓", "green"),
    "warning": ("!", "yellow"),
    "error": ("✗", "red"),
    "note": ("·", "dim"),
}
_PROBE = "probe"
_CASE = Case(id="probe", input="What is 2 + 2?", reference="4")
_OUTPUT = Output(text="4")
_RUBRIC = Rubric(
    name="probe",
    criteria=[
        Criterion(
            name="correct",
            question="Does the output give the same number as the reference?",
            scale=Scale(min=0, max=1, integer=True),
            scoring_guide="1: the same number. 0: another number or none.",
        )
    ],
)


@click.command()
@click.option("--probe", metavar="MODEL", help="Make one tiny call to MODEL; it may cost a little.")
@click.option("--api-base", metavar="URL", envvar="JUDGEKIT_API_BASE", help="Endpoint of --probe.")
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(0, min_open=True),
    default=60,
    show_default=True,
    help="Deadline of --probe, in seconds.",
)
@cache_dir_option
@store_option
@json_option
def doctor(
    *,
    probe: str | None,
    api_base: str | None,
    timeout_s: float,
    cache_dir: Path,
    store: str,
    as_json: bool,
) -> None:
    """Check versions, keys, offline tables, shipped files, cache, store, local weights, a model."""
    # Keys are named, never shown. Nothing is asked but with --probe.
    # Exit 0 when all is sound, 2 when something is broken, 3 when only the probe failed.
    checks = [
        *version_checks(),
        *key_checks(os.environ),
        *offline_checks(),
        shipped_check(),
        *cache_checks(cache_dir),
        *store_checks(store),
        *calibration_checks(),
        *local_checks(os.environ),
    ]
    if probe is not None:
        checks += _probe(probe, api_base=api_base, timeout_s=timeout_s)
    code = _code(checks)
    if as_json:
        streams.print_json({"sound": code == 0, "checks": [asdict(check) for check in checks]})
    else:
        _print(checks)
    sys.exit(code)


def _probe(model: str, *, api_base: str | None, timeout_s: float) -> list[Check]:
    """One call through the whole way a judge asks, without the cache and without trying again."""
    try:
        reply, waited_s = asyncio.run(_ask(model, api_base=api_base, timeout_s=timeout_s))
    except JudgekitError as error:
        return [Check(_PROBE, "error", f"{model}: {error.message}", error.hint)]
    answered = f"{model} answered in {waited_s:.1f} s"
    named = f" as {reply.model}" if reply.model else ""
    checks = [Check(_PROBE, "ok", f"{answered}{named}, {view.usd(reply.cost_usd)}")]
    if reply.dropped_parameters:
        dropped = ", ".join(reply.dropped_parameters)
        checks.append(Check(_PROBE, "note", f"it refuses {dropped}, which judgekit leaves out"))
    return [*checks, _reading(reply)]


async def _ask(model: str, *, api_base: str | None, timeout_s: float) -> tuple[ModelReply, float]:
    judge = Judge(model, api_base=api_base, cache=None, timeout_s=timeout_s, max_retries=0)
    try:
        request = judge.requests(_CASE, _OUTPUT, _RUBRIC)[0]
        begun = time.monotonic()
        reply = await judge.connection.model.complete(request)
        return reply, time.monotonic() - begun
    finally:
        await judge.aclose()


def _reading(reply: ModelReply) -> Check:
    """Whether the reply is a verdict that can be read; small models often give none."""
    try:
        found = read_reply(
            reply.text or "",
            _RUBRIC.criteria,
            finish_reason=reply.finish_reason,
            judged_text=_OUTPUT.text,
        )
    except JudgekitError as error:
        remedy = "a judge's reply is asked again twice; if it often fails, take a larger model"
        return Check(_PROBE, "warning", f"its reply is no verdict: {error.message}", remedy)
    raw = found[_RUBRIC.criteria[0].name].raw
    said = "it could not assess" if raw is None else f"{raw:g} of 1"
    return Check(_PROBE, "ok", f"its verdict can be read: {said}")


def _code(checks: Sequence[Check]) -> int:
    broken = [check.topic for check in checks if check.grade == "error"]
    if not broken:
        return 0
    return EXIT_INCOMPLETE if set(broken) == {_PROBE} else EXIT_INPUT


def _print(checks: Sequence[Check]) -> None:
    from rich.text import Text  # noqa: PLC0415 - only when printing

    console = streams.stdout()
    width = max(len(check.topic) for check in checks)
    for check in checks:
        mark, style = _MARKS[check.grade]
        line = Text(f"{mark} ", style=style)
        line.append(f"{check.topic:<{width}}  ", style="dim")
        line.append(view.printable(check.text), style="" if check.grade != "note" else "dim")
        console.print(line, soft_wrap=True)
        if check.remedy and check.grade != "ok":
            remedy = f"{'':<{width + 4}}{view.printable(check.remedy)}"
            console.print(remedy, markup=False, soft_wrap=True, style="dim")
    n_errors = sum(check.grade == "error" for check in checks)
    n_warnings = sum(check.grade == "warning" for check in checks)
    console.print(
        f"{view.count(n_errors, 'error')}, {view.count(n_warnings, 'warning')}", markup=False
    )
