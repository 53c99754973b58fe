"""Finds recorded outputs that belong to no case, and recorded replies nobody asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.models.recorded import RecordedModel
from judgekit.targets.recorded import RecordedTarget

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from judgekit.judge.panel import JudgePanel
    from judgekit.targets.target import Target

_SHOWN = 3


class Strangers:
    """The ids in recorded outputs that no case was seen with yet."""

    def __init__(self, targets: Mapping[str, Target]) -> None:
        self._left = {
            name: dict.fromkeys(target.case_ids)
            for name, target in targets.items()
            if isinstance(target, RecordedTarget)
        }

    @property
    def has_any(self) -> bool:
        """Whether any is left."""
        return any(self._left.values())

    def discard(self, case_id: str) -> None:
        """Strike out an id."""
        for ids in self._left.values():
            ids.pop(case_id, None)

    def left(self) -> dict[str, tuple[str, ...]]:
        """What is left."""
        return {name: tuple(ids) for name, ids in self._left.items() if ids}


def strangers_told(variant: str, ids: tuple[str, ...]) -> str:
    """That some recorded outputs were left out, on one line."""
    shown = ", ".join(ids[:_SHOWN]) + (", …" if len(ids) > _SHOWN else "")
    what = "1 id" if len(ids) == 1 else f"{len(ids):,} ids"
    return f"{variant}: outputs for {what} that no case has are left out: {shown}"


def unasked_replies(judges: JudgePanel | None) -> Iterator[str]:
    """The recorded replies that a whole run had no question for."""
    if judges is None:
        return
    # The later judges of a cascade are asked only where those before were not sure.
    n_asked_of_all = 1 if judges.panel.combine == "cascade" else len(judges.judges)
    for judge in judges.judges[:n_asked_of_all]:
        model = judge.connection.model
        if isinstance(model, RecordedModel) and (told := model.unasked()) is not None:
            yield told
