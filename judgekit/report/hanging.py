"""Lines in a terminal whose continuation stands under their text, not at the margin."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console, ConsoleOptions
    from rich.text import Text

_STEP = 2
_LEAST = 20
_LABEL = re.compile(r" *\S+ {2,}| +")
_MARGIN = re.compile(" *")


class Hanging:
    """A text for a rich console; each of its lines wraps under where its words begin."""

    def __init__(self, text: Text, *, labelled: bool = False, margin: int = 0) -> None:
        self._text = text
        self._labelled = labelled
        self._margin = " " * margin

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """The lines as they fit the console; nothing fills them up to its width."""
        from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

        for line in self._text.split("\n", allow_blank=True):
            for part in self._wrapped(line, console, options.max_width - len(self._margin)):
                shown = Text(self._margin) + part
                shown.rstrip()
                yield shown

    def _wrapped(self, line: Text, console: Console, width: int) -> Iterator[Text]:
        from rich.text import Text  # noqa: PLC0415 - a tenth of a second, only when printing

        match = (_LABEL if self._labelled else _MARGIN).match(line.plain)
        indent = match.end() if match else 0
        hang = indent if self._labelled else indent + _STEP
        if line.cell_len <= width or width - hang < _LEAST:
            yield line
            return
        head, body = line.divide([indent]) if indent else (Text(), line)
        first = body.wrap(console, width - indent)[0]
        yield head + first
        rest = body[len(first.plain) :]
        rest = rest[len(rest.plain) - len(rest.plain.lstrip()) :]
        for other in rest.wrap(console, width - hang):
            yield Text(" " * hang) + other
