"""Refuses to compare cases by another rubric than their own, unless that is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from judgekit.datasets.loading import iter_cases, load_rubric
from judgekit.datasets.suite import names_a_file
from judgekit.errors import SettingsError
from judgekit.records.rubric import Rubric

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from judgekit.cli.setup import Options
    from judgekit.datasets.suite import Suite
    from judgekit.records.case import Case


def check_rubrics(
    cases: Iterable[Case], rubric: Rubric, suite: Suite | None, options: Options
) -> None:
    """Refuse cases that have rubrics of their own: one comparison has one rubric."""
    # With `--rubric` all of them are compared by that one, whatever they have of their own.
    if options.get("rubric") is not None:
        return
    same = {None, rubric.name, rubric.fingerprint}
    for case in cases:
        named = case.rubric.fingerprint if isinstance(case.rubric, Rubric) else case.rubric
        if named in same:
            continue
        own = case.rubric if isinstance(case.rubric, Rubric) else _load(cast("str", named), suite)
        if own.fingerprint != rubric.fingerprint:
            raise SettingsError(
                f"case {case.id} has a rubric of its own, {own.name}, and a comparison has one for "
                f"all cases: {rubric.name}",
                hint="name the one that is to hold for all: --rubric FILE|NAME; `judgekit run` "
                "grades each case by its own, and `compare --scores` compares such runs",
            )
        same.add(named)


def suite_cases(suite: Suite, options: Options) -> Iterator[Case]:
    """The cases of a suite, before anything answers them."""
    tags = frozenset(cast("Collection[str]", options.get("filter_tag") or ()))
    path = suite.dataset_path
    cases = suite.cases or () if path is None else iter_cases(path, columns=suite.columns or None)
    yield from (case for case in cases if not tags or tags & set(case.tags))


def _load(named: str, suite: Suite | None) -> Rubric:
    return load_rubric(suite.resolve(named) if suite and names_a_file(named) else named)
