"""Says where outputs come without what was asked, and recorded replies that nobody asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.cli import console as streams
from judgekit.datasets.outputs import iter_answers
from judgekit.models.recorded import RecordedModel
from judgekit.report import view

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judgekit.cli.setup import GradeSetup
    from judgekit.judge.judge import Judge

REMEDY = "name the file with the cases (--cases), or add an `input` column"
"""What gives a judge the tasks as well."""


def note_unasked(setup: GradeSetup) -> None:
    """Say which files of outputs do not begin with an input, where no cases are named."""
    if setup.cases is not None:
        return
    for source in setup.sources:
        case, _ = next(iter_answers(source.path, variant=source.variant, needs_input=False))
        if case.input is None:
            alone = "the judge sees the outputs alone"
            streams.note(f"{source.path} does not say what was asked: {alone}; {REMEDY}")


def note_unasked_replies(judges: Iterable[Judge]) -> None:
    """Say which recorded replies were not asked for, once everything has been asked."""
    for judge in judges:
        model = judge.connection.model
        if isinstance(model, RecordedModel) and (told := model.unasked()) is not None:
            streams.note(view.message_lines(told))
