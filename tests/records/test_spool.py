"""Records by key behave like a dictionary, whether they are in memory or in the file."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.records import Output, SpooledRecords, spool


@pytest.fixture(autouse=True)
def _few_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "_MOST_IN_MEMORY", 2)


_CHANGES = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.none() | st.text(max_size=5)), max_size=30
)


@settings(max_examples=60, deadline=None)
@given(_CHANGES)
def test_they_are_those_of_a_dictionary(changes: list[tuple[str, str | None]]) -> None:
    found: SpooledRecords[str, Output] = SpooledRecords(Output)
    wanted: dict[str, Output] = {}
    for key, text in changes:
        if text is None:
            assert found.pop(key, None) == wanted.pop(key, None)
        else:
            found[key] = wanted[key] = Output(text=text)
    assert dict(found) == wanted
    assert list(found) == list(wanted)
    assert len(found) == len(wanted)


@pytest.mark.parametrize("text", ["a\nb\r\n\u2028c", "\ud800", "\x00", "🙂" * 10_000])
def test_a_text_of_any_characters_comes_back(text: str) -> None:
    found: SpooledRecords[int, Output] = SpooledRecords(Output)
    for key in range(4):
        found[key] = Output(text=text, metadata={"key": key})
    assert [one.metadata["key"] for one in found.values()] == [0, 1, 2, 3]
    assert {one.text for one in found.values()} == {text}


def test_threads_read_at_the_same_time() -> None:
    found: SpooledRecords[int, Output] = SpooledRecords(Output)
    for key in range(50):
        found[key] = Output(text=str(key) * 1000)
    with ThreadPoolExecutor(4) as pool:
        read = list(pool.map(lambda n: found[n % 50].text, range(1000)))
    assert read == [str(n % 50) * 1000 for n in range(1000)]
