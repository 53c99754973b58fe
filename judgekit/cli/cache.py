"""`judgekit cache`: inspects, exports, merges, verifies and prunes the reply cache."""

from __future__ import annotations

import re
import sys
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from judgekit.cli import console
from judgekit.cli.cache_explain import cache_explain_command
from judgekit.cli.exit_codes import Exit
from judgekit.cli.help import command
from judgekit.cli.options import CacheFolderOptions, OutputOptions, flag, option
from judgekit.cli.outputs import output_option, show_document, show_line, sort_outputs
from judgekit.cli.setup import open_cache
from judgekit.errors import SettingsError
from judgekit.models.cache import DamagedFileError, admin, export_entries, merge_caches
from judgekit.report import cache_entries_document, cache_stats_document, message, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from judgekit.models.cache import CacheEntry, ReplyCache, VerifyReport

_AGE = re.compile(r"(\d+)\s*([hdw])")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}
_SHOWN = 20
_WRITTEN = click.Path(path_type=Path, dir_okay=False, allow_dash=True)


class CacheOptions(CacheFolderOptions, OutputOptions):
    """What all commands of the cache take."""


@click.group()
def cache_command() -> None:
    """Inspect the reply cache, move it elsewhere, clean it up.

    Every reply that was paid for is stored under the exact request.
    """


cache_command.add_command(cache_explain_command)


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
        stats = admin.cache_stats(cache)
    document = cache_stats_document(stats, folder=str(options.cache_dir))
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
        chosen = (
            _rejected(cache, options.model)
            if options.rejected
            else admin.list_entries(
                cache, model=options.model, since=options.since, contains=options.contains
            )
        )
        shown = list(islice(chosen, options.limit))
        n_more = sum(1 for _ in chosen)
    show_document(cache_entries_document(shown, n_more=n_more), options)


class _CacheExportOptions(CacheOptions):
    output: Path | None = option("Same as FILE.", spelling="-o/--output", kind=_WRITTEN)
    rejected: bool = flag("Include rejected replies, which are never served.")


@command("export", _CacheExportOptions, cache_command)
@click.argument("named", metavar="FILE", required=False, type=_WRITTEN)
def cache_export_command(options: _CacheExportOptions, *, named: Path | None) -> None:
    """Write all replies to FILE as JSONL; the same replies give the same bytes; - for stdout.

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
        try:
            target = sys.stdout if to_stdout else file
            report = export_entries(cache, target, rejected=options.rejected)
        except OSError as error:
            raise SettingsError(f"{file} cannot be written: {error.strerror}") from error
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
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
def cache_merge_command(options: _ImportOptions, *, sources: tuple[Path, ...]) -> None:
    """Add the replies of other cache folders and exported files to the cache.

    Examples:
        judgekit cache merge ../other/.judgekit/cache
    """
    _add_replies(sources, options)


@command("verify", CacheOptions, cache_command)
def cache_verify_command(options: CacheOptions) -> None:
    """Check the checksum and key of every reply, and the database; exit code 3 if damaged.

    Examples:
        judgekit cache verify
    """
    try:
        with open_cache(options.cache_dir) as cache:
            report = admin.verify_cache(cache)
    # A file that is no database any more is what this command looks for, so no error of it.
    except DamagedFileError as error:
        report = admin.VerifyReport(n_sound=0, damaged=(), problems=(error.message,))
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
            entries = admin.list_entries(cache, model=model) if age or model else ()
            fetched = (datetime.fromisoformat(entry.created_at) for entry in entries)
            n = sum(1 for at in fetched if before is None or at < before)
            n += sum(1 for _ in _rejected(cache, None)) if rejected else 0
        else:
            n = admin.prune_cache(cache, before=before, model=model, rejected=rejected)
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
    """Print the folder of the cache, whether it exists or not.

    Examples:
        judgekit cache path
    """
    folder = options.cache_dir.absolute()
    show_line(str(folder), {"path": str(folder), "exists": folder.is_dir()}, options)


def _rejected(cache: ReplyCache, model: str | None) -> Iterator[CacheEntry]:
    for key in cache.rejected_keys():
        for entry in cache.rejected(key):
            if model is None or (entry.request or {}).get("model") == model:
                yield entry


def _add_replies(sources: Sequence[Path], options: _ImportOptions) -> None:
    on_error: Literal["skip", "stop"] = "skip" if options.skip_invalid else "stop"
    with open_cache(options.cache_dir, writing=True) as cache:
        report = merge_caches(cache, sources, on_error=on_error, overwrite=options.overwrite)
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


def _report_lines(report: VerifyReport) -> Iterator[str]:
    yield numbers.format_count(report.n_sound, "valid reply", "valid replies")
    for problem in report.problems:
        yield f"storage: {message.printable(problem)}"
    for key, reason in report.damaged[:_SHOWN]:
        yield f"{key[:12]}: {message.printable(reason)}"
    if len(report.damaged) > _SHOWN:
        yield f"… and {len(report.damaged) - _SHOWN:,} more damaged entries"
    if not report.is_sound:
        yield "damaged entries count as misses and are fetched again"
