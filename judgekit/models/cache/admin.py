"""Inspects and maintains a reply cache: figures, lists, checks, pruning, reasons for misses."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

from judgekit.errors import UnknownNameError
from judgekit.fingerprint import canonical_json
from judgekit.models.cache.entries import CacheCounts, CacheEntry, DamagedEntryError, is_cache_key
from judgekit.models.request import ModelRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.models.cache.reply_cache import ReplyCache
    from judgekit.records import JsonObject


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What a cache holds and what it has saved."""

    n_entries: int
    n_rejected: int
    """Replies that were paid for but may not be served."""

    n_bytes: int | None
    """Size on disk; None in memory."""

    saved: CacheCounts


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """The result of checking every entry."""

    n_sound: int
    damaged: tuple[tuple[str, str], ...]
    """Key and reason of each entry that is a miss, or whose request is lost."""

    problems: tuple[str, ...]

    @property
    def is_sound(self) -> bool:
        """Whether no damage was found."""
        return not self.damaged and not self.problems


def cache_stats(cache: ReplyCache) -> CacheStats:
    """What a cache holds and what it has saved."""
    n_rejected = sum(len(cache.rejected(key)) for key in cache.rejected_keys())
    n_bytes = None
    if cache.location is not None:
        files = cache.location.glob("cache.db*")
        n_bytes = sum(file.stat().st_size for file in files if file.is_file())
    return CacheStats(len(cache), n_rejected, n_bytes, cache.counts())


def list_entries(
    cache: ReplyCache,
    *,
    model: str | None = None,
    since: datetime | None = None,
    before: datetime | None = None,
    contains: str | None = None,
) -> Iterator[CacheEntry]:
    """The entries that are served and fit every filter, in order of their keys."""
    for key in cache.keys():  # noqa: SIM118 - a cache is no dict
        try:
            entry = cache.entry(key)
        except DamagedEntryError:
            continue
        is_wanted = (
            entry is not None
            and not entry.rejected
            and (model is None or (entry.request or {}).get("model") == model)
            and (since is None or not _is_before(entry, since))
            and (before is None or _is_before(entry, before))
            and (contains is None or _contains_text(entry, contains))
        )
        if entry is not None and is_wanted:
            yield entry


def verify_cache(cache: ReplyCache) -> VerifyReport:
    """Check every entry's checksum, key and request, and the storage itself."""
    n_intact = 0
    damaged = []
    for key in cache.keys():  # noqa: SIM118 - a cache is no dict
        try:
            entry = cache.entry(key)
        except DamagedEntryError as error:
            damaged.append((key, error.message))
            continue
        if entry is None:
            continue  # forgotten by another process meanwhile
        if entry.rejected:
            damaged.append((key, "a reply that may not be served replaced it"))
        elif entry.request is None:
            damaged.append((key, "the reply is intact, but its request is lost or altered"))
        else:
            n_intact += 1
    return VerifyReport(n_sound=n_intact, damaged=tuple(damaged), problems=cache.problems())


def prune_cache(
    cache: ReplyCache,
    *,
    before: datetime | None = None,
    model: str | None = None,
    rejected: bool = True,
) -> int:
    """Delete entries fetched before a time, of a model, or both; and rejected replies."""
    # Without a time or a model only rejected replies are forgotten.
    n_forgotten = 0
    if rejected:
        # A list first: deleting rows while reading their names is undefined in SQLite.
        keys = list(cache.rejected_keys())
        n_forgotten += sum(map(cache.forget_rejected, keys))
    if before is None and model is None:
        return n_forgotten
    doomed = [entry.key for entry in list_entries(cache, model=model, before=before)]
    return n_forgotten + sum(map(cache.delete, doomed))


def find_cache_key(cache: ReplyCache, prefix: str) -> str:
    """The one key that begins with some hex digits."""
    # A whole key needs no scan, which takes seconds in a large cache.
    if is_cache_key(prefix) and cache.request_parts(prefix) is not None:
        return prefix
    known = {*cache.keys(), *cache.rejected_keys()}
    found = [key for key in known if key.startswith(prefix)]
    if len(found) != 1:
        raise UnknownNameError("one cached reply", prefix, found[:5] or sorted(known)[:5])
    return found[0]


def _is_before(entry: CacheEntry, when: datetime) -> bool:
    # A time without a zone is UTC, as all times in the cache are.
    moment = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
    created_at = datetime.fromisoformat(entry.created_at)
    return (created_at if created_at.tzinfo else created_at.replace(tzinfo=UTC)) < moment


def _contains_text(entry: CacheEntry, text: str) -> bool:
    messages = (entry.request or {}).get("messages")
    texts = [entry.reply.text or ""]
    if isinstance(messages, list):
        texts += [str(each.get("content")) for each in messages if isinstance(each, dict)]
    return any(text.casefold() in each.casefold() for each in texts)


_MAX_DIFF_LINES = 40
_MAX_DIFF_CHARACTERS = 40_000
_SHORT = 200
_ABSENT = "(absent)"


@dataclass(frozen=True, slots=True)
class KeyDifference:
    """One part of the key that is not the same."""

    part: str
    """Its name: `model`, `parameters.temperature`, `messages[1].content`, `reply_schema`, …."""

    asked: str
    """The value in the request, as JSON, shortened; `(absent)` where there is none."""

    held: str

    diff: str | None = None
    """For longer texts, a unified diff from held to asked, shortened."""


@dataclass(frozen=True, slots=True)
class CacheExplanation:
    """Whether a request is cached, and if not, how it differs from the nearest entry."""

    key: str
    is_hit: bool
    n_rejected: int
    """Replies that were paid for under this key but may not be served."""

    nearest: str | None
    """The key of the nearest other entry; None when there is none."""

    differences: tuple[KeyDifference, ...]
    n_compared: int


def explain_request(
    cache: ReplyCache, request: ModelRequest | str, *, limit: int = 20_000
) -> CacheExplanation:
    """Why a request is a hit or a miss."""
    # The nearest entry has the most equal parts; among equals, the longest common beginnings and
    # ends of the texts that differ.
    if isinstance(request, ModelRequest):
        key, own_parts = request.key, request.key_parts
    elif (known := cache.request_parts(request)) is not None:
        key, own_parts = request, known
    else:
        raise UnknownNameError("cached request", request, islice(cache.keys(), 5))
    wanted = _named_parts(own_parts)
    nearest: str | None = None
    nearest_parts: dict[str, str] = {}
    best = (-1, -1)
    n_compared = 0
    for other in cache.keys():  # noqa: SIM118 - a cache is no dict
        # A bound on the time: the nearest of 20,000 entries explains a miss as well.
        if n_compared == limit:
            break
        parts = None if other == key else cache.request_parts(other)
        if parts is None:
            continue
        n_compared += 1
        stored = _named_parts(parts)
        score = _similarity(wanted, stored, best)
        if score > best:
            nearest, nearest_parts, best = other, stored, score
    return CacheExplanation(
        key=key,
        is_hit=key in cache,
        n_rejected=len(cache.rejected(key)),
        nearest=nearest,
        differences=tuple(
            KeyDifference(
                part=name,
                asked=_shortened(wanted.get(name, _ABSENT)),
                held=_shortened(nearest_parts.get(name, _ABSENT)),
                diff=_diff(wanted.get(name), nearest_parts.get(name)),
            )
            for name in sorted(wanted.keys() | nearest_parts.keys())
            if nearest is not None and wanted.get(name) != nearest_parts.get(name)
        ),
        n_compared=n_compared,
    )


def _named_parts(parts: JsonObject) -> dict[str, str]:
    named: dict[str, str] = {}
    for name, value in parts.items():
        if name == "parameters" and isinstance(value, dict):
            named |= {f"parameters.{key}": canonical_json(each) for key, each in value.items()}
        elif name == "messages" and isinstance(value, list):
            named |= {
                f"messages[{number}].{field}": canonical_json(text)
                for number, message in enumerate(value)
                if isinstance(message, dict)
                for field, text in message.items()
            }
        else:
            named[name] = canonical_json(value)
    return named


def _similarity(
    wanted: dict[str, str], stored: dict[str, str], best: tuple[int, int]
) -> tuple[int, int]:
    names = wanted.keys() | stored.keys()
    differing = [name for name in names if wanted.get(name) != stored.get(name)]
    n_equal = len(names) - len(differing)
    if n_equal < best[0]:
        return n_equal, 0
    n_common = 0
    for name in differing:
        one, other = wanted.get(name, ""), stored.get(name, "")
        n_first = _n_common_start(one, other)
        n_common += n_first + _n_common_start(one[n_first:][::-1], other[n_first:][::-1])
    return n_equal, n_common


def _n_common_start(one: str, other: str) -> int:
    # Halving by slices: a loop over characters would take milliseconds for one long prompt.
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _shortened(text: str) -> str:
    return text if len(text) <= _SHORT else f"{text[:_SHORT]}…"


def _diff(wanted: str | None, stored: str | None) -> str | None:
    if wanted is None or stored is None or max(len(wanted), len(stored)) <= _SHORT:
        return None
    held, asked = _lines(stored), _lines(wanted)
    lines = list(difflib.unified_diff(held, asked, "held", "asked", n=1, lineterm=""))
    if len(lines) > _MAX_DIFF_LINES:
        n_more = len(lines) - _MAX_DIFF_LINES
        lines = [*lines[:_MAX_DIFF_LINES], f"… and {n_more} more lines"]
    return "\n".join(map(_shortened, lines))


def _lines(canonical: str) -> list[str]:
    value = json.loads(canonical)
    text = value if isinstance(value, str) else json.dumps(value, indent=2, sort_keys=True)
    return text[:_MAX_DIFF_CHARACTERS].splitlines()
