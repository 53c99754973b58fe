from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from judgekit.records import Evidence
from tests.factories import make_failure, make_judgment


@pytest.mark.parametrize("rationale", ["", "  ", "\n"])
def test_no_judgment_is_without_a_rationale(rationale: str) -> None:
    with pytest.raises(ValidationError, match="rationale"):
        make_judgment(rationale=rationale)


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_value_outside_0_to_1_is_refused(value: float) -> None:
    with pytest.raises(ValidationError, match="value"):
        make_judgment(raw=1, value=value)


@pytest.mark.parametrize("field", ["raw", "expected_raw", "cost_usd"])
def test_a_number_that_is_none_is_refused(field: str) -> None:
    numbers: dict[str, Any] = {field: float("nan")}
    with pytest.raises(ValidationError, match=field):
        make_judgment(**numbers)


def test_a_failure_kind_comes_from_the_closed_list() -> None:
    with pytest.raises(ValidationError, match="kind"):
        make_failure(kind="moody")


def test_evidence_without_a_match_was_not_found() -> None:
    assert not Evidence(quote="x").found
    assert Evidence(quote="x", match="normalized", start=0, end=1).found
