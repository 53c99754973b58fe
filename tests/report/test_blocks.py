from __future__ import annotations

from judgekit.report import print_passage, safe_text
from judgekit.report.message import FOLDED_CHARACTERS, FOLDED_LINES, fold_text
from tests.report.drawing import drawn, plain_console


def test_a_block_stands_below_its_title() -> None:
    console = plain_console()
    print_passage(console, "input", safe_text("one\n  two"))
    assert drawn(console) == "input\n  one\n    two\n"


def test_a_terminal_acts_on_nothing_in_a_block() -> None:
    text = safe_text("a\x1b[2J\tb\u202e [bold]c[/bold] :smile:").plain
    assert text == r"a\x1b[2J   b\u202e [bold]c[/bold] :smile:"


def test_a_long_text_is_folded_with_a_note_of_how_much() -> None:
    text = safe_text("x" * (FOLDED_CHARACTERS + 5), folds=True).plain
    assert text.endswith("x\n… 5 more characters: --full")
    many = "\n".join("line" for _ in range(FOLDED_LINES + 1))
    assert fold_text(many) == ("\n".join(["line"] * FOLDED_LINES), 5)


def test_a_short_text_is_not_folded() -> None:
    assert fold_text("short\ntext") == ("short\ntext", 0)
    assert safe_text("short", folds=True).plain == "short"
