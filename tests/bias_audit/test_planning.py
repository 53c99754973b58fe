from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from judgekit.bias_audit import ProbeRunner, plan_audit, select_probes
from judgekit.bias_audit.api import PROBES
from judgekit.models import ModelPrice, PriceTable
from judgekit.testing import ScriptedModel
from tests.bias_audit.hearing import material
from tests.factories import make_case, make_judge, make_output, reply

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.bias_audit import AuditInputs, AuditPlan

PRICES = PriceTable({"openai/priced": ModelPrice(input_usd=1e-6, output_usd=1e-6)})


def planned(given: AuditInputs, *names: str, **fields: Any) -> AuditPlan:
    settings = {"model": ScriptedModel(reply(4))} | fields.pop("judge", {})
    with make_judge(settings.pop("model"), **settings) as judge:
        return plan_audit(ProbeRunner(judge), given, select_probes(names), **fields)


def test_what_probes_share_is_counted_once_with_the_first_of_them() -> None:
    plan = planned(material("a", "b"), "scale", "stability", "verbosity")
    scale, stability, verbosity = plan.probes
    assert [one.calls.n_questions for one in (scale, stability, verbosity)] == [4, 8, 8]
    assert plan.calls.n_questions == plan.calls.n_calls == 20
    assert len(plan.wanted) == 2 + 4 + 2 + 2


def test_a_probe_that_cannot_be_made_is_in_the_plan_with_its_reason() -> None:
    plan = planned(material("a"), "position", "paraphrase", "criterion_order", "self_preference")
    assert all(one.trials.skipped for one in plan.probes)
    assert (plan.calls.n_questions, plan.calls.price_usd, plan.wanted) == (0, (0.0, 0.0), ())


def test_a_probe_that_does_not_fit_into_what_is_left_is_skipped() -> None:
    judge = {"model": "openai/priced", "prices": PRICES}
    names = "scale", "stability", "identical"
    whole = planned(material("a", "b"), *names, judge=judge)
    assert whole.probes[0].calls.price_usd is not None
    first, _ = whole.probes[0].calls.price_usd
    limit = first * 1.9 + whole.calls.reserved_usd
    found = planned(material("a", "b"), *names, judge=judge, max_cost_usd=limit)
    scale, stability, identical = found.probes
    assert (scale.is_too_dear, stability.is_too_dear) == (False, True)
    assert "of the limit is left" in str(stability.trials.skipped)
    assert identical.trials.skipped is None
    assert found.calls.price_usd is not None
    assert found.calls.price_usd[0] <= limit
    # What is set aside before a call has to be left for the last one, too.
    short = planned(material("a", "b"), *names, judge=judge, max_cost_usd=first)
    assert [one.is_too_dear for one in short.probes] == [True, True, True]
    assert "is set aside before a call" in str(short.probes[0].trials.skipped)


def test_where_nobody_knows_the_price_nothing_is_skipped_for_it() -> None:
    judge = {"model": ScriptedModel(reply(4), name="unheard/of")}
    plan = planned(material("a"), "scale", judge=judge, max_cost_usd=0.000001)
    assert plan.probes[0].trials.skipped is None
    assert plan.calls.price_usd is None


def test_recorded_answers_say_nothing_of_texts_that_a_probe_makes(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"case_id": case, "criterion": name, "text": reply(4)}
        for case in ("c0", "c1")
        for name in ("accuracy", "clarity")
    ]
    rows += [{"case_id": "c0", "criterion": "accuracy", "text": reply(4), "repeat": 1}]
    path = tmp_path / "replies.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    judge = {"model": f"recorded:{path}"}
    plan = planned(material("a", "b", is_recorded=True, n_askings=2, family="GPT"), judge=judge)
    reasons = {one.probe.name: one.trials.skipped for one in plan.probes}
    assert {name for name, reason in reasons.items() if reason is None} == {"scale", "stability"}
    assert "the probe makes texts that have none" in str(reasons["verbosity"])
    three = planned(material("a", is_recorded=True), "stability", judge=judge)
    assert "without those that the probe needs" in str(three.probes[0].trials.skipped)


def test_every_probe_can_be_chosen_and_comes_in_its_own_order() -> None:
    assert select_probes() == PROBES
    assert [one.name for one in select_probes(["injection", " Self-Preference "])] == [
        "self_preference", "injection",
    ]  # fmt: skip
    for probe in PROBES:
        assert probe.question.endswith("?")


def test_a_pair_that_is_asked_by_criterion_costs_a_reply_each() -> None:
    case = make_case(id="a")
    items = ((case, make_output("one", variant="x")), (case, make_output("two", variant="y")))
    known = {"prices": PRICES, "model": "openai/priced"}
    whole = planned(material(items=items), "position", judge=known)
    parts = planned(material(items=items), "position", judge={**known, "mode": "joint"})
    assert (whole.calls.n_calls, parts.calls.n_calls) == (2, 2)
    assert (whole.calls.price_usd or (0,)) < (parts.calls.price_usd or (0,))
