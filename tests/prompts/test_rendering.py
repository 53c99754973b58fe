from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

import pytest

from judgekit.errors import TemplateError
from judgekit.models import count_tokens
from judgekit.prompts import JudgePrompt, PromptTemplate, judged_text, steps_text, to_text
from judgekit.prompts.fences import fence_marker
from judgekit.prompts.messages import criteria_data, criteria_schema, criterion_schema, item_data
from judgekit.resources import shipped_file
from tests.factories import attacks, make_case, make_criterion, make_output, make_rubric

if TYPE_CHECKING:
    from pathlib import Path

TEMPLATES = {name: PromptTemplate(f"pointwise/{name}") for name in
             ("criterion", "joint", "no_reference", "checklist", "trajectory")}  # fmt: skip
FIELDS = ("evidence", "rationale", "score", "confidence")
BINARY = make_rubric(*(make_criterion(name, scale="binary") for name in ("accuracy", "style")))
TRACE = [
    {"type": "message", "content": "hello"},
    {"type": "tool_call", "name": "look_up", "content": {"id": "A-17"}, "durationMs": 5},
    {"type": "agent:complete"},
]
OPENING = re.compile(r"^<(\w+) ([A-Z2-7]{6,16})>$", re.MULTILINE)


def prompts(name: str = "criterion", text: str = "Yes, within 30 days.", **fields: Any) -> Any:
    case = make_case(reference="Within 30 days.", context="The policy.", **fields)
    return TEMPLATES[name].prompts(case, make_output(text, trace=TRACE), BINARY)


def whole(prompt: JudgePrompt) -> str:
    return "\n\n".join(message["content"] for message in prompt.messages)


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_judged_text_stands_byte_for_byte_between_exactly_one_marker_pair(name: str) -> None:
    for record in attacks():
        case, output = make_case(input=record["question"]), make_output(record["text"], trace=TRACE)
        for prompt in TEMPLATES[name].prompts(case, output, BINARY):
            marker = dict(OPENING.findall(whole(prompt)))["output"]
            assert marker == fence_marker(record["text"], len(marker))
            assert whole(prompt).count(marker) == 2, record["id"]
            judged = f"\n<output {marker}>\n{record['text']}\n</output {marker}>"
            assert judged in whole(prompt), record["id"]


@pytest.mark.parametrize("name", TEMPLATES)
def test_everything_that_is_not_the_operators_own_is_fenced(name: str) -> None:
    labels = {label for label, _ in OPENING.findall(whole(prompts(name)[0]))}
    wanted = {"input", "context", "output"}
    wanted |= {"reference"} if name != "no_reference" else set()
    assert labels == wanted | ({"steps"} if name == "trajectory" else set())


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_same_request_is_byte_identical_twice(name: str) -> None:
    fresh = PromptTemplate(f"pointwise/{name}").prompts(
        make_case(reference="Within 30 days.", context="The policy."),
        make_output(trace=TRACE), BINARY,
    )  # fmt: skip
    assert fresh == prompts(name) == prompts(name)


@pytest.mark.parametrize("name", TEMPLATES)
def test_another_output_changes_the_marker(name: str) -> None:
    one, other = whole(prompts(name)[0]), whole(prompts(name, text="No.")[0])
    markers = [dict(OPENING.findall(text)) for text in (one, other)]
    assert markers[0]["output"] != markers[1]["output"]
    assert markers[0]["input"] == markers[1]["input"]


@pytest.mark.parametrize("name", ["criterion", "no_reference", "trajectory"])
def test_siblings_share_all_but_the_criterion_that_stands_last(name: str) -> None:
    first, second = prompts(name)
    shared = first.messages[-1]["content"][: first.shared_prefix]
    assert second.messages[-1]["content"][: second.shared_prefix] == shared
    assert first.messages[:-1] == second.messages[:-1]
    assert "Yes, within 30 days." in shared
    assert "How good is its accuracy?" not in shared
    assert "How good is its accuracy?" in first.messages[-1]["content"][first.shared_prefix :]


@pytest.mark.parametrize("name", ["joint", "checklist"])
def test_a_joint_prompt_shares_its_criteria_with_the_prompts_of_other_outputs(name: str) -> None:
    (one,), (other,) = prompts(name), prompts(name, text="No.", id="other")
    shared = one.messages[-1]["content"][: one.shared_prefix]
    assert other.messages[-1]["content"].startswith(shared)
    assert one.shared_prefix == other.shared_prefix
    assert "How good is its style?" in shared
    assert "30 days" not in shared
    assert one.messages[0] == other.messages[0]


def test_each_criterion_is_asked_with_a_schema_of_its_own() -> None:
    made = prompts("criterion")
    assert [[c.name for c in prompt.criteria] for prompt in made] == [["accuracy"], ["style"]]
    assert made[0].reply_schema == criterion_schema(BINARY.criteria[0], FIELDS)


def test_all_criteria_are_asked_with_one_schema() -> None:
    (prompt,) = prompts("joint")
    assert prompt.criteria == BINARY.criteria
    assert prompt.reply_schema == criteria_schema(BINARY.criteria, FIELDS)


LEVELS = [{"value": 5, "name": "full", "description": "All of it."}, {"value": 1, "name": "none"}]
ENDS = {"min": 1, "max": 5, "integer": True, "levels": LEVELS}


def test_a_joint_prompt_says_once_what_all_its_criteria_have_in_common() -> None:
    same = [make_criterion(name, scale=ENDS) for name in ("accuracy", "style")]
    (prompt,) = TEMPLATES["joint"].prompts(make_case(), make_output(), make_rubric(*same))
    assert whole(prompt).count("5 full (best): All of it.\n1 none\n") == 1
    assert whole(prompt).count("Scores: 1 to 5 (5 is best)\n") == 1


@pytest.mark.parametrize("other", ["binary", {**ENDS, "levels": LEVELS[:1]}, {**ENDS, "max": 6}])
def test_a_joint_prompt_shows_each_criterion_its_scale_where_they_differ(other: Any) -> None:
    mixed = make_rubric(
        make_criterion("accuracy", scale=ENDS), make_criterion("style", scale=other)
    )
    (prompt,) = TEMPLATES["joint"].prompts(make_case(), make_output(), mixed)
    (first, second), shown = mixed.criteria, criteria_data(mixed.criteria)
    one, two = cast("list[dict[str, Any]]", shown["criteria"])
    told = whole(prompt).partition(f"{second.name}: {second.question}")
    assert f"Score: {one['scale']}\n5 full (best): All of it.\n1 none\n" in told[0]
    assert first.question in told[0]
    assert f"Score: {two['scale']}\n" in told[2] or two["levels_are_all"]


def test_a_scale_is_described_by_its_levels_alone_only_where_they_are_all_its_scores() -> None:
    between = whole(make_prompt(make_criterion(scale=ENDS)))
    assert "1 none\n" in between
    assert '"score" (1 to 5 (5 is best))' in between
    alone = whole(make_prompt(make_criterion(scale=LEVELS)))
    assert "5 full (best): All of it.\n1 none\n" in alone
    assert '"score",' in alone
    worst_first = whole(make_prompt(make_criterion(scale=LEVELS[::-1])))
    assert "1 none\n5 full (best): All of it.\n" in worst_first
    thirds = [{"value": 0, "name": "none"}, {"value": 1 / 3, "name": "full"}]
    assert "0.333333 full (best)\n" in whole(make_prompt(make_criterion(scale=thirds)))


def make_prompt(criterion: Any) -> JudgePrompt:
    (prompt,) = TEMPLATES["criterion"].prompts(make_case(), make_output(), make_rubric(criterion))
    return prompt


@pytest.mark.parametrize(("name", "most"), [("criterion", 1700), ("joint", 850)])
def test_an_item_with_three_criteria_takes_few_tokens(name: str, most: int) -> None:
    sentence = "The parcel left our warehouse on Monday and reached the customer on Wednesday. "
    assert tokens(sentence * 20) == 281
    case = make_case(input=sentence * 4, reference=sentence * 6)
    questions = {
        "accuracy": "Is every statement in the answer supported by the reference?",
        "completeness": "Does the answer cover all points that the question asks about?",
        "clarity": "Is the answer easy to follow for a reader without prior knowledge?",
    }
    rubric = make_rubric(*(make_criterion(one, question=question, scale="one_to_five")
                           for one, question in questions.items()))  # fmt: skip
    made = TEMPLATES[name].prompts(case, make_output(sentence * 10), rubric)
    sent = [message["content"] for prompt in made for message in prompt.messages]
    for prompt in made:
        form = {"name": "reply", "schema": prompt.reply_schema, "strict": True}
        asked = {"type": "json_schema", "json_schema": form}
        sent.append(json.dumps(asked, separators=(",", ":")))
    assert sum(map(tokens, sent)) <= most


def tokens(text: str) -> int:
    return count_tokens(text, "openai/gpt-4").n


def test_the_reference_is_shown_only_where_the_template_says_so() -> None:
    assert "Within 30 days." in whole(prompts("criterion")[0])
    assert "Within 30 days." not in whole(prompts("no_reference")[0])


def test_what_the_case_has_not_is_not_mentioned() -> None:
    (prompt,) = TEMPLATES["criterion"].prompts(make_case(), make_output(), make_rubric())
    assert "Reference" not in whole(prompt)
    assert "Material the system could use" not in whole(prompt)


def test_nothing_but_the_question_is_told_of_a_criterion() -> None:
    told = make_criterion(weight=77, required=True, pass_value=0.123, description="hush")
    plain = make_criterion()
    pair = [TEMPLATES["joint"].prompts(make_case(), make_output(), make_rubric(criterion))
            for criterion in (told, plain)]  # fmt: skip
    assert [p.messages for p in pair[0]] == [p.messages for p in pair[1]]


def test_the_variant_and_the_case_id_are_never_told() -> None:
    output = make_output(variant="secret-variant", case_id="c", run_id="r")
    (prompt,) = TEMPLATES["criterion"].prompts(make_case(id="secret-id"), output, make_rubric())
    assert "secret" not in whole(prompt)


def test_a_template_that_shows_a_trace_needs_one() -> None:
    with pytest.raises(TemplateError, match="renders a trace, and the output has none"):
        TEMPLATES["trajectory"].prompts(make_case(), make_output(), make_rubric())


def test_a_checklist_needs_yes_or_no_questions() -> None:
    with pytest.raises(TemplateError, match="'accuracy' scores one of 1, 2, 3, 4, 5"):
        TEMPLATES["checklist"].prompts(make_case(), make_output(), make_rubric())


def own(folder: Path, **files: str) -> PromptTemplate:
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.j2"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return PromptTemplate("pointwise/criterion", [folder])


OWN = "{% block shared %}{{ output }}{% endblock %}{% block question %}Q{% endblock %}"


def test_an_own_template_takes_the_place_of_the_shipped_one(tmp_path: Path) -> None:
    template = own(tmp_path, pointwise__criterion=OWN)
    two = template.prompts(make_case(), make_output("A"), make_rubric("accuracy", "tone"))
    assert [prompt.messages for prompt in two] == [({"role": "user", "content": "A\n\nQ"},)] * 2
    assert [prompt.shared_prefix for prompt in two] == [3, 3]
    # A prompt that is alone shares nothing.
    (prompt,) = template.prompts(make_case(), make_output("A"), make_rubric())
    assert prompt.shared_prefix == 0


def test_an_own_partial_takes_the_place_of_the_shipped_one(tmp_path: Path) -> None:
    template = own(tmp_path, partials__guard="My rules.")
    (prompt,) = template.prompts(make_case(), make_output(), make_rubric())
    assert "My rules." in prompt.messages[0]["content"]
    assert template.fingerprint != TEMPLATES["criterion"].fingerprint


def test_the_fingerprint_follows_the_content_and_not_the_place(tmp_path: Path) -> None:
    for folder in ("partials", "pointwise"):
        for path in shipped_file("prompts", folder).glob("*.j2"):
            copy = tmp_path / folder / path.name
            copy.parent.mkdir(exist_ok=True)
            copy.write_bytes(path.read_bytes())
    copied = PromptTemplate("pointwise/criterion", [tmp_path])
    assert copied.id == TEMPLATES["criterion"].id
    (tmp_path / "partials" / "guard.j2").write_text("x", encoding="utf-8")
    assert PromptTemplate("pointwise/criterion", [tmp_path]).id != copied.id


def test_the_id_is_the_name_and_the_beginning_of_the_fingerprint() -> None:
    template = TEMPLATES["joint"]
    assert template.id == f"pointwise/joint@{template.fingerprint[:12]}"


@pytest.mark.parametrize("blocks", [[], ["shared"], ["shared", "question", "extra"]])
def test_a_template_has_its_blocks_and_no_others(tmp_path: Path, blocks: list[str]) -> None:
    text = "".join("{% block " + name + " %}x{% endblock %}" for name in blocks)
    with pytest.raises(TemplateError, match=r"has the blocks .*\n.* shared and question"):
        own(tmp_path, pointwise__criterion=text)


def test_a_published_format_is_asked_for_without_a_schema(tmp_path: Path) -> None:
    template = own(tmp_path, pointwise__criterion="{# judgekit\nreply: result\n#}" + OWN)
    (prompt,) = template.prompts(make_case(), make_output(), make_rubric())
    assert prompt.reply_schema is None


def test_a_shared_block_that_is_empty_leaves_no_gap(tmp_path: Path) -> None:
    blocks = "{% block shared %}{% endblock %}{% block question %}{{ output }}{% endblock %}"
    (prompt,) = own(tmp_path, pointwise__criterion=blocks).prompts(
        make_case(), make_output("A"), make_rubric()
    )
    assert (prompt.messages[0]["content"], prompt.shared_prefix) == ("A", 0)


def test_a_block_that_shows_criterion_and_output_is_rendered_for_each(tmp_path: Path) -> None:
    blocks = (
        "{% block shared %}S{% endblock %}"
        "{% block question %}{{ criterion.name }}: {{ output }}{% endblock %}"
    )
    made = own(tmp_path, pointwise__criterion=blocks).prompts(make_case(), make_output("A"), BINARY)
    assert [p.messages[0]["content"] for p in made] == ["S\n\naccuracy: A", "S\n\nstyle: A"]


def test_a_misspelt_variable_is_an_error_when_it_is_rendered(tmp_path: Path) -> None:
    template = own(tmp_path, pointwise__criterion=OWN.replace("output", "outptu"))
    with pytest.raises(TemplateError, match="'outptu' is undefined"):
        template.prompts(make_case(), make_output(), make_rubric())


@pytest.mark.parametrize(
    ("name", "scale"), [("five_letters", {"min": 1, "max": 5}), ("yes_no", "binary")]
)
def test_choices_are_asked_for_on_a_scale_with_the_same_ends_only(name: str, scale: Any) -> None:
    template = PromptTemplate(f"pointwise/{name}")
    case, output = make_case(), make_output()
    assert template.prompts(case, output, make_rubric(make_criterion(scale=scale)))
    other = make_rubric(make_criterion(scale={"min": 0, "max": 10}))
    with pytest.raises(TemplateError, match="scores a number from 0 to 10"):
        template.prompts(case, output, other)


def test_the_judged_text_is_the_text_and_the_data() -> None:
    assert judged_text(make_output("A")) == "A"
    assert judged_text(make_output(None, data={"a": "ä"})) == '{\n  "a": "ä"\n}'
    assert judged_text(make_output("A", data="B")) == "A\n\nB"
    assert judged_text(make_output(None, trace=TRACE)) == ""


def test_the_steps_are_numbered_lines() -> None:
    assert steps_text(make_output(trace=TRACE)).splitlines() == [
        "1. message: hello",
        '2. tool_call look_up: {"id": "A-17"} {"durationMs": 5}',
        "3. agent:complete",
    ]


@pytest.mark.parametrize(("value", "text"), [("a", "a"), (None, "null"), (1.5, "1.5")])
def test_any_json_value_has_a_text(value: Any, text: str) -> None:
    assert to_text(value) == text


def test_an_item_is_plain_data() -> None:
    data = item_data(make_case(input={"q": 1}), make_output(trace=TRACE))
    assert data["input"] == '{\n  "q": 1\n}'
    assert (data["reference"], data["context"]) == (None, None)
    assert data["trace"] == TRACE


def test_one_criterion_is_shown_alone_and_several_are_not() -> None:
    one, two = make_criterion(), make_criterion("style", scale="five_level")
    assert set(criteria_data([one])) == {"criterion", "criteria"}
    assert set(criteria_data([one, two])) == {"criteria"}
    levels: Any = criteria_data([two])["criterion"]
    assert levels["levels"][0] == {"value": "1", "name": "excellent", "description": None}
