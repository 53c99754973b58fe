"""Counts the vectors that a run's checks and scorers would ask models of embeddings for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.evaluation.planning.counting import Counting
from judgekit.evaluation.running.vectors import comparisons
from judgekit.records.output import Output

if TYPE_CHECKING:
    from judgekit.evaluation.preparing.opening import OpenSuite
    from judgekit.evaluation.running.items import Item
    from judgekit.models.connecting import Connection

_N_EXACT = 400
"""So many requests to each model have their tokens counted one by one."""

_NOTHING_BACK = (0, 0)
"""A vector is no tokens."""

_UNREAD = Output(text="(not there yet)")


class VectorsWalk:
    """Counts the questions to models of embeddings, answer by answer."""

    def __init__(self, opened: OpenSuite) -> None:
        self._opened = opened
        self.countings: dict[str, Counting] = {}

    def take(self, item: Item, output: Output | None, *, n_again: int) -> None:
        """Count what the checks of one answer compare."""
        seen: set[tuple[str, str]] = set()
        for one in comparisons(self._opened.plans, item.case, output or _UNREAD):
            counting = self._counting(one.embed.name, one.embed.connection)
            if one.reference is None or (output is not None and one.text is None):
                continue
            counting.take(one.embed.request(one.reference), _NOTHING_BACK)
            if (one.embed.name, str(one.text)) in seen:
                continue  # several compare the same text of an answer
            seen.add((one.embed.name, str(one.text)))
            if output is None:
                request = one.embed.request("")
                unread = item.key.variant
                counting.take(request, _NOTHING_BACK, n_again=n_again, unread=unread)
            else:
                counting.take(one.embed.request(str(one.text)), _NOTHING_BACK, n_again=n_again)

    def _counting(self, name: str, connection: Connection) -> Counting:
        if name not in self.countings:
            self.countings[name] = Counting(
                connection,
                refresh=self._opened.asking.refresh is True,
                asks_once=self._opened.cache is not None,
                n_exact=_N_EXACT,
            )
        return self.countings[name]
