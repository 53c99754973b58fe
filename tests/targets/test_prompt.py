from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import (
    BudgetExceededError,
    FrozenCacheError,
    ModelError,
    TemplateError,
    UnknownNameError,
)
from judgekit.models import connect
from judgekit.models.cache import MemoryCache
from judgekit.models.request import ModelReply
from judgekit.records import Output, Usage
from judgekit.targets import PromptTarget, TargetPrompt
from judgekit.testing import ScriptedModel, ServedReply
from tests.factories import make_case
from tests.pictures import asked_about, data_url, image, png
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from pathlib import Path

ROLES = """\
{% block system %}Answer from: {{ context }}{% endblock %}
{% block user %}{{ input }}{% endblock %}
"""


def prompt(folder: Path, source: str = "{{ input }}") -> TargetPrompt:
    (folder / "reply.txt").write_text(source, encoding="utf-8")
    return TargetPrompt("reply.txt", folder=folder)


def said(folder: Path, source: str, **fields: Any) -> str:
    (message,) = prompt(folder, source).messages(make_case(**fields))
    return message["content"]


async def answered(folder: Path, reply: ModelReply | Exception | str) -> Output:
    target = PromptTarget("v1", prompt(folder), connect(ScriptedModel(reply)))
    output = await target.answer(make_case())
    await target.aclose()
    return output


def test_a_template_without_blocks_is_the_users_message(tmp_path: Path) -> None:
    messages = prompt(tmp_path, "Q: {{ input }}\n").messages(make_case())
    assert messages == ({"role": "user", "content": "Q: Can I return it?"},)


def test_blocks_are_roles(tmp_path: Path) -> None:
    messages = prompt(tmp_path, ROLES).messages(make_case(context="policy"))
    assert messages == (
        {"role": "system", "content": "Answer from: policy"},
        {"role": "user", "content": "Can I return it?"},
    )


def test_an_empty_system_message_is_not_sent(tmp_path: Path) -> None:
    source = "{% block user %}x{% endblock %}{% block system %} {% endblock %}"
    assert [one["role"] for one in prompt(tmp_path, source).messages(make_case())] == ["user"]


def test_an_object_gives_its_fields_and_prints_as_json(tmp_path: Path) -> None:
    given = {"city": "Köln", "days": [1, {"n": 2}]}
    assert said(tmp_path, "{{ input.city }} {{ variables.days[1] }}", input=given) == (
        'Köln {\n  "n": 2\n}'
    )
    assert said(tmp_path, "{{ input }}", input=["é"]) == '[\n  "é"\n]'


def test_metadata_and_its_variables_are_there(tmp_path: Path) -> None:
    metadata = {"variables": {"tone": "kind"}, "difficulty": "easy"}
    source = "{{ variables.tone }} {{ metadata.difficulty }} {{ case.id }} {{ case.tags }}"
    assert said(tmp_path, source, metadata=metadata) == "kind easy refund []"


@pytest.mark.parametrize("name", ["reference", "case.reference", "case.assertions", "case.rubric"])
def test_the_answer_and_the_checks_are_out_of_reach(tmp_path: Path, name: str) -> None:
    with pytest.raises(TemplateError, match=name.rpartition(".")[2]):
        said(tmp_path, f"{{{{ {name} }}}}", reference="30 days")


def test_what_a_case_says_is_never_template_code(tmp_path: Path) -> None:
    assert said(tmp_path, "{{ input }}", input="{{ 7 * 7 }}{% if") == "{{ 7 * 7 }}{% if"


def test_a_prompt_may_be_found_by_name_and_include_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "tone.j2").write_text("Kindly.", encoding="utf-8")
    (tmp_path / "reply.j2").write_text("{% include 'tone.j2' %} {{ input }}", encoding="utf-8")
    named = TargetPrompt("reply", template_folders=[tmp_path])
    assert named.messages(make_case())[0]["content"] == "Kindly. Can I return it?"
    whole = TargetPrompt(str(tmp_path / "reply.j2"))
    assert whole.fingerprint == named.fingerprint


def test_a_prompt_that_is_not_there_is_told_with_near_names(tmp_path: Path) -> None:
    (tmp_path / "reply.j2").write_text("x", encoding="utf-8")
    with pytest.raises(UnknownNameError, match="did you mean reply"):
        TargetPrompt("replies", template_folders=[tmp_path])


@pytest.mark.parametrize(
    "source",
    [
        "{% block conversation %}{% endblock %}",
        "{% block user %}{% endblock %}{% block x %}{% endblock %}",
    ],
)
def test_other_blocks_are_refused(tmp_path: Path, source: str) -> None:
    with pytest.raises(TemplateError, match="a block user, system or both"):
        prompt(tmp_path, source)


SYSTEM_ONLY = "{% block system %}Be brief.{% endblock %}"
TALK = [
    {
        "role": "user",
        "content": asked_about(image(url=data_url(png())), text="Is this")[0]["content"],
    },
    {"role": "assistant", "content": "Yes, it is."},
    {"role": "user", "content": "{{ 1 }}"},
]


async def test_a_conversation_is_sent_as_its_messages(tmp_path: Path) -> None:
    model = ScriptedModel("Fine.")
    target = PromptTarget("v1", prompt(tmp_path, SYSTEM_ONLY), connect(model))
    for given in (TALK, {"messages": TALK}, "What?"):
        assert (await target.answer(make_case(input=given))).text == "Fine."
    for request in model.requests[:2]:
        system, first, *rest = request.chat_messages
        assert system == {"role": "system", "content": "Be brief."}
        assert first["content"] == [
            {"type": "text", "text": "Is this"},
            {"type": "image_url", "image_url": {"url": data_url(png())}},
        ]
        assert rest == TALK[1:]
    assert model.requests[2].messages[1:] == ({"role": "user", "content": "What?"},)


async def test_what_a_model_cannot_be_sent_is_the_error_of_its_case(tmp_path: Path) -> None:
    called = {"role": "tool", "tool_call_id": "1", "content": "14 days"}
    target = PromptTarget("v1", prompt(tmp_path, SYSTEM_ONLY), connect(ScriptedModel("x")))
    output = await target.answer(make_case(input=[*TALK, called]))
    assert output.error_kind == "exception"
    assert "a tool-result message, which is not sent" in (output.error or "")


async def test_an_image_is_in_its_place_in_a_rendered_prompt(tmp_path: Path) -> None:
    model = ScriptedModel("Red.")
    shown = prompt(tmp_path, "Look: {{ input[0].content[1] }}!")
    await PromptTarget("v1", shown, connect(model)).answer(make_case(input=TALK))
    (request,) = model.requests
    assert request.chat_messages[0]["content"] == [
        {"type": "text", "text": "Look: "},
        {"type": "image_url", "image_url": {"url": data_url(png())}},
        {"type": "text", "text": "!"},
    ]


async def test_a_template_that_does_not_fit_a_case_is_its_error(tmp_path: Path) -> None:
    target = PromptTarget("v1", prompt(tmp_path, "{{ nothing }}"), connect(ScriptedModel("x")))
    output = await target.answer(make_case())
    assert (output.error_kind, output.text) == ("exception", None)
    assert "'nothing' is undefined" in (output.error or "")


async def test_repeats_are_asked_apart_and_each_is_kept(tmp_path: Path) -> None:
    model, case = ScriptedModel(["a", "b"]), make_case()
    connection = connect(model, cache=MemoryCache())
    target = PromptTarget("v1", prompt(tmp_path), connection, parameters={"temperature": 1})
    texts = [(await target.answer(case, repeat=n)).text for n in (0, 1, 0, 1)]
    assert texts == ["a", "b", "a", "b"]
    first = model.requests[0]
    assert first.subject.model_dump(exclude_none=True) == {
        "case_id": "refund", "variant": "v1", "repeat": 0, "attempt": 0,
    }  # fmt: skip
    assert first.parameters == {"temperature": 1}


async def test_what_it_took_is_in_the_output(tmp_path: Path) -> None:
    usage = Usage(input_tokens=5, output_tokens=7)
    reply = ModelReply(
        text="Yes.", usage=usage, model="m-1", cost_usd=0.5, duration_ms=9.0,
        dropped_parameters=("seed",), finish_reason="length",
    )  # fmt: skip
    output = await answered(tmp_path, reply)
    assert output.usage == usage.model_copy(update={"cost_usd": 0.5})
    assert (output.text, output.duration_ms, output.variant) == ("Yes.", 9.0, "v1")
    assert output.metadata == {
        "model": "m-1", "finish_reason": "length", "dropped_parameters": ["seed"],
        "cached": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "kind", "told"),
    [
        (ModelError("no such model", kind="not_found"), "model", "no such model"),
        (ModelError("not allowed", kind="content_filter"), "refused", "not allowed"),
        (ModelReply(text="I cannot", finish_reason="content_filter"), "refused", ": I cannot"),
        (ModelReply(text=None, finish_reason="content_filter"), "refused", "filtered"),
        (ModelReply(text=None, finish_reason="tool_calls"), "model", "finish_reason tool_calls"),
    ],
)
async def test_a_model_without_an_answer_is_an_error_of_the_case(
    tmp_path: Path, reply: ModelReply | Exception, kind: str, told: str
) -> None:
    output = await answered(tmp_path, reply)
    assert (output.error_kind, output.text, output.case_id) == (kind, None, "refund")
    assert told in (output.error or "")


async def test_an_empty_answer_is_an_answer(tmp_path: Path) -> None:
    assert (await answered(tmp_path, "")).text == ""


@pytest.mark.parametrize(
    "error", [BudgetExceededError("spent"), FrozenCacheError("missed", key="k")]
)
async def test_a_spent_budget_and_a_frozen_cache_are_passed_on(
    tmp_path: Path, error: Exception
) -> None:
    with pytest.raises(type(error), match=str(error).partition("\n")[0]):
        await answered(tmp_path, error)


async def test_it_goes_over_the_wire_as_a_judge_does(tmp_path: Path) -> None:
    with OpenAILikeServer([ServedReply(text="Within 30 days."), "500"]) as server:
        connection = connect("openai/m", api_base=server.url, max_retries=0)
        target = PromptTarget("v1", prompt(tmp_path, ROLES), connection)
        output = await target.answer(make_case(context="policy"))
        failed = await target.answer(make_case(context="other"))
        await target.aclose()
    assert output.text == "Within 30 days."
    assert server.requests[0].body["messages"][0] == {
        "role": "system", "content": "Answer from: policy",
    }  # fmt: skip
    assert (failed.error_kind, "model_error" in failed.metadata) == ("model", True)


@pytest.mark.parametrize(
    "source", ["{{ " + "1" * 5000 + " }}", "{{ input|float|int }}{{ '%d'|format(input) }}"]
)
def test_what_python_raises_in_a_template_names_the_template(tmp_path: Path, source: str) -> None:
    with pytest.raises(TemplateError, match=r"template reply\.txt"):
        said(tmp_path, source)


async def test_an_input_that_python_cannot_print_is_an_error_of_its_case(tmp_path: Path) -> None:
    target = PromptTarget("v1", prompt(tmp_path), connect(ScriptedModel("yes")))
    output = await target.answer(make_case(input=10**5000))
    await target.aclose()
    assert output.error_kind == "exception"
    assert "template reply.txt: Exceeds the limit" in str(output.error)
