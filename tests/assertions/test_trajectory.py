from __future__ import annotations

from typing import Any

import pytest

from judgekit.assertions import NotApplicableError, UndecidedError, evaluate_assertions
from judgekit.assertions.builtin import trajectory
from judgekit.assertions.builtin.calls import ExpectedCall, tool_calls
from judgekit.assertions.registry import declaration_of
from judgekit.records import Output
from judgekit.registry import Registry, RegistryEntry


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_call", "name": tool, "content": arguments}


def ran(*events: dict[str, Any]) -> Output:
    return Output.model_validate({"trace": events})


def expected(*calls: Any) -> tuple[ExpectedCall, ...]:
    return tuple(ExpectedCall.model_validate(one) for one in calls)


LOOK_UP, REFUND = call("look_up", order="A-17"), call("refund", order="A-17", amount=5)
AGENT = ran(LOOK_UP, {"type": "tool_result", "name": "look_up", "content": "paid"}, REFUND)
FUNCTIONS = (
    trajectory.tool_used, trajectory.tool_never_used, trajectory.arguments_match, trajectory.matches, trajectory.f1, trajectory.precision, trajectory.recall  # noqa: E501
)  # fmt: skip
REGISTRY = Registry("assertion", [RegistryEntry(declaration_of(f).name, f) for f in FUNCTIONS])


def test_an_output_without_a_trace_is_an_error_and_no_pass() -> None:
    spec = {"type": "trajectory.tool_never_used", "tool": "x"}
    (found,) = evaluate_assertions(Output(text="t"), [spec], registry=REGISTRY)
    assert (found.passed, found.error) == (None, "the output has no trace")
    with pytest.raises(UndecidedError, match="the output has no trace: it broke"):
        trajectory.tool_used(Output(error="it broke"), tool="x")


def test_a_spec_names_calls_by_tool_or_as_objects() -> None:
    calls = ["look_up", {"name": "refund", "arguments": {"order": "A-17", "amount": 5.0}}]
    spec = {"type": "trajectory.matches", "calls": calls}
    (found,) = evaluate_assertions(AGENT, [spec], registry=REGISTRY)
    assert found.passed, found.message


@pytest.mark.parametrize(
    ("calls", "what"),
    [
        ("look_up", "must be a list of calls"),
        ([{"tool": "a", "where": 3}], "where"),
        ([7], "valid"),
    ],
)
def test_unsound_expected_calls_are_refused(calls: object, what: str) -> None:
    spec = {"type": "trajectory.matches", "calls": calls}
    with pytest.raises(Exception, match=what):
        evaluate_assertions(AGENT, [spec], registry=REGISTRY)


def test_a_tool_is_used_as_often_as_it_should_be() -> None:
    assert trajectory.tool_used(AGENT, tool="refund").passed
    assert not trajectory.tool_used(AGENT, tool="refund", at_least=2).passed
    assert not trajectory.tool_used(AGENT, tool="refund", at_least=0, at_most=0).passed
    missing = trajectory.tool_used(AGENT, tool="cancel")
    assert (
        missing.message
        == "cancel was never called, wanted at least 1; called were: look_up, refund"
    )


def test_a_barred_tool_is_found_with_its_step() -> None:
    assert trajectory.tool_never_used(AGENT, tool=["cancel", "delete"]).passed
    found = trajectory.tool_never_used(ran(LOOK_UP, REFUND, REFUND), tool="refund")
    assert (found.passed, found.actual) == (False, [2, 3])
    assert found.message.endswith("was called in step 2, and 1 more")


@pytest.mark.parametrize(
    ("wanted", "mode", "passed"),
    [
        ({"order": "A-17"}, "superset", True),
        ({"order": "A-17"}, "exact", False),
        ({"order": "A-17", "amount": 5.0}, "exact", True),
        ({"order": "A-17", "amount": 5, "note": "x"}, "subset", True),
        ({"order": "A-17"}, "subset", False),
        ({"order": "B"}, "ignore", True),
        ({"order": "B"}, "superset", False),
    ],
)
def test_arguments_are_compared_as_asked(wanted: Any, mode: Any, *, passed: bool) -> None:
    (one,) = expected({"tool": "refund", "arguments": wanted})
    found = trajectory.arguments_match(AGENT, call=one, mode=mode)
    assert found.passed is passed
    assert found.actual == [{"order": "A-17", "amount": 5}]


def test_only_the_named_paths_may_have_to_be_the_same() -> None:
    made = ran(call("send", to={"name": "Ann", "zip": "1"}, body="Hi"))
    wanted = {"tool": "send", "arguments": {"to": {"name": "Ann", "zip": "2"}}}
    assert trajectory.arguments_match(
        made, call=expected(wanted | {"match": ["to.name"]})[0]
    ).passed
    assert not trajectory.arguments_match(
        made, call=expected(wanted | {"match": ["to.zip"]})[0]
    ).passed
    assert not trajectory.arguments_match(
        made, call=expected(wanted | {"match": ["body"]})[0]
    ).passed
    assert trajectory.arguments_match(made, call=expected(wanted | {"match": ["cc"]})[0]).passed


@pytest.mark.parametrize(
    ("where", "passed"),
    [
        ({"items.0.id": "A"}, True),
        ({"items.-1.id": {"one_of": ["B", "C"]}}, True),
        ({"items.2.id": "A"}, False),
        ({"items.x": "A"}, False),
        ({"items.--1.id": "B"}, False),
        ({"items." + "9" * 5000: "B"}, False),
        ({"n": {"min": 3, "max": 3}}, True),
        ({"n": {"max": 2}}, False),
        ({"n": {"min": 4}}, False),
        ({"flag": {"min": 0}}, False),
        ({"note": {"contains": "late", "matches": "^Too"}}, True),
        ({"note": {"matches": "^late"}}, False),
        ({"items": {"contains": '"B"'}}, True),
        ({"cc": {"exists": False}}, True),
        ({"note": {"exists": False}}, False),
        ({"note": None}, False),
        ({"unit": None}, True),
        ({"unit": {"equals": None}}, True),
        ({"note": {"colour": "red"}}, False),
    ],
)
def test_single_arguments_can_be_held_to_demands(where: Any, *, passed: bool) -> None:
    items = [{"id": "A"}, {"id": "B"}]
    made = ran(call("order", items=items, n=3, note="Too late", flag=True, unit=None))
    assert (
        trajectory.arguments_match(made, call=expected({"tool": "order", "where": where})[0]).passed
        is passed
    )


def test_any_all_the_first_or_the_last_call_may_have_to_be_right() -> None:
    made = ran(call("look_up", order="A"), call("look_up", order="B"))
    (one,) = expected({"tool": "look_up", "arguments": {"order": "B"}})
    passed = {
        w: trajectory.arguments_match(made, call=one, which=w).passed
        for w in ("any", "all", "first", "last")
    }
    assert passed == {"any": True, "all": False, "first": False, "last": True}


def test_arguments_of_a_tool_that_was_not_called_are_not_wrong_but_unmet() -> None:
    with pytest.raises(
        NotApplicableError, match="cancel was not called; called were: look_up, refund"
    ):
        trajectory.arguments_match(AGENT, call=expected("cancel")[0])


@pytest.mark.parametrize(
    ("calls", "passing"),
    [
        (["look_up", "refund"], {"strict", "in_order", "unordered", "subset", "superset"}),
        (["refund", "look_up"], {"unordered", "subset", "superset"}),
        (["look_up"], {"in_order", "superset"}),
        (["look_up", "refund", "mail"], {"subset"}),
        (["look_up", "look_up", "refund"], {"subset"}),
        (["mail", "refund"], set()),
        ([], {"in_order", "superset"}),
    ],
)
def test_the_modes_say_how_calls_stand_to_the_expected_ones(calls: Any, passing: set[str]) -> None:
    modes = ("strict", "in_order", "unordered", "subset", "superset")
    found = {m for m in modes if trajectory.matches(AGENT, calls=expected(*calls), mode=m).passed}  # type: ignore[arg-type]
    assert found == passing


def test_a_mismatch_says_which_call_it_is() -> None:
    def why(mode: Any, *calls: Any) -> str:
        return trajectory.matches(AGENT, calls=expected(*calls), mode=mode).message

    assert (
        why("strict", "look_up", "mail")
        == 'call 2 is refund({"order": "A-17", "amount": 5}), wanted mail'
    )
    assert why("strict", "look_up").startswith("call 2 is one too many: refund(")
    assert why("strict", "look_up", "refund", "mail") == "call 3 is missing: mail"
    assert why("in_order", "refund", "look_up") == "look_up was not called after refund"
    assert why("unordered", "refund", "mail").startswith("not called: mail; not expected: look_up(")


@pytest.mark.parametrize("mode", ["strict", "in_order", "unordered", "superset"])
def test_a_mismatch_names_the_expected_and_the_found_arguments(mode: Any) -> None:
    wrong = expected({"tool": "find", "arguments": {"q": 2}, "where": {"max": {"min": 5}}})
    message = trajectory.matches(ran(call("find", q=1, max=3)), calls=wrong, mode=mode).message
    assert 'find({"q": 2}) where {"max": {"min": 5' in message
    assert 'find({"q": 1, "max": 3})' in message


def test_each_call_has_an_expected_one_of_its_own_whatever_their_order() -> None:
    made = ran(call("find", q=1), call("find", q=2))
    calls = expected("find", {"tool": "find", "arguments": {"q": 1}})
    assert trajectory.matches(made, calls=calls, mode="unordered").passed
    greedy = expected(
        "find", {"tool": "find", "arguments": {"q": 1}}, {"tool": "find", "arguments": {"q": 1}}
    )
    assert not trajectory.matches(made, calls=greedy, mode="superset").passed


def test_f1_precision_and_recall_are_of_the_calls() -> None:
    calls = expected("look_up", "mail", "close")
    found = trajectory.f1(AGENT, calls=calls, threshold=0.4)
    assert (found.passed, found.value) == (True, 0.4)
    assert isinstance(found.actual, dict)
    assert found.actual["precision"] == 0.5
    assert found.actual["recall"] == pytest.approx(1 / 3)
    assert trajectory.precision(AGENT, calls=calls, threshold=0.5).passed
    assert not trajectory.recall(AGENT, calls=calls, threshold=0.5).passed


def test_no_call_where_none_is_expected_is_perfect() -> None:
    silent = ran({"type": "message", "content": "Hi"})
    for check in (trajectory.f1, trajectory.precision, trajectory.recall):
        assert check(silent, calls=()).value == 1
    assert trajectory.f1(AGENT, calls=()).value == 0


def test_calls_are_read_in_other_spellings_too() -> None:
    output = ran(
        {"type": "tool:start", "toolName": "a", "args": {"x": 1}},
        {"type": "tool_use", "name": "b", "content": '{"y": 2}'},
        {"type": "function_call", "content": "{broken"},
        {"type": "function_call", "name": "d", "content": "plain"},
    )
    found = [(one.tool, one.arguments) for one in tool_calls(output)]
    assert found == [("a", {"x": 1}), ("b", {"y": 2}), ("?", "{broken"), ("d", "plain")]


def test_long_lists_of_tools_are_cut() -> None:
    many = ran(*(call(f"tool{n}") for n in range(12)))
    assert trajectory.tool_used(many, tool="x").message.endswith("tool7 and 4 more")


def test_calls_within_the_messages_of_a_chat_are_seen() -> None:
    function = {"name": "look_up", "arguments": '{"order": "A-17"}'}
    asked = {
        "type": "message",
        "role": "assistant",
        "tool_calls": [{"id": 1, "function": function}],
    }
    block = {"type": "tool_use", "id": "2", "name": "refund", "input": {"amount": 5}}
    output = ran(
        asked,
        {"type": "message", "role": "tool", "tool_call_id": 1, "content": "paid"},
        {
            "type": "message",
            "content": [{"type": "text", "text": "So"}, block, {"type": "tool_use"}],
        },
        {"type": "message", "tool_calls": ["odd", {"function": {"name": 3}}]},
    )
    first, second = tool_calls(output)
    assert (first.tool, first.arguments, first.ended) == ("look_up", {"order": "A-17"}, 2)
    assert (second.tool, second.arguments, second.place) == ("refund", {"amount": 5}, 3)
    calls = expected({"name": "look_up", "args": {"order": "A-17"}}, "refund")
    assert trajectory.matches(output, calls=calls).passed
