"""Contexts get other text of a given size: the same each time, nothing twice, no answer in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.datasets import Suite
from judgekit.errors import DatasetError, SettingsError
from judgekit.models import count_tokens
from judgekit.targets import ContextFiller
from tests.factories import make_case

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.records import Case

OTHERS = [
    {"id": f"c{k}", "input": "?", "context": f"Warehouse {k} holds {k * 7 + 3} pallets. " * 20}
    for k in range(12)
]


def filler(folder: Path, *cases: dict[str, Any], largest: int = 0, **context: Any) -> ContextFiller:
    known: dict[str, Any] = {"name": "s", "cases": cases or OTHERS}
    if context:
        known["context"] = {"sizes": [largest], **context}
    return ContextFiller(Suite.model_validate(known).in_folder(folder), largest)


def case(context: Any = "The own fact.", **fields: Any) -> Case:
    return make_case(id="own", context=context, **fields)


def n_tokens(text: object) -> int:
    return count_tokens(str(text), "").n


@pytest.mark.parametrize("place", ["start", "middle", "end"])
@pytest.mark.parametrize("size", [40, 700, 8000])
def test_so_many_tokens_are_added_around_the_own_context(
    tmp_path: Path, place: str, size: int
) -> None:
    own = case()
    padded = filler(tmp_path, place=place, largest=size).add(own, size).context
    assert isinstance(padded, str)
    assert size - 15 <= n_tokens(padded) - n_tokens(own.context) <= size
    before, _, after = padded.partition("The own fact.")
    assert (bool(before), bool(after)) == (place != "start", place != "end")
    if place == "middle":
        assert abs(n_tokens(before) - n_tokens(after)) <= 30


@settings(max_examples=25)
@given(st.integers(0, 3000), st.integers(0, 3000))
def test_a_larger_size_begins_with_the_smaller_one(one: int, other: int) -> None:
    """What is added at one size is the beginning of what is added at a larger one."""
    suite = Suite.model_validate({"name": "s", "cases": OTHERS, "context": {
        "sizes": [1], "place": "end"}})  # fmt: skip
    texts = ContextFiller(suite, 1)
    small, large = (texts.add(case(None), n).context or "" for n in sorted((one, other)))
    assert str(large).startswith(str(small))


def test_it_is_the_same_whenever_it_is_made_and_another_one_for_another_case(
    tmp_path: Path,
) -> None:
    first, second = filler(tmp_path), filler(tmp_path)
    assert first.add(case(), 2000) == second.add(case(), 2000)
    other = make_case(id="another", context="The own fact.")
    assert first.add(case(), 2000).context != first.add(other, 2000).context


def test_only_the_context_changes(tmp_path: Path) -> None:
    own = case(reference="Yes.", metadata={"a": 1})
    padded = filler(tmp_path).add(own, 100)
    assert padded.model_copy(update={"context": own.context}) == own


def test_no_sentence_comes_twice(tmp_path: Path) -> None:
    plain = [{"id": "a", "input": "?"}]
    padded = filler(tmp_path, *plain).add(case(None), 30_000).context
    sentences = re.split(r"(?<=\.) ", str(padded))
    assert len(sentences) > 900
    assert len(set(sentences)) == len(sentences)


def test_contexts_of_other_cases_come_first_but_none_with_the_answer(tmp_path: Path) -> None:
    cases: list[dict[str, Any]] = [
        {"id": "own", "input": "?", "context": "The own fact."},
        {"id": "b", "input": "Translate this.", "context": "The ferry leaves at noon."},
        {"id": "c", "input": "?", "context": ["All of it costs 40 euros.", "It is blue."]},
    ]
    texts = filler(tmp_path, *cases)
    padded = str(texts.add(case(reference="40 Euros"), 200).context)
    assert "The ferry leaves at noon." in padded
    assert "It is blue." in padded
    assert padded.count("The own fact.") == 1
    assert "40 euros" not in padded
    # An input is a task that a model might carry out.
    assert "Translate" not in padded
    assert "40 euros" in str(texts.add(case(reference="40"), 200).context)


def test_a_list_of_texts_gets_further_ones(tmp_path: Path) -> None:
    padded = filler(tmp_path).add(case(["one", "two"]), 600).context
    assert isinstance(padded, list)
    place = padded.index("one")
    assert padded[place + 1] == "two"
    assert 0 < place < len(padded) - 2
    assert filler(tmp_path).add(case(None), 0).context is None


def test_what_is_no_text_is_refused_with_its_case(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"case 'own': nothing can be added to its context"):
        filler(tmp_path).check(case([{"title": "x"}]))


def test_own_text_is_taken_from_files(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in ("b", "a"):
        pages = "\n\n".join(f"Page {k} of book {name} tells of {k} birds." for k in range(40))
        (folder / f"{name}.txt").write_text(pages, encoding="utf-8")
    texts = filler(tmp_path, filler="texts/*.txt", largest=600, place="end")
    padded = str(texts.add(case(), 600).context)
    assert padded.startswith("Page 0 of book a tells of 0 birds.\n\nPage 1 of book a")
    assert "of book b" in padded
    absolute = filler(tmp_path, filler=str(folder / "a.txt"), largest=100, place="end")
    assert str(absolute.add(case(), 100).context).startswith("Page 0 of book a")


def test_too_little_text_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "short.txt").write_text("Three short words.", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"has \d tokens, and 8,000 are to be added"):
        filler(tmp_path, filler="short.txt", largest=8000)
    with pytest.raises(SettingsError, match=r"none\.txt, is no file in"):
        filler(tmp_path, filler="none.txt", largest=8000)
