"""Progress on stderr, a bar on a terminal and plain lines elsewhere, and Ctrl-C meanwhile."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from judgekit.cli import console as streams
from judgekit.cli.signals import Interrupts
from judgekit.evaluation import one_per_reply
from judgekit.records import JudgeFailure
from judgekit.report import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO

    from rich.console import Console

    from judgekit.cli.options import TalkOptions
    from judgekit.records import Judgment

# Often enough to show that it is alive, rare enough for the log of a CI job.
_LINE_EVERY_S = 5.0
_Answers = Sequence["Judgment | JudgeFailure"]


class ProgressReporter(Protocol):
    """Receives each output when it is finished."""

    def advance(
        self, answers: _Answers, *, target_usd: float = 0.0, is_error: bool = False
    ) -> None:
        """One more output is finished: its judgments, its cost, whether it is an error."""
        ...


class ProgressTally:
    """The counts and the cost of a grading or a run so far."""

    def __init__(self, total: int, now: Callable[[], float] = time.monotonic) -> None:
        self.total = total
        self.now = now
        self.n_done = 0
        self.n_replies = 0
        self.n_cached = 0
        self.n_failures = 0
        self.n_errors = 0
        self.cost_usd = 0.0
        self.cost_unknown = False
        self._started = now()

    def add(self, answers: _Answers, *, target_usd: float = 0.0, is_error: bool = False) -> None:
        """Count one more output."""
        self.n_done += 1
        self.n_errors += is_error
        self.cost_usd += target_usd
        self.n_failures += sum(isinstance(item, JudgeFailure) for item in answers)
        # A joint reply has a judgment for each criterion, and was one call.
        for item in one_per_reply(answers):
            self.n_replies += item.n_calls
            self.n_cached += item.n_calls if item.cached else 0
        for item in answers:
            self.cost_usd += item.cost_usd or 0.0
            self.cost_unknown |= item.cost_usd is None and bool(item.n_calls)

    @property
    def rate(self) -> float:
        """Outputs per second since the start."""
        # Never zero: the first output may be cached, and done within the clock's resolution.
        return self.n_done / max(self.now() - self._started, 1e-6)

    @property
    def left_s(self) -> float:
        """The remaining time at this rate, in seconds."""
        return (self.total - self.n_done) / max(self.rate, 1e-6)

    def words(self) -> str:
        """Rate, cache hits, cost and failures in one line."""
        parts = [f"{self.rate:,.1f}/s"]
        if self.n_cached:
            parts.append(f"{self.n_cached:,} cached")
        parts.append(numbers.format_usd(self.cost_usd, unknown=self.cost_unknown))
        if self.n_failures:
            parts.append(f"{self.n_failures:,} failed")
        if self.n_errors:
            parts.append(f"{self.n_errors:,} errors")
        return " · ".join(parts)


@contextmanager
def show_progress(
    console: Console,
    total: int,
    *,
    shown: bool,
    now: Callable[[], float] = time.monotonic,
    verb: tuple[str, str] = ("grading", "graded"),
) -> Iterator[ProgressReporter]:
    """Show the progress of a grading or a run."""
    tally = ProgressTally(total, now)
    if not shown:
        yield _Silent(tally)
    # The logs of CI jobs often claim to be terminals, and a bar fills them with control characters.
    elif console.is_terminal and not os.environ.get("CI"):
        with _bar(console, tally, verb[0]) as bar:
            yield bar
    else:
        yield _Lines(tally, console.file, verb[1])


@contextmanager
def attend(
    options: TalkOptions,
    total: int,
    *,
    interrupt: Callable[[], None],
    verb: tuple[str, str] = ("grading", "graded"),
) -> Iterator[ProgressReporter]:
    """Show progress if the options want it; the first Ctrl-C calls `interrupt`."""
    with (
        show_progress(streams.stderr(), total, shown=options.shows_progress, verb=verb) as display,
        Interrupts(interrupt),
    ):
        yield display


class _Silent:
    def __init__(self, tally: ProgressTally) -> None:
        self.tally = tally

    def advance(
        self, answers: _Answers, *, target_usd: float = 0.0, is_error: bool = False
    ) -> None:
        self.tally.add(answers, target_usd=target_usd, is_error=is_error)


class _Lines:
    def __init__(self, tally: ProgressTally, file: IO[str], done: str) -> None:
        self.tally = tally
        self._file = file
        self._done = done
        self._last = tally.now()

    def advance(
        self, answers: _Answers, *, target_usd: float = 0.0, is_error: bool = False
    ) -> None:
        self.tally.add(answers, target_usd=target_usd, is_error=is_error)
        now = self.tally.now()
        # The last one always: without it a short run would show nothing.
        if now - self._last >= _LINE_EVERY_S or self.tally.n_done == self.tally.total:
            self._last = now
            done, total = self.tally.n_done, self.tally.total
            self._file.write(f"{self._done} {done:,} of {total:,} · {self.tally.words()}\n")
            self._file.flush()


@contextmanager
def _bar(console: Console, tally: ProgressTally, doing: str) -> Iterator[ProgressReporter]:
    from rich.progress import (  # noqa: PLC0415 - only where there is a terminal
        BarColumn,
        MofNCompleteColumn,
        Progress as Bar,
        TextColumn,
    )

    bar = Bar(
        TextColumn(doing),
        BarColumn(bar_width=28),
        MofNCompleteColumn(),
        TextColumn("[dim]{task.fields[words]}[/dim]"),
        console=console,
        transient=True,
    )
    task = bar.add_task(doing, total=tally.total, words="")

    class _Bar:
        def advance(
            self, answers: _Answers, *, target_usd: float = 0.0, is_error: bool = False
        ) -> None:
            tally.add(answers, target_usd=target_usd, is_error=is_error)
            left = numbers.format_duration(tally.left_s)
            bar.update(task, advance=1, words=f"{tally.words()} · {left} left")

    with bar:
        yield _Bar()
