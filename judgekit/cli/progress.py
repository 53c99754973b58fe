"""Progress on stderr, a bar on a terminal and plain lines elsewhere, and Ctrl-C meanwhile."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, TypeAlias, TypeVar

from judgekit import evaluation, records
from judgekit.cli import console as streams
from judgekit.cli.exit_codes import Exit
from judgekit.cli.startup import ENDING_SIGNALS
from judgekit.errors import ModelError
from judgekit.report import numbers

if TYPE_CHECKING:
    import asyncio
    from types import FrameType

    from rich.console import Console

    from judgekit.cli.options import TalkOptions
    from judgekit.judge import Judge
    from judgekit.models import LimitedModel
    from judgekit.records import JudgeFailure, Judgment, Preference, PreferenceFailure

    Handler = Callable[[int, FrameType | None], object] | int | signal.Handlers | None

# Often enough to show that it is alive, rare enough for the log of a CI job.
_LINE_EVERY_S = 30.0
_SOONEST_LINE_S = 5.0
_LINE_EVERY_SHARE = 0.1
_LOOK_EVERY_S = 0.5
_Answers: TypeAlias = "Sequence[Judgment | JudgeFailure | Preference | PreferenceFailure]"
_Result = TypeVar("_Result")
_PATIENCE_S = 1.5
_GRACE_S = 5.0
_SIGNALS = (signal.SIGINT, *ENDING_SIGNALS)


@dataclass(slots=True)
class Progress:
    """The counts and the cost of a grading or a run so far, shown whenever they change."""

    total: int
    now: Callable[[], float] = time.monotonic
    models: Sequence[LimitedModel] = ()
    show: Callable[[], object] = lambda: None
    n_done: int = 0
    n_calls: int = 0
    n_cached: int = 0
    n_failures: int = 0
    n_errors: int = 0
    cost_usd: float = 0.0
    cost_unknown: bool = False
    _started: float = field(init=False)

    def __post_init__(self) -> None:
        self._started = self.now()

    def advance(
        self, answers: _Answers = (), *, target_usd: float = 0.0, is_error: bool = False
    ) -> None:
        """One more output is finished: its judgments, its cost, whether it is an error."""
        self.n_done += 1
        self.n_errors += is_error
        self.cost_usd += target_usd + sum(item.cost_usd or 0.0 for item in answers)
        self.cost_unknown |= any(item.cost_usd is None and item.n_calls for item in answers)
        answered = (records.Judgment, records.Preference)
        self.n_failures += sum(not isinstance(item, answered) for item in answers)
        # A joint reply has a judgment for each criterion, and was one call.
        replies = evaluation.one_per_reply(answers)
        self.n_calls += sum(item.n_calls for item in replies)
        self.n_cached += sum(item.n_calls for item in replies if item.cached)
        self.show()

    @property
    def rate(self) -> float:
        """Outputs per second since the start."""
        # Never zero: the first output may be cached, and done within the clock's resolution.
        return self.n_done / max(self.now() - self._started, 1e-6)

    @property
    def n_answered(self) -> int:
        """Calls that have ended; those of unfinished outputs are included."""
        return sum(model.n_answered for model in self.models)

    @property
    def n_expected(self) -> int:
        """Calls in all: those begun, or as many for every output as the finished ones took."""
        each = (self.n_calls - self.n_cached) / max(self.n_done, 1)
        return max(sum(model.n_asked for model in self.models), round(each * self.total))

    @property
    def share(self) -> float:
        """The finished share, on [0, 1]: of the calls, once an output shows how many there are."""
        calls = self.n_answered / max(self.n_expected, 1) if self.n_done else 0.0
        return max(self.n_done / max(self.total, 1), calls)

    def left(self) -> str:
        """The remaining time at this rate; empty before the first output is finished."""
        if not self.share:
            return ""
        passed_s = self.now() - self._started
        return f"{numbers.format_duration(passed_s / self.share - passed_s)} left"

    def words(self) -> str:
        counts = {"cached": self.n_cached, "failed": self.n_failures, "errors": self.n_errors}
        cached, *problems = (f"{n:,} {what}" if n else "" for what, n in counts.items())
        cost = numbers.format_usd(self.cost_usd, unknown=self.cost_unknown)
        return " · ".join(filter(None, [self.speed(), cached, cost, *problems]))

    def speed(self) -> str:
        """Outputs per second; of slow judges the calls so far and the seconds for each."""
        if self.rate >= 1:
            return f"{self.rate:,.1f}/s"
        if self.n_expected:
            more = "" if self.n_done else "+"  # as many as are known to be needed
            each_s = (self.now() - self._started) / max(self.n_answered, 1)
            pace = f", {each_s:,.1f} s/call" if self.n_answered else ""
            return f"{self.n_answered:,} of {self.n_expected:,}{more} calls{pace}"
        return f"{1 / self.rate:,.1f} s each" if self.n_done else ""


@contextmanager
def show_progress(
    console: Console,
    total: int,
    *,
    shown: bool,
    now: Callable[[], float] = time.monotonic,
    verb: tuple[str, str] = ("grading", "graded"),
    models: Sequence[LimitedModel] = (),
) -> Iterator[Progress]:
    progress = Progress(total, now, models)
    # The logs of CI jobs often claim to be terminals, and a bar fills them with control characters.
    if shown and console.is_terminal and not os.environ.get("CI"):
        with _bar(console, progress, verb[0]) as progress.show:
            yield progress
    else:
        if shown:
            progress.show = _line_writer(console.file, progress, verb[1])
        yield progress


@contextmanager
def attend(
    options: TalkOptions,
    total: int,
    *,
    interrupt: Callable[[], None],
    verb: tuple[str, str] = ("grading", "graded"),
    judges: Iterable[Judge] = (),
) -> Iterator[Progress]:
    """Show progress if the options want it; the first Ctrl-C calls `interrupt`."""
    models = [one.connection.limited for one in judges if one.connection.limited is not None]
    shown, stderr = options.shows_progress, streams.stderr()

    def stop() -> None:
        interrupt()
        for model in models:  # of the answers in progress, only calls in flight are finished
            model.refuse_calls(ModelError("interrupted by the user", kind="cancelled"))

    with (
        show_progress(stderr, total, shown=shown, verb=verb, models=models) as display,
        _looking(display),
        Interrupts(stop),
    ):
        yield display


@contextmanager
def _looking(progress: Progress) -> Iterator[None]:
    """Show the progress every half second: an output of a slow judge takes minutes."""
    import asyncio  # noqa: PLC0415 - loaded by now, and no help needs it

    async def look() -> None:
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            progress.show()

    task = asyncio.create_task(look())
    try:
        yield
    finally:
        task.cancel()


def _line_writer(file: IO[str], progress: Progress, verb: str) -> Callable[[], None]:
    last, share, is_over = progress.now(), 0.0, False

    def show() -> None:
        nonlocal last, share, is_over
        passed_s = progress.now() - last
        has_moved = progress.share - share >= _LINE_EVERY_SHARE and passed_s >= _SOONEST_LINE_S
        # The last one always: without it a short run would show nothing.
        ends = progress.n_done == progress.total and not is_over
        if ends or has_moved or passed_s >= _LINE_EVERY_S:
            last, share, is_over = progress.now(), progress.share, ends
            done = f"{verb} {progress.n_done:,} of {progress.total:,}"
            left = "" if ends else progress.left()
            file.write(" · ".join(filter(None, [done, progress.words(), left])) + "\n")
            file.flush()

    return show


@contextmanager
def _bar(console: Console, progress: Progress, verb: str) -> Iterator[Callable[[], None]]:
    from rich.progress import BarColumn, Progress as Bar, TextColumn  # noqa: PLC0415 - only where there is a terminal

    bar = Bar(
        TextColumn(verb),
        BarColumn(bar_width=28),
        TextColumn("{task.fields[done]}"),
        TextColumn("[dim]{task.fields[words]}[/dim]"),
        console=console,
        transient=True,
    )
    task = bar.add_task(verb, total=1.0, done=f"0/{progress.total:,}", words="")

    def show() -> None:
        done = f"{progress.n_done:,}/{progress.total:,}"
        words = " · ".join(filter(None, [progress.words(), progress.left()]))
        bar.update(task, completed=progress.share, done=done, words=words)

    with bar:
        yield show


def run_async(work: Coroutine[object, object, _Result]) -> _Result:
    import asyncio  # noqa: PLC0415 - of 30 modules, and no help needs them

    return asyncio.run(work)


def run_until_stopped(work: Coroutine[object, object, _Result], continuation: str) -> _Result:
    """Run to the end; the second Ctrl-C ends the command, with a note how to continue."""
    from asyncio import CancelledError  # noqa: PLC0415 - as above

    try:
        return run_async(work)
    except CancelledError:
        streams.note(f"stopped at once; {continuation}")
        sys.exit(Exit.INTERRUPTED)


class Interrupts:
    """While it is entered, the first Ctrl-C asks for a clean stop and the second cancels."""

    # SIGTERM, with which containers and CI end a job, is a first Ctrl-C whose second follows by
    # itself: its sender kills what has not ended some seconds later.
    # A signal is handled even while a function under test blocks the event loop. If that function
    # cannot be cancelled either, the process exits without waiting for it.

    def __init__(
        self,
        stop: Callable[[], None],
        *,
        grace_s: float = _GRACE_S,
        patience_s: float = _PATIENCE_S,
        leave: Callable[[int], object] = os._exit,
    ) -> None:
        self._stop = stop
        self._is_stopping = False
        self._leave = leave
        self._grace_s = grace_s
        self._grace = _timer(grace_s, self._cancel)
        self._last = _timer(patience_s, self._end)
        self._before: dict[signal.Signals, Handler] = {}
        self._woken: asyncio.AbstractEventLoop | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[object] | None = None

    def __enter__(self) -> None:
        import asyncio  # noqa: PLC0415 - as above

        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        with suppress(ValueError):  # not the main thread
            for number in _SIGNALS:
                self._listen(self._loop, number)

    def __exit__(self, *_exc_info: object) -> None:
        self._grace.cancel()
        self._last.cancel()
        for number, before in self._before.items():
            if self._woken is not None:
                self._woken.remove_signal_handler(number)
            signal.signal(number, before)

    def _listen(self, loop: asyncio.AbstractEventLoop, number: signal.Signals) -> None:
        self._before[number] = signal.signal(number, self._interrupt)
        with suppress(NotImplementedError):  # Windows
            # Python runs a handler in the main thread only, and the signal may have reached
            # another: this has the loop wake for it. It sets a handler of its own, hence the next.
            loop.add_signal_handler(number, lambda: None)
            self._woken = loop
            signal.signal(number, self._interrupt)

    def _interrupt(self, number: int, _frame: FrameType | None) -> None:
        if self._is_stopping:
            self._cancel()
        elif self._loop is not None:
            self._is_stopping = True
            is_final = number in ENDING_SIGNALS
            self._loop.call_soon_threadsafe(self._ask, is_final)
            if is_final:
                self._grace.start()

    def _ask(self, is_final: bool) -> None:
        self._stop()
        until = f"SIGTERM ends them in {self._grace_s:g} s"
        streams.note(
            "\nfinishing the calls in progress; "
            + (until if is_final else "Ctrl-C again to stop at once")
        )

    def _cancel(self) -> None:
        if self._loop is None or self._task is None:
            return
        with suppress(RuntimeError):  # the loop has ended meanwhile
            self._loop.call_soon_threadsafe(self._task.cancel)
        with suppress(RuntimeError):  # it was started before
            self._last.start()

    def _end(self) -> None:
        streams.note("stopped in the middle of an answer; earlier answers are stored")
        self._leave(Exit.INTERRUPTED)


def _timer(after_s: float, action: Callable[[], None]) -> threading.Timer:
    timer = threading.Timer(after_s, action)
    timer.daemon = True
    return timer
