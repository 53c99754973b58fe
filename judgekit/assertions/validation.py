"""Lists what is wrong with a dataset, its assertions included; `judgekit.datasets` reads files."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.assertions.builtin.text_similarity import SimilaritySettings, similar_entry
from judgekit.assertions.registry import assertion_registry
from judgekit.assertions.scripts import ScriptSettings, script_entries
from judgekit.assertions.spec import read_specs
from judgekit.datasets import dataset_problems, load_dataset, validate_path
from judgekit.errors import JudgekitError
from judgekit.formats import Problem
from judgekit.records import Dataset

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.registry import Registry


def validate_dataset(dataset: Dataset | Path | str) -> list[Problem]:
    """What is wrong with a file, or should be improved in a dataset that is valid.

    Args:
        dataset: A file, which is checked row by row as by `judgekit validate`; or the cases.

    Returns:
        An error for a dataset without cases, and for each assertion that cannot be checked
        (an unknown type, a missing or unusable value); warnings for ids given twice (a run
        refuses them), ids that differ only in case or punctuation, blank inputs, missing
        references of cases that do not say how they are evaluated, and vague descriptions.
        Empty when all is well.
    """
    if isinstance(dataset, Dataset):
        return [*dataset_problems(dataset), *_assertion_problems(dataset)]
    problems = validate_path(dataset)
    with suppress(JudgekitError):  # among the problems, or no file of cases
        found = _assertion_problems(load_dataset(dataset, allow_empty=True))
        problems += [one.model_copy(update={"path": str(dataset)}) for one in found]
    return problems


def _assertion_problems(dataset: Dataset) -> Iterator[Problem]:
    for case in dataset.cases:
        for fault in read_specs(case.assertions, registry=every_assertion())[1]:
            told = {"message": fault.message, "case_id": case.id, "remedy": fault.hint}
            yield Problem(severity="error", **told)


@cache
def every_assertion() -> Registry:
    """The assertions of a run, including those that a suite configures and its scripts."""
    # Allowed, because nothing is run here: their names must only be known.
    scripts = script_entries(ScriptSettings(Path(), is_allowed=True))[0]
    return assertion_registry().plus(similar_entry(SimilaritySettings()), scripts)
