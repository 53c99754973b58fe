"""Golden values: `tests/data/golden_statistics.json`; each case names the source of its numbers.

null in `expected` is nan (or None), "inf" is infinite; numbers compare by
|got - want| <= atol + rtol |want|.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
from pathlib import Path
from typing import Any

import pytest

CASES = json.loads((Path(__file__).parent.parent / "data/golden_statistics.json").read_text())[
    "cases"
]


def importable(case: dict[str, Any]) -> bool:
    module = case["function"].split(".")[0]
    return importlib.util.find_spec(f"judgekit.stats.{module}") is not None


def known_to_stats(case: dict[str, Any]) -> bool:
    """Verdicts are no matter of statistics; they have their own tests."""
    return not case["function"].startswith("verdicts.")


def agrees(got: object, want: object, tolerance: dict[str, float]) -> bool:
    if want is None:
        return got is None or (isinstance(got, float) and math.isnan(got))
    if isinstance(want, str | bool):
        return got == (math.inf if want == "inf" else want)
    if isinstance(want, dict):
        pairs = [(member(got, name), value) for name, value in want.items()]
        return all(agrees(have, value, tolerance) for have, value in pairs)
    if isinstance(want, list):
        have = list(got)  # type: ignore[call-overload] # fails the test when it is no sequence
        return len(have) == len(want) and all(
            agrees(g, w, tolerance) for g, w in zip(have, want, strict=True)
        )
    number = float(got)  # type: ignore[arg-type] # fails the test when it is no number
    slack = tolerance["atol"] + tolerance["rtol"] * abs(float(str(want)))
    return abs(number - float(str(want))) <= slack


def member(got: object, name: str) -> object:
    return got[name] if isinstance(got, dict) else getattr(got, name)


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if known_to_stats(case) and importable(case)],
    ids=lambda case: case["id"],
)
def test_golden_values(case: dict[str, Any]) -> None:
    module, name = case["function"].split(".")
    function = getattr(importlib.import_module(f"judgekit.stats.{module}"), name)
    got = function(**case["input"])
    for field, want in case["expected"].items():
        have = member(got, field)
        assert agrees(have, want, case["tolerance"]), f"{field}: {have}, golden {want}"
