from __future__ import annotations

import pytest

from judgekit.errors import DatasetError, SettingsError
from judgekit.evaluation import Contest, Side
from tests.evaluation.pairs import side

CASES = [f"c{k}" for k in range(6)]


def three(*, turned: bool = False) -> list[Side]:
    """Three sides that answer the same cases; `turned` in another order."""
    cases = CASES[::-1] if turned else CASES
    found = [side("x", *cases), side("y", *cases), side("z", *CASES)]
    return found[::-1] if turned else found


def asked(contest: Contest) -> list[tuple[str, str, str]]:
    return [(match.a, match.b, match.pair.case.id) for match in contest.in_rounds()]


def test_everybody_meets_everybody_case_by_case() -> None:
    found = asked(Contest(three()))
    assert len(found) == len(set(found)) == Contest(three()).n_matches == 18
    assert [pair[:2] for pair in found[:3]] == [("x", "y"), ("x", "z"), ("y", "z")]
    assert len({case for _, _, case in found[:3]}) == 1


def test_the_order_of_sides_and_files_changes_no_match() -> None:
    assert asked(Contest(three(turned=True), seed=4)) == asked(Contest(three(), seed=4))


def test_the_seed_draws_the_order_and_the_sample() -> None:
    drawn = {tuple(asked(Contest(three(), sample=2, seed=seed))) for seed in range(6)}
    assert len(drawn) > 1
    assert all(len({case for _, _, case in found}) == 2 for found in drawn)
    assert asked(Contest(three(), sample=3, seed=1)) == asked(
        Contest(three(turned=True), sample=3, seed=1)
    )


def test_a_limit_takes_the_first_cases_of_the_files() -> None:
    assert {case for _, _, case in asked(Contest(three(), limit=2))} == {"c0", "c1"}


def test_tags_choose_cases() -> None:
    tagged = [side(name, "c0", tags=["hard"]) for name in "xy"]
    assert Contest(tagged, tags=["hard"]).n_matches == 1
    assert Contest(tagged, tags=["easy"]).n_matches == 0


def test_what_two_sides_do_not_both_answer_is_counted_for_the_worst_pair() -> None:
    found = Contest([side("x", *CASES), side("y", *CASES[:5]), side("z", *CASES[:2])])
    assert found.n_matches == 5 + 2 + 2
    assert (found.left_out.n_only_a, found.left_out.n_only_b) == (4, 0)


def test_names_that_give_sides_away_are_gathered() -> None:
    sides = [Side(s.label, s.read, (f"{s.label}-model",)) for s in three()]
    assert Contest(sides).names == ("x-model", "y-model", "z-model")


def test_two_sides_of_one_name_or_one_side_are_refused() -> None:
    with pytest.raises(SettingsError, match="2 sides have 1 names: x"):
        Contest([side("x", "c0"), side("x", "c1")])
    with pytest.raises(SettingsError, match="1 sides have 1 names"):
        Contest([side("x", "c0")])


def test_a_side_that_answers_a_case_twice_is_refused() -> None:
    with pytest.raises(DatasetError, match="x has a second output"):
        Contest([side("x", "c0", "c0"), side("y", "c0")])
