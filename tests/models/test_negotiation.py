from __future__ import annotations

from typing import Any

import pytest

from judgekit.errors import ModelError
from judgekit.models.capabilities import Negotiation, ReplyForm, RequestPlan, negotiate_reply
from judgekit.models.error_mapping import ProviderFault
from tests.models.asking import SCHEMA, ask

BODY = {"choices": [{"message": {"content": "4"}, "finish_reason": "stop"}]}
ALL_FORMS: tuple[ReplyForm, ...] = ("json_schema", "tool", "plain")


def refusal(text: str, parameter: str | None = None, status: int = 400) -> ProviderFault:
    return ProviderFault("openai", "bad_request", status=status, text=text, parameter=parameter)


def test_a_schema_goes_out_in_the_best_form_there_is() -> None:
    native = Negotiation(("json_schema", "plain")).plan(ask(reply_schema=SCHEMA))
    tool = Negotiation(("tool", "plain")).plan(ask(reply_schema=SCHEMA))
    plain = Negotiation(("plain",)).plan(ask(reply_schema=SCHEMA))
    named: Any = native.parameters["response_format"]
    assert named["json_schema"] == {"name": "reply", "schema": SCHEMA, "strict": True}
    assert tool.parameters["tool_choice"] == {"type": "function", "function": {"name": "reply"}}
    assert (plain.parameters, plain.dropped) == ({}, ("response_format",))


def test_a_schema_that_is_no_object_cannot_be_a_tool() -> None:
    request = ask(reply_schema={"type": "string"})
    assert Negotiation(("tool", "plain")).plan(request).form == "plain"


def test_without_a_schema_nothing_is_said_of_the_form() -> None:
    assert Negotiation(ALL_FORMS).plan(ask()) == RequestPlan({}, "plain", ())


def test_a_form_that_the_model_did_not_keep_to_is_given_up() -> None:
    request, negotiation = ask(reply_schema=SCHEMA), Negotiation(ALL_FORMS)
    forms: list[ReplyForm] = []
    for words in ("Failed to generate JSON.", "Failed to call a function."):
        text = f"{words} Please adjust your prompt. See 'failed_generation' for more details."
        assert negotiation.learns(refusal(text), request, negotiation.plan(request))
        forms.append(negotiation.plan(request).form)
    assert forms == ["tool", "plain"]


def test_log_probabilities_refused_with_403_are_left_out() -> None:
    request, negotiation = ask(parameters={"logprobs": True, "top_logprobs": 5}), Negotiation(())
    refused = refusal("You are not allowed to request logprobs from this model", status=403)
    assert negotiation.learns(refused, request, negotiation.plan(request))
    assert negotiation.plan(request).dropped == ("logprobs", "top_logprobs")


def test_parameters_that_are_not_accepted_are_not_sent() -> None:
    negotiation = Negotiation(("plain",), accepts=lambda name: name != "logprobs")
    plan = negotiation.plan(ask(parameters={"logprobs": True, "top_logprobs": 5, "seed": None}))
    assert plan == RequestPlan({}, "plain", ("logprobs", "top_logprobs"))


@pytest.mark.parametrize(
    "text",
    [
        "Unsupported parameter: 'temperature' is not supported with this model.",
        "`temperature` is deprecated",
        "gpt-5 models don't support temperature=0. See reasoning_effort",
        "temperature is not permitted",
    ],
)
def test_a_parameter_that_a_400_names_is_dropped_and_stays_dropped(text: str) -> None:
    negotiation = Negotiation(("plain",))
    request = ask(parameters={"reasoning_effort": "low", "temperature": 0.0})
    assert negotiation.learns(refusal(text), request, negotiation.plan(request))
    assert negotiation.plan(request).dropped == ("temperature",)


def test_the_field_that_names_the_parameter_is_believed_first() -> None:
    negotiation = Negotiation(("plain",))
    request = ask(parameters={"seed": 1, "top_p": 0.5})
    assert negotiation.learns(refusal("seed?", "top_p"), request, negotiation.plan(request))
    assert negotiation.plan(request).dropped == ("top_p",)


@pytest.mark.parametrize(
    "fault",
    [
        refusal("Invalid 'temperature': must be less than or equal to 2"),
        refusal("please stop that"),
        refusal("messages are empty"),
        refusal("'temperature' is not supported", status=413),
        ProviderFault("openai", "overloaded", status=500, text="temperature"),
    ],
)
def test_other_complaints_change_nothing(fault: ProviderFault) -> None:
    negotiation = Negotiation(("plain",))
    request = ask(parameters={"temperature": 5.0, "stop": ["x"]})
    assert not negotiation.learns(fault, request, negotiation.plan(request))


def test_a_refused_max_tokens_gets_its_newer_name_before_it_goes() -> None:
    negotiation = Negotiation(("plain",))
    request = ask(parameters={"max_tokens": 9})
    assert negotiation.learns(refusal("'max_tokens'"), request, negotiation.plan(request))
    assert negotiation.plan(request).parameters == {"max_completion_tokens": 9}
    complaint = refusal("unknown", "max_completion_tokens")
    assert negotiation.learns(complaint, request, negotiation.plan(request))
    assert negotiation.plan(request).dropped == ("max_tokens",)


def test_forms_are_given_up_one_after_another() -> None:
    negotiation = Negotiation(ALL_FORMS)
    request = ask(reply_schema=SCHEMA)
    complaints = [refusal("response_format is unknown"), refusal("tools are not supported")]
    for complaint in complaints:
        assert negotiation.learns(complaint, request, negotiation.plan(request))
    assert negotiation.plan(request).form == "plain"


def test_the_last_form_is_kept() -> None:
    negotiation = Negotiation(("json_schema",))
    request = ask(reply_schema=SCHEMA)
    complaint = refusal("Invalid schema for response_format 'reply'")
    assert not negotiation.learns(complaint, request, negotiation.plan(request))


def test_a_call_that_was_on_its_way_learns_from_what_others_learnt() -> None:
    negotiation = Negotiation(("plain",))
    request = ask(parameters={"seed": 1})
    plan = negotiation.plan(request)
    assert negotiation.learns(refusal("'seed'"), request, plan)
    assert negotiation.learns(refusal("'seed'"), request, plan)


async def test_a_conversation_ends_with_the_reply_and_what_was_dropped() -> None:
    async def send(plan: RequestPlan) -> object | ProviderFault:
        return refusal("'seed'") if "seed" in plan.parameters else BODY

    negotiation = Negotiation(("plain",))
    reply = await negotiate_reply(negotiation, ask(parameters={"seed": 1}), send, provider="openai")
    assert (reply.text, reply.dropped_parameters) == ("4", ("seed",))
    assert reply.duration_ms is not None


async def test_a_conversation_ends_with_the_error_that_cannot_be_helped() -> None:
    sent: list[RequestPlan] = []

    async def send(plan: RequestPlan) -> object | ProviderFault:
        sent.append(plan)
        return refusal("no messages")

    with pytest.raises(ModelError, match="openai refused the request"):
        await negotiate_reply(Negotiation(("plain",)), ask(), send, provider="openai")
    assert len(sent) == 1
