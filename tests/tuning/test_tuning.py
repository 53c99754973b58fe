from __future__ import annotations

import asyncio
import re
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

import judgekit as jk
from judgekit.bias_audit import ProbeRunner, ProbeSession
from judgekit.errors import InputError, SettingsError
from judgekit.models import Budget, ModelPrice, PriceTable
from judgekit.models.cache import MemoryCache
from judgekit.models.request import ModelReply
from judgekit.records import Usage
from judgekit.testing import ScriptedModel
from judgekit.tuning import TuneOptions, plan_tuning, prepare_tuning, run_tuning
from tests.factories import make_case, make_judge, make_output, make_rubric, reply
from tests.tuning.school import RUBRIC, STRICT, answers, bout, heard, labels, text_of

if TYPE_CHECKING:
    from judgekit.models.request import ModelRequest
    from judgekit.tuning import Tuning

DEAF = heard(lambda _: 1)
STRICT_HELPS = heard(lambda text: 0 if "to the letter" in text else 2)
EXAMPLES_HELP = heard(lambda text: 0 if "Example 4" in text else 2)
ANCHORS_HELP = heard(lambda text: 0 if "<anchor " in text else 2)


def told(script: Any, **options: Any) -> Tuning:
    return asyncio.run(run_tuning(bout(ScriptedModel(script), **options)))


def test_a_wording_that_helps_is_found_and_shown() -> None:
    found = told(STRICT_HELPS, others={"strict": STRICT}, anchors=True)
    assert (found.decision, found.chosen, found.template) == ("better", "strict", None)
    assert found.tuned is not None
    assert found.tuned.criteria == STRICT.criteria
    assert found.contrast is not None
    assert found.contrast.distance.high < 0
    assert found.present_held_out is not None
    assert found.present_held_out.overall.n_items == len(found.held_out_cases) == 12
    assert [one.place for one in found.tried] == [3, 4, 1, 2]


def test_examples_that_help_are_found_and_come_with_the_rubric() -> None:
    found = told(EXAMPLES_HELP, few_shot=(0, 2, 4))
    assert (found.decision, found.chosen) == ("better", "present with 4 examples")
    assert found.template == "pointwise/few_shot"
    assert found.tuned is not None
    shown = {one.case_id for one in found.tuned.criteria[0].examples}
    assert len(shown) == 4
    assert shown <= set(found.training_cases)
    noted = found.tuned.metadata["tuned"]
    assert isinstance(noted, dict)
    assert noted["training_cases"] == list(found.training_cases)
    model = ScriptedModel(EXAMPLES_HELP)
    judge = make_judge(model, template=found.template)
    case, output = next(a for a in answers() if a[0].id in found.held_out_cases)
    assert judge.grade_sync(case, output, found.tuned).judgments[0].raw == int(output.text[-3])  # type: ignore[index]


def test_anchors_that_help_are_found_and_need_no_template() -> None:
    found = told(ANCHORS_HELP, anchors=True)
    assert (found.decision, found.chosen, found.template) == (
        "better", "present with anchors", None,
    )  # fmt: skip
    assert found.tuned is not None
    assert "<anchor " in (found.tuned.criteria[0].scoring_guide or "")


def test_a_judge_that_does_not_mind_keeps_the_present_rubric() -> None:
    found = told(DEAF, others={"strict": STRICT}, few_shot=(0, 2))
    assert (found.decision, found.chosen, found.tuned) == ("none_better", None, None)
    assert found.present_held_out is not None
    assert found.chosen_held_out is None


def test_what_helps_on_training_cases_only_is_not_shown() -> None:
    plan = bout(ScriptedModel(DEAF), others={"strict": STRICT})
    training = {case for fold in plan.split.folds for case in fold}

    def flattering(request: ModelRequest) -> Any:
        known = request.subject.case_id in training and "to the letter" in text_of(request)
        return heard(lambda _: 0 if known else 1)(request)

    found = told(flattering, others={"strict": STRICT})
    assert (found.decision, found.chosen) == ("not_shown", "strict")
    assert found.tuned is not None


NUMBER = re.compile(r"(?:Question|Answer) \[(\d+)\]")


@settings(max_examples=4)
@given(seed=st.integers(0, 10_000), holdout=st.floats(0.35, 0.6), n=st.integers(30, 36))
def test_nothing_of_a_held_out_case_is_sent_before_it_is_judged_itself(
    seed: int, holdout: float, n: int
) -> None:
    model = ScriptedModel(EXAMPLES_HELP)
    found = asyncio.run(
        run_tuning(
            bout(model, n=n, others={"strict": STRICT}, few_shot=(0, 2), anchors=True,
                 seed=seed, holdout=holdout)
        )
    )  # fmt: skip
    held = {int(case[1:]) for case in found.held_out_cases}
    assert held.isdisjoint(int(case[1:]) for case in found.training_cases)
    for request in model.requests:
        own = int(str(request.subject.case_id)[1:])
        seen = [int(number) for number in NUMBER.findall(text_of(request))]
        assert seen.count(own) == 2  # its question and its answer, and never as an example
        assert held.isdisjoint(set(seen) - {own})
    order = [int(str(r.subject.case_id)[1:]) in held for r in model.requests]
    assert order == sorted(order)


@settings(max_examples=2)
@given(order=st.permutations(range(30)), seed=st.integers(0, 50))
def test_a_tuning_is_the_same_whatever_the_order_of_labels(order: list[int], seed: int) -> None:
    rows = labels()
    known = told(EXAMPLES_HELP, few_shot=(0, 2), seed=seed)
    assert told(EXAMPLES_HELP, few_shot=(0, 2), seed=seed, rows=[rows[k] for k in order]) == known


def test_a_failed_answer_is_counted_left_out_and_bounded() -> None:
    def sometimes(request: ModelRequest) -> Any:
        lost = "to the letter" in text_of(request) and request.subject.case_id in {"c1", "c2", "c3"}
        return "no idea" if lost else STRICT_HELPS(request)

    found = told(sometimes, others={"strict": STRICT})
    assert found.chosen_held_out is not None
    assert found.contrast is not None
    n_held = len({"c1", "c2", "c3"} & set(found.held_out_cases))
    assert found.chosen_held_out.overall.n_failed == found.contrast.distance.n_missing == n_held
    assert found.tried[1].n_failed == 3 - n_held
    assert found.failures == {"unreadable": 3}
    assert found.contrast.low <= found.contrast.distance.value <= found.contrast.high


def test_a_judge_that_answers_nothing_decides_nothing_and_is_not_asked_on() -> None:
    model = ScriptedModel("no idea")
    found = asyncio.run(run_tuning(bout(model, anchors=True, judge={"max_reasks": 0})))
    assert (found.decision, found.reason, found.chosen) == ("incomplete", None, None)
    assert found.failures == {"unreadable": 18}
    assert len(model.requests) == 18


def test_a_judge_that_falls_silent_on_held_out_cases_decides_nothing() -> None:
    going = bout(ScriptedModel(DEAF), others={"strict": STRICT})

    def falls_silent(request: ModelRequest) -> Any:
        return "no" if request.subject.case_id in going.split.held_out else STRICT_HELPS(request)

    found = told(falls_silent, others={"strict": STRICT})
    assert (found.decision, found.contrast, found.tuned) == ("incomplete", None, None)


def test_several_answers_of_a_case_stay_on_one_side_and_repeats_are_averaged() -> None:
    two = make_rubric("accuracy", "tone")
    scores = iter([3, 5] * 1000)
    model = ScriptedModel(lambda _: reply(next(scores)))
    pairs = [(case, make_output(output.text, variant=v)) for case, output in answers()
             for v in ("v1", "v2")]  # fmt: skip
    rows = [row | {"variant": v} for row in labels(criterion="tone") for v in ("v1", "v2")]
    judge = make_judge(model, repeats=2)
    found = jk.tune_sync(judge, pairs, rows, two, options=jk.TuneOptions(anchors=True))
    assert {request.subject.criterion for request in model.requests} == {"tone"}
    assert found.present_held_out is not None
    assert found.present_held_out.overall.n_items == 2 * len(found.held_out_cases)
    assert len(model.requests) == 2 * 2 * (2 * len(found.training_cases)
                                           + len(found.held_out_cases))  # fmt: skip


def test_a_joint_judge_is_asked_the_whole_rubric() -> None:
    two = make_rubric("accuracy", "tone")
    model = ScriptedModel(
        '{"criteria": {"accuracy": {"evidence": [], "rationale": "right", "score": 3, '
        '"confidence": 1, "assessable": true}, "tone": {"evidence": [], "rationale": "right", '
        '"score": 3, "confidence": 1, "assessable": true}}}'
    )
    found = asyncio.run(
        run_tuning(
            bout(model, rubric=two, rows=labels(criterion="tone"), anchors=True,
                 judge={"mode": "joint"})
        )
    )  # fmt: skip
    assert found.decision == "none_better"
    assert {request.subject.criterion for request in model.requests} == {None}


def test_cases_that_a_rubric_shows_already_are_left_out() -> None:
    first = told(EXAMPLES_HELP, few_shot=(4,)).tuned
    assert first is not None
    model = ScriptedModel(EXAMPLES_HELP)
    again = asyncio.run(
        run_tuning(
            bout(model, rubric=first, others={"strict": STRICT},
                 judge={"template": "pointwise/few_shot"})
        )
    )  # fmt: skip
    shown = {one.case_id for one in first.criteria[0].examples}
    assert shown.isdisjoint({*again.training_cases, *again.held_out_cases})
    assert (again.n_examples, again.n_unused, again.decision) == (4, 4, "none_better")


def test_cases_that_a_scoring_guide_quotes_already_are_left_out() -> None:
    first = told(ANCHORS_HELP, anchors=True).tuned
    assert first is not None
    guide = first.criteria[0].scoring_guide or ""
    quoted = {case.id for case, output in answers() if f"\n{output.text}\n" in guide}
    assert len(quoted) == 3
    for known in ({"rubric": first}, {"others": {"anchored": first}}):
        again = told(DEAF, **{"others": {"strict": STRICT}} | known)
        assert quoted.isdisjoint({*again.training_cases, *again.held_out_cases})
        assert again.n_examples == 3


def test_outputs_in_error_are_passed_over() -> None:
    pool = [*answers(), (make_case(id="bad"), make_output(None, error="timeout"))]
    judge = make_judge(ScriptedModel(DEAF))
    found = jk.tune_sync(judge, pool, labels(), RUBRIC, candidates={"strict": STRICT})
    assert "bad" not in {*found.training_cases, *found.held_out_cases}


def test_a_tuning_that_is_broken_off_decides_nothing_and_goes_on_from_the_cache() -> None:
    cache, model = MemoryCache(), ScriptedModel(STRICT_HELPS)
    sitting = ProbeSession(in_flight=1)
    going = bout(model, others={"strict": STRICT}, few_shot=(0, 2), judge={"cache": cache})
    sitting.watch = lambda _: sitting.end("interrupted") if len(model.requests) > 10 else None
    found = asyncio.run(run_tuning(going, sitting))
    assert (found.decision, found.reason, found.present_held_out) == (
        "incomplete", "interrupted", None,
    )  # fmt: skip
    assert {(one.place, one.n_failed) for one in found.tried} == {(None, None)}
    n = len(model.requests)
    whole = asyncio.run(run_tuning(going))
    assert whole.decision == "better"
    assert whole.spent.n_cached == n
    assert len(model.requests) == going.n_gradings
    assert told(STRICT_HELPS, others={"strict": STRICT}, few_shot=(0, 2)).contrast == whole.contrast


def test_equal_outputs_of_repeats_are_one_grading_of_the_total() -> None:
    model = ScriptedModel(STRICT_HELPS)
    pool = [
        (case, output.model_copy(update={"variant": "v", "metadata": {"repeat": repeat}}))
        for case, output in answers()
        for repeat in range(2)
    ]
    rows = [row | {"repeat": repeat} for repeat in range(2) for row in labels(variant="v")]
    runner, options = ProbeRunner(make_judge(model)), TuneOptions()
    going = prepare_tuning(runner, pool, rows, RUBRIC, others={"strict": STRICT}, options=options)
    asyncio.run(run_tuning(going))
    assert len(going.labels.answers) == 60
    assert len(model.requests) == going.n_gradings == 60


def test_a_tuning_broken_off_on_the_held_out_cases_decides_nothing() -> None:
    going = bout(ScriptedModel(STRICT_HELPS), others={"strict": STRICT})
    sitting, n_training = ProbeSession(in_flight=1), 2 * len(going.split.training)
    seen: list[object] = []

    def watch(said: object) -> None:
        seen.append(said)
        if len(seen) > n_training:
            sitting.end("interrupted")

    sitting.watch = watch
    found = asyncio.run(run_tuning(going, sitting))
    assert (found.decision, found.tuned, found.contrast) == ("incomplete", None, None)


def test_the_budget_ends_it_and_what_was_paid_for_is_kept() -> None:
    prices = PriceTable({"scripted": ModelPrice(input_usd=1e-5, output_usd=1e-5)})

    def dear(request: ModelRequest) -> ModelReply:
        usage = Usage(input_tokens=500, output_tokens=100)
        return ModelReply(text=str(DEAF(request)), usage=usage)

    model = ScriptedModel(dear)
    known = {"prices": prices, "budget": Budget(0.2), "max_tokens": 100}
    found = asyncio.run(run_tuning(bout(model, others={"strict": STRICT}, judge=known)))
    assert (found.decision, found.reason) == ("incomplete", "budget")
    assert 0 < found.spent.cost_usd <= 0.2


def test_a_frozen_cache_that_misses_decides_nothing() -> None:
    model = ScriptedModel(DEAF)
    found = asyncio.run(
        run_tuning(
            bout(model, others={"strict": STRICT}, judge={"cache": MemoryCache(), "frozen": True})
        )
    )
    assert (found.decision, found.reason, model.requests) == ("incomplete", "frozen", [])


def test_the_plan_counts_what_is_asked_at_most() -> None:
    model = ScriptedModel(EXAMPLES_HELP)
    going = bout(model, few_shot=(0, 4), anchors=True, judge={"cache": MemoryCache()})
    before = plan_tuning(going)
    assert (before.n_candidates, before.n_training, before.n_held_out) == (3, 18, 12)
    assert before.n_calls == before.n_questions == 3 * 18 + 2 * 12
    assert model.requests == []
    asyncio.run(run_tuning(going))
    assert len(model.requests) == before.n_calls
    assert plan_tuning(going).n_owned >= 18 + 12


def test_recorded_replies_and_no_labels_are_refused(tmp_path: Any) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text('{"case_id": "c0", "text": "x"}\n', encoding="utf-8")
    how = jk.TuneOptions(anchors=True)
    with pytest.raises(SettingsError, match="the judge's replies are recorded"):
        jk.tune_sync(make_judge(f"recorded:{path}"), answers(), labels(), RUBRIC, options=how)
    with pytest.raises(InputError, match="no labels to tune the judge on"):
        jk.tune_sync(make_judge(ScriptedModel(DEAF)), answers(), [], RUBRIC, options=how)


def test_labels_may_come_from_a_file(tmp_path: Any) -> None:
    path = tmp_path / "labels.csv"
    rows = "".join(f"{row['case_id']},Ada,{row['raw']}\n" for row in labels())
    path.write_text(f"case_id,annotator,raw\n{rows}", encoding="utf-8")
    judge = make_judge(ScriptedModel(STRICT_HELPS))
    found = jk.tune_sync(judge, answers(), path, RUBRIC, candidates={"strict": STRICT})
    assert found.decision == "better"


@pytest.mark.parametrize("has_text", [True, False])
def test_every_repeat_of_a_case_is_judged_once_with_or_without_a_text(*, has_text: bool) -> None:
    pool, rows = [], list[dict[str, Any]]()
    for k, n in product(range(30), range(2)):
        score = (k if has_text else k + 2 * n) % 5 + 1
        case, metadata = make_case(id=f"c{k}"), {"repeat": n}
        words = f"quality q{score}q"
        pool.append((case, make_output(words, metadata=metadata) if has_text
                     else make_output(None, data={"is": words}, metadata=metadata)))  # fmt: skip
        rows.append({"case_id": f"c{k}", "repeat": n, "raw": score, "annotator": "Ada"})

    def literal(request: ModelRequest) -> str:
        mark = re.search(r"quality q(\d)q", text_of(request))
        assert mark is not None
        return reply(int(mark[1]))

    model = ScriptedModel(literal)
    found = jk.tune_sync(make_judge(model), pool, rows, RUBRIC, candidates={"strict": STRICT})
    assert found.present_held_out is not None
    assert found.present_held_out.overall.n_items == 2 * len(found.held_out_cases)
    assert found.present_held_out.overall.distance.value == 0
    assert len(model.requests) == found.spent.n_replies
