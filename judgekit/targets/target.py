"""The seam to every system under test: one case, one output, and the protocol between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from judgekit.records.case import Case
    from judgekit.records.output import Output


@runtime_checkable
class Target(Protocol):
    """A variant that can be asked for its answer to a case."""

    @property
    def id(self) -> str:
        """The variant's name."""
        ...

    async def answer(self, case: Case, *, repeat: int = 0) -> Output:
        """Answer one case.

        Args:
            case: What is to be answered.
            repeat: Which time the same case is answered, from 0.

        Returns:
            The output; where the system under test failed, one with `error` and `error_kind`.

        Raises:
            BudgetExceededError: When the money for it is spent; nothing was asked.
            FrozenCacheError: When the cache is frozen and has no reply; nothing was asked.
            StoreError: When a reply that was paid for cannot be kept.
        """
        ...

    async def aclose(self) -> None:
        """Let go of files and connections."""
        ...
