"""A titled block of foreign text in a terminal: indented, wrapped, folded when it is long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.report import view

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

FOLDED_LINES = 12
"""Lines of a folded block."""

FOLDED_CHARACTERS = 1200
"""Characters of a folded block."""

_TAB = 4


def print_block(
    console: Console,
    title: str,
    content: str | Text,
    *,
    style: str = "bold",
    by: int = 2,
    folds: bool = False,
) -> None:
    """Print a title and the content below it."""
    from rich.padding import Padding  # noqa: PLC0415 - a tenth of a second, only when printing
    from rich.text import Text  # noqa: PLC0415

    console.print(
        Padding(Text(view.printable(title), style=style), (0, 0, 0, by - 2), expand=False)
    )
    body = safe_text(content, folds=folds) if isinstance(content, str) else content
    console.print(Padding(body, (0, 0, 0, by), expand=False))


def safe_text(content: str, *, folds: bool = False) -> Text:
    """Foreign text on its own lines, of which a terminal acts on nothing."""
    from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

    shown, n_left = folded(content) if folds else (content, 0)
    text = Text(view.message_lines(shown.expandtabs(_TAB)))
    if n_left:
        text.append(f"\n… {view.count(n_left, 'more character')}: --full", style="dim")
    return text


def folded(content: str) -> tuple[str, int]:
    """The beginning of a long text."""
    shown = "\n".join(content.split("\n")[:FOLDED_LINES])[:FOLDED_CHARACTERS]
    return shown, len(content) - len(shown)
