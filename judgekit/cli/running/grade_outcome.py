"""What the end of a grading is told as, and the exit code that says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.cli import console as streams
from judgekit.cli.main import (
    EXIT_FROZEN,
    EXIT_INCOMPLETE,
    EXIT_INCONCLUSIVE,
    EXIT_INTERRUPTED,
    EXIT_LIMIT,
    EXIT_QUALITY,
)
from judgekit.cli.running.unasked import note_unasked_replies
from judgekit.report import view

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.cli.setup import GradeSetup, Options
    from judgekit.evaluation.figures.summary import GradeSummary, VariantSummary
    from judgekit.evaluation.grading import Graded

_WITHHELD = frozenset({"frozen_miss", "budget"})
_SAME_AGAIN = "run the same command again"


def has_failed(item: Graded) -> bool:
    """Whether an output is an error or does not pass; one that is undecided has not failed."""
    return item.output.error is not None or item.verdict.passed is False


def broken_off(setup: GradeSetup, options: Options, n_graded: int | None = None) -> int:
    """Say that the user broke a grading off, and how to go on."""
    what = "stopped at once"
    if n_graded is not None:
        what = f"interrupted after {n_graded:,} of {view.count(setup.counts()[0], 'output')}"
    streams.note(f"{what}; {_to_go_on(setup, options)}")
    return EXIT_INTERRUPTED


def outcome(
    graded: Sequence[Graded],
    summary: GradeSummary,
    setup: GradeSetup,
    options: Options,
    *,
    fail_under: float | None,
) -> int:
    """Say how a grading ended and what to do about it."""
    first = next(filter(has_failed, graded), None) if options.get("fail_fast") else None
    if first is None:
        note_unasked_replies([setup.judge])
    if first is not None and not summary.failures.keys() & _WITHHELD:
        return _stopped(first, len(graded), setup, options)
    if not summary.complete:
        return _incomplete(summary, setup, options)
    if fail_under is not None:
        return _under(summary.variants, fail_under)
    if all(variant.n_errors == variant.n for variant in summary.variants):
        each = "the only output" if len(graded) == 1 else f"each of {len(graded):,} outputs"
        streams.note(f"nothing was decided: {each} is an error of its variant")
        return EXIT_INCOMPLETE
    return 0


def _to_go_on(setup: GradeSetup, options: Options) -> str:
    if setup.judge.connection.cache is None:
        return f"{_SAME_AGAIN} to go on: from the beginning"
    without = " without --refresh" if options.get("refresh") else ""
    return f"{_SAME_AGAIN}{without} to go on: nothing that was answered is asked twice"


def _stopped(first: Graded, n_graded: int, setup: GradeSetup, options: Options) -> int:
    variant, case = first.verdict.variant, view.printable(first.case.id)
    who = f"case {case}" if variant is None else f"{view.printable(variant)}, case {case}"
    n_left = setup.counts()[0] - n_graded
    rest = f"; {n_left:,} not graded; without -x, {_to_go_on(setup, options)}" if n_left else ""
    streams.note(f"stopped: an output did not pass: {who}{rest}")
    return EXIT_QUALITY


def _incomplete(summary: GradeSummary, setup: GradeSetup, options: Options) -> int:
    """How what failed is asked again, where that can help: what cannot be assessed is an answer."""
    if summary.failures.get("frozen_miss"):
        return EXIT_FROZEN
    if summary.failures.get("budget"):
        streams.note(f"--max-cost is reached; {_to_go_on(setup, options)}")
        return EXIT_LIMIT
    if summary.failures.keys() == {"cannot_assess"}:
        streams.note(view.NOT_ASSESSED)
    elif setup.judge.connection.cache is not None and "retry_errors" in options:
        again = "" if options.get("retry_errors") else " with --retry-errors"
        streams.note(f"ask again what failed: {_SAME_AGAIN}{again}; nothing else is asked twice")
    return EXIT_INCOMPLETE


def _under(variants: Sequence[VariantSummary], fail_under: float) -> int:
    low = [v for v in variants if v.pass_rate.value < fail_under]
    for one in low:
        found = view.rate(one.pass_rate)
        streams.note(f"{_name(one)}: pass rate {found} is below --fail-under {fail_under:g}")
    unknown = [v for v in variants if not v.n_passed + v.n_failed]
    for one in unknown:
        streams.note(f"{_name(one)}: no output was judged, so that --fail-under cannot be decided")
    for one in variants:
        if one.n_errors and one.pass_rate_bounds[0] < fail_under <= one.pass_rate.value:
            n, least = view.count(one.n_errors, "error"), one.pass_rate_bounds[0]
            streams.note(
                f"{_name(one)}: {n} of its own left out; counted as not passed, the pass rate "
                f"would be {least * 100:.0f} %, below --fail-under {fail_under:g}"
            )
    return EXIT_QUALITY if low else EXIT_INCONCLUSIVE if unknown else 0


def _name(variant: VariantSummary) -> str:
    return view.printable(variant.variant) or "all"
