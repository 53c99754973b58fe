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
        """Answer one case."""
        ...

    async def aclose(self) -> None:
        """Let go of files and connections."""
        ...
