"""How a judge is asked: what a calibration is bound to."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from judgekit.records.calibration_map import JudgeAsked, Judging

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pydantic import JsonValue

    from judgekit.records.run import Panel

_RECORDED = "recorded:"
_BESIDE_THE_POINT = frozenset({"seed", "logprobs", "top_logprobs"})
"""Parameters that do not move what a judge tends to say."""


def how_asked(
    judge: str, parameters: Mapping[str, JsonValue], *, repeats: int, asks_all: bool
) -> JudgeAsked:
    """How one judge is asked."""
    kept = {name: value for name, value in parameters.items() if name not in _BESIDE_THE_POINT}
    return JudgeAsked(
        judge=wandering_name(judge), parameters=kept, repeats=repeats, asks_all=asks_all
    )


def asked_together(judges: Iterable[JudgeAsked], panel: Panel) -> Judging | None:
    """How several judges are asked."""
    named = tuple(judges)
    if not named:
        return None
    weighted = panel.combine == "weighted"
    return Judging(
        judges=named,
        combine=panel.combine if len(named) > 1 else "mean",
        weights=tuple(panel.weights.get(n, 1.0) for n in panel.judges) if weighted else (),
        escalate_below=panel.escalate_below,
    )


def wandering_name(judge: str) -> str:
    """A judge's name; recorded replies go by their file, wherever it lies."""
    model, _, template = judge.rpartition(" ")
    if not model.startswith(_RECORDED):
        return judge
    return f"{_RECORDED}{PurePath(model.removeprefix(_RECORDED)).name} {template}"
