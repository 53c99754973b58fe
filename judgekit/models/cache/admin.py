"""Inspects and maintains a reply cache; exports, imports and merges entries as JSONL for git."""

from __future__ import annotations

import difflib
import io
import json
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO, cast

from judgekit.atomic_write import atomic_writer
from judgekit.errors import DatasetError, UnknownNameError
from judgekit.fingerprint import canonical_json
from judgekit.formats import iter_lines, packed_stream
from judgekit.models.cache.entries import (
    CacheCounts,
    CacheEntry,
    DamagedEntryError,
    decode_line,
    encode_line,
    is_cache_key,
)
from judgekit.models.error_mapping import mask_secrets, secret_values
from judgekit.models.request import ModelRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from judgekit.models.cache.reply_cache import ReplyCache
    from judgekit.records import JsonObject


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What a cache holds and what it has saved."""

    n_entries: int
    n_rejected: int  # replies that were paid for but may not be served
    n_bytes: int | None  # size on disk or on the server; None in memory
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
    n_rejected = sum(len(cache.rejected(key)) for key in cache.rejected_keys())
    return CacheStats(len(cache), n_rejected, cache.n_bytes(), cache.counts())


def list_entries(
    cache: ReplyCache,
    *,
    model: str | None = None,
    since: datetime | None = None,
    before: datetime | None = None,
    contains: str | None = None,
) -> Iterator[CacheEntry]:
    """The entries that are served and fit every filter, in order of their keys."""
    for _, entry in cache.entries():
        is_wanted = (
            not isinstance(entry, DamagedEntryError)
            and not entry.rejected
            and (model is None or (entry.request or {}).get("model") == model)
            and (since is None or not _is_before(entry, since))
            and (before is None or _is_before(entry, before))
            and (contains is None or _contains_text(entry, contains))
        )
        if is_wanted:
            yield cast("CacheEntry", entry)


def verify_cache(cache: ReplyCache) -> VerifyReport:
    """Check every entry's checksum, key and request, and the storage itself."""
    n_intact = 0
    damaged = []
    for key, entry in cache.entries():
        if isinstance(entry, DamagedEntryError):
            damaged.append((key, entry.message))
        elif entry.rejected:
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
    cache.delete_all(doomed)
    return n_forgotten + len(doomed)


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

    asked: str  # the value in the request, as JSON, shortened; `(absent)` where there is none
    held: str

    diff: str | None = None  # for longer texts, a unified diff from held to asked, shortened


@dataclass(frozen=True, slots=True)
class CacheExplanation:
    """Whether a request is cached, and if not, how it differs from the nearest entry."""

    key: str
    is_hit: bool
    n_rejected: int  # replies that were paid for under this key but may not be served
    nearest: str | None  # the key of the nearest other entry; None when there is none
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
    for other, entry in cache.entries():
        # A bound on the time: the nearest of 20,000 entries explains a miss as well.
        if n_compared == limit:
            break
        parts = None if isinstance(entry, DamagedEntryError) else entry.request
        if other == key or parts is None:
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


# A server takes a gigabyte at once, and the texts of an entry may be some megabytes long.
_BATCH = 250


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was exported."""

    n_entries: int
    skipped: tuple[str, ...] = ()
    """Keys left out because their entry is damaged or its request is lost, with the reason."""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import or a merge did."""

    n_added: int = 0
    n_same: int = 0
    """Entries that were there already, with the same answer."""

    n_overwritten: int = 0
    conflicts: tuple[str, ...] = ()
    """Keys that are there with another answer; not changed unless `overwrite` is set."""

    problems: tuple[str, ...] = ()

    def __add__(self, other: ImportReport) -> ImportReport:
        return ImportReport(*map(add, astuple(self), astuple(other)))


def export_entries(
    cache: ReplyCache, target: Path | str | TextIO, *, rejected: bool = False
) -> ExportReport:
    """Write the entries of a cache as JSONL, sorted by key, fit for git."""
    # The text depends on the entries only: it holds no time of export, no path, no provenance.
    if isinstance(target, (str, Path)):
        # Requests and replies may be confidential: only their owner may read an export.
        with (
            atomic_writer(Path(target), is_private=True) as binary,
            packed_stream(binary, str(target), "wb") as stream,
        ):
            file = io.TextIOWrapper(stream, encoding="ascii", newline="\n", write_through=True)
            report = export_entries(cache, file, rejected=rejected)
            file.detach()  # the writer syncs and closes it
            return report
    # Looked up once: going through the environment takes longer than reading an entry.
    secrets = secret_values()
    skipped = []
    n_entries = 0
    for key, entry in _all_entries(cache, replaced=rejected):
        if isinstance(entry, DamagedEntryError):
            skipped.append(f"{key}: {entry}")
        elif entry.request is None:
            skipped.append(f"{key}: entry {key[:12]} cannot be exported: its request is lost")
        else:
            target.write(f"{encode_line(_masked(entry, secrets))}\n")
            n_entries += 1
    return ExportReport(n_entries=n_entries, skipped=tuple(skipped))


def _all_entries(
    cache: ReplyCache, *, replaced: bool
) -> Iterator[tuple[str, CacheEntry | DamagedEntryError]]:
    """The entries, and rejected replies: those that another has replaced only if wanted."""
    yield from cache.entries()
    # A question that was repeated is found by the reply before it.
    for key in cache.rejected_keys():
        if replaced or key not in cache:
            yield from ((key, entry) for entry in cache.rejected(key))


def _masked(entry: CacheEntry, secrets: tuple[str, ...]) -> CacheEntry:
    text = mask_secrets(entry.reply.text or "", secrets=secrets, environ={})
    if text == (entry.reply.text or ""):
        return entry
    return replace(entry, reply=entry.reply.model_copy(update={"text": text}))


def import_entries(
    cache: ReplyCache,
    path: Path | str,
    *,
    on_error: Literal["stop", "skip"] = "stop",
    overwrite: bool = False,
) -> ImportReport:
    """Add the entries of an export to a cache."""
    # Each line's checksum is compared, and its key with the fingerprint of its request.
    source = Path(path)
    if on_error == "stop":
        for found in _read_file(source):
            if isinstance(found, DatasetError):
                raise found
    return _import_all(cache, _read_file(source), source.name, overwrite=overwrite)


def copy_entries(
    cache: ReplyCache, source: ReplyCache, name: str, *, overwrite: bool = False
) -> ImportReport:
    """Add the entries of another cache to one; `name` is where they say they came from."""
    return _import_all(cache, _read_cache(source), name, overwrite=overwrite)


def _read_file(path: Path) -> Iterator[CacheEntry | DatasetError]:
    hint = "export it again, or leave such lines out (--skip-unsound)"
    for line in iter_lines(path):
        if isinstance(line, DatasetError):
            yield line
        elif line.text.strip():
            try:
                yield decode_line(line.text)
            except DamagedEntryError as error:
                yield DatasetError(error.message, path=path, line=line.number, hint=hint)


def _read_cache(source: ReplyCache) -> Iterator[CacheEntry | DatasetError]:
    for key, entry in _all_entries(source, replaced=True):
        if isinstance(entry, DamagedEntryError):
            yield DatasetError(f"{key}: {entry.message}", path=source.location)
        elif entry.request is None:
            yield DatasetError(f"{key}: its request is lost", path=source.location)
        else:
            yield entry


def _import_all(
    cache: ReplyCache, found: Iterator[CacheEntry | DatasetError], source: str, *, overwrite: bool
) -> ImportReport:
    report = ImportReport()
    while batch := list(islice(found, _BATCH)):
        entries = [each for each in batch if not isinstance(each, DatasetError)]
        report += _import_batch(cache, entries, source, overwrite=overwrite)
        problems = tuple(str(each) for each in batch if isinstance(each, DatasetError))
        report += ImportReport(problems=problems)
    return report


def _import_batch(
    cache: ReplyCache, entries: Sequence[CacheEntry], source: str, *, overwrite: bool
) -> ImportReport:
    # A damaged entry is as good as none.
    served = cache.entries(entry.key for entry in entries if not entry.rejected)
    held = {key: found for key, found in served if not isinstance(found, DamagedEntryError)}
    new: dict[str, CacheEntry] = {}
    rejected: list[CacheEntry] = []
    n_added = n_same = n_overwritten = 0
    conflicts = []
    for entry in entries:
        present = tuple(
            (*cache.rejected(entry.key), *(each for each in rejected if each.key == entry.key))
            if entry.rejected
            else filter(None, [new.get(entry.key, held.get(entry.key))])
        )
        if any(_same_answer(each, entry) for each in present):
            n_same += 1
            continue
        if present and not entry.rejected:
            conflicts.append(entry.key)
            n_overwritten += overwrite
        else:
            n_added += 1
        # The origin stays visible: an imported reply was not fetched by this user.
        marked = replace(entry, imported=source)
        if entry.rejected:
            rejected.append(marked)
        elif not present or overwrite:
            new[entry.key] = marked
    cache.restore([*new.values(), *rejected])
    return ImportReport(
        n_added=n_added, n_same=n_same, n_overwritten=n_overwritten, conflicts=tuple(conflicts)
    )


def _same_answer(one: CacheEntry, other: CacheEntry) -> bool:
    # Two calls with the same answer differ in time, duration and price; that is no conflict.
    return (
        one.reply.text == other.reply.text
        and one.reply.finish_reason == other.reply.finish_reason
        and one.reply.logprobs == other.reply.logprobs
    )
