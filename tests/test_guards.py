"""Every guard of the list is still in the code; `python -m tests.mutation` removes each of them."""

from __future__ import annotations

import ast

import pytest

from tests.mutation import ROOT, Guard, NoGuardError, guards, without


@pytest.mark.parametrize("guard", guards(), ids=lambda guard: guard.name)
def test_a_guard_of_the_list_is_in_the_code(guard: Guard) -> None:
    before = (ROOT / "judgekit" / guard.file).read_text(encoding="utf-8")
    assert without(guard) != ast.unparse(ast.parse(before))
    assert all((ROOT / test).is_file() for test in guard.tests)
    assert guard.tests


def test_names_of_guards_are_distinct() -> None:
    names = [guard.name for guard in guards()]
    assert len(set(names)) == len(names)


def test_a_guard_that_is_gone_is_an_error() -> None:
    with pytest.raises(NoGuardError, match=r"0 places of atomic_write\.py atomic_writer"):
        without(Guard("no", "atomic_write.py", "atomic_writer", "1 == 2", ("tests/x.py",)))
