from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
import math
import pkgutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

import judgekit.stats
from judgekit.stats.agreement import cohen_kappa
from judgekit.stats.confidence import vote_confidence
from judgekit.stats.estimate import Result, python_value
from judgekit.stats.intervals import mean, proportion
from judgekit.stats.replacement import alt_test

if TYPE_CHECKING:
    from collections.abc import Hashable

MODULES = [module.name for module in pkgutil.iter_modules(judgekit.stats.__path__)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair(Result):
    left: object
    right: object = None


def test_numpys_numbers_become_pythons() -> None:
    found = Pair(left=np.float64(0.5), right=(np.int64(3), (np.bool_(True), np.str_("yes"))))
    assert json.dumps(dataclasses.asdict(found)) == '{"left": 0.5, "right": [3, [true, "yes"]]}'
    assert type(found.left) is float


def test_what_is_pythons_own_is_left_as_it_is() -> None:
    kept = (1, (2.0, None), "three")
    assert python_value(kept) is kept
    assert python_value(array := np.zeros(2)) is array


def test_numpy_input_gives_the_same_json_as_pythons() -> None:
    by_numpy = proportion(np.int64(7), np.int64(10))  # type: ignore[arg-type] # what is tested
    assert json.dumps(dataclasses.asdict(by_numpy)) == json.dumps(
        dataclasses.asdict(proportion(7, 10))
    )
    votes = vote_confidence([*np.array(["pass", "pass", "fail"])], ["pass", "fail"])
    assert json.loads(json.dumps(dataclasses.asdict(votes)))["mode"] == ["pass"]
    said = [*np.array([1, 2, 2, 1, 1])]
    json.dumps(dataclasses.asdict(cohen_kappa(said, said[::-1], labels=[*np.array([1, 2])])))


def test_verdicts_on_numpy_labels_are_pythons() -> None:
    rng = np.random.default_rng(1)
    said = rng.integers(1, 4, (3, 40))
    people: dict[Hashable, dict[Hashable, float | None]] = {
        name: dict(enumerate(row)) for name, row in zip("abc", said, strict=True)
    }
    found = alt_test(people, dict(enumerate(said[0])))
    assert type(found.passed) is bool
    assert {type(kept) for kept in found.rejected} == {bool}


@pytest.mark.parametrize("name", MODULES)
def test_every_result_is_made_of_pythons_numbers(name: str) -> None:
    module = importlib.import_module(f"judgekit.stats.{name}")
    own = [
        found
        for found in vars(module).values()
        if inspect.isclass(found)
        and dataclasses.is_dataclass(found)
        and found.__module__ == module.__name__
        and not found.__name__.startswith("_")
    ]
    arrays = {"RatingList", "RatingCounts", "ResampledValues"}
    assert {found.__name__ for found in own if not issubclass(found, Result)} <= arrays


def test_equal_results_are_equal_also_without_an_interval() -> None:
    found, again = mean([1, 1, 1]), mean([1, 1, 1])
    assert math.isnan(found.low)
    assert (found, hash(found)) == (again, hash(again))
    assert found != mean([1, 1, 2])
    assert mean([1, 2, 4]) == mean([1, 2, 4])
