from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk
from judgekit.errors import InputError, SettingsError, UnknownNameError
from judgekit.testing import ScriptedModel
from tests.factories import make_case, make_judge, make_output, make_rubric, reply
from tests.judge.comparing import prefers

if TYPE_CHECKING:
    from judgekit.models.request import ModelRequest

ANSWERS = [
    (make_case(id=f"c{n}"), make_output(f"{variant} {n}", variant=variant))
    for n in range(4)
    for variant in ("v1", "v2")
]


def said(request: ModelRequest) -> str:
    return prefers("first") if request.subject.order else reply(4)


def audited(answers: Any = ANSWERS, **options: Any) -> jk.Audit:
    with make_judge(ScriptedModel(said)) as judge:
        wanted = jk.AuditOptions(**options)
        return jk.audit_sync(judge, answers, make_rubric(), options=wanted)


def test_an_audit_by_python_makes_the_probes_that_are_wanted() -> None:
    found = audited(probes=("stability", "position"))
    assert {one.name: one.status for one in found.probes} == {
        "stability": "done", "position": "done",
    }  # fmt: skip
    assert (found.n_cases, found.n_outputs) == (4, 8)


def test_cases_are_drawn_with_all_their_outputs() -> None:
    found = audited(probes=("scale",), n_cases=2, seed=5)
    assert (found.n_cases, found.n_outputs, found.seed) == (2, 4, 5)


def test_without_options_all_probes_are_made_or_told_as_skipped() -> None:
    with make_judge(ScriptedModel(said)) as judge:
        found = jk.audit_sync(judge, ANSWERS, make_rubric())
    assert len(found.probes) == 12
    assert all(one.reason for one in found.probes if one.status == "skipped")


def test_errors_of_the_system_are_no_outputs_to_audit_with() -> None:
    failed = [(make_case(), make_output(None, error="it timed out"))]
    with pytest.raises(InputError, match="there is no output to audit the judge with"):
        audited(failed)


def test_what_cannot_be_asked_for_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="stabilty"):
        audited(probes=("stabilty",))
    for options in ({"n_askings": 1}, {"n_attacks": 0}, {"n_cases": 0}, {"level": 1.0}):
        with pytest.raises(SettingsError, match=next(iter(options))):
            jk.AuditOptions(**options)


async def test_an_audit_works_inside_a_running_loop() -> None:
    async with make_judge(ScriptedModel(said)) as judge:
        wanted = jk.AuditOptions(probes=("scale",))
        found = await jk.audit(judge, ANSWERS, make_rubric(), options=wanted)
    assert found.probes[0].n_asked == 8


def test_an_audit_has_a_row_for_each_effect() -> None:
    found = audited(probes=("stability", "position"))
    rows = found.to_dicts()
    assert [(row["probe"], row["effect"]) for row in rows] == [
        ("stability", "verdict changes between repeats"), ("position", "first place preferred"),
    ]  # fmt: skip
    (effect,) = found.probes[1].effects
    assert [rows[1][name] for name in ("value", "high", "verdict", "p_adjusted")] == [
        effect.estimate.value, effect.estimate.high, effect.verdict, effect.p_adjusted,
    ]  # fmt: skip
