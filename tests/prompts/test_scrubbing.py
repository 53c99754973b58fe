from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from judgekit.prompts import Redaction, scrub
from judgekit.prompts.redaction import WITHHELD_NAME

W = WITHHELD_NAME


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("As ChatGPT, I cannot say.", f"As {W}, I cannot say."),
        ("I am Claude, made by Anthropic.", f"I am {W}, made by {W}."),
        ("Hi! I'm Claude 3.5 Sonnet.", f"Hi! I'm {W}."),
        ("my name is Gemini.", f"my name is {W}."),
        ("I am an assistant called Qwen2.5, created by Alibaba Cloud.",
         f"I am an assistant called {W}, created by {W}."),
        ("An AI language model developed by OpenAI", f"An AI language model developed by {W}"),
        ("My creators at Anthropic say so.", f"My creators at {W} say so."),
        ("I cannot, per OpenAI's usage policies.", f"I cannot, per {W}'s usage policies."),
        ("ChatGPT: Yes.", f"{W}: Yes."),
        ("Yours,\n— Claude", f"Yours,\n— {W}"),
        ("Mistral here, hello", f"{W} here, hello"),
        ("I am GPT-4 by OpenAI.", f"I am {W} by {W}."),
        ("I'm Claude, an AI assistant from Anthropic.", f"I'm {W}, an AI assistant from {W}."),
        ("I am OpenAI's ChatGPT.", f"I am {W}'s {W}."),
    ],
)  # fmt: skip
def test_a_text_that_names_its_maker_no_longer_does(text: str, shown: str) -> None:
    assert scrub(text)[0] == shown


@pytest.mark.parametrize(
    "text",
    [
        "Companies such as Google and Meta were founded.",
        "GPT-4 was released by OpenAI in 2023.",
        "Claude Monet painted it. As Claude Monet said, light.",
        "As Falcon flies, so does Eagle.",
        "Which model is better, Llama or Mistral?",
        "Gemini: May 21 to June 20.",
        "As GPT-4 by OpenAI shows, I am Google's biggest fan.",
        "The assistant coach was hired by Real Madrid.",
        "The new policy v2 is out.",
        "",
    ],
)
def test_a_text_about_models_keeps_their_names(text: str) -> None:
    assert scrub(text, ["v2", "new"]) == (text, ())


def test_own_names_that_are_no_words_go_wherever_they_stand() -> None:
    text = "gpt-4.1-mini says: use prompt_b.txt, not GPT-4.1-Mini2."
    shown, removed = scrub(text, ["openai/gpt-4.1-mini", "prompt_b.txt"])
    assert shown == f"{W} says: use {W}, not GPT-4.1-Mini2."
    assert removed == (Redaction("gpt-4.1-mini", 0, 12), Redaction("prompt_b.txt", 23, 35))


@pytest.mark.parametrize("text", ["I am v2.", "variant v2", "Written by v2, today", 'model: "v2"'])
def test_own_names_that_may_be_words_go_where_the_text_speaks_of_itself(text: str) -> None:
    assert scrub(text, ["v2"])[0] == text.replace("v2", W)


def test_names_that_overlap_are_one_stretch() -> None:
    shown, removed = scrub("I am gpt-4.1-mini-b.", ["gpt-4.1-mini-b", "gpt-4.1"])
    assert shown == f"I am {W}."
    assert len(removed) == 1
    assert scrub("x: big-1 mid-2 end-3.", ["big-1 mid-2", "mid-2 end-3"])[0] == f"x: {W}."
    assert scrub("x: big-1 small-2.", ["big-1 small-2", "small-2"])[0] == f"x: {W}."


def test_where_something_was_taken_out_counts_in_the_text_as_it_was() -> None:
    text = "I am Claude. I am Claude."
    _, removed = scrub(text)
    assert [text[r.start : r.end] for r in removed] == [r.text for r in removed] == ["Claude"] * 2


@given(st.text(), st.lists(st.text(min_size=1), max_size=3))
def test_scrubbing_takes_out_names_and_nothing_else(text: str, names: list[str]) -> None:
    shown, removed = scrub(text, names)
    parts, last = [], 0
    for one in removed:
        assert text[one.start : one.end] == one.text
        parts += [text[last : one.start], W]
        last = one.end
    assert shown == "".join([*parts, text[last:]])


@pytest.mark.parametrize("name", ["a", "new", "good", "x"])
def test_a_common_word_is_a_name_only_where_it_is_called_one(name: str) -> None:
    text = f"As {name} result, I am {name} to it. Written by {name} friend."
    assert scrub(text, [name]) == (text, ())
    assert scrub(f"This is variant {name}.", [name])[0] == f"This is variant {W}."
