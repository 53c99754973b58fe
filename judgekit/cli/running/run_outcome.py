"""What the end of a run is told as, and the exit code that says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from judgekit.cli import console as streams
from judgekit.cli.main import (
    EXIT_FROZEN,
    EXIT_INCOMPLETE,
    EXIT_INCONCLUSIVE,
    EXIT_INTERRUPTED,
    EXIT_LIMIT,
    EXIT_QUALITY,
)
from judgekit.cli.running.resuming import resume_command
from judgekit.evaluation.preparing.calibrated import calibration_of, calibration_of_suite
from judgekit.report import view
from judgekit.report.run_view import nothing_found

if TYPE_CHECKING:
    from judgekit.evaluation.figures.run_figures import RunSummary
    from judgekit.evaluation.gating import GateHeld
    from judgekit.evaluation.preparing.opening import OpenSuite
    from judgekit.evaluation.running.runner import Session, StopReason
    from judgekit.records.calibration_map import CalibrationInUse
    from judgekit.records.run import RunInfo

_STOPPED: dict[StopReason, int] = {
    "interrupted": EXIT_INTERRUPTED,
    "budget": EXIT_LIMIT,
    "time": EXIT_LIMIT,
    "fail_fast": EXIT_QUALITY,
    "model": EXIT_INCOMPLETE,
}
"""The exit code for each reason to end before everything was asked."""


def outcome(
    session: Session, summary: RunSummary, gate: GateHeld | None, fail_under: float | None
) -> int:
    """Say how a run ended and what to do about it."""
    run = summary.run
    if session.reason is not None:
        what = "interrupted" if session.reason == "interrupted" else f"stopped: {session.words()}"
        streams.note(_go_on(what, run.id, retry=session.reason == "model"))
        return _STOPPED[session.reason]
    if session.n_missed:
        streams.note("some replies are not in the frozen cache; nothing was asked for them")
        streams.note(f"ask for them: {_command(run.id)}")
        return EXIT_FROZEN
    if run.status == "incomplete":
        if summary.is_blank:
            streams.note(nothing_found(summary))
        streams.note(_to_complete(summary))
        return EXIT_INCOMPLETE
    if summary.is_blank and run.status != "waiting":
        return _blank(summary)
    return _quality(summary, gate, fail_under)


def told_uncalibrated(use: CalibrationInUse) -> int:
    """Say that nothing is asked, for a calibration that holds is required and there is none."""
    streams.note(f"nothing was asked: a calibration is required. {view.printable(use.words)}")
    what = "label outputs of this judge again, and" if use.path else "label some outputs, and"
    again = "judgekit calibrate LABELS --run RUN --write-map"
    place = use.path or "calibration/maps/…json"
    streams.note(f"{what} write the maps: {again} {place}")
    if not use.path:
        streams.note("then name them: --calibration PATH, or `calibration: PATH` in the suite")
    return EXIT_INCONCLUSIVE


def tell_kept(run: RunInfo, opened: OpenSuite) -> None:
    """Say where a run that is gone on with keeps another calibration than the suite has now."""
    then, now = calibration_of(run), calibration_of_suite(opened)
    if then.words != now.words:
        streams.note(f"the run keeps what it was begun with: {view.printable(then.words)}")


def stopped_at_once(run_id: str) -> int:
    """Say that a run was left in the middle of its answers."""
    streams.note(_go_on("stopped at once", run_id))
    return EXIT_INTERRUPTED


def _to_complete(summary: RunSummary) -> str:
    n_errors = sum(variant.n_errors for variant in summary.variants)
    if summary.failures.keys() == {"cannot_assess"} and not n_errors:
        return view.NOT_ASSESSED
    return f"ask again what failed: {_command(summary.run.id, retry=True)}"


def _blank(summary: RunSummary) -> int:
    """Nobody failed to judge, and yet nothing is known: no result may look like a good one."""
    streams.note(nothing_found(summary))
    if any(variant.n_errors or variant.assertions for variant in summary.variants):
        streams.note(f"ask again what failed: {_command(summary.run.id, retry=True)}")
        return EXIT_INCOMPLETE
    return EXIT_INCONCLUSIVE


def _quality(summary: RunSummary, gate: GateHeld | None, fail_under: float | None) -> int:
    found = [_under(summary, fail_under), 0 if gate is None else _gate(gate)]
    if EXIT_QUALITY in found:
        return EXIT_QUALITY
    return EXIT_INCONCLUSIVE if any(found) or summary.run.status == "waiting" else 0


def _under(summary: RunSummary, fail_under: float | None) -> int:
    if fail_under is None:
        return 0
    low = [v for v in summary.variants if v.pass_rate.value < fail_under]
    for variant in low:
        who, found = view.printable(variant.variant), view.rate(variant.pass_rate)
        streams.note(f"{who}: pass rate {found} is below --fail-under {fail_under:g}")
    if low:
        return EXIT_QUALITY
    if any(v.n_passed + v.n_failed == 0 for v in summary.variants):
        streams.note("a variant has no decided answer, so that --fail-under cannot be decided")
        return EXIT_INCONCLUSIVE
    return 0


def _gate(gate: GateHeld) -> int:
    if gate.held == "failed":
        streams.note("the gate of the suite is not reached")
        return EXIT_QUALITY
    if gate.held == "inconclusive":
        streams.note("the gate of the suite cannot be decided")
        return EXIT_INCONCLUSIVE
    return 0


def _go_on(what: str, run_id: str, *, retry: bool = False) -> str:
    return f"{what}; everything is kept. Go on with: {_command(run_id, retry=retry)}"


def _command(run_id: str, *, retry: bool = False) -> str:
    return resume_command(click.get_current_context(), run_id, retry=retry)
