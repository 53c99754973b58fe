"""Who judges and how: what a calibration is bound to, from a judge, a jury or a stored run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.judge.asked import asked_together, wandering_name
from judgekit.records.calibration_map import JudgeAsked, Judging

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judgekit.evaluation.preparing.jury import Jury
    from judgekit.judge.judge import Judge
    from judgekit.records.run import RunInfo

ASKED = "asked"
"""The key of a run's `config` under which it says how its judges were asked."""

HUMAN = "human"


def asked_by(judge: Judge) -> Judging:
    """How one judge is asked."""
    return judge.grader.asked


def asked_by_jury(jury: Jury) -> Judging | None:
    """How the judges of a suite are asked."""
    models = [] if jury.models is None else jury.models.judges
    known = {judge.id: judge.grader.asked.judges[0] for judge in models}
    judges = [known.get(name) or JudgeAsked(judge=name) for name in jury.panel.judges]
    return asked_together(judges, jury.panel)


def asked_by_name(judges: Iterable[str]) -> Judging | None:
    """What the names of judges tell of how they were asked: model and template."""
    named = [name for name in judges if name]
    return (
        Judging(judges=(JudgeAsked(judge=wandering_name(named[0])),)) if len(named) == 1 else None
    )


def asked_in(run: RunInfo) -> Judging | None:
    """How the judges of a stored run were asked."""
    noted = run.config.get(ASKED)
    if isinstance(noted, dict):
        return Judging.model_validate(noted)
    return asked_together(
        [JudgeAsked(judge=wandering_name(name)) for name in run.panel.judges], run.panel
    )


def machines_of(asked: Judging | None) -> Judging | None:
    """The same without people, whose word is not what is calibrated."""
    if asked is None:
        return None
    judges = tuple(judge for judge in asked.judges if judge.judge != HUMAN)
    return asked.model_copy(update={"judges": judges}) if judges else None
