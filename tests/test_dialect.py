"""The product speaks the words of its field; `dialect.py` has the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.dialect import private_words

if TYPE_CHECKING:
    from pathlib import Path


def test_no_private_word_is_left() -> None:
    """Code, help, messages, reports and documents keep to the words in common use."""
    words = private_words()
    assert not words, "\n".join(map(str, words[:50]))


@pytest.mark.parametrize(
    "code",
    [
        "# What people said of it.\n",
        '"""An unsound file."""\n',
        'raise ValueError("it was broken off")\n',
        "shelf = {}\n",
        "class JuryPortal: ...\n",
    ],
)
def test_a_private_word_in_comments_messages_and_names_is_found(code: str, tmp_path: Path) -> None:
    """Each kind of text is read."""
    (tmp_path / "module.py").write_text(code, encoding="utf-8")
    assert private_words(tmp_path)


def test_plain_words_pass(tmp_path: Path) -> None:
    """Common words are no dialect, and a name in the code is judged where it is defined."""
    text = "# The reply is cached; n_owned is a key of the JSON.\nis_cached = 'soundtrack'\n"
    (tmp_path / "module.py").write_text(text, encoding="utf-8")
    assert private_words(tmp_path) == []
