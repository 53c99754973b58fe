"""The rewritings are pure: the same draws give the same text, and the answer stays what it was."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from judgekit.bias_audit.perturbation import (
    AUTHORITY_PROBE,
    FORMATTING_PROBE,
    VERBOSITY_PROBE,
    add_authority_claim,
    attribute_text,
    family_of,
    pad_text,
    plain_and_formatted,
    strip_formatting,
    with_text,
)
from judgekit.models import contains_instruction
from tests.bias_audit.hearing import by_name, chose, draw, graded, many, material
from tests.factories import make_output

texts = st.text(min_size=1, max_size=300)


@given(texts, st.integers(0, 9))
def test_padding_keeps_the_answer_whole_and_makes_it_long(text: str, seed: int) -> None:
    found = pad_text(text, draw(seed))
    assert f"\n\n{text}\n\n" in found
    assert len(found.split()) >= max(120, 2 * len(text.split()))
    assert found == pad_text(text, draw(seed))


def test_padding_and_claims_tell_the_judge_nothing_to_score() -> None:
    for seed in range(20):
        assert not contains_instruction(pad_text("Yes.", draw(seed)))
        assert not contains_instruction(add_authority_claim("Yes.", draw(seed)))


@given(texts, st.integers(0, 9))
def test_a_claim_of_authority_stands_after_the_answer(text: str, seed: int) -> None:
    found = add_authority_claim(text, draw(seed))
    assert found.startswith(f"{text}\n\n")
    assert re.search(r"experts|specialists|professors", found[len(text) :])


@given(st.text(st.characters(codec="ascii", categories=["L", "N"]) | st.sampled_from(" .!?"),
               min_size=1, max_size=200))  # fmt: skip
def test_a_layout_changes_no_word(text: str) -> None:
    found = plain_and_formatted(text, draw())
    if found is None:
        assert not text.strip()
        return
    plain, dressed = found
    assert strip_formatting(dressed).split() == ["Answer", *plain.split()]


def test_a_text_is_dressed_with_a_heading_bullets_and_bold_words() -> None:
    found = plain_and_formatted("It is open. Come at nine, please.", draw())
    assert found == (
        "It is open. Come at nine, please.",
        "## Answer\n\n- **It is** open.\n- **Come at** nine, please.",
    )


def test_a_layout_that_is_there_is_taken_out_for_the_plain_side() -> None:
    text = "# Hours\n- **Mon** to Fri\n- __Sat__ too"
    assert strip_formatting(text) == "Hours\nMon to Fri\nSat too"
    assert strip_formatting("2 * 3 and a_b") == "2 * 3 and a_b"


@pytest.mark.parametrize("text", ["```\ncode\n```", "| a | b |", "    indented", "\tx", "  "])
def test_a_text_whose_layout_says_something_is_left_alone(text: str) -> None:
    assert plain_and_formatted(text, draw()) is None


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("openai/gpt-4.1-mini", "GPT"),
        ("o3-mini", "GPT"),
        ("anthropic/claude-sonnet-4-5", "Claude"),
        ("vertex_ai/gemini-2.5-pro", "Gemini"),
        ("openai/Qwen2.5-7B-Instruct", "Qwen"),
        ("groq/llama-3.3-70b", "Llama"),
        ("mistral/mixtral-8x7b", "Mistral"),
        ("openai/my-finetune", None),
        ("recorded:replies.jsonl", None),
    ],
)
def test_the_family_is_told_from_the_name_of_the_model_not_of_the_protocol(
    model: str, family: str | None
) -> None:
    assert family_of(model) == family


def test_an_answer_is_said_to_be_by_a_family_known_or_not() -> None:
    assert (
        attribute_text("Yes.", "GPT")
        == "Yes.\n\n(This answer was written by GPT, a model made by OpenAI.)"
    )
    assert attribute_text("Yes.", "Ours").endswith("written by Ours.)")


@pytest.mark.parametrize("probe", [VERBOSITY_PROBE, FORMATTING_PROBE, AUTHORITY_PROBE])
def test_a_rewriting_is_graded_and_compared_with_the_plain_answer(probe: object) -> None:
    found = probe.plan(material("It is so. It was so."))  # type: ignore[attr-defined]
    (trial,) = found.trials
    assert list(trial.arms) == ["plain", "changed", "both"]
    assert trial.arms["plain"].output.text == "It is so. It was so."
    assert trial.arms["both"].a == trial.arms["changed"].output
    assert trial.arms["both"].b == trial.arms["plain"].output


def test_outputs_without_a_text_are_left_out_and_counted() -> None:
    data = (material("x").items[0][0], make_output(None, data={"a": 1}))
    found = VERBOSITY_PROBE.plan(material(items=(*material("x").items, data)))
    assert (len(found.trials), found.n_left_out, found.skipped) == (1, 1, None)
    none = VERBOSITY_PROBE.plan(material(items=(data,)))
    assert none.skipped == "no output has a text that can be rewritten"


def test_a_rewriting_comes_to_a_shift_of_the_score_and_a_preference() -> None:
    heard = many(
        40, plain=graded(0.5, 0.5), changed=graded(1.0, 1.0), both=chose(ab="first", ba="second")
    )
    found = VERBOSITY_PROBE.find(heard, material())
    effects = by_name(found.effects)
    assert effects["score with padding"].estimate.value == 0.5
    assert effects["preference for padding"].estimate.value == 0.5
    assert {effect.verdict for effect in found.effects} == {"material"}
    assert found.counts == {"now passes": 40, "now fails": 0}


def test_a_failure_is_missing_and_no_effect() -> None:
    heard = [
        *many(30, plain=graded(0.5), changed=graded(0.5), both=chose(ab="tie", ba="tie")),
        *many(1, plain=graded(0.5), changed=graded(None), both=chose(ab="first", ba=None)),
    ]
    found = VERBOSITY_PROBE.find(heard, material())
    assert [effect.estimate.value for effect in found.effects] == [0.0, 0.0]
    assert [effect.estimate.n_missing for effect in found.effects] == [1, 1]


def test_an_output_keeps_everything_but_its_text() -> None:
    output = make_output("Yes.", variant="v1", metadata={"a": 1})
    assert with_text(output, "Yes.") is output
    assert with_text(output, "No.") == make_output("No.", variant="v1", metadata={"a": 1})
