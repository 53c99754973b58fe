from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import (
    FrozenCacheError,
    InputError,
    JudgeError,
    ModelError,
    RefusalError,
    ReplyFormatError,
    StoreError,
)
from judgekit.judge.exchange import JudgeAnswer, Spending, ask_judge, total_spending
from judgekit.models.request import ModelReply
from judgekit.prompts.parsing import CriterionReply
from judgekit.records import Usage
from judgekit.testing import ScriptedModel
from tests.factories import make_request, priced

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgekit.models.request import ModelRequest


def read(reply: ModelReply) -> Mapping[str, CriterionReply]:
    """Reads `ok`, a refusal, or a reason why it cannot be read."""
    text = reply.text or "empty"
    if text == "ok":
        return {"accuracy": CriterionReply(raw=4, rationale="Right.")}
    if text == "refused":
        raise RefusalError("it declined", reply=text)
    raise ReplyFormatError(f"It was {text}.", reason=text, reply=text)


async def asked(*script: Any, **fields: Any) -> tuple[JudgeAnswer[Any], list[ModelRequest]]:
    model = ScriptedModel([*script])
    answer = await ask_judge(model, make_request(**fields), read)
    return answer, model.requests


async def test_a_readable_answer_is_asked_for_once() -> None:
    answer, requests = await asked("ok")
    assert answer.error is None
    assert answer.readings is not None
    assert answer.readings["accuracy"].raw == 4
    assert len(requests) == 1


async def test_an_unreadable_reply_is_asked_again_with_the_reason_in_a_new_note() -> None:
    answer, (first, second) = await asked("ambiguous", "ok")
    assert answer.readings is not None
    assert second.messages[-1]["content"].startswith(first.messages[-1]["content"])
    note = second.messages[-1]["content"].removeprefix(first.messages[-1]["content"])
    assert note.startswith("\n\nNote: an earlier reply")
    assert "It was ambiguous." in note


async def test_asking_again_keeps_everything_else_and_is_a_request_of_its_own() -> None:
    _, (first, second) = await asked(
        "ambiguous", "ok", reply_schema={"type": "object"}, parameters={"seed": 3},
        api_base="http://127.0.0.1/v1", shared_prefix=4,
    )  # fmt: skip
    assert second.key != first.key
    assert second.subject.attempt == 1
    changed = {"messages", "subject"}
    assert second.model_dump(exclude=changed) == first.model_dump(exclude=changed)


async def test_a_system_message_is_not_touched() -> None:
    messages = ({"role": "system", "content": "s"}, {"role": "user", "content": "u"})
    _, (_, second) = await asked("ambiguous", "ok", messages=messages)
    assert second.messages[0] == messages[0]


async def test_after_two_more_tries_it_is_a_failure_of_its_kind() -> None:
    answer, requests = await asked("ambiguous", "no_verdict", "out_of_range")
    assert len(requests) == 3
    assert answer.readings is None
    assert (answer.failure_kind, str(answer.error)) == ("unreadable", "It was out_of_range.")
    assert [r.subject.attempt for r in requests] == [0, 1, 2]


@pytest.mark.parametrize("reason", ["empty", "truncated"])
async def test_an_empty_and_a_truncated_reply_are_kinds_of_their_own(reason: str) -> None:
    answer, _ = await asked(reason, reason, reason)
    assert answer.failure_kind == reason


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
async def test_each_truncated_reply_doubles_the_token_limit(name: str) -> None:
    _, requests = await asked("truncated", "truncated", "ok", parameters={name: 100})
    assert [r.parameters[name] for r in requests] == [100, 200, 400]


async def test_only_a_truncated_reply_doubles_the_token_limit() -> None:
    _, requests = await asked("ambiguous", "truncated", "ok", parameters={"max_tokens": 100})
    assert [r.parameters["max_tokens"] for r in requests] == [100, 100, 200]


async def test_a_limit_that_was_too_short_once_stays_raised() -> None:
    _, requests = await asked("truncated", "ambiguous", "ok", parameters={"max_tokens": 100})
    assert [r.parameters["max_tokens"] for r in requests] == [100, 200, 200]


async def test_without_a_token_limit_none_is_invented() -> None:
    _, requests = await asked("truncated", "ok")
    assert all("max_tokens" not in r.parameters for r in requests)


async def test_a_refusal_is_asked_again_once_in_other_words() -> None:
    answer, (first, second) = await asked("refused", "refused")
    assert (answer.failure_kind, total_spending(answer.replies).n_calls) == ("refusal", 2)
    assert second.key != first.key
    assert "It declined to judge." in second.messages[-1]["content"]


async def test_a_refusal_that_is_mended_is_no_failure() -> None:
    answer, _ = await asked("refused", "ok")
    assert answer.readings is not None


async def test_asking_again_can_be_switched_off() -> None:
    model = ScriptedModel("ambiguous")
    answer = await ask_judge(model, make_request(), read, max_reasks=0)
    assert (len(model.requests), answer.failure_kind) == (1, "unreadable")


@pytest.mark.parametrize("kind", ["auth", "rate_limited", "timeout", "content_filter", "quota"])
async def test_an_error_of_the_provider_is_a_failure_of_its_kind(kind: str) -> None:
    answer, requests = await asked(ModelError("no", kind=kind))
    assert (answer.failure_kind, answer.replies, len(requests)) == (kind, [], 1)
    assert total_spending(answer.replies) == Spending()


async def test_an_error_while_asking_again_leaves_the_first_reason() -> None:
    answer, _ = await asked("ambiguous", ModelError("too fast", kind="rate_limited"))
    assert answer.failure_kind == "unreadable"
    assert str(answer.error) == "It was ambiguous. (the retry failed: too fast)"
    assert len(answer.replies) == 1


@pytest.mark.parametrize("error", [ValueError("odd"), KeyError("x")])
async def test_whatever_a_strangers_model_raises_is_an_internal_failure(error: Exception) -> None:
    answer, _ = await asked(error)
    assert answer.failure_kind == "internal"
    assert f"model 'scripted' raised {type(error).__name__}" in str(answer.error)


async def test_a_strangers_kind_is_an_internal_failure() -> None:
    assert (await asked(ModelError("no", kind="moody")))[0].failure_kind == "internal"
    assert JudgeAnswer(None, None, []).failure_kind == "internal"
    assert JudgeAnswer(None, JudgeError("x"), []).failure_kind == "internal"


async def test_a_reply_that_was_paid_for_and_cannot_be_kept_stops_everything() -> None:
    with pytest.raises(StoreError, match="disk full"):
        await asked(StoreError("disk full"))


async def test_no_two_askings_have_the_same_words() -> None:
    _, requests = await asked("odd", "odd", "odd")
    assert len({request.key for request in requests}) == 3
    assert "two earlier replies" in requests[2].messages[-1]["content"]


async def test_a_frozen_miss_while_asking_again_is_a_frozen_miss() -> None:
    answer, _ = await asked("odd", FrozenCacheError("missed", key="0" * 64))
    assert answer.failure_kind == "frozen_miss"


async def test_what_only_the_caller_can_mend_stops_everything() -> None:
    with pytest.raises(InputError, match="no weights"):
        await asked(InputError("no weights"))


@pytest.mark.parametrize(("written", "of_both"), [(None, None), (3, 6)])
async def test_every_reply_counts_in_the_spending(written: int | None, of_both: int | None) -> None:
    tokens = Usage(
        input_tokens=10, output_tokens=2, cached_input_tokens=4, cache_write_tokens=written,
        reasoning_tokens=1,
    )  # fmt: skip
    answer, _ = await asked(priced("ambiguous", 0.1, usage=tokens), priced("ok", 0.2, usage=tokens))
    spent = total_spending(answer.replies)
    assert spent.cost_usd == spent.price_usd == pytest.approx(0.3)
    assert spent.n_calls == 2
    assert spent.usage == Usage(
        input_tokens=20, output_tokens=4, cached_input_tokens=8, cache_write_tokens=of_both,
        reasoning_tokens=2,
    )  # fmt: skip


def test_an_owned_reply_costs_nothing_now_and_keeps_its_price() -> None:
    spent = total_spending([priced("ok", 0.1, cached=True), priced("ok", 0.2)])
    assert (spent.cost_usd, spent.cached) == (0.2, False)
    assert spent.price_usd == pytest.approx(0.3)
    assert total_spending([priced("ok", 0.1, cached=True)]).cached


def test_a_sum_with_an_unknown_part_is_unknown() -> None:
    spent = total_spending([ModelReply(text="x"), priced("ok", 0.2)])
    assert (spent.cost_usd, spent.price_usd, spent.usage) == (None, None, None)
    assert total_spending([ModelReply(text="x", cached=True)]).cost_usd == 0.0


def test_the_tokens_of_one_reply_are_its_own() -> None:
    usage = Usage(input_tokens=1, cost_usd=0.5)
    assert total_spending([ModelReply(text="x", usage=usage)]).usage is usage


async def test_a_request_for_another_try_is_plain_json() -> None:
    _, requests = await asked("ambiguous", "ok")
    assert json.loads(json.dumps(requests[1].key_parts)) == requests[1].key_parts
