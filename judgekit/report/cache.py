"""The reply cache in a terminal: statistics, entries.

How a request differs from the nearest cached one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from judgekit.report import message, numbers
from judgekit.report.numbers import format_file_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.text import Text

    from judgekit.models.cache import CacheEntry, CacheStats, KeyDifference
    from judgekit.records import JsonObject

_KEY_DIGITS = 12

_ASKED_LENGTH = 60

_DIFF_LINES = 12

_DIFF_WIDTH = 160

_CRITERION = re.compile(r"^Criterion: (.+)$", re.MULTILINE)

_FENCED = re.compile(r"<(\w+) ([A-Z2-7]{16})>\n(.*?)\n</\1 \2>", re.DOTALL)


def print_cache_stats(console: Console, stats: CacheStats, *, folder: str) -> None:
    """Print what a cache holds and what it has saved."""
    from rich.table import Table  # noqa: PLC0415 - a tenth of a second, only when printing

    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, text in _stats_rows(stats, folder):
        table.add_row(name, message.printable(text))
    console.print(table, highlight=False)


def print_cache_entries(
    console: Console, entries: Sequence[CacheEntry], *, n_more: int = 0
) -> None:
    """Print a table of entries."""
    from rich.table import Table  # noqa: PLC0415 - a tenth of a second, only when printing

    table = Table(header_style="dim", padding=(0, 1), box=None)
    for name in ("key", "model", "bought", "asked"):
        table.add_column(name, no_wrap=True, overflow="ellipsis")
    table.add_column("price", justify="right", no_wrap=True)
    for entry in entries:
        table.add_row(*map(_plain, cache_entry_cells(entry)))
    console.print(table, highlight=False)
    if n_more:
        console.print(f"… and {n_more:,} more; show them with --limit", style="dim", markup=False)


def print_key_differences(
    console: Console, differences: Sequence[KeyDifference], *, indent: int = 4
) -> None:
    """Print how a request differs from the nearest one that is owned."""
    for difference in differences:
        for line in _difference_lines(difference):
            line.pad_left(indent)
            console.print(line, soft_wrap=True)


def cache_entry_cells(entry: CacheEntry) -> tuple[str, str, str, str, str]:
    """The cells of an entry: short key, model, when, what was asked, price."""
    model = str((entry.request or {}).get("model", "?"))
    rejected = " (rejected)" if entry.rejected else ""
    return (
        entry.key[:_KEY_DIGITS],
        message.printable(model, 32),
        entry.created_at[:16].replace("T", " "),
        request_summary(entry.request) + rejected,
        numbers.format_usd(entry.reply.cost_usd),
    )


def request_summary(request: JsonObject | None, limit: int = _ASKED_LENGTH) -> str:
    """What a request asked, shortened: the criterion, where it names one, and the task."""
    messages = (request or {}).get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else None
    text = str(last.get("content")) if isinstance(last, dict) else "(what was asked is lost)"
    outside = _FENCED.sub("", text)
    task = match[3] if (match := _FENCED.search(text)) else outside
    criteria = _CRITERION.findall(outside)
    lead = f"{criteria[0]}: " if len(criteria) == 1 else ""
    return message.printable(lead + task, limit)


def _stats_rows(stats: CacheStats, folder: str) -> list[tuple[str, str]]:
    saved = stats.saved
    n_asked = saved.n_hits + saved.n_misses
    share = f" ({saved.n_hits / n_asked:.0%} of {n_asked:,} requests)" if n_asked else ""
    unpriced = (
        f" ({numbers.format_count(saved.n_unpriced_hits, 'hit')} of unknown price left out)"
        if saved.n_unpriced_hits
        else ""
    )
    rejected = f"{stats.n_rejected:,} (paid for, cut short or filtered; never served)"
    return [
        ("folder", folder),
        ("replies", f"{stats.n_entries:,}"),
        ("rejected", rejected if stats.n_rejected else "0"),
        ("size on disk", "in memory" if stats.n_bytes is None else format_file_size(stats.n_bytes)),
        ("hits", f"{saved.n_hits:,}{share}"),
        ("misses", f"{saved.n_misses:,}"),
        ("money saved", f"{numbers.format_usd(saved.saved_usd)}{unpriced}"),
        ("time saved", numbers.format_duration(saved.saved_ms / 1000)),
    ]


def _plain(text: str) -> Text:
    from rich.text import Text  # noqa: PLC0415

    return Text(text)  # foreign text may hold square brackets, which are no markup


def _difference_lines(difference: KeyDifference) -> list[Text]:
    lead = _plain(difference.part)
    lead.stylize("cyan")
    if difference.diff is None:
        lead.append(
            f": {message.printable(difference.held)} → {message.printable(difference.asked)}"
        )
        return [lead]
    lines = [line for line in difference.diff.splitlines() if not line.startswith(("---", "+++"))]
    shown = [_diff_line(line) for line in lines[:_DIFF_LINES]]
    if len(lines) > _DIFF_LINES:
        shown.append(_plain(f"… and {len(lines) - _DIFF_LINES} more lines"))
    return [lead, *shown]


def _diff_line(line: str) -> Text:
    text = _plain("  " + line[:1] + message.printable(line[1:], _DIFF_WIDTH))
    text.stylize({"+": "green", "-": "red"}.get(line[:1], "dim"))
    return text
