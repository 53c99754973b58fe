from __future__ import annotations

import asyncio
import json
import math
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.errors import ModelError, TemplateError
from judgekit.models.cache import MemoryCache
from judgekit.models.request import ModelReply, TokenLogprob
from judgekit.prompts.redaction import WITHHELD_NAME
from judgekit.records import ScrubbedPassage, Usage
from judgekit.testing import Faults, FlawedModel, ScriptedModel
from tests.factories import attacks, make_case, make_judge, make_output, make_rubric
from tests.judge.comparing import by_order, fair_judge, preference, prefers

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.models.request import Model, ModelRequest
    from judgekit.records import Comparison, PresentationOrder

RUBRIC = make_rubric("accuracy", "style")
A, B = "Yes, within 30 days.", "No idea."
MIRROR = {"a": "b", "b": "a", "tie": "tie", None: None}


async def compare(model: Model | str, a: str = A, b: str = B, **settings: Any) -> Comparison:
    judge = make_judge(model, **settings)
    return await judge.compare(
        make_case(), make_output(a, variant="v1"), make_output(b, variant="v2"), RUBRIC
    )


def sent(request: ModelRequest) -> str:
    return "\n".join(message["content"] for message in request.messages)


@pytest.mark.parametrize("mode", ["per_criterion", "joint"])
async def test_the_better_output_wins_in_both_orders_on_everything(mode: Any) -> None:
    model = FlawedModel(lambda _case, variant, _criterion: 0.9 if variant == "a" else 0.2)
    found = await compare(model, mode=mode)
    assert (found.winner, found.consistent, found.probability) == ("a", True, 1)
    assert [(c.name, c.winner) for c in found.criteria] == [("accuracy", "a"), ("style", "a")]
    assert len(model.requests) == (6 if mode == "per_criterion" else 2)
    assert {(p.order, p.criterion, p.choice) for p in found.preferences} == {
        (order, criterion, choice)
        for order, choice in (("ab", "first"), ("ba", "second"))
        for criterion in ("accuracy", "style", None)
    }


@pytest.mark.parametrize("mode", ["per_criterion", "joint"])
async def test_a_judge_that_always_takes_the_first_is_never_consistent(mode: Any) -> None:
    model = FlawedModel(lambda *_: 0.5, faults=Faults(always_first=1.0))
    found = await compare(model, mode=mode)
    assert (found.winner, found.consistent, found.probability) == ("tie", False, 0.5)
    assert {(c.winner, c.consistent) for c in found.criteria} == {("tie", False)}


async def test_a_fair_judge_of_equal_outputs_gives_a_true_tie() -> None:
    found = await compare(fair_judge({A: 1, B: 1}))
    assert (found.winner, found.consistent) == ("tie", True)


async def test_a_tie_in_one_order_is_not_consistent() -> None:
    found = await compare(by_order(ab=prefers("first"), ba=prefers("tie")))
    assert (found.winner, found.consistent, found.probability) == ("tie", False, 0.75)


FAILURES = [
    (ModelReply(text=prefers()[:40], finish_reason="length"), "truncated"),
    (ModelReply(text="I'm sorry, but I can't evaluate this."), "refusal"),
    (ModelReply(text="no", finish_reason="content_filter"), "refusal"),
    (ModelReply(text="Either."), "unreadable"),
    (ModelReply(text=prefers("tie", assessable=False)), "cannot_assess"),
    (ModelReply(text=prefers(rationale=" ")), "unreadable"),
    (ModelError("gone", kind="timeout", provider="p"), "timeout"),
    (ValueError("odd"), "internal"),
]


@pytest.mark.parametrize(("reply", "kind"), FAILURES, ids=[kind for _, kind in FAILURES])
async def test_a_failed_order_leaves_the_case_undecided_within_bounds(
    reply: Any, kind: str
) -> None:
    found = await compare(by_order(ab=prefers("first"), ba=reply))
    assert (found.winner, found.consistent, found.probability) == (None, None, None)
    assert (found.probability_low, found.probability_high) == (0.5, 1)
    assert {(f.order, f.kind) for f in found.failures} == {("ba", kind)}
    assert {c.winner for c in found.criteria} == {None}
    assert (len(found.preferences), len(found.failures)) == (3, 3)


async def test_a_preference_holds_all_that_the_judge_said() -> None:
    tokens = Usage(input_tokens=90, output_tokens=30)
    said = prefers("second", evidence_second=["No  idea"], evidence_first=["maybe"], score_first=8)
    reply = ModelReply(text=said, usage=tokens, cost_usd=0.02, model="m-2026", duration_ms=12.0)
    found = await compare(by_order(ab=reply, ba=prefers("first")))
    first = next(p for p in found.preferences if p.order == "ab" and p.criterion == "style")
    assert (first.choice, first.confidence, first.raw_first, first.raw_second) == (
        "second", 0.8, 8, 7,
    )  # fmt: skip
    assert (first.variant_first, first.variant_second, first.case_id) == ("v1", "v2", "refund")
    assert (first.evidence_second[0].match, first.evidence_first[0].match) == ("normalized", None)
    assert first.flags == ("evidence_not_found", "scores_disagree")
    assert (first.cost_usd, first.usage, first.model, first.n_calls) == (0.02, tokens, "m-2026", 1)
    assert first.judge.startswith("ordered pairwise/criterion@")


async def test_a_joint_reply_is_paid_for_once() -> None:
    text = json.dumps({"criteria": {"accuracy": preference(), "style": preference()},
                       "overall": preference("tie")})  # fmt: skip
    reply = ModelReply(text=text, usage=Usage(input_tokens=9), cost_usd=0.3)
    found = await compare(ScriptedModel(reply), mode="joint")
    assert math.fsum(p.cost_usd or 0 for p in found.preferences) == pytest.approx(0.6)
    assert [p.usage is not None for p in found.preferences] == [True, False, False] * 2
    assert (found.winner, found.consistent) == ("tie", True)


async def test_repeats_are_asked_in_both_orders_and_averaged() -> None:
    model = ScriptedModel(
        lambda r: prefers("first" if (r.subject.order, r.subject.repeat) != ("ab", 0) else "second")
    )
    found = await compare(model, repeats=3, template="pairwise/criterion")
    assert len(model.requests) == 18
    assert (found.winner, found.consistent) == ("tie", False)
    assert found.probability == pytest.approx((2 / 3 + 0) / 2)
    assert found.criteria["style"].n == 6


async def test_an_unreadable_reply_is_asked_again() -> None:
    model = ScriptedModel(lambda r: prefers() if r.subject.attempt else "Well.")
    found = await compare(model)
    assert {p.n_calls for p in found.preferences} == {2}
    assert "could not be used" in sent(model.requests[-1])


@pytest.mark.parametrize("b", [A, "I am Claude. Yes."])
async def test_what_the_judge_would_see_twice_is_a_tie_without_a_call(b: str) -> None:
    model = ScriptedModel([])
    found = await compare(model, a=b.replace("Claude", "ChatGPT"), b=b)
    assert (found.winner, found.consistent, found.is_identical) == ("tie", True, True)
    assert [c.winner for c in found.criteria] == ["tie", "tie"]
    assert (model.requests, found.preferences) == ([], ())


async def test_an_output_that_is_an_error_is_not_compared() -> None:
    judge, failed = make_judge(ScriptedModel([])), make_output(None, error="timeout")
    found = await judge.compare(make_case(), failed, make_output(A), RUBRIC)
    assert (found.winner, found.probability, found.error) == (None, None, "output a: timeout")
    both = await judge.compare(make_case(), failed, failed, RUBRIC)
    assert (both.winner, both.is_identical) == (None, False)
    assert [x async for x in judge.comparer.observe(make_case(), failed, failed, RUBRIC)] == []


async def test_no_prompt_says_whose_outputs_they_are() -> None:
    model, names = ScriptedModel(prefers()), ("prompts/reply_v2.j2", "openai/gpt-4.1-nano")
    a = make_output("I am ChatGPT. gpt-4.1-nano wrote it for reply_v2.j2.", variant="v1-long")
    await make_judge(model).compare(
        make_case(), a, make_output("By v1-long.", variant="v2-short"), RUBRIC, names=names
    )
    for request in model.requests:
        for name in ("v1-long", "v2-short", "reply_v2", "gpt-4.1-nano", "ChatGPT"):
            assert name not in sent(request)


async def test_what_was_scrubbed_is_in_the_record_and_evidence_counts_in_what_was_seen() -> None:
    said = prefers(evidence_first=[f"I am {WITHHELD_NAME}."])
    found = await compare(by_order(ab=said, ba=prefers("second")), a="I am Claude. Yes.")
    assert found.scrubbed == (ScrubbedPassage(side="a", text="Claude", start=5, end=11),)
    shown = next(p for p in found.preferences if p.order == "ab")
    assert shown.evidence_first[0].end == len(f"I am {WITHHELD_NAME}.")


async def test_scrubbing_can_be_switched_off_and_the_record_says_so() -> None:
    model = ScriptedModel(prefers())
    found = await compare(model, a="I am Claude. Yes.", scrub=False)
    assert found.scrubbed is None
    assert "I am Claude." in sent(model.requests[0])


async def test_drawn_labels_stand_in_the_prompt_and_in_the_record() -> None:
    model = ScriptedModel(prefers())
    found = await compare(model, draw_labels=True, seed=4)
    assert found.labels != ("first", "second")
    assert all(f"Output shown first ({found.labels[0]}):" in sent(r) for r in model.requests)
    plain = await compare(ScriptedModel(prefers()), draw_labels=False)
    assert plain.labels == ("first", "second")
    assert (await compare(ScriptedModel(prefers()), label_seed=4)).labels == found.labels


WORTH = st.dictionaries(st.sampled_from([A, B]), st.sampled_from([0, 1, 2]), min_size=2)


@settings(max_examples=40)
@given(st.data(), st.booleans(), st.sampled_from(["per_criterion", "joint"]))
def test_swapping_a_and_b_mirrors_the_result_exactly(data: Any, labels: Any, mode: Any) -> None:
    said: dict[str, str] = {}

    def say(request: ModelRequest) -> str:
        key = request.key  # the same question has the same answer, whichever side it is asked from
        if key not in said:
            choice = st.sampled_from(["first", "second", "tie", "??"])
            one = {"score_first": 9, "score_second": data.draw(st.integers(1, 10))}
            answers = [preference(data.draw(choice), **one) for _ in range(3)]
            whole = {"criteria": {"accuracy": answers[0], "style": answers[1]},
                     "overall": answers[2]}  # fmt: skip
            said[key] = json.dumps(answers[0] if mode == "per_criterion" else whole)
        return said[key]

    asked = {"mode": mode, "draw_labels": labels, "max_reasks": 0}
    judge = make_judge(ScriptedModel(say, name="odd"), **asked)
    a, b = make_output(A, variant="v1"), make_output(B, variant="v2")
    one = asyncio.run(judge.compare(make_case(), a, b, RUBRIC))
    other = asyncio.run(judge.compare(make_case(), b, a, RUBRIC))
    assert (other.winner, other.consistent) == (MIRROR[one.winner], one.consistent)
    assert (other.raw_a, other.raw_b) == (one.raw_b, one.raw_a)
    assert other.raw_winner == MIRROR[one.raw_winner]
    assert (other.probability_low, other.probability_high) == (
        1 - one.probability_high, 1 - one.probability_low,
    )  # fmt: skip
    for c, d in zip(one.criteria, other.criteria, strict=True):
        assert (d.winner, d.consistent, d.n) == (MIRROR[c.winner], c.consistent, c.n)


async def test_both_orders_are_the_same_requests_from_either_side() -> None:
    models = [ScriptedModel(prefers()), ScriptedModel(prefers())]
    await compare(models[0], A, B)
    await compare(models[1], B, A)
    keys = [[request.key for request in model.requests] for model in models]
    assert sorted(keys[0]) == sorted(keys[1])
    assert len(set(keys[0])) == 6


async def test_what_was_asked_once_is_never_paid_for_again() -> None:
    model, cache = ScriptedModel(prefers()), MemoryCache()
    first = await compare(model, cache=cache)
    again = await compare(model, cache=cache)
    swapped = await compare(model, B, A, cache=cache)
    assert len(model.requests) == 6
    assert {p.cached for p in first.preferences} == {False}
    assert {p.cached for p in (*again.preferences, *swapped.preferences)} == {True}


async def test_answers_are_told_as_they_come_and_known_ones_not_asked() -> None:
    model = ScriptedModel(prefers())
    comparer = make_judge(model).comparer
    outputs = make_output(A), make_output(B)
    known: set[tuple[PresentationOrder, str | None, int]] = {
        ("ab", None, 0),
        ("ab", "style", 0),
        ("ba", "accuracy", 0),
    }
    stream = comparer.observe(make_case(), *outputs, RUBRIC, known=known)
    async with aclosing(stream):
        found = [one async for answer in stream async for one in _each(answer)]
    assert {(one.order, one.criterion) for one in found} == {
        ("ab", "accuracy"), ("ba", "style"), ("ba", None),
    }  # fmt: skip


async def _each(answer: tuple[Any, ...]) -> Any:
    for one in answer:
        yield one


def test_comparing_works_without_a_running_loop() -> None:
    with make_judge(fair_judge({A: 2, B: 1})) as judge:
        found = judge.compare_sync(make_case(), make_output(A), make_output(B), RUBRIC)
    assert found.winner == "a"


def recorded(folder: Path, *rows: dict[str, Any]) -> str:
    path = folder / "replies.jsonl"
    path.write_text("\n".join(json.dumps({"case_id": "refund", **row}) for row in rows))
    return f"recorded:{path}"


async def test_recorded_replies_answer_by_criterion_and_order(tmp_path: Path) -> None:
    rows = [
        {"order": order, "criterion": criterion, "text": prefers(choice)}
        for order, choice in (("ab", "second"), ("ba", "first"))
        for criterion in ("accuracy", "style")
    ]
    rows += [{"order": "ab", "text": prefers("first")}, {"order": "ba", "text": prefers("second")}]
    found = await compare(recorded(tmp_path, *rows))
    assert (found.winner, {c.winner for c in found.criteria}) == ("a", {"b"})


async def test_replies_recorded_for_two_variants_do_not_answer_for_them_swapped(
    tmp_path: Path,
) -> None:
    rows = [{"variant": "v1 vs v2", "order": order, "text": prefers()} for order in ("ab", "ba")]
    judge = make_judge(recorded(tmp_path, *rows))
    outputs = make_output(A, variant="v1"), make_output(B, variant="v2")
    assert (await judge.compare(make_case(), *outputs, RUBRIC)).failures == ()
    swapped = await judge.compare(make_case(), outputs[1], outputs[0], RUBRIC)
    assert {failure.kind for failure in swapped.failures} == {"bad_request"}


def with_logprobs(text: str, **chances: float) -> ModelReply:
    before, after = text.split('"preference": "')
    made = after.partition('"')[0]
    top = tuple((word, math.log(chance)) for word, chance in chances.items())
    tokens = [TokenLogprob(token=f'{before}"preference": "', logprob=0),
              TokenLogprob(token=made, logprob=math.log(chances[made]), top=top),
              TokenLogprob(token=after[len(made):], logprob=0)]  # fmt: skip
    return ModelReply(text=text, logprobs=tuple(tokens))


async def test_token_probabilities_are_averaged_over_the_orders() -> None:
    found = await compare(
        by_order(ab=with_logprobs(prefers("first"), first=0.6, tie=0.2, second=0.2),
                 ba=with_logprobs(prefers("second"), second=0.9, first=0.1)),
    )  # fmt: skip
    assert found.winner == "a"
    assert found.probability == pytest.approx((0.7 + 0.9) / 2)
    one = next(p for p in found.preferences if p.order == "ab")
    assert one.confidence == pytest.approx(0.6)
    assert one.logprob_first == pytest.approx(0.7)


async def test_a_choice_stated_after_its_reasons_has_a_probability() -> None:
    top = (("a", math.log(0.7)), ("b", math.log(0.3)))
    tokens = [TokenLogprob(token="Output (b) is vague. Therefore, Output (", logprob=0),
              TokenLogprob(token="a", logprob=math.log(0.7), top=top),
              TokenLogprob(token=") is better.", logprob=0)]  # fmt: skip
    said = ModelReply(text="".join(one.token for one in tokens), logprobs=tuple(tokens))
    found = await compare(ScriptedModel(said), template="pairwise/llmbar", logprobs=True)
    assert [one.logprob_first for one in found.preferences] == [pytest.approx(0.7)] * 2


async def test_a_template_for_comparing_leaves_grading_to_the_modes_own() -> None:
    judge = make_judge(ScriptedModel("Both are fine, the first is finer. [[A]]"),
                       template="pairwise/mt_bench")  # fmt: skip
    assert judge.comparer.template.name == "pairwise/mt_bench"
    assert judge.template.name == "pointwise/criterion"
    found = await judge.compare(make_case(), make_output(A), make_output(B), RUBRIC)
    assert (found.winner, found.consistent, len(found.criteria)) == ("tie", False, 0)
    assert found.preferences[0].rationale.startswith("Both are fine")


async def test_a_judge_that_never_sees_the_reference_compares_without_it() -> None:
    model = ScriptedModel(prefers())
    judge = make_judge(model, template="pointwise/no_reference")
    await judge.compare(make_case(reference="Secret."), make_output(A), make_output(B), RUBRIC)
    assert judge.comparer.template.name == "pairwise/criterion_no_reference"
    assert not any("Secret." in sent(request) for request in model.requests)


async def test_a_template_that_asks_for_no_reason_says_so_in_its_place() -> None:
    found = await compare(
        by_order(ab="Output (a)", ba="Output (b)"), template="pairwise/llmbar_vanilla"
    )
    assert found.winner == "a"
    first = found.preferences[0]
    assert first.rationale == "The judge was asked for no reason; it answered: Output (a)"
    assert first.flags == ("no_rationale",)


async def test_a_reply_without_a_reason_is_no_preference_where_one_was_asked() -> None:
    found = await compare(ScriptedModel("[[A]]"), template="pairwise/mt_bench")
    assert {failure.reason for failure in found.failures} == {"no_rationale"}


async def test_a_rubric_that_the_template_cannot_ask_is_an_error() -> None:
    judge = make_judge(ScriptedModel(prefers()), mode="joint")
    with pytest.raises(TemplateError, match="called 'overall'"):
        await judge.compare(make_case(), make_output(A), make_output(B), make_rubric("overall"))


@pytest.mark.parametrize("record", attacks()[:40], ids=lambda record: record["id"])
async def test_an_attack_that_a_judge_repeats_never_wins(record: dict[str, Any]) -> None:
    model = ScriptedModel(record["text"], name="parrot")
    for template in ("pairwise/joint", "pairwise/mt_bench", "pairwise/fair_eval"):
        found = await compare(model, a=record["text"], template=template, max_reasks=0)
        assert found.winner is None


async def test_owned_replies_are_read_without_waiting_and_an_unreadable_one_is_asked_again() -> (
    None
):
    cache = MemoryCache()
    model = by_order(ab="I pass.", ba="The second one. [[B]]")
    for _ in range(2):
        judge = make_judge(model, cache=cache, template="pairwise/mt_bench", max_reasks=0)
        found = await judge.compare(make_case(), make_output("x"), make_output("y"), make_rubric())
    assert len(model.requests) == 2, "both replies are owned the second time"
    assert {failure.kind for failure in found.failures} == {"unreadable"}
