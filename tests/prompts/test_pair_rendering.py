from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import TemplateError
from judgekit.prompts import (
    PairTemplate,
    PromptTemplate,
    draw_labels,
    fence_text,
    is_pair_template,
    pair_template_names,
    pairwise_text,
    template_names,
)
from judgekit.prompts.fences import fence_marker
from judgekit.prompts.templates import read_header
from judgekit.records import TraceEvent
from judgekit.resources import shipped_file
from tests.factories import attacks, make_case, make_output, make_rubric
from tests.judge.obedient import outside

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.prompts import JudgePrompt
    from judgekit.records import JsonObject

NAMES = pair_template_names()
TEMPLATES = {name: PairTemplate(name) for name in NAMES}
RUBRIC = make_rubric("accuracy", "style")
EARLIER = "_2026_11"
SHIPPED = ["arena_hard", "criterion", "criterion_2026_11", "criterion_no_reference",
           "criterion_no_reference_2026_11", "fair_eval", "joint", "joint_2026_11",
           "joint_no_reference", "joint_no_reference_2026_11", "letter", "letter_2026_11", "llmbar",
           "llmbar_vanilla", "mt_bench"]  # fmt: skip


def text_of(prompt: JudgePrompt) -> str:
    return "\n".join(message["content"] for message in prompt.messages)


def own(folder: Path, source: str) -> PairTemplate:
    path = folder / "own.j2"
    path.write_text(source)
    return PairTemplate(str(path))


def test_these_templates_are_shipped_and_none_of_them_grades() -> None:
    assert [f"pairwise/{name}" for name in SHIPPED] == NAMES
    assert not set(NAMES) & set(template_names())


@pytest.mark.parametrize("name", NAMES)
def test_every_shipped_template_says_what_it_is_for(name: str) -> None:
    source = shipped_file("prompts", f"{name}.j2").read_text(encoding="utf-8")
    assert read_header(source, name).description.endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_both_outputs_are_fenced_and_only_they_differ_between_the_orders(name: str) -> None:
    one = TEMPLATES[name].prompts(make_case(), "Yes.", "No.", RUBRIC)
    other = TEMPLATES[name].prompts(make_case(), "No.", "Yes.", RUBRIC)
    for prompt, swapped in zip(one, other, strict=True):
        text = text_of(prompt)
        # Markers have 6 or 16 characters; a shorter one is the beginning of the longer.
        first, second = fence_marker("Yes.", 6), fence_marker("No.", 6)
        assert text.index(f"<first {first}") < text.index(f"<second {second}")
        assert outside(text) == outside(text_of(swapped))
        assert prompt.reply_schema == swapped.reply_schema


@pytest.mark.parametrize("name", NAMES)
def test_nothing_an_output_says_stands_outside_of_its_fence(name: str) -> None:
    known = outside(text_of(TEMPLATES[name].prompts(make_case(), "Yes.", "No.", RUBRIC)[0]))
    for attack in attacks():
        prompt = TEMPLATES[name].prompts(make_case(), attack["text"], "No.", RUBRIC)[0]
        assert outside(text_of(prompt)) == known


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_is_shown_unless_the_template_is_not_to(name: str) -> None:
    prompt = TEMPLATES[name].prompts(make_case(reference="Within 30 days."), "Y", "N", RUBRIC)[0]
    assert ("Within 30 days." in text_of(prompt)) == ("no_reference" not in name)


def test_each_criterion_and_the_whole_are_asked_about_with_the_same_beginning() -> None:
    prompts = TEMPLATES["pairwise/criterion"].prompts(make_case(), "Yes.", "No.", RUBRIC)
    asked = [([c.name for c in prompt.criteria], prompt.asks_overall) for prompt in prompts]
    assert asked == [(["accuracy"], False), (["style"], False), ([], True)]
    beginnings = {p.messages[-1]["content"][: p.shared_prefix] for p in prompts}
    assert len(beginnings) == 1


def test_a_joint_prompt_asks_for_everything_in_one_reply() -> None:
    (prompt,) = TEMPLATES["pairwise/joint"].prompts(make_case(), "Yes.", "No.", RUBRIC)
    assert ([c.name for c in prompt.criteria], prompt.asks_overall) == (["accuracy", "style"], True)
    schema = prompt.reply_schema
    assert schema is not None
    assert list(schema["properties"]) == ["criteria", "overall"]  # type: ignore[arg-type]  # an object


def test_the_schema_of_a_joint_prompt_is_made_once_for_a_rubric_and_anew_for_another() -> None:
    template = PairTemplate("pairwise/joint")

    def schema(*names: str) -> JsonObject | None:
        return template.prompts(make_case(), "one", "two", make_rubric(*names))[0].reply_schema

    assert schema("accuracy", "tone") is schema("accuracy", "tone")
    assert schema("accuracy", "tone") != schema("tone", "accuracy")
    assert "clarity" in str(schema("clarity"))


def test_the_rationale_is_asked_before_the_preference() -> None:
    schema = TEMPLATES["pairwise/criterion"].prompts(make_case(), "Y", "N", RUBRIC)[0].reply_schema
    assert schema is not None
    fields = list(schema["properties"])  # type: ignore[arg-type]  # an object
    # Compared first and scored afterwards: outputs that are scored first end in ties.
    assert fields == ["rationale", "preference", "confidence", "score_first", "score_second",
                      "evidence_first", "evidence_second"]  # fmt: skip
    preference = schema["properties"]["preference"]  # type: ignore[index, call-overload]  # an object
    assert preference["enum"] == ["first", "second", "tie"]  # type: ignore[index, call-overload]


def test_a_criterion_called_overall_cannot_be_asked_about_beside_the_whole() -> None:
    with pytest.raises(TemplateError, match="called 'Overall' beside the overall preference"):
        TEMPLATES["pairwise/joint"].prompts(make_case(), "Y", "N", make_rubric("Overall"))
    assert (
        len(TEMPLATES["pairwise/criterion"].prompts(make_case(), "Y", "N", make_rubric("overall")))
        == 2
    )


def test_drawn_labels_go_with_the_places_and_not_with_the_outputs() -> None:
    labels = draw_labels("refund", 7)
    template = TEMPLATES["pairwise/criterion"]
    for first, second in (("Yes.", "No."), ("No.", "Yes.")):
        text = text_of(template.prompts(make_case(), first, second, RUBRIC, labels=labels)[0])
        assert fence_text(first, f"output-{labels[0]}", 6) in text
        assert f"Output shown second ({labels[1]}):" in text


def test_labels_are_drawn_from_case_and_seed_alone() -> None:
    assert draw_labels("refund", 7) == draw_labels("refund", 7)
    drawn = {draw_labels(case, seed) for case in "abc" for seed in range(5)}
    assert len(drawn) == 15
    assert all(first != second and len(first + second) == 4 for first, second in drawn)


def test_of_an_output_that_is_only_a_trace_the_steps_are_shown() -> None:
    traced = make_output(None, trace=(TraceEvent(type="tool_call", name="look_up"),))
    assert pairwise_text(traced) == "1. tool_call look_up"
    assert pairwise_text(make_output("Yes.", data={"n": 1})) == 'Yes.\n\n{\n  "n": 1\n}'


def test_a_template_for_one_output_cannot_compare_nor_the_other_way_round() -> None:
    with pytest.raises(TemplateError, match="pointwise/criterion grades one output"):
        PairTemplate("pointwise/criterion")
    with pytest.raises(TemplateError, match="pairwise/joint compares two outputs"):
        PromptTemplate("pairwise/joint")


@pytest.mark.parametrize(
    ("header", "blocks", "problem"),
    [
        ("reply: json", "shared", "has the blocks shared"),
        ("reply: json", "shared question more", "has the blocks shared, question, more"),
        ("asks: all", "shared question overall", "asks: all never uses"),
        ("reply: choice", "shared question", "reply: choice needs choices"),
        ("choices: A=first B=second", "shared question", "are first, second and tie"),
        ("reply: stated\nfields: preference", "shared question", "fields: goes with reply: json"),
        ("fields: rationale score", "shared question", "does not list fields"),
        ("reply: brackets\nchoices: A=first", "shared question", "one for second"),
        ("reply: brackets\nchoices: A=1", "shared question", "'A=1' is not of the form"),
        ("asks: all\nreply: two_scores", "shared question", "asks: all needs reply: json"),
        ("reply: result", "shared question", "reply: 'result' is none of json"),
        ("rationale: maybe", "shared question", "rationale: 'maybe' is none of asked, none"),
        ("reply: two_scores\nchoices: A=first B=second", "shared question", "take that line out"),
    ],
)
def test_an_unsound_template_is_refused(
    tmp_path: Path, header: str, blocks: str, problem: str
) -> None:
    body = "".join(f"{{% block {name} %}}x{{% endblock %}}" for name in blocks.split())
    with pytest.raises(TemplateError, match=problem):
        own(tmp_path, f"{{# judgekit\njudges: pair\n{header}\n#}}{body}")


@pytest.mark.parametrize(
    ("line", "slots"),
    [("", ["first", "second", "tie"]), ("choices: first=first second=second", ["first", "second"])],
)
def test_a_template_may_say_which_fields_and_choices_the_reply_has(
    tmp_path: Path, line: str, slots: list[str]
) -> None:
    blocks = "{% block shared %}s{% endblock %}{% block question %}q{% endblock %}"
    header = f"judges: pair\nasks: overall\nfields: rationale preference\n{line}"
    template = own(tmp_path, f"{{# judgekit\n{header}\n#}}{blocks}")
    schema: Any = template.prompts(make_case(), "Y", "N", RUBRIC)[0].reply_schema
    assert list(schema["properties"]) == schema["required"] == ["rationale", "preference"]
    assert schema["properties"]["preference"]["enum"] == slots


def test_a_json_template_for_one_output_always_asks_for_a_rationale() -> None:
    with pytest.raises(TemplateError, match="reply: json always asks for a rationale"):
        read_header("{# judgekit\nrationale: none\n#}", "t")
    bare = read_header("{# judgekit\nreply: score_line\nrationale: none\n#}", "t")
    assert not bare.reply.asks_rationale


def test_the_name_of_a_template_changes_with_its_text(tmp_path: Path) -> None:
    source = "{# judgekit\njudges: pair\n#}{% block shared %}%{% endblock %}{% block question %}"
    first = own(tmp_path, source + "a{% endblock %}").id
    assert first.startswith("own@")
    assert own(tmp_path, source + "b{% endblock %}").id != first


def test_a_file_that_cannot_be_read_is_no_pair_template(tmp_path: Path) -> None:
    (tmp_path / "bad.j2").write_bytes(b"\xff\xfe{#")
    assert not is_pair_template("bad", [tmp_path])
    assert is_pair_template("pairwise/mt_bench")
