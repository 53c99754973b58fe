"""Builds the documents of the reply cache, and prints how a request differs from a cached one."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import TYPE_CHECKING

from judgekit.report import message, numbers
from judgekit.report.document import Column, Conclusion, Document, Lines, Table, not_empty
from judgekit.report.numbers import format_file_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.text import Text

    from judgekit.models.cache import CacheEntry, CacheStats, KeyDifference
    from judgekit.records import JsonObject

# `cache explain` takes the beginning of a key, so that these digits can be copied into it.
_KEY_DIGITS = 12
_ASKED_LENGTH = 60
_DIFF_LINES = 12
_DIFF_WIDTH = 160
_CRITERION = re.compile(r"^Criterion: (.+)$", re.MULTILINE)
# The code has to match at both ends: fenced text may contain other closing tags.
_FENCED = re.compile(r"<(\w+) ([A-Z2-7]{16})>\n(.*?)\n</\1 \2>", re.DOTALL)


def cache_stats_document(stats: CacheStats, *, folder: str) -> Document:
    """What a cache holds and what it has saved."""
    replies = numbers.format_count(stats.n_entries, "reply", "replies")
    saved = stats.saved
    money = numbers.format_usd(saved.saved_usd)
    n_requests = saved.n_hits + saved.n_misses
    share = f" ({saved.n_hits / n_requests:.0%} of {n_requests:,} requests)" if n_requests else ""
    # A hit of unknown price is no $0: the sum without it is a lower bound.
    hits = numbers.format_count(saved.n_unpriced_hits, "hit")
    unpriced = f" ({hits} of unknown price left out)" if saved.n_unpriced_hits else ""
    rejected = f"{stats.n_rejected:,} (paid for, but truncated or filtered; never served)"
    rows = (
        ("folder", folder),
        ("replies", f"{stats.n_entries:,}"),
        ("rejected", rejected if stats.n_rejected else "0"),
        ("size on disk", "in memory" if stats.n_bytes is None else format_file_size(stats.n_bytes)),
        ("hits", f"{saved.n_hits:,}{share}"),
        ("misses", f"{saved.n_misses:,}"),
        ("money saved", f"{money}{unpriced}"),
        ("time saved", numbers.format_duration(saved.saved_ms / 1000)),
    )
    return Document(
        title=f"Reply cache {folder}",
        conclusion=Conclusion(f"{replies} cached, {money} saved."),
        blocks=(Lines(rows),),
        data=lambda: {"folder": folder, **asdict(stats)},
    )


def cache_entries_document(entries: Sequence[CacheEntry], *, n_more: int = 0) -> Document:
    """Cached replies, a row each."""
    shown = numbers.format_count(len(entries), "reply", "replies")
    more = f", {n_more:,} more with --limit" if n_more else ""
    columns = (
        Column("key", "text"),
        Column("fetched, UTC", "text"),
        Column("price"),
        Column("model", "ellipsis", max_width=24),
        Column("question", "ellipsis"),
    )
    return Document(
        title="Cached replies",
        conclusion=Conclusion(f"{shown}{more}."),
        blocks=not_empty([Table(columns, tuple(map(cache_entry_cells, entries)))]),
        data=lambda: {"entries": [_entry_data(entry) for entry in entries], "n_more": n_more},
    )


def _entry_data(entry: CacheEntry) -> dict[str, object]:
    reply = entry.reply
    return {
        "key": entry.key,
        "model": (entry.request or {}).get("model"),
        "created_at": entry.created_at,
        "asked": request_summary(entry.request, 200),
        "reply": reply.text,
        "finish_reason": reply.finish_reason,
        "cost_usd": reply.cost_usd,
        "duration_ms": reply.duration_ms,
        "imported": entry.imported,
        "rejected": entry.rejected,
    }


def print_key_differences(
    console: Console, differences: Sequence[KeyDifference], *, indent: int = 4
) -> None:
    """Print how a request differs from the nearest cached one."""
    for difference in differences:
        for line in _difference_lines(difference):
            line.pad_left(indent)
            console.print(line, soft_wrap=True)


def cache_entry_cells(entry: CacheEntry) -> tuple[str, str, str, str, str]:
    """The cells of an entry: short key, time, price, model, question."""
    model = str((entry.request or {}).get("model", "?"))
    rejected = " (rejected)" if entry.rejected else ""
    # What is short and unique comes first: a terminal of 80 columns cuts the last two only.
    return (
        entry.key[:_KEY_DIGITS],
        entry.created_at[:16].replace("T", " "),
        numbers.format_usd(entry.reply.cost_usd),
        message.printable(model),
        request_summary(entry.request) + rejected,
    )


def request_summary(request: JsonObject | None, limit: int = _ASKED_LENGTH) -> str:
    """The question of a request, shortened: the criterion, where it names one, and the task."""
    messages = (request or {}).get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else None
    text = str(last.get("content")) if isinstance(last, dict) else "(the request is not recorded)"
    outside = _FENCED.sub("", text)
    # Requests of a rubric begin alike: only the criterion and the task differ.
    task = match[3] if (match := _FENCED.search(text)) else outside
    criteria = _CRITERION.findall(outside)
    lead = f"{criteria[0]}: " if len(criteria) == 1 else ""
    return message.printable(lead + task, limit)


def _difference_lines(difference: KeyDifference) -> list[Text]:
    from rich.text import Text  # noqa: PLC0415

    # `Text`, because square brackets in a foreign string would be read as markup.
    lead = Text(difference.part, style="cyan")
    if difference.diff is None:
        before, now = (message.printable(one) for one in (difference.held, difference.asked))
        lead.append(f": {before} → {now}")
        return [lead]
    lines = [line for line in difference.diff.splitlines() if not line.startswith(("---", "+++"))]
    styles = {"+": "green", "-": "red"}
    shown = [
        Text(
            f"  {line[:1]}{message.printable(line[1:], _DIFF_WIDTH)}",
            style=styles.get(line[:1], "dim"),
        )
        for line in lines[:_DIFF_LINES]
    ]
    if len(lines) > _DIFF_LINES:
        shown.append(Text(f"… and {len(lines) - _DIFF_LINES} more lines"))
    return [lead, *shown]
