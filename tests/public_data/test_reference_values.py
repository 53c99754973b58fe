"""Every reference value by judgekit's commands and doors; skipped without `JUDGEKIT_DATA`.

Judges' words are read by judgekit's own templates; see `by_command.py`, and `places.py` for where
each figure stands in the report.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import pytest

from tests.public_data.comparing import figures_of, parts
from tests.public_data.material import FOLDER, needs_reference, reference

if TYPE_CHECKING:
    from tests.public_data.material import Figure

pytestmark = needs_reference

NOT_FIGURES = {"published", "published_basis", "published_match", "published_source", "note"}
PARTS = parts() if FOLDER else []


def is_refused(figure: Figure) -> bool:
    """Of a judge no better than chance judgekit corrects nothing, and says so."""
    return isnan(figure["value"]) and figure["tpr"] + figure["tnr"] <= 1


def close(ours: object, theirs: object) -> bool:
    """Equal to the digits that are given, structure by structure."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return set(ours) == set(theirs) and all(close(ours[key], theirs[key]) for key in theirs)
    if isinstance(theirs, list) and isinstance(ours, list | tuple):
        return len(ours) == len(theirs) and all(map(close, ours, theirs))
    return ours == (theirs if isinstance(theirs, str) else pytest.approx(theirs, abs=1e-6))


def part(name: str) -> dict[str, Figure]:
    return {key: one for key, one in reference().items() if key.startswith(f"{name}/")}


def test_every_reference_value_belongs_to_a_set_that_is_compared() -> None:
    assert {key.partition("/")[0] for key in reference()} <= set(PARTS)


@pytest.mark.parametrize("name", PARTS)
def test_every_reference_value_comes_out(name: str) -> None:
    ours, theirs = figures_of(name), part(name)
    assert theirs
    for key, figure in theirs.items():
        found = ours[key]
        for field in set(figure) - NOT_FIGURES:
            if field == "value" and key.endswith("/rogan_gladen_rate") and is_refused(found):
                continue
            assert close(found[field], figure[field]), (key, field, found[field], figure[field])


def test_a_correction_is_refused_just_where_the_judge_is_no_better_than_chance() -> None:
    for key, figure in part("ttcw").items():
        if key.endswith("/rogan_gladen_rate"):
            weak = figure["tpr"] + figure["tnr"] <= 1
            assert isnan(figures_of("ttcw")[key]["value"]) == weak, key
