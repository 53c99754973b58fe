from __future__ import annotations

from judgekit.bias_audit import select_cases
from tests.bias_audit.hearing import material
from tests.factories import make_case, make_output

ANSWERS = [
    (make_case(id=case), make_output(f"{case} {variant}", variant=variant))
    for variant in ("v1", "v2")
    for case in ("a", "b", "c", "d")
]


def test_the_draws_of_a_probe_depend_on_the_seed_and_on_what_they_are_for() -> None:
    first = material("x").draw("verbosity", "c0").random()
    assert first == material("x").draw("verbosity", "c0").random()
    assert first != material("x").draw("verbosity", "c1").random()
    assert first != material("x", seed=1).draw("verbosity", "c0").random()


def test_all_two_different_outputs_of_a_case_are_a_pair() -> None:
    third = (make_case(id="a"), make_output("a v2", variant="v3"))
    found = material(items=(*ANSWERS, third)).pairs
    assert [(one.case.id, one.a.variant, one.b.variant) for one in found] == [
        ("a", "v1", "v2"),
        ("a", "v1", "v3"),  # v2 and v3 say the same
        ("b", "v1", "v2"),
        ("c", "v1", "v2"),
        ("d", "v1", "v2"),
    ]


def test_chosen_cases_keep_all_their_outputs() -> None:
    first = select_cases(ANSWERS, limit=2, sample=None, seed=0)
    assert [(case.id, output.variant) for case, output in first] == [
        ("a", "v1"), ("b", "v1"), ("a", "v2"), ("b", "v2"),
    ]  # fmt: skip
    drawn = select_cases(ANSWERS, limit=None, sample=2, seed=3)
    assert len(drawn) == 4
    assert drawn == select_cases(ANSWERS, limit=None, sample=2, seed=3)
    assert len(select_cases(ANSWERS, limit=None, sample=9, seed=0)) == 8
