from __future__ import annotations

import pytest

from judgekit.errors import TemplateError
from judgekit.prompts import PromptTemplate
from judgekit.prompts.fences import fence_marker
from judgekit.records import Example
from tests.factories import attacks, make_case, make_criterion, make_output, make_rubric

FEW_SHOT = PromptTemplate("pointwise/few_shot")


def asked(*examples: Example) -> str:
    """What the judge is shown with these examples."""
    rubric = make_rubric(make_criterion(examples=examples))
    return FEW_SHOT.prompts(make_case(), make_output(), rubric)[0].messages[-1]["content"]


def test_examples_are_shown_fenced_with_peoples_score() -> None:
    example = Example(output="Yes.", raw=4, input="May I?", reference="Yes!", rationale="Short.")
    text = asked(example, Example(output="No.", raw=1.0, case_id="secret"))
    assert "Example 1, which people gave 4:\n<example_input " in text
    for said, label in (("Yes.", "output"), ("May I?", "input"), ("Yes!", "reference"),
                        ("Short.", "reason")):  # fmt: skip
        mark = fence_marker(said, 6)
        assert f"<example_{label} {mark}>\n{said}\n</example_{label} {mark}>" in text
    assert "Example 2, which people gave 1:\n<example_output " in text
    assert "secret" not in text


def test_without_examples_nothing_is_said_of_any() -> None:
    assert "xample" not in asked()
    plain = PromptTemplate("pointwise/criterion").prompts(make_case(), make_output(), make_rubric())
    assert asked().replace("\n\n\n", "\n\n") == plain[0].messages[-1]["content"]


def test_an_example_cannot_close_its_fence() -> None:
    for record in attacks():
        if record["text"].strip():
            text = asked(Example(output=record["text"], raw=1))
            mark = fence_marker(record["text"], 6)
            assert f"\n{record['text']}\n</example_output {mark}>" in text


@pytest.mark.parametrize("name", ["pointwise/criterion", "pointwise/joint"])
def test_a_template_that_shows_no_examples_refuses_a_rubric_with_some(name: str) -> None:
    rubric = make_rubric(make_criterion(examples=[Example(output="a", raw=1)]))
    with pytest.raises(TemplateError, match="the rubric has examples, and template") as error:
        PromptTemplate(name).prompts(make_case(), make_output(), rubric)
    assert "pointwise/few_shot" in str(error.value)
