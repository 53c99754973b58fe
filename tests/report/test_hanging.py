"""Lines in a narrow terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.text import Text

from judgekit.report.terminal import HangingText


def printed(text: str, width: int) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(HangingText(Text(text)))
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_a_line_that_fits_is_left_alone() -> None:
    assert printed("  tone 4  Clear.\n\n  end", 40) == ["  tone 4  Clear.", "", "  end"]


def test_a_long_line_goes_on_two_places_right_of_its_margin() -> None:
    lines = printed("  tone 4  The reply is clear, short and polite.\nnext", 30)
    assert lines == ["  tone 4  The reply is clear,", "    short and polite.", "next"]


def test_a_margin_moves_all_of_it_and_no_line_is_filled_up() -> None:
    out = io.StringIO()
    console = Console(file=out, width=20, color_system=None)
    console.print(HangingText(Text("fail  refund\n  tone 1"), margin=2))
    assert out.getvalue() == "  fail  refund\n    tone 1\n"


@pytest.mark.parametrize("width", [8, 20])
def test_in_a_very_narrow_terminal_nothing_is_indented_away(width: int) -> None:
    lines = printed("trust   the judge was not held", width)
    assert " ".join(" ".join(lines).split()) == "trust the judge was not held"


def test_styles_survive_the_wrapping() -> None:
    out = io.StringIO()
    console = Console(file=out, width=30, force_terminal=True, color_system="standard")
    console.print(HangingText(Text("tone  the reply is clear, short and polite", style="dim")))
    assert out.getvalue().count("\x1b[2m") == 2
