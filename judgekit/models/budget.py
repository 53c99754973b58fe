"""Holds what a run may spend: money is set aside before a call, so that no limit is crossed."""

from __future__ import annotations

import asyncio
import math
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judgekit.errors import BudgetExceededError, SettingsError
from judgekit.models.pricing import ModelPrice, PriceTable

if TYPE_CHECKING:
    from collections.abc import Mapping

_PER_USD = 10**12
"""Money is counted in whole trillionths of a dollar: a sum of floats could end above its limit."""


class Budget:
    """A limit of money that all judges and prompt targets of a run share.

    Before a call the most it can cost is set aside; afterwards what it did cost is counted, and
    the rest is free again. A call waits where it fits only when others in flight turn out
    cheaper than feared, first come first served, and is refused where it does not fit at all. So
    what is spent never crosses the limit, as long as no call costs more than was set aside.
    May be used from several threads and event loops at once.
    """

    def __init__(self, limit_usd: float, prices: PriceTable | None = None) -> None:
        if not 0 <= limit_usd < math.inf:
            raise SettingsError(
                f"the limit of money is {limit_usd}", hint="give US dollars, 0 or more"
            )
        self.limit_usd = limit_usd
        self.prices = prices or PriceTable()
        units = _units(limit_usd)
        self._limit = units if units / _PER_USD <= limit_usd else units - 1
        self._spent = 0
        self._reserved = 0
        self._n_refused = 0
        self._assumed: dict[str, ModelPrice] = {}
        self._waiting: deque[_Turn] = deque()
        self._lock = threading.Lock()

    @property
    def spent_usd(self) -> float:
        """What calls that ended have cost, or may be billed for, in US dollars."""
        return self._spent / _PER_USD

    @property
    def reserved_usd(self) -> float:
        """What is set aside for the calls in flight, in US dollars."""
        return self._reserved / _PER_USD

    @property
    def is_exhausted(self) -> bool:
        """Whether a call was refused, so that the run cannot be whole."""
        return self._n_refused > 0

    @property
    def assumed(self) -> Mapping[str, ModelPrice]:
        """Models at an endpoint of one's own whose listed price was taken, though it may differ."""
        return dict(self._assumed)

    def price(
        self,
        model: str,
        *,
        input_tokens: int = 0,
        api_base: str | None = None,
        prices: PriceTable | None = None,
    ) -> ModelPrice:
        """What a model is taken to charge."""
        table = prices or self.prices
        price = table.price(model, input_tokens=input_tokens, api_base=api_base)
        if price is None and api_base is not None:
            price = table.price(model, input_tokens=input_tokens)
            if price is not None:
                self._assumed.setdefault(model, price)
        if price is None:
            raise SettingsError(
                f"what {model} charges is not known, so its cost cannot be limited",
                hint=f"give it in the suite's `prices:` ({model}: {{input_usd: …, output_usd: …}}, "
                "for a million tokens), as Judge(prices=PriceTable({…})), or set no limit of money",
            )
        return price

    async def reserve(self, amount_usd: float, what: str = "the next call") -> Reservation:
        """Set money aside, waiting where it fits only once calls in flight are settled."""
        amount = _units(amount_usd)
        with self._lock:
            turn = _Turn(amount)
            if not self._waiting and amount <= self._limit - self._spent - self._reserved:
                self._reserved += amount
                return Reservation(self, amount)
            if amount <= self._limit - self._spent:
                self._waiting.append(turn)
            else:
                self._n_refused += 1
                raise self._refusal(amount, what)
        if not await self._come(turn):
            raise self._refusal(amount, what)
        return Reservation(self, amount)

    def spend(self, amount_usd: float) -> None:
        """Count money that was spent without a reservation: earlier, or by a target of its own."""
        self._settle(0, _units(amount_usd))

    async def _come(self, turn: _Turn) -> bool:
        """Wait for a turn; whether it was granted."""
        try:
            return await turn.granted
        except (asyncio.CancelledError, GeneratorExit):
            with self._lock:
                if turn in self._waiting:
                    self._waiting.remove(turn)
                elif turn.is_reserved:  # it was granted at the moment the call was cancelled
                    self._reserved -= turn.amount
                self._hand_out()
            raise

    def _settle(self, reserved: int, spent: int) -> None:
        with self._lock:
            self._reserved -= reserved
            self._spent += spent
            self._hand_out()

    def _hand_out(self) -> None:
        """Grant or refuse who waits, in order, as far as that is decided now."""
        while self._waiting:
            turn = self._waiting[0]
            never = turn.amount > self._limit - self._spent
            if not never and turn.amount > self._limit - self._spent - self._reserved:
                return
            self._waiting.popleft()
            if turn.tell(granted=not never):
                turn.is_reserved = not never
                self._reserved += 0 if never else turn.amount
                self._n_refused += never

    def _refusal(self, amount: int, what: str) -> BudgetExceededError:
        left = (self._limit - self._spent) / _PER_USD
        return BudgetExceededError(
            f"{what} may cost up to ${amount / _PER_USD:.6f}, and ${left:.6f} is left of the "
            f"limit of ${self.limit_usd:g}; it was not made",
            hint="raise the limit (--max-cost), or lower max_tokens; what was paid for is kept",
        )


class Reservation:
    """Money set aside for one call."""

    def __init__(self, budget: Budget, amount: int) -> None:
        self._budget = budget
        self._amount = amount
        self._is_open = True

    @property
    def amount_usd(self) -> float:
        """How much was set aside, in US dollars."""
        return self._amount / _PER_USD

    def settle(self, cost_usd: float | None) -> None:
        """Count what the call cost and free the rest; later calls of it do nothing."""
        if self._is_open:
            self._is_open = False
            spent = self._amount if cost_usd is None else _units(cost_usd)
            self._budget._settle(self._amount, spent)  # noqa: SLF001 - the other half of `reserve`

    def release(self) -> None:
        """Free all of it: nothing was sent, or nothing is billed."""
        self.settle(0.0)


@dataclass(slots=True, eq=False)
class _Turn:
    """A call that waits for money, in whichever event loop."""

    amount: int
    is_reserved: bool = False
    granted: asyncio.Future[bool] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    def tell(self, *, granted: bool) -> bool:
        """Wake it in its own loop; False where that loop is gone."""
        try:
            self.granted.get_loop().call_soon_threadsafe(_resolve, self.granted, granted)
        except RuntimeError:
            return False
        return True


def _resolve(future: asyncio.Future[bool], value: bool) -> None:  # noqa: FBT001 - a future's result
    if not future.done():
        future.set_result(value)


def _units(amount_usd: float) -> int:
    """Money in whole units; what costs no more than was set aside does so in units too."""
    return round(amount_usd * _PER_USD)
