"""Sums up the judges of a panel, each by itself, so that one that goes by places shows."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from math import fsum, nan
from typing import TYPE_CHECKING

from judgekit.errors import NotEnoughDataError
from judgekit.evaluation.comparing.figures import JudgeFigures, PanelFigures
from judgekit.evaluation.comparing.tallies import Flips, Wins, doubts
from judgekit.stats.alpha import krippendorff_alpha

if TYPE_CHECKING:
    from judgekit.records.comparison import Comparison, Preference, PreferenceFailure, Winner
    from judgekit.stats.alpha import Alpha


_WINNERS: tuple[Winner | None, ...] = ("a", "tie", "b", None)


@dataclass(slots=True)
class _One:
    """What one judge said of the pairs."""

    wins: Wins = field(default_factory=Wins)
    flips: Flips = field(default_factory=Flips)
    places: array[int] = field(default_factory=lambda: array("I"))
    winners: array[int] = field(default_factory=lambda: array("B"))


class PanelTally:
    """Counts what each judge of a panel makes of pairs of outputs."""

    def __init__(self) -> None:
        self._judges: dict[str, _One] = {}
        self._cases = array("I")
        self._agreements = array("d")

    def take(self, case: int, found: Comparison) -> None:
        """Count one pair that was asked about."""
        if not found.judges:
            return
        for one in found.judges:
            own = self._judges.setdefault(one.judge, _One())
            own.wins.add(case, one)
            own.places.append(len(self._cases))
            own.winners.append(_WINNERS.index(one.winner))
            said: list[Preference | PreferenceFailure] = [*found.preferences, *found.failures]
            own.flips.take(case, one, [each for each in said if each.judge == one.judge])
        self._cases.append(case)
        if found.agreement is not None:
            self._agreements.append(found.agreement)

    def figures(self, level: float) -> PanelFigures | None:
        """What they come to."""
        if not self._judges:
            return None
        return PanelFigures(
            judges=tuple(_figures(judge, one, level) for judge, one in self._judges.items()),
            agreed=fsum(self._agreements) / len(self._agreements) if self._agreements else nan,
            alpha=self._alpha(level),
        )

    def _alpha(self, level: float) -> Alpha | None:
        rows: list[list[Winner | None]] = [[None] * len(self._judges) for _ in self._cases]
        for column, one in enumerate(self._judges.values()):
            for place, winner in zip(one.places, one.winners, strict=True):
                rows[place][column] = _WINNERS[winner]
        try:
            return krippendorff_alpha(rows, "nominal", clusters=self._cases, confidence=level)
        except NotEnoughDataError:
            return None


def _figures(judge: str, one: _One, level: float) -> JudgeFigures:
    flip_rate, position = one.flips.figures(level)
    return JudgeFigures(
        judge=judge,
        whole=one.wins.figures(level),
        flip_rate=flip_rate,
        position=position,
        flags=doubts(flip_rate, position),
    )
