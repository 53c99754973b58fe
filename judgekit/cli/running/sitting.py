"""What one sitting of `judgekit run` came to, as the sittings after it need it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sat:
    """What one sitting came to."""

    code: int
    """Its exit code."""

    is_stopped: bool = False
    """Whether it ended before everything was asked, so that no other is begun."""

    spent_usd: float = 0.0
    """What it cost, where money is limited, in US dollars."""
