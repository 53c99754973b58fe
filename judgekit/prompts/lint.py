"""Says what in a rubric or a prompt template misleads judges, before a judge is paid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.prompts.linting.flaws import Flaw
from judgekit.prompts.linting.rubrics import rubric_flaws
from judgekit.prompts.linting.templates import partial_flaws, template_flaws

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from judgekit.records.rubric import Rubric

__all__ = ["Flaw", "lint_partial", "lint_rubric", "lint_template"]


def lint_rubric(rubric: Rubric) -> list[Flaw]:
    """What in a rubric may mislead a judge, or makes its pass mark idle."""
    return list(rubric_flaws(rubric))


def lint_template(name: str, folders: Sequence[Path] = ()) -> list[Flaw]:
    """What in a template lets judged text in, confuses the judge, or costs more than it need."""
    # The template is read as a tree, includes followed, and rendered over made-up cases.
    return list(template_flaws(name, folders))


def lint_partial(path: Path) -> list[Flaw]:
    """What in a partial lets judged text in; all else shows in the templates that include it."""
    return list(partial_flaws(path))
