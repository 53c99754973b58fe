"""Decides when a request may be sent, how long it may take, and whether it is retried.

Limits concurrency, requests and tokens per minute, respects `Retry-After`, and stops calling an
endpoint that has never answered (the circuit breaker of Nygard, "Release It!", 2007).
"""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable
from copy import copy
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from judgekit.errors import JudgeError, ModelError, SettingsError
from judgekit.models.error_mapping import ProviderFault
from judgekit.models.request import (
    CHARACTERS_PER_TOKEN,
    Model,
    ModelAround,
    ModelReply,
    ModelRequest,
    output_limit,
)

_MAX_BACKOFF_S = 60
_MAX_WAIT_S = 300
# So many calls in a row that were asked to wait, with no success between them, hold every call.
# Fewer hold only themselves: a provider that limits one call in twenty answers the other nineteen.
_KEEPS_COMING = 3
# How many cases must have failed before an endpoint that has never answered is suspected. A refused
# connection concerns every case; an error of the server may come from one case that it cannot
# handle; a request that is refused usually does.
_FEWEST_CASES = {"connection": 1, "overloaded": 2, "timeout": 2, "protocol": 2}
_FEWEST_CASES_OTHERWISE = 10
# Errors about one request, or about how often, by an endpoint that works.
_WORKING_KINDS = frozenset({"rate_limited", "context_window", "content_filter"})
# How long no call is made to an endpoint that is down: a run ends long before, and a service that
# was started before its endpoint finds it again.
_DOWN_S = 60
_DOWN_HINTS = {
    "bad_request": "correct what the error names, for example the model or one of its parameters"
}
_DOWN_HINT = "check the endpoint, or use another model"


@dataclass(frozen=True, slots=True)
class CallLimits:
    """What a model may be called with at most."""

    max_concurrency: int
    rpm: float | None
    tpm: float | None
    max_retries: int


CallId: TypeAlias = tuple[str, int]
"""A call of one of several processes: the name of the process, and the call's number there."""


class CallGate(Protocol):
    """Where the calls of a model are admitted whose limits several processes share."""

    async def begin(self, case_id: str, n_tokens: int) -> CallId:
        """Wait until a call may be sent."""

    async def failed(self, call_id: CallId, error: ModelError) -> None:
        """Report an error, and wait until the call may be sent again; raises where it may not."""

    def ended(self, call_id: CallId, n_tokens: int | None) -> None:
        """Report the end of a call, and the tokens it took where it succeeded."""


class LimitedModel(ModelAround):
    """A model that is called within limits, with retries where they may help.

    One object belongs to one endpoint. The rates and the first fatal error hold for every call
    through it, from whichever event loop; the slots are counted per loop. `Retry-After` holds the
    call that got it, and every call while such replies keep coming.

    While an endpoint has never answered and calls fail, a single call continues its retries, as a
    probe, and the others wait for it. When the probe fails as well, all calls are refused for a
    minute with an error of the kind `cancelled`. After its first answer an endpoint is never
    suspected again.
    """

    def __init__(
        self,
        model: Model,
        *,
        max_concurrency: int = 32,
        rpm: float | None = None,
        tpm: float | None = None,
        timeout_s: float | None = 60,
        max_retries: int = 5,
        first_backoff_s: float = 1,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        rng: random.Random | None = None,
    ) -> None:
        limits = {"max_concurrency": max_concurrency, "rpm": rpm, "tpm": tpm}
        limits |= {"timeout_s": timeout_s, "max_attempts": max_retries + 1}
        for name, limit in limits.items():
            if limit is not None and not limit > 0:
                raise SettingsError(f"{name} is {limit}; it must be greater than 0")
        super().__init__(model)
        self.limits = CallLimits(max_concurrency, rpm, tpm, max_retries)
        self.gate: CallGate | None = None  # which admits the calls in place of this object
        self._max_concurrency = max_concurrency
        self._requests = None if rpm is None else _Bucket(rpm / 60, clock)
        self._tokens = None if tpm is None else _Bucket(tpm / 60, clock)
        self._is_limited = self._requests is not None or self._tokens is not None
        self._timeout_s = timeout_s
        self._max_retries = max_retries
        self._first_backoff_s = first_backoff_s
        self._clock = clock
        self._sleep = sleep
        # Waits are drawn at random: clients that fail together must not come back together.
        self._rng = rng or random.Random()
        self._held_until = -float("inf")
        self._fatal: ModelError | None = None
        self._fatal_until = float("inf")
        self._has_answered = False
        self._failed_cases: set[str] = set()
        self._n_failed = self._n_probed = 0
        self._pauses: list[float] = []  # the ends of those that came since the last success
        self._is_suspect = False
        self._unchecked = [] if self.check is None else [(self, self.check)]
        self._loops: dict[asyncio.AbstractEventLoop, _Slots] = {}
        self.n_asked = self.n_answered = 0

    def check_with(self, other: LimitedModel) -> None:
        """Check both models before the first call to either of them."""
        # Not at once: what is cached is read without a key, and without litellm.
        if other._unchecked is not self._unchecked:
            self._unchecked += other._unchecked
            other._unchecked = self._unchecked

    def _check_others(self) -> None:
        for model, check in self._unchecked:
            # The model itself is checked by its own call, which a budget may refuse to make.
            if model is not self:
                check()
        self._unchecked.clear()

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.n_asked += 1
        if self._unchecked:
            self._check_others()
        if self.gate is not None:
            return await self._through(self.gate, request)
        slots, call = self._in_loop(), object()
        try:
            for attempt in range(self._max_retries + 1):
                try:
                    return await self._attempt(slots, request, call)
                except ModelError as error:
                    self._take_note(error)
                    self._take_note_of_case(slots, error, request)
                    is_last = not error.retryable or attempt == self._max_retries
                    if slots.probe is call:
                        self._take_note_of_probe(error, is_last=is_last)
                    # A key that is refused stays refused: a retry would only delay the message.
                    # The last error is raised as it is: it names the cause, and its kind decides
                    # what a run counts.
                    if is_last:
                        raise
                    wait_s = error.retry_after_s
                # "Full jitter", AWS Architecture Blog, "Exponential Backoff And Jitter" (2015).
                longest = min(_MAX_BACKOFF_S, self._first_backoff_s * 2.0**attempt)
                wait_s = wait_s or self._rng.uniform(0, longest)
                # A longer wait is refused by the next attempt.
                await self._pause(slots, wait_s if wait_s <= _MAX_WAIT_S else 0)
        finally:
            self.n_answered += 1
            if slots.probe is call:
                slots.probe = None
                slots.wake_held()
        raise AssertionError  # pragma: no cover - the last attempt returns or raises

    async def _through(self, gate: CallGate, request: ModelRequest) -> ModelReply:
        """Send a request as often and as late as the shared limits have it."""
        case_id, n_tokens = request.subject.case_id or request.key, None
        try:
            call_id = await gate.begin(case_id, _estimated_tokens(request))
            try:
                while True:
                    try:
                        reply = await complete_in_time(self._model, request, self._timeout_s)
                    except ModelError as error:
                        await gate.failed(call_id, error)
                        continue
                    usage = reply.usage
                    n_tokens = 0 if usage is None else usage.input_tokens + usage.output_tokens
                    return reply
            finally:
                gate.ended(call_id, n_tokens)
        finally:
            self.n_answered += 1

    async def aclose(self) -> None:
        """Close the connections of the model inside, if it was ever called."""
        # A model nobody has called holds nothing open, and a user's own may not expect it.
        if self.n_asked:
            await super().aclose()

    def _in_loop(self) -> _Slots:
        loop = asyncio.get_running_loop()
        slots = self._loops.get(loop)
        is_over = self._fatal is not None and self._clock() >= self._fatal_until
        if is_over:
            self._fatal, self._fatal_until = None, float("inf")
        if slots is None:
            for other in list(self._loops):
                if other.is_closed():
                    self._loops.pop(other, None)
            # Futures belong to one event loop, so each loop has slots of its own.
            slots = self._loops[loop] = _Slots(
                self._max_concurrency,
                float(self._max_concurrency),
                loop.create_future(),
                loop.create_future(),
            )
            if self._fatal is not None:
                slots.stop()
        elif self._fatal is None and slots.stopped.done():
            slots.stopped = loop.create_future()
        if is_over:
            self._forget_failures(slots)
        return slots

    async def _attempt(self, slots: _Slots, request: ModelRequest, call: object) -> ModelReply:
        if self._fatal is not None:
            self._stop_if_fatal()
        # Tokens are taken before the call by estimate, and corrected by the usage afterwards.
        estimate = _estimated_tokens(request) if self._tokens else 0
        await self._admit(slots, call, estimate)
        # The number of the call, by which the refusals of one burst are recognised as one.
        slots.n_sent = sent = slots.n_sent + 1
        try:
            reply = await complete_in_time(self._model, request, self._timeout_s)
            if slots.allowed < slots.most:
                slots.succeeded()
            self._has_answered = True
            self._pauses.clear()
            if self._n_failed:
                self._forget_failures(slots)
        except ModelError as error:
            if error.kind == "rate_limited":
                # Additive increase, multiplicative decrease, as in TCP: it finds the rate a
                # provider allows.
                slots.crowded(sent)
            raise
        finally:
            slots.n_out -= 1
            if self._is_suspect and not slots.n_out and slots.probe is None:
                slots.wake_held()
            slots.release()
        if self._tokens and reply.usage:
            actual = reply.usage.input_tokens + reply.usage.output_tokens
            # The bucket follows what providers count, or a low estimate would exceed the limit for
            # good.
            self._tokens.give_back(estimate - actual)
        return reply

    async def _admit(self, slots: _Slots, call: object, estimate: int) -> None:
        """Wait for a slot and for the rates, and until the endpoint is above suspicion."""
        while True:
            await slots.acquire()
            try:
                if self._is_limited or self._fatal or self._held_until > self._clock():
                    await self._until_allowed(slots, estimate)
            except BaseException:
                slots.release()
                raise
            # Alone, once all calls in flight have ended: each of them may still be answered.
            if not self._is_suspect or slots.is_probe(call):
                slots.n_out += 1
                return
            slots.release()
            await asyncio.wait({slots.held, slots.stopped}, return_when=asyncio.FIRST_COMPLETED)
            self._stop_if_fatal()

    async def _until_allowed(self, slots: _Slots, estimate: int) -> None:
        """Wait for the rates and for the end of the provider's pause."""
        if self._fatal is not None:
            self._stop_if_fatal()
        wait_s = max(
            self._requests.take(1) if self._requests else 0.0,
            self._tokens.take(estimate) if self._tokens else 0.0,
        )
        while True:
            if wait_s > 0:
                await self._pause(slots, wait_s)
            # Examined again after each sleep: another call may have prolonged the pause.
            wait_s = self._held_until - self._clock()
            if wait_s > _MAX_WAIT_S:
                raise ProviderFault(
                    self.name,
                    "rate_limited",
                    text=f"it asks to wait for {wait_s:.0f} s, longer than {_MAX_WAIT_S} s",
                    hint="run again later; replies that were paid for are cached",
                ).to_error(retryable=False)
            if wait_s <= 0:
                return

    def refuse_calls(self, error: ModelError, *, for_s: float = float("inf")) -> None:
        """Fail all calls that wait, and those that come later; those in flight are finished."""
        if self._fatal is None:
            self._fatal, self._fatal_until = error, self._clock() + for_s
            # Other loops may run in other threads: futures are set only from their own loop.
            for loop, slots in list(self._loops.items()):
                if not loop.is_closed():
                    loop.call_soon_threadsafe(slots.stop)

    def accept_calls(self, *, after: ModelError) -> None:
        """Make calls again that were refused with this error; another refusal still holds."""
        if self._fatal is after:
            self._fatal_until = self._clock()

    def _take_note(self, error: ModelError) -> None:
        if error.fatal:
            self.refuse_calls(error)
        if error.retryable and error.retry_after_s is not None:
            self._pauses.append(self._clock() + error.retry_after_s)
            if len(self._pauses) >= _KEEPS_COMING or error.retry_after_s > _MAX_WAIT_S:
                self._held_until = max(self._held_until, *self._pauses)

    def _take_note_of_case(self, slots: _Slots, error: ModelError, request: ModelRequest) -> None:
        """Count a failure of an endpoint that has never answered."""
        if self._has_answered or error.fatal or self._fatal is not None:
            return
        if error.kind in _WORKING_KINDS:
            self._has_answered = True
            self._forget_failures(slots)
            return
        self._n_failed += 1
        # By case, since an output that is too long fails with every criterion.
        self._failed_cases.add(request.subject.case_id or request.key)
        fewest = _FEWEST_CASES.get(error.kind, _FEWEST_CASES_OTHERWISE)
        is_suspect = len(self._failed_cases) >= fewest
        self._is_suspect, was_suspect = is_suspect, self._is_suspect
        if was_suspect and not is_suspect:
            slots.wake_held()

    def _forget_failures(self, slots: _Slots) -> None:
        self._failed_cases.clear()
        self._n_failed, self._n_probed, self._is_suspect = 0, 0, False
        slots.wake_held()

    def _take_note_of_probe(self, error: ModelError, *, is_last: bool) -> None:
        """Make no further call for a while, once a suspect endpoint has failed its probe too."""
        if not self._is_suspect:
            return
        # Counted for all probes together: the time limit of a case may end one before its retries.
        self._n_probed += 1
        if not is_last and self._n_probed <= self._max_retries:
            return
        down = ModelError(
            f"none of {self._n_failed:,} calls to {self.name} succeeded, and no further call was "
            f"made; the last error: {error.message}",
            # Not the kind of the error: what was not asked is no failure, and a resumed run asks.
            kind="cancelled",
            provider=error.provider,
            status=error.status,
            request_id=error.request_id,
            hint=error.hint or _DOWN_HINTS.get(error.kind, _DOWN_HINT),
        )
        self.refuse_calls(down, for_s=_DOWN_S)

    def _stop_if_fatal(self) -> None:
        first = self._fatal
        if first is not None:  # a new one: an error raised twice would grow its traceback
            raise copy(first) from first.__cause__

    async def _pause(self, slots: _Slots, wait_s: float) -> None:
        """Sleep, but no longer than until a fatal error."""
        nap = asyncio.ensure_future(self._sleep(wait_s))
        try:
            await asyncio.wait({nap, slots.stopped}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            nap.cancel()
        self._stop_if_fatal()


async def complete_in_time(
    model: Model, request: ModelRequest, timeout_s: float | None
) -> ModelReply:
    """Ask, and give up at a deadline."""
    deadline = asyncio.timeout(timeout_s)
    try:
        async with deadline:
            reply = await model.complete(request)
    except TimeoutError as error:
        text = f"{timeout_s:g} s are over" if deadline.expired() else str(error)
        raise ProviderFault(model.name, "timeout", text=text).to_error() from error
    # A model of the caller may return anything.
    if not isinstance(reply, ModelReply):
        raise JudgeError(f"{model.name} returned a {type(reply).__name__} in place of a ModelReply")
    return reply


@dataclass(slots=True)
class _Slots:
    """Calls in flight in one event loop, first come first served.

    The number allowed is halved, once for each burst, when the provider asks for fewer
    requests, and grows by one for as many successes as there are slots.
    """

    most: int
    allowed: float
    stopped: asyncio.Future[None]  # done after a fatal error
    held: asyncio.Future[None]
    """Done when calls that are held back may look again whether they are sent."""

    probe: object | None = None  # the one call that is sent while the endpoint is suspect
    n_in_flight: int = 0
    n_out: int = 0
    """Calls that have been sent and have not returned; the others in flight wait for the rates."""

    n_sent: int = 0
    n_sent_when_lowered: int = 0
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)

    async def acquire(self) -> None:
        if self.n_in_flight < int(self.allowed) and not self.waiting:
            self.n_in_flight += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self.waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.release()  # the slot came at the moment the call was cancelled
            elif turn in self.waiting:  # not handed out in the moment between
                self.waiting.remove(turn)
            raise

    def release(self) -> None:
        self.n_in_flight -= 1
        if self.waiting:
            self._hand_out()

    def is_probe(self, call: object) -> bool:
        """Whether a call is the one that is sent to a suspect endpoint; the first that asks is."""
        if self.n_out:
            return False
        self.probe = call if self.probe is None else self.probe
        return self.probe is call

    def wake_held(self) -> None:
        if not self.held.done():
            self.held.set_result(None)
        self.held = asyncio.get_running_loop().create_future()

    def crowded(self, sent: int) -> None:
        if sent > self.n_sent_when_lowered:  # not one more of the burst that lowered it
            self.n_sent_when_lowered = self.n_sent
            self.allowed = max(1.0, self.allowed / 2)

    def succeeded(self) -> None:
        self.allowed = min(float(self.most), self.allowed + 1 / self.allowed)
        self._hand_out()

    def stop(self) -> None:
        if not self.stopped.done():
            self.stopped.set_result(None)
        # Every waiting call is woken, so that it raises the fatal error.
        self._hand_out(len(self.waiting) + self.n_in_flight)

    def _hand_out(self, allowed: int | None = None) -> None:
        allowed = int(self.allowed) if allowed is None else allowed
        while self.waiting and self.n_in_flight < allowed:
            turn = self.waiting.popleft()
            if not turn.done():
                self.n_in_flight += 1
                turn.set_result(None)


class _Bucket:
    """A rate: one second's worth may come at once, and what is taken ahead is waited for."""

    def __init__(self, per_second: float, clock: Callable[[], float]) -> None:
        self._per_second = per_second
        self._clock = clock
        self._most = max(1.0, per_second)
        self._left = self._most
        self._filled_at = clock()
        self._lock = threading.Lock()

    def take(self, amount: float) -> float:
        """Take an amount; the seconds to wait before it may be used."""
        with self._lock:
            now = self._clock()
            gained = (now - self._filled_at) * self._per_second
            self._left = min(self._most, self._left + gained) - amount
            self._filled_at = now
            return max(0.0, -self._left / self._per_second)

    def give_back(self, amount: float) -> None:
        """Correct what was taken; a negative amount takes more."""
        with self._lock:
            self._left = min(self._most, self._left + amount)


def _estimated_tokens(request: ModelRequest) -> int:
    """A quarter of the characters, and all of the reply that is allowed for."""
    return request.n_characters // CHARACTERS_PER_TOKEN + (output_limit(request.parameters) or 0)
