"""Who judges and how: what a calibration is bound to, from a judge, a jury or a stored run."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from judgekit.records.calibration_map import JudgeAsked, Judging

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judgekit.evaluation.preparing.jury import Jury
    from judgekit.judge.judge import Judge
    from judgekit.records.record import JsonObject
    from judgekit.records.run import Panel, RunInfo

ASKED = "asked"
"""The key of a run's `config` under which it says how its judges were asked."""

HUMAN = "human"
_RECORDED = "recorded:"
_BESIDE_THE_POINT = frozenset({"seed", "logprobs", "top_logprobs"})
"""Parameters that do not move what a judge tends to say."""


def asked_by(judge: Judge) -> Judging:
    """How one judge is asked.

    Args:
        judge: The judge.

    Returns:
        Model, template, parameters and repeats.
    """
    return Judging(judges=(_of_judge(judge),))


def asked_by_jury(jury: Jury) -> Judging | None:
    """How the judges of a suite are asked.

    Args:
        jury: The judges.

    Returns:
        All of them, people and assertions by their names; None where nobody judges.
    """
    models = [] if jury.models is None else jury.models.judges
    known = {judge.id: _of_judge(judge) for judge in models}
    judges = [known.get(name) or JudgeAsked(judge=name) for name in jury.panel.judges]
    return _of_panel(judges, jury.panel)


def asked_by_name(judges: Iterable[str]) -> Judging | None:
    """What the names of judges tell of how they were asked: model and template.

    Args:
        judges: Names of judges, as judgments bear them.

    Returns:
        Parameters and repeats are not known; None where there is no name, or there are several,
        for how they were combined is not known.
    """
    named = [name for name in judges if name]
    return Judging(judges=(JudgeAsked(judge=_named(named[0])),)) if len(named) == 1 else None


def asked_in(run: RunInfo) -> Judging | None:
    """How the judges of a stored run were asked.

    Args:
        run: The run.

    Returns:
        What it noted when it was begun; of a run of an older judgekit what its judges' names tell.
    """
    noted = run.config.get(ASKED)
    if isinstance(noted, dict):
        return Judging.model_validate(noted)
    return _of_panel([JudgeAsked(judge=_named(name)) for name in run.panel.judges], run.panel)


def machines_of(asked: Judging | None) -> Judging | None:
    """The same without people, whose word is not what is calibrated.

    Args:
        asked: Who judges.

    Returns:
        None where nobody else is left.
    """
    if asked is None:
        return None
    judges = tuple(judge for judge in asked.judges if judge.judge != HUMAN)
    return asked.model_copy(update={"judges": judges}) if judges else None


def _of_judge(judge: Judge) -> JudgeAsked:
    grader = judge.grader
    parameters: JsonObject = {
        name: value for name, value in grader.parameters.items() if name not in _BESIDE_THE_POINT
    }
    return JudgeAsked(
        judge=_named(judge.id),
        parameters=parameters,
        repeats=grader.repeats,
        asks_all=judge.template.header.asks == "all",
    )


def _of_panel(judges: Iterable[JudgeAsked], panel: Panel) -> Judging | None:
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


def _named(judge: str) -> str:
    """A judge's name; recorded replies go by their file, wherever it lies."""
    model, _, template = judge.rpartition(" ")
    if not model.startswith(_RECORDED):
        return judge
    return f"{_RECORDED}{PurePath(model.removeprefix(_RECORDED)).name} {template}"
