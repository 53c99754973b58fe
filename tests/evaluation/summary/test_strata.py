"""Strata that are empty or too small for the gate to decide about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.evaluation import small_strata, summarize_run
from judgekit.evaluation.gate import stratum_needs
from judgekit.records import Gate
from judgekit.report import document_data, print_document, run_document, stratum_note
from judgekit.stats.intervals import rating_mean
from judgekit.stats.power import sample_size_threshold
from tests.evaluation.summary.test_run_summary import result, run
from tests.factories import make_case
from tests.report.drawing import drawn, plain_console

if TYPE_CHECKING:
    from judgekit.evaluation import RunSummary
    from judgekit.records import CaseResult

PRODUCTION: dict[str, Any] = {"gate": {"tier": "production"}}


def answers(
    *counts: tuple[str | None, int, float], variant: str = "v", tags: tuple[str, ...] = ()
) -> list[CaseResult]:
    """So many answers of a stratum, all with one value."""
    rows = [(stratum, value) for stratum, n, value in counts for _ in range(n)]
    return [
        result(n, value, variant, case=make_case(id=f"c{n}", stratum=stratum, tags=tags))
        for n, (stratum, value) in enumerate(rows)
    ]


def summary(*results: CaseResult, **fields: Any) -> RunSummary:
    known: dict[str, Any] = {"status": "complete", "n_cases": len({r.place for r in results})}
    return summarize_run(results, run(*{r.variant: None for r in results}, **known | fields))


def test_a_dataset_without_strata_says_nothing() -> None:
    found = summary(*answers((None, 3, 1.0)), config=PRODUCTION)
    assert small_strata(found) == ()
    assert "stratum" not in shown(found, verbose=True)
    assert "no case" not in shown(found, verbose=True)


def test_empty_and_small_strata_are_named_with_what_the_gate_needs() -> None:
    found = summary(
        *answers(("simple", 20, 1.0), ("medium", 9, 0.85), ("complex", 9, 0.0)), config=PRODUCTION
    )
    small = {one.stratum: one for one in small_strata(found)}
    # The nine complex cases are few, and the gate decides about them all the same: far below.
    assert small.keys() == {"medium", "very_complex"}
    medium, empty = small["medium"], small["very_complex"]
    assert medium.value == pytest.approx(0.85)
    assert (medium.n_cases, medium.is_observed) == (9, True)
    assert medium.n_needed == sample_size_threshold(0.85, 0.8, medium.sd or 0.0).value
    assert medium.n_missing == medium.n_needed - 9 > 0
    assert empty.n_cases == 0
    assert stratum_note(small.values()) == (
        "too few cases to decide about production (0.8): "
        f"medium 9 of about {medium.n_needed}; no case: very_complex"
    )


def test_a_stratum_is_too_small_where_it_is_for_any_variant() -> None:
    good = answers(("simple", 20, 1.0))
    doubtful = answers(("simple", 20, 0.8), variant="w")
    assert "simple" not in {one.stratum for one in small_strata(summary(*good, config=PRODUCTION))}
    both = small_strata(summary(*good, *doubtful, config=PRODUCTION))
    assert both[0].stratum == "simple"


@pytest.mark.parametrize("gate", [None, {"max_drop": 0.1}, {"tier": "production", "rule": "point"}])
def test_without_an_interval_that_decides_ten_cases_are_the_floor(gate: object) -> None:
    config: dict[str, Any] = {} if gate is None else {"gate": gate}
    found = summary(*answers(("simple", 10, 1.0), ("complex", 9, 0.5)), config=config)
    assert stratum_note(small_strata(found)) == (
        "fewer than 10 cases: complex 9; no case: medium, very_complex"
    )


@pytest.mark.parametrize(
    "fields",
    [{"status": "stopped"}, {"config": {"chosen": {"limit": 2}}}, {"n_cases": 50}],
    ids=["stopped", "a part was chosen", "a part is shown"],
)
def test_a_part_of_the_cases_says_nothing_of_the_strata(fields: dict[str, Any]) -> None:
    assert small_strata(summary(*answers(("simple", 2, 1.0)), **fields)) == ()
    everything = {"config": {"chosen": {"variants": ["v"]}}}
    assert small_strata(summary(*answers(("simple", 2, 1.0)), **everything))


def test_a_value_at_the_tier_is_taken_as_five_hundredths_away() -> None:
    values = [0.6, 1.0] * 20
    at_tier = rating_mean(values, (0.0, 1.0), continuous=True)
    (need,) = stratum_needs({None: 40}, Gate(tier="production"), [{None: at_tier}])
    assert need.value == pytest.approx(0.85)
    assert need.is_observed
    assert need.n_needed == sample_size_threshold(0.85, 0.8, need.sd or 0.0).value


def test_what_a_few_cases_measured_is_not_assumed() -> None:
    whole = rating_mean([0.5, 1.0] * 10, (0.0, 1.0), continuous=True)
    few = rating_mean([0.0, 1.0], (0.0, 1.0), continuous=True)
    values = [{None: whole, "simple": few}]
    needs = stratum_needs({"simple": 2, None: 18}, Gate(tier="development"), values)
    assert {one.stratum: one.n_cases for one in needs}[None] == 20
    assert [one.value for one in needs] == pytest.approx([0.75] * 5)


@pytest.mark.parametrize(("fields", "sd"), [({}, 0.25), ({"is_graded": False}, 0.3)])
def test_unmeasured_values_are_assumed_a_tenth_above_the_tier(
    fields: dict[str, Any], sd: float
) -> None:
    (need,) = stratum_needs({None: 5}, Gate(tier="production"), **fields)
    assert (need.value, need.sd) == pytest.approx((0.9, sd))
    assert not need.is_observed
    assert need.n_needed == sample_size_threshold(0.9, 0.8, sd).value


def shown(found: RunSummary, *, verbose: bool = False, width: int = 80) -> str:
    console = plain_console(width)
    print_document(console, run_document(found), verbose=verbose)
    return drawn(console)


def test_a_run_shows_each_stratum_and_tag_with_its_cases_and_intervals() -> None:
    found = summary(
        *answers(("simple", 8, 1.0), ("complex", 4, 0.25), tags=("policy",)),
        *answers(("simple", 8, 0.5), ("complex", 4, 0.0), tags=("policy",), variant="w"),
    )
    text = shown(found, width=100)
    assert "stratum" not in text
    assert "2 segments with fewer than 10 cases are not shown; -v shows all" in text
    text = shown(found, width=100, verbose=True)
    lines = [line.split() for line in text.splitlines()]
    assert next(line for line in lines if line[:2] == ["stratum", "simple"])[:9] == [
        "stratum",
        "simple",
        "v",
        "8",
        "8/8",
        "100",
        "%",
        "[68,",
        "100]",
    ]
    assert any(line[:5] == ["stratum", "complex", "v", "4", "0/4"] for line in lines)
    assert any(line[:4] == ["tag", "policy", "v", "12"] for line in lines)
    assert max(map(len, shown(found).splitlines())) <= 80
    assert "  fewer than 10 cases: simple 8, complex 4; no case: medium, very_complex" in text
    data: Any = document_data(run_document(found))
    assert [one["stratum"] for one in data["small_strata"]] == [
        "simple", "medium", "complex", "very_complex",
    ]  # fmt: skip


def test_with_fewer_than_ten_cases_segments_are_shown_on_request() -> None:
    found = summary(*answers(("simple", 9, 1.0)))
    assert "By segment" not in shown(found)
    assert "no case" not in shown(found)
    assert "stratum simple" in shown(found, verbose=True)
    assert "no case: medium, complex, very_complex" in shown(found, verbose=True)


def test_a_long_list_of_tags_is_shown_on_request() -> None:
    tags = tuple(f"tag-{n:02d}" for n in range(31))
    found = summary(*answers(("simple", 12, 1.0), tags=tags))
    assert "tag-30" not in shown(found)
    # Strata are four at most, and stay.
    assert "stratum simple" in shown(found)
    assert "no case: medium" in shown(found)
    assert "tag tag-30" in shown(found, verbose=True)
    assert "tag-30" not in shown(summary(*answers((None, 12, 1.0), tags=tags)))
