"""`judgekit cache`: inspects, exports, merges, verifies and prunes the reply cache.

`cache explain` groups the requests that are not cached by cause.
"""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import click
from click.core import ParameterSource

from judgekit import models, report as reports
from judgekit.cli import console
from judgekit.cli.exit_codes import Exit
from judgekit.cli.help import HelpGroup, command
from judgekit.cli.judge_options import NO_SETTINGS, GradingOptions, InputOptions, judge_option
from judgekit.cli.options import (
    CacheFolderOptions,
    OutputOptions,
    SettingGroups,
    flag,
    option,
    refuse_others,
)
from judgekit.cli.outputs import output_option, show_document, show_line, sort_outputs
from judgekit.cli.setup import grade_setup, open_cache
from judgekit.datasets import JudgeSettings
from judgekit.errors import SettingsError, StoreError
from judgekit.models import cache as reply_cache
from judgekit.report import message, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from judgekit.models.cache import CacheEntry, CacheExplanation, ReplyCache
    from judgekit.models.request import ModelRequest

_AGE = re.compile(r"(\d{1,5})\s*([hdw])")  # a longer one may begin before the year 1
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}
_SHOWN = 20
_WRITTEN = click.Path(path_type=Path, dir_okay=False, allow_dash=True)


class CacheOptions(CacheFolderOptions, OutputOptions):
    """What all commands of the cache take."""


@click.group(cls=HelpGroup)
def cache_command() -> None:
    """Inspect the reply cache, move it elsewhere, clean it up.

    Every reply that was paid for is stored under the exact request.

    Examples:
        judgekit cache stats
        judgekit cache export replies.jsonl
        judgekit cache prune --older-than 30d --dry-run
    """


class _StatsOptions(CacheOptions):
    output: tuple[Path, ...] = output_option("Write the statistics to FILE: .json, .md or .html.")


@command("stats", _StatsOptions, cache_command)
def cache_stats_command(options: _StatsOptions) -> None:
    """Show replies, hits, money and time saved, and size on disk.

    Examples:
        judgekit cache stats
    """
    files = sort_outputs(options.output, what="cache statistics")
    with open_cache(options.cache_dir) as cache:
        stats = reply_cache.admin.cache_stats(cache)
    document = reports.cache_stats_document(stats, folder=str(options.cache_dir))
    show_document(document, options, files)


class _ListOptions(CacheOptions):
    model: str | None = option("Only replies of this model.")
    since: datetime | None = option(
        "Only replies fetched at this time or later (UTC).", kind=click.DateTime()
    )
    contains: str | None = option("Only replies with TEXT in request or reply.")
    rejected: bool = flag("Rejected replies: paid for, but never served.")
    limit: int = option("Only the first N replies.", 50, spelling="-n/--limit", ge=1)


@command("ls", _ListOptions, cache_command)
def cache_ls_command(options: _ListOptions) -> None:
    """List replies: key, model, date, request, price.

    Examples:
        judgekit cache ls --model openai/gpt-4.1-mini -n 10
    """
    with open_cache(options.cache_dir) as cache:
        # Rejected replies are stored apart, so that no lookup can serve one.
        if options.rejected:
            allowed = {"rejected", "model", "limit", "cache_dir"}
            refuse_others(allowed, "does not apply to rejected replies", "omit it, or --rejected")
            chosen = _rejected(cache, options.model)
        else:
            chosen = reply_cache.admin.list_entries(
                cache, model=options.model, since=options.since, contains=options.contains
            )
        shown = list(islice(chosen, options.limit))
        n_more = sum(1 for _ in chosen)
    show_document(reports.cache_entries_document(shown, n_more=n_more), options)


class _CacheExportOptions(CacheOptions):
    output: Path | None = option("Same as FILE.", spelling="-o/--output", kind=_WRITTEN)
    rejected: bool = flag("Include rejected replies to requests that have another reply by now.")


@command("export", _CacheExportOptions, cache_command)
@click.argument("named", metavar="FILE", required=False, type=_WRITTEN)
def cache_export_command(options: _CacheExportOptions, *, named: Path | None) -> None:
    """Write all replies to FILE as JSONL, packed by its suffix (.gz, .zst); - for stdout.

    Replies that were cut short or filtered are among them: a question that was repeated is found by
    the reply before it. The same replies give the same bytes.

    Examples:
        judgekit cache export replies.jsonl
    """
    # FILE is the natural place, and every other command that writes has -o.
    file = named or options.output
    if file is None or (named is not None and options.output is not None):
        raise SettingsError("name one file", hint="for example judgekit cache export replies.jsonl")
    to_stdout = str(file) == "-"
    # Both would print to stdout, and neither could be read.
    if to_stdout and options.as_json:
        raise SettingsError("--json and a FILE of - contradict each other")
    with open_cache(options.cache_dir) as cache:
        target = sys.stdout if to_stdout else file
        report = reply_cache.export_entries(cache, target, rejected=options.rejected)
    if not options.as_json:
        for line in report.skipped:
            console.note(f"skipped: {message.printable(line)}")
    words = f"wrote {numbers.format_count(report.n_entries, 'reply', 'replies')} to {file}"
    show_line(words, {"file": str(file), **asdict(report)}, options, is_note=to_stdout)


class _ImportOptions(CacheOptions):
    overwrite: bool = flag("Replace cached replies whose text differs.")
    skip_invalid: bool = flag(
        "Skip invalid lines of files; by default one of them stops the command.",
        spelling="--skip-unsound",
    )


@command("import", _ImportOptions, cache_command)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
def cache_import_command(options: _ImportOptions, *, files: tuple[Path, ...]) -> None:
    """Add the replies of exported FILES to the cache; every line is checked first.

    Examples:
        judgekit cache import replies.jsonl
    """
    _add_replies(files, options)


@command("merge", _ImportOptions, cache_command)
@click.argument("sources", nargs=-1, required=True, metavar="FROM... [INTO]")
@click.pass_context
def cache_merge_command(
    context: click.Context, options: _ImportOptions, *, sources: tuple[str, ...]
) -> None:
    """Add the replies of cache folders, servers and exported files to another cache.

    The last one is where they go, unless --cache names it or there is only one, which goes into
    the default cache. A reply that differs is counted and not replaced.

    Examples:
        judgekit cache merge .judgekit/cache postgresql://judge@db.example/judgekit
        judgekit cache merge ../other/.judgekit/cache
    """
    *others, last = sources
    if others and context.get_parameter_source("cache_dir") is not ParameterSource.COMMANDLINE:
        sources = tuple(others)
        options = options.model_copy(update={"cache_dir": reply_cache.cache_location(last)})
    _add_replies(sources, options)


@command("verify", CacheOptions, cache_command)
def cache_verify_command(options: CacheOptions) -> None:
    """Check the checksum and key of every reply, and the database; exit code 3 if damaged.

    Examples:
        judgekit cache verify
    """
    try:
        with open_cache(options.cache_dir) as cache:
            report = reply_cache.admin.verify_cache(cache)
    # A file that is no database any more is what this command looks for, so no error of it.
    except reply_cache.DamagedFileError as error:
        report = reply_cache.admin.VerifyReport(n_sound=0, damaged=(), problems=(error.message,))
    data = {**asdict(report), "is_sound": report.is_sound}
    show_line("\n".join(_report_lines(report)), data, options)
    # Not the code of invalid input: the command worked, and the cache still serves valid replies.
    sys.exit(0 if report.is_sound else Exit.INCOMPLETE)


class _PruneOptions(CacheOptions):
    age: str | None = option(
        "Older than this: 30d, 12h, 4w.", spelling="--older-than", metavar="AGE"
    )
    model: str | None = option("Only replies of this model.")
    rejected: bool = flag("All rejected replies, regardless of age.")
    dry_run: bool = flag("Count them without deleting.")


@command("prune", _PruneOptions, cache_command)
def cache_prune_command(options: _PruneOptions) -> None:
    """Delete replies that are old, of one model, or both; fetching them again costs money.

    Examples:
        judgekit cache prune --older-than 30d --dry-run
    """
    age, model, rejected = options.age, options.model, options.rejected
    if age is None and model is None and not rejected:
        raise SettingsError(
            "specify what to delete", hint="give --older-than, --model or --rejected"
        )
    before = None
    if age is not None:
        match = _AGE.fullmatch(age.strip().lower())
        if match is None:
            raise SettingsError(f"{age!r} is not a valid age", hint="write it as 30d, 12h or 4w")
        before = datetime.now(UTC) - timedelta(**{_UNITS[match[2]]: int(match[1])})
    # A dry run must not even create the cache that it is pointed at.
    with open_cache(options.cache_dir, writing=not options.dry_run) as cache:
        if options.dry_run:
            # Without an age and a model, --rejected alone must not match the served replies.
            is_any = age is not None or model is not None
            listed = reply_cache.admin.list_entries(cache, model=model, before=before)
            n = sum(1 for _ in listed) if is_any else 0
            n += sum(1 for _ in _rejected(cache, None)) if rejected else 0
        else:
            n = reply_cache.admin.prune_cache(cache, before=before, model=model, rejected=rejected)
    verb = "would delete" if options.dry_run else "deleted"
    data = {"n_forgotten": 0 if options.dry_run else n, "n_matching": n}
    show_line(f"{verb} {numbers.format_count(n, 'reply', 'replies')}", data, options)


class _ClearOptions(CacheOptions):
    yes: bool = flag("Do not ask for confirmation.")


@command("clear", _ClearOptions, cache_command)
def cache_clear_command(options: _ClearOptions) -> None:
    """Delete all replies and counts; fetching the replies again costs money.

    Examples:
        judgekit cache clear --yes
    """
    with open_cache(options.cache_dir, writing=True) as cache:
        replies = numbers.format_count(len(cache), "reply", "replies")
        # A script must state it: a prompt that nobody reads would wait, or be answered by its
        # input.
        if not options.yes and not sys.stdin.isatty():
            raise SettingsError(
                "not a terminal: pass --yes", hint="--yes deletes everything without confirmation"
            )
        n = 0
        if options.yes or click.confirm(f"Delete {replies} in {options.cache_dir}?", err=True):
            n = len(cache)
            cache.clear()
    line = f"deleted {numbers.format_count(n, 'reply', 'replies')}"
    show_line(line, {"n_forgotten": n}, options)


@command("path", CacheOptions, cache_command)
def cache_path_command(options: CacheOptions) -> None:
    """Print the folder or address of the cache, whether it exists or not.

    Examples:
        judgekit cache path
    """
    place, exists = options.cache_dir, False
    if isinstance(place, Path):
        place, exists = place.absolute(), place.is_dir()
    else:
        with suppress(StoreError), open_cache(place):
            exists = True
    show_line(str(place), {"path": str(place), "exists": exists}, options)


def _rejected(cache: ReplyCache, model: str | None) -> Iterator[CacheEntry]:
    for key in cache.rejected_keys():
        for entry in cache.rejected(key):
            if model is None or (entry.request or {}).get("model") == model:
                yield entry


def _add_replies(sources: Sequence[str | Path], options: _ImportOptions) -> None:
    on_error: Literal["skip", "stop"] = "skip" if options.skip_invalid else "stop"
    with open_cache(options.cache_dir, writing=True) as cache:
        report = reply_cache.merge_caches(
            cache, sources, on_error=on_error, overwrite=options.overwrite
        )
    if not options.as_json:
        for problem in report.problems:
            console.note(f"skipped: {message.printable(problem)}")
    n_unchanged = len(report.conflicts) - report.n_overwritten
    parts = [
        f"added {numbers.format_count(report.n_added, 'reply', 'replies')}",
        f"{report.n_same:,} already cached",
    ]
    if report.n_overwritten:
        parts.append(f"{report.n_overwritten:,} replaced")
    if n_unchanged > 0:
        parts.append(f"{n_unchanged:,} differ and were not replaced (see --overwrite)")
    show_line(", ".join(parts), asdict(report), options)


def _report_lines(report: reply_cache.admin.VerifyReport) -> Iterator[str]:
    yield numbers.format_count(report.n_sound, "valid reply", "valid replies")
    for problem in report.problems:
        yield f"storage: {message.printable(problem)}"
    for key, reason in report.damaged[:_SHOWN]:
        yield f"{key[:12]}: {message.printable(reason)}"
    if len(report.damaged) > _SHOWN:
        yield f"… and {len(report.damaged) - _SHOWN:,} more damaged entries"
    if not report.is_sound:
        yield "damaged entries count as misses and are fetched again"


# At least four digits: shorter prefixes match too many entries to be useful.
_KEY = re.compile(r"[0-9a-f]{4,64}")
_MOST_GROUPS = 20
_SHOWN_CASES = 3


class _ExplainOptions(InputOptions, CacheFolderOptions, OutputOptions):
    judge_settings: Annotated[JudgeSettings, SettingGroups("judge")] = NO_SETTINGS
    judge_model: str | None = judge_option()


@command("explain", _ExplainOptions, cache_command)
# A key is no path that exists, so the argument cannot require one.
@click.argument("outputs", nargs=-1, metavar="[OUTPUTS|KEY]...", type=click.Path(path_type=Path))
def cache_explain_command(options: _ExplainOptions) -> None:
    """Explain why a grading would make calls: how its requests differ from cached ones.

    Takes the same OUTPUTS and options as judgekit grade and makes no call. Requests that are
    missing for the same reason are grouped. With a KEY, or its first digits, from judgekit cache
    ls it shows the cached reply closest to that one.

    Examples:
        judgekit cache explain outputs.jsonl --rubric helpfulness
    """
    if missing := [path for path in options.outputs if not path.exists()]:
        if len(options.outputs) > 1 or not _KEY.fullmatch(key := str(missing[0])):
            raise SettingsError(
                f"there is no file {missing[0]}",
                hint="name a file with outputs, or a key of 4 digits up",
            )
        with open_cache(options.cache_dir) as cache:
            _explain_key(cache, reply_cache.find_cache_key(cache, key), as_json=options.as_json)
        return
    # The judge only builds requests here; without a cache it cannot answer one by mistake.
    setup = grade_setup(GradingOptions.of(options, no_cache=True))
    with setup.judge as judge:
        # A suite from `init` names recorded replies, which never reach the cache.
        if isinstance(judge.connection.model, models.RecordedModel):
            raise SettingsError(
                "recorded replies are read from their file, not from the cache",
                hint="name the model that was called with --judge",
            )
        requests = [
            request
            for case, output in setup.answers()
            for request in judge.requests(case, output, setup.rubric)
        ]
        asks_all = judge.template.header.asks == "all"
    with open_cache(options.cache_dir) as cache:
        found = find_misses(cache, requests, asks_all=asks_all)
    if options.as_json:
        groups = [group.to_json() for group in found.groups]
        console.print_json({**asdict(replace(found, groups=())), "groups": groups})
    else:
        _print_misses(found)


def _print(text: str, style: str = "") -> None:
    console.stdout().print(text, markup=False, style=style, soft_wrap=True)


def _explain_key(cache: ReplyCache, key: str, *, as_json: bool) -> None:
    found = reply_cache.explain_request(cache, key)
    if as_json:
        console.print_json(asdict(found))
        return
    state = "is cached" if found.is_hit else "is not served"
    _print(f"{key[:12]} {state}: {reports.request_summary(cache.request_parts(key))}")
    if found.n_rejected:
        rejected = numbers.format_count(found.n_rejected, "reply", "replies")
        _print(f"  {rejected} stored for the record, never served")
    if found.nearest is None:
        _print("  there is no other entry to compare it with")
        return
    _print(f"  nearest of {found.n_compared:,}: {found.nearest[:12]}, which differs in")
    reports.print_key_differences(console.stdout(), found.differences)


def _print_misses(found: MissReport) -> None:
    requests = numbers.format_count(found.n_requests, "request")
    _print(f"{found.n_owned:,} of {requests} cached", "bold")
    if found.n_rejected:
        asked = numbers.format_count(found.n_rejected, "request")
        words = "the reply was cut short or filtered and is never served"
        _print(f"{asked} sent before, but {words}")
    for group in found.groups[:_MOST_GROUPS]:
        n, parts, cases = len(group.requests), ", ".join(group.parts), group.cases
        differ = f"{'differs' if n == 1 else 'differ'} in {parts}" if parts else "not cached"
        title, requests = message.printable(group.title), numbers.format_count(n, "request")
        _print(f"{title}: {requests} {message.printable(differ)}")
        more = f" and {len(cases) - _SHOWN_CASES:,} more" if len(cases) > _SHOWN_CASES else ""
        named = message.printable(", ".join(cases[:_SHOWN_CASES]))
        _print(f"  {'case' if len(cases) == 1 else 'cases'} {named}{more}", "dim")
        reports.print_key_differences(console.stdout(), group.example.differences)
    if len(found.groups) > _MOST_GROUPS:
        _print(f"… and {len(found.groups) - _MOST_GROUPS} more reasons")
    if found.n_not_compared:
        more = numbers.format_count(found.n_not_compared, "more request")
        _print(f"{more} not cached and not compared; narrow them down with --limit or --filter-tag")


# A comparison of a request with an entry takes about 90 µs, so all of them about 18 s.
MOST_COMPARISONS = 200_000

_FEWEST_EXPLAINED = 20


@dataclass(slots=True)
class MissGroup:
    """Requests that are not cached for the same reason."""

    title: str
    example: CacheExplanation
    requests: list[ModelRequest] = field(default_factory=list)

    @property
    def parts(self) -> list[str]:
        return [difference.part for difference in self.example.differences]

    @property
    def cases(self) -> list[str]:
        return list(dict.fromkeys(request.subject.case_id or "?" for request in self.requests))

    def to_json(self) -> dict[str, object]:
        criteria = {request.subject.criterion for request in self.requests}
        example = asdict(self.example)
        return {
            "title": self.title,
            "n_requests": len(self.requests),
            "cases": self.cases,
            "criteria": sorted(name for name in criteria if name),
            "parts": self.parts,
            "example": {name: example[name] for name in ("key", "nearest", "differences")},
        }


@dataclass(frozen=True, slots=True)
class MissReport:
    """How many requests are cached, and why the others are not."""

    n_requests: int
    n_owned: int
    n_rejected: int  # paid for, but the reply was truncated or filtered
    n_not_compared: int  # comparing all of them would take too long
    groups: tuple[MissGroup, ...]  # the most frequent reason first


class _Cause(NamedTuple):
    """What differs, in words; for an edited criterion also its name and the changed lines."""

    title: str
    criterion: str | None = None
    changed: frozenset[str] = frozenset()


def find_misses(
    cache: ReplyCache,
    requests: Sequence[ModelRequest],
    *,
    asks_all: bool,
    most_comparisons: int = MOST_COMPARISONS,
) -> MissReport:
    """Compare requests with cached ones, and group those that are missing by what differs."""
    missed = [request for request in requests if request.key not in cache]
    most = max(_FEWEST_EXPLAINED, most_comparisons // max(1, len(cache)))
    # Spread over all of them: the first ones may all be of one case.
    compared = missed
    if len(missed) > most:
        compared = [missed[number * len(missed) // most] for number in range(most)]
    # Two criteria of one new case are nearest to each other once one of them is cached.
    present = {request.key for request in requests}
    found = [reply_cache.explain_request(cache, request) for request in compared]
    causes = [
        _cause(cache, request, one, present, asks_all=asks_all)
        for request, one in zip(compared, found, strict=True)
    ]
    criteria: dict[frozenset[str], set[str]] = {}
    for cause in causes:
        if cause.criterion is not None:
            criteria.setdefault(cause.changed, set()).add(cause.criterion)
    # Criteria whose lines differ by case are one group.
    groups: dict[str, MissGroup] = {}
    for request, one, cause in zip(compared, found, causes, strict=True):
        title = cause.title
        # The same lines changed in several criteria: the template was edited.
        if cause.criterion is not None and len(criteria[cause.changed]) > 1:
            title = "the template's question was edited"
        groups.setdefault(title, MissGroup(title, one)).requests.append(request)
    return MissReport(
        n_requests=len(requests),
        n_owned=len(requests) - len(missed),
        n_rejected=sum(one.n_rejected > 0 for one in found),
        groups=tuple(sorted(groups.values(), key=lambda group: -len(group.requests))),
        n_not_compared=len(missed) - len(compared),
    )


def _cause(
    cache: ReplyCache,
    request: ModelRequest,
    found: CacheExplanation,
    present: set[str],
    *,
    asks_all: bool,
) -> _Cause:
    # If the nearest entry belongs to another request of this grading, nothing was edited.
    is_new = found.nearest is None or found.nearest in present
    plain = [d for d in found.differences if not d.part.startswith(("messages", "reply_schema"))]
    if plain or found.nearest is None:
        words = [f"{d.part} is {d.asked}, not {d.held}" for d in plain]
        return _Cause("; ".join(words or ["the cache is empty"]))
    last = f"messages[{len(request.messages) - 1}].content"
    messages = {d.part for d in found.differences if d.part.startswith("messages")}
    # Only the last message has the question and the output; the others are the template's.
    if messages - {last}:
        return _Cause("the template's instructions were edited")
    if not messages:
        return _Cause(f"the reply schema of {_criterion_words(request, is_new=is_new)}")
    stored = (cache.request_parts(found.nearest) or {}).get("messages")
    message = stored[-1] if isinstance(stored, list) and stored else None
    cached = str(message.get("content")) if isinstance(message, dict) else ""
    return _text_cause(request, cached, is_new=is_new, asks_all=asks_all)


def _text_cause(request: ModelRequest, cached: str, *, is_new: bool, asks_all: bool) -> _Cause:
    """Whether the last message differs in its shared front or in its end."""
    text = request.messages[-1]["content"]
    front, end = text[: request.shared_prefix or 0], text[request.shared_prefix or 0 :]
    front_differs = not cached.startswith(front)
    end_differs = not cached.endswith(end) if front_differs else cached[len(front) :] != end
    # Requests about one output share their front for the provider's cache: a template that asks for
    # all outputs of a criterion has the criterion there, every other one the material.
    criterion_differs = front_differs if asks_all else end_differs
    material_differs = end_differs if asks_all else front_differs
    if criterion_differs and material_differs:
        return _Cause("the material and the criterion differ from everything cached")
    if material_differs and is_new:
        return _Cause("outputs that were never graded")
    if material_differs:
        return _Cause("the material was edited (task, reference, context or output)")
    changed = frozenset(text.splitlines()) ^ frozenset(cached.splitlines())
    title = _criterion_words(request, is_new=is_new)
    return _Cause(title, request.subject.criterion, changed)


def _criterion_words(request: ModelRequest, *, is_new: bool) -> str:
    criterion = request.subject.criterion
    name = "a criterion" if criterion is None else f"criterion {criterion!r}"
    return f"{name} {'is new' if is_new else 'was edited'}"
