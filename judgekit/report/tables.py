"""The terminal layout that results share: tables, variant tables.

Lines with a hanging indent, quoted blocks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from judgekit.report import message, numbers
from judgekit.report.message import safe_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import Console, ConsoleOptions
    from rich.table import Table
    from rich.text import Text

    from judgekit.stats.estimate import Estimate


class VariantRow(Protocol):
    """The figures of a variant that a table shows, of a grading or of a run."""

    @property
    def variant(self) -> str:
        """Name of the variant; empty where there is only one without a name."""
        ...

    @property
    def n_passed(self) -> int:
        """Outputs that pass."""
        ...

    @property
    def n_failed(self) -> int:
        """Outputs that do not pass."""
        ...

    @property
    def n_undecided(self) -> int:
        """Outputs that are neither."""
        ...

    @property
    def pass_rate(self) -> Estimate:
        """Share of passed among decided outputs."""
        ...

    @property
    def value(self) -> Estimate:
        """Mean value."""
        ...

    @property
    def criteria(self) -> Mapping[str, Estimate]:
        """Mean value per criterion."""
        ...


def format_pass_count(variant: VariantRow) -> str:
    """How many passed of how many that were decided: `7/12`, or `7/11 +1?` with one undecided."""
    decided = variant.n_passed + variant.n_failed
    more = f" +{variant.n_undecided}?" if variant.n_undecided else ""
    return f"{variant.n_passed}/{decided}{more}"


_INDENT_STEP = 2
_MIN_TEXT_WIDTH = 20
_LABEL = re.compile(r" *\S+ {2,}| +")
_MARGIN = re.compile(" *")


class HangingText:
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
        hang = indent if self._labelled else indent + _INDENT_STEP
        if line.cell_len <= width or width - hang < _MIN_TEXT_WIDTH:
            yield line
            return
        head, body = line.divide([indent]) if indent else (Text(), line)
        first = body.wrap(console, width - indent)[0]
        yield head + first
        rest = body[len(first.plain) :]
        rest = rest[len(rest.plain) - len(rest.plain.lstrip()) :]
        for other in rest.wrap(console, width - hang):
            yield Text(" " * hang) + other


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
        Padding(Text(message.printable(title), style=style), (0, 0, 0, by - 2), expand=False)
    )
    body = safe_text(content, folds=folds) if isinstance(content, str) else content
    console.print(Padding(body, (0, 0, 0, by), expand=False))


_BOUNDLESS = 100_000


def print_variant_table(console: Console, variants: Sequence[VariantRow], title: str) -> None:
    """Print a table with a row for each variant, and one of the criteria where they need it."""
    console.print()
    table, is_whole = _fitting_table(console, variants, title)
    console.print(table)
    if not is_whole:
        console.print(_criteria_table(variants))


def print_lines(console: Console, lines: Iterable[str]) -> None:
    """Print plain lines below a table."""
    from rich.text import Text  # noqa: PLC0415

    for line in lines:
        console.print(HangingText(Text(line, style="dim"), labelled=True))


def _fitting_table(
    console: Console, variants: Sequence[VariantRow], title: str
) -> tuple[Table, bool]:
    """The fullest table that fits the console, and whether it shows the criteria."""
    # A table that does not fit would lose its last columns without a word.
    from rich.measure import Measurement  # noqa: PLC0415 - a tenth of a second, only when printing

    boundless = console.options.update_width(_BOUNDLESS)
    for intervals, criteria in ((True, True), (False, True), (True, False)):
        table = _summary_table(variants, title, intervals=intervals, criteria=criteria)
        if Measurement.get(console, boundless, table).maximum <= console.width:
            return table, criteria
    return _summary_table(variants, title, intervals=False, criteria=False), False


def _summary_table(
    variants: Sequence[VariantRow], title: str, *, intervals: bool, criteria: bool
) -> Table:
    """A row for each variant."""
    table = _table(title)
    table.add_column("variant", overflow="fold", max_width=30)
    for name in ("passed", "rate, 95 %", "value, 95 %" if intervals else "value"):
        table.add_column(name, justify="right", no_wrap=True)
    names = _criteria(variants) if criteria else []
    for name in names:
        table.add_column(foreign_text(name, 40), justify="right", no_wrap=True)
    for variant in variants:
        table.add_row(
            foreign_text(variant.variant or numbers.DASH),
            format_pass_count(variant),
            numbers.format_rate(variant.pass_rate),
            numbers.format_mean(variant.value)
            if intervals
            else numbers.format_value(variant.value),
            *(numbers.format_optional_value(variant.criteria.get(name)) for name in names),
        )
    return table


def _criteria_table(variants: Sequence[VariantRow]) -> Table:
    """A row for each criterion and variant, where they do not fit beside each other."""
    table = _table(None)
    table.add_column("criterion", overflow="fold")
    table.add_column("variant", overflow="fold", max_width=30)
    table.add_column("value, 95 %", justify="right", no_wrap=True)
    for name in _criteria(variants):
        for place, variant in enumerate(v for v in variants if name in v.criteria):
            table.add_row(
                foreign_text("" if place else name),
                foreign_text(variant.variant or numbers.DASH),
                numbers.format_mean(variant.criteria[name]),
            )
    return table


def _criteria(variants: Sequence[VariantRow]) -> list[str]:
    return list(dict.fromkeys(name for v in variants for name in v.criteria))


def _table(title: str | None) -> Table:
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    return Table(
        title=None if title is None else foreign_text(title, style="bold"),
        title_justify="left",
        header_style="dim",
        box=box.SIMPLE_HEAD,
        padding=(0, 1),
    )


def foreign_text(text: str, limit: int | None = None, *, style: str = "") -> Text:
    """Foreign text as it stands: neither markup, emoji names nor control characters are run."""
    from rich.text import Text  # noqa: PLC0415

    return Text(message.printable(text, limit), style=style)


def print_rows(console: Console, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table of plain texts."""
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(header_style="dim", box=box.SIMPLE_HEAD, padding=(0, 1))
    for head in heads:
        is_number = head in {"cases", "pairs", "runs", "raw", "value"}
        is_name = head in {"run", "comparison"}
        table.add_column(
            head,
            justify="right" if is_number else "left",
            overflow="fold",
            no_wrap=is_name,
        )
    for row in rows:
        table.add_row(*(_cell(cell) for cell in row))
    console.print(table)


def _cell(text: str) -> Text:
    from rich.text import Text  # noqa: PLC0415

    return Text(message.printable(text))
