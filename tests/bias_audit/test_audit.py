from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.bias_audit import ProbeRunner, ProbeSession, plan_audit, run_audit, select_probes
from judgekit.errors import ModelError
from judgekit.testing import ScriptedModel
from tests.bias_audit.hearing import material
from tests.factories import make_case, make_judge, make_output, priced, reply
from tests.judge.comparing import prefers

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.bias_audit import Audit, AuditInputs
    from judgekit.models.request import ModelReply, ModelRequest

VARIANTS = tuple(
    (make_case(id=f"c{n}"), make_output(f"{variant} {n}", variant=variant))
    for n in range(4)
    for variant in ("v1", "v2")
)


def judged(request: ModelRequest) -> ModelReply:
    text = prefers("tie") if request.subject.order else reply(4)
    return priced(text, model="gpt-x", usage=None)


def audited(
    given: AuditInputs,
    *names: str,
    model: ScriptedModel | None = None,
    sitting: ProbeSession | None = None,
    **settings: Any,
) -> Audit:
    judge = make_judge(model or ScriptedModel(judged), **settings)
    with judge:
        bench = ProbeRunner(judge)
        plan = plan_audit(bench, given, select_probes(names))
        return asyncio.run(run_audit(bench, given, plan, sitting))


def test_each_question_is_asked_once_though_several_probes_want_it() -> None:
    model = ScriptedModel(judged)
    found = audited(material("a", "b"), "scale", "stability", "verbosity", model=model)
    keys = [one.key for one in model.requests]
    assert len(keys) == len(set(keys)) == 20 == found.spent.n_replies
    assert found.spent.cost_usd == pytest.approx(20 * 0.002)
    assert [one.n_asked for one in found.probes] == [2, 6, 6]


def test_an_audit_says_who_was_asked_and_on_what() -> None:
    found = audited(material(items=VARIANTS), "position")
    assert found.judge.startswith("scripted pointwise/criterion@")
    assert found.pair_judge.startswith("scripted pairwise/criterion@")
    assert found.models == ("gpt-x",)
    assert (found.n_cases, found.n_outputs, found.rubric) == (4, 8, "support")
    assert found.is_complete
    assert found.spent.n_replies == 8


def test_a_probe_that_is_skipped_asks_nothing_and_has_no_effect() -> None:
    found = audited(material("a"), "position", "scale")
    position = next(one for one in found.probes if one.name == "position")
    assert (position.status, position.effects, position.n_asked) == ("skipped", (), 0)
    assert found.is_complete


def failing(on: Callable[[ModelRequest], bool], error: Exception) -> ScriptedModel:
    return ScriptedModel(lambda request: error if on(request) else judged(request))


def test_a_failed_question_is_counted_and_its_case_left_out() -> None:
    model = failing(
        lambda r: r.subject.case_id == "c0" and r.subject.repeat == 0,
        ModelError("no", kind="overloaded", provider="x"),
    )
    found = audited(material("a", "b", "c"), "scale", "stability", model=model)
    assert not found.is_complete
    assert found.failures == {"overloaded": 2}
    assert found.failure_messages["overloaded"].startswith("no")
    assert [one.n_failed for one in found.probes] == [1, 1]  # one question, two criteria
    assert [one.status for one in found.probes] == ["done", "done"]
    assert found.probes[1].effects[0].estimate.n == 3  # two askings of c0 are left


def test_a_failed_order_of_a_pair_is_counted_too() -> None:
    model = failing(
        lambda r: r.subject.order == "ba", ModelError("no", kind="timeout", provider="x")
    )
    found = audited(material(items=VARIANTS), "position", model=model)
    assert found.failures == {"timeout": 4}
    assert found.probes[0].effects[0].verdict == "cannot_say"


def test_a_key_that_is_refused_ends_the_asking_at_once() -> None:
    model = failing(lambda _: True, ModelError("no", kind="auth", provider="x"))
    found = audited(
        material(*"abcdefgh"), "scale", "identical", model=model, sitting=ProbeSession(in_flight=1)
    )
    assert len(model.requests) <= 2  # the criteria of the first output
    assert [one.status for one in found.probes] == ["incomplete", "incomplete"]
    assert {one.reason for one in found.probes} == {"the model cannot be called"}


def test_an_audit_that_is_broken_off_tells_what_was_heard() -> None:
    sitting = ProbeSession(in_flight=1)
    heard = []

    def watch(said: object) -> None:
        heard.append(said)
        if len(heard) == 3:
            sitting.end("interrupted")

    sitting.watch = watch
    found = audited(material(*"abcdefgh"), "scale", sitting=sitting)
    assert len(heard) == 3
    assert found.probes[0].reason == "it was interrupted"
    assert found.probes[0].effects[0].estimate.n == 3
    sitting.end("budget")
    assert sitting.reason == "interrupted"


def test_what_a_frozen_cache_lacks_leaves_a_probe_incomplete(tmp_path: Any) -> None:
    found = audited(material("a"), "scale", cache=tmp_path / "cache", frozen=True)
    assert found.failures == {"frozen_miss": 2}
    assert found.probes[0].reason == "the frozen cache lacks replies"


def test_what_is_in_the_cache_is_not_paid_twice(tmp_path: Any) -> None:
    model = ScriptedModel(judged)
    for _ in range(2):
        found = audited(material(items=VARIANTS), "scale", "position", model=model,
                        cache=tmp_path / "cache")  # fmt: skip
    assert len(model.requests) == 16 + 8
    assert (found.spent.n_cached, found.spent.cost_usd) == (24, 0.0)
    assert found.spent.saved_usd == pytest.approx(24 * 0.002)
