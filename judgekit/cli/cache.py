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
from judgekit.cli.exit_codes import EXIT_INCOMPLETE
from judgekit.cli.help import HelpGroup
from judgekit.cli.options import (
    CacheFolderOptions,
    OutputOptions,
    cache_dir_option,
    json_option,
    takes,
)
from judgekit.cli.outputs import output_option, show_document, sort_outputs
from judgekit.cli.setup import open_cache
from judgekit.errors import SettingsError
from judgekit.models.cache import (
    DamagedFileError,
    admin,
    export_entries,
    import_entries,
    merge_caches,
)
from judgekit.report import cache_entries_document, cache_stats_document, message, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.models.cache import CacheEntry, ImportReport, ReplyCache, VerifyReport

_AGE = re.compile(r"(\d+)\s*([hdw])")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}
_SHOWN = 20
_WRITTEN = click.Path(path_type=Path, dir_okay=False, allow_dash=True)


@click.group(cls=HelpGroup)
def cache_command() -> None:
    """Inspect the reply cache, move it elsewhere, clean it up.

    Every reply that was paid for is stored under the exact request.
    """


cache_command.add_command(cache_explain_command)


class StatsOptions(CacheFolderOptions, OutputOptions):
    """The options of `cache stats`."""

    output: tuple[Path, ...] = output_option("Write the statistics to FILE: .json, .md or .html.")


@cache_command.command("stats")
@takes(StatsOptions)
def cache_stats_command(options: StatsOptions) -> None:
    """Show replies, hits, money and time saved, and size on disk.

    Examples:
        judgekit cache stats
    """
    files = sort_outputs(options.output, what="cache statistics")
    with open_cache(options.cache_dir) as cache:
        stats = admin.cache_stats(cache)
    document = cache_stats_document(stats, folder=str(options.cache_dir))
    show_document(document, options, files)


@cache_command.command("ls")
@click.option("--model", help="Only replies of this model.")
@click.option(
    "--since", type=click.DateTime(), help="Only replies fetched at this time or later (UTC)."
)
@click.option("--contains", metavar="TEXT", help="Only replies with TEXT in request or reply.")
@click.option("--rejected", is_flag=True, help="Rejected replies: paid for, but never served.")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1),
    default=50,
    show_default=True,
    help="Only the first N replies.",
)
@cache_dir_option
@json_option
def cache_ls_command(
    *,
    model: str | None,
    since: datetime | None,
    contains: str | None,
    rejected: bool,
    limit: int,
    cache_dir: Path,
    as_json: bool,
) -> None:
    """List replies: key, model, date, request, price.

    Examples:
        judgekit cache ls --model openai/gpt-4.1-mini -n 10
    """
    with open_cache(cache_dir) as cache:
        entries = admin.list_entries(cache, model=model, since=since, contains=contains)
        # Rejected replies are stored apart, so that no lookup can serve one.
        chosen = _rejected(cache, model) if rejected else entries
        shown = list(islice(chosen, limit))
        n_more = sum(1 for _ in chosen)
    show_document(cache_entries_document(shown, n_more=n_more), OutputOptions(as_json=as_json))


@cache_command.command("export")
@click.argument("named", metavar="FILE", required=False, type=_WRITTEN)
@click.option("-o", "--output", type=_WRITTEN, help="Same as FILE.")
@click.option("--rejected", is_flag=True, help="Include rejected replies, which are never served.")
@cache_dir_option
@json_option
def cache_export_command(
    *, named: Path | None, output: Path | None, rejected: bool, cache_dir: Path, as_json: bool
) -> None:
    """Write all replies to FILE as JSONL; the same replies give the same bytes; - for stdout.

    Examples:
        judgekit cache export replies.jsonl
    """
    # FILE is the natural place, and every other command that writes has -o.
    file = named or output
    if file is None or (named is not None and output is not None):
        raise SettingsError("name one file", hint="for example judgekit cache export replies.jsonl")
    to_stdout = str(file) == "-"
    # Both would print to stdout, and neither could be read.
    if to_stdout and as_json:
        raise SettingsError("--json and a FILE of - contradict each other")
    with open_cache(cache_dir) as cache:
        try:
            report = export_entries(cache, sys.stdout if to_stdout else file, rejected=rejected)
        except OSError as error:
            raise SettingsError(f"{file} cannot be written: {error.strerror}") from error
    if as_json:
        console.print_json({"file": str(file), **asdict(report)})
        return
    for line in report.skipped:
        console.note(f"skipped: {message.printable(line)}")
    print_line = console.note if to_stdout else click.echo
    print_line(f"wrote {numbers.format_count(report.n_entries, 'reply', 'replies')} to {file}")


@cache_command.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@click.option("--overwrite", is_flag=True, help="Replace cached replies whose text differs.")
@click.option(
    "--skip-unsound",
    "skip_invalid",
    is_flag=True,
    help="Skip invalid lines; by default one of them stops the import.",
)
@cache_dir_option
@json_option
def cache_import_command(
    *, files: tuple[Path, ...], overwrite: bool, skip_invalid: bool, cache_dir: Path, as_json: bool
) -> None:
    """Add the replies of exported FILES to the cache; every line is checked first.

    Examples:
        judgekit cache import replies.jsonl
    """
    with open_cache(cache_dir, writing=True) as cache:
        on_error: Literal["skip", "stop"] = "skip" if skip_invalid else "stop"
        reports = [
            import_entries(cache, file, on_error=on_error, overwrite=overwrite) for file in files
        ]
        report = reports[0]
        for further in reports[1:]:
            report += further
    _show_import(report, as_json=as_json)


@cache_command.command("merge")
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--overwrite", is_flag=True, help="Replace cached replies whose text differs.")
@click.option("--skip-unsound", "skip_invalid", is_flag=True, help="Skip invalid lines of files.")
@cache_dir_option
@json_option
def cache_merge_command(
    *,
    sources: tuple[Path, ...],
    overwrite: bool,
    skip_invalid: bool,
    cache_dir: Path,
    as_json: bool,
) -> None:
    """Add the replies of other cache folders and exported files to the cache.

    Examples:
        judgekit cache merge ../other/.judgekit/cache
    """
    with open_cache(cache_dir, writing=True) as cache:
        report = merge_caches(
            cache, sources, on_error="skip" if skip_invalid else "stop", overwrite=overwrite
        )
    _show_import(report, as_json=as_json)


@cache_command.command("verify")
@cache_dir_option
@json_option
def cache_verify_command(*, cache_dir: Path, as_json: bool) -> None:
    """Check the checksum and key of every reply, and the database; exit code 3 if damaged.

    Examples:
        judgekit cache verify
    """
    try:
        with open_cache(cache_dir) as cache:
            report = admin.verify_cache(cache)
    # A file that is no database any more is what this command looks for, so no error of it.
    except DamagedFileError as error:
        report = admin.VerifyReport(n_sound=0, damaged=(), problems=(error.message,))
    if as_json:
        console.print_json({**asdict(report), "is_sound": report.is_sound})
    else:
        _print_report(report)
    # Not the code of invalid input: the command worked, and the cache still serves valid replies.
    sys.exit(0 if report.is_sound else EXIT_INCOMPLETE)


@cache_command.command("prune")
@click.option("--older-than", "age", metavar="AGE", help="Older than this: 30d, 12h, 4w.")
@click.option("--model", help="Only replies of this model.")
@click.option("--rejected", is_flag=True, help="All rejected replies, regardless of age.")
@click.option("--dry-run", is_flag=True, help="Count them without deleting.")
@cache_dir_option
@json_option
def cache_prune_command(
    *,
    age: str | None,
    model: str | None,
    rejected: bool,
    dry_run: bool,
    cache_dir: Path,
    as_json: bool,
) -> None:
    """Delete replies that are old, of one model, or both; fetching them again costs money.

    Examples:
        judgekit cache prune --older-than 30d --dry-run
    """
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
    with open_cache(cache_dir, writing=not dry_run) as cache:
        if dry_run:
            # Without an age and a model, --rejected alone must not match the served replies.
            n = sum(1 for _ in _doomed_entries(cache, before, model)) if age or model else 0
            n += sum(1 for _ in _rejected(cache, None)) if rejected else 0
        else:
            n = admin.prune_cache(cache, before=before, model=model, rejected=rejected)
    if as_json:
        console.print_json({"n_forgotten": 0 if dry_run else n, "n_matching": n})
    else:
        verb = "would delete" if dry_run else "deleted"
        click.echo(f"{verb} {numbers.format_count(n, 'reply', 'replies')}")


@cache_command.command("clear")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@cache_dir_option
@json_option
def cache_clear_command(*, yes: bool, cache_dir: Path, as_json: bool) -> None:
    """Delete all replies and counts; fetching the replies again costs money.

    Examples:
        judgekit cache clear --yes
    """
    with open_cache(cache_dir, writing=True) as cache:
        n = len(cache)
        is_confirmed = yes or _confirm(n, cache_dir)
        if is_confirmed:
            cache.clear()
    n_forgotten = n if is_confirmed else 0
    if as_json:
        console.print_json({"n_forgotten": n_forgotten})
    else:
        click.echo(f"deleted {numbers.format_count(n_forgotten, 'reply', 'replies')}")


@cache_command.command("path")
@cache_dir_option
@json_option
def cache_path_command(*, cache_dir: Path, as_json: bool) -> None:
    """Print the folder of the cache, whether it exists or not.

    Examples:
        judgekit cache path
    """
    folder = cache_dir.absolute()
    if as_json:
        console.print_json({"path": str(folder), "exists": folder.is_dir()})
    else:
        click.echo(str(folder))


def _confirm(n: int, cache_dir: Path) -> bool:
    # A script must state it: a prompt that nobody reads would wait, or be answered by its input.
    if not sys.stdin.isatty():
        raise SettingsError(
            "not a terminal: pass --yes", hint="--yes deletes everything without confirmation"
        )
    return click.confirm(
        f"Delete {numbers.format_count(n, 'reply', 'replies')} in {cache_dir}?", err=True
    )


def _rejected(cache: ReplyCache, model: str | None) -> Iterator[CacheEntry]:
    for key in cache.rejected_keys():
        for entry in cache.rejected(key):
            if model is None or (entry.request or {}).get("model") == model:
                yield entry


def _doomed_entries(
    cache: ReplyCache, before: datetime | None, model: str | None
) -> Iterator[CacheEntry]:
    for entry in admin.list_entries(cache, model=model):
        fetched_at = datetime.fromisoformat(entry.created_at)
        if before is None or fetched_at < before:
            yield entry


def _show_import(report: ImportReport, *, as_json: bool) -> None:
    if as_json:
        console.print_json(asdict(report))
        return
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
    click.echo(", ".join(parts))


def _print_report(report: VerifyReport) -> None:
    click.echo(f"{numbers.format_count(report.n_sound, 'valid reply', 'valid replies')}")
    for problem in report.problems:
        click.echo(f"storage: {message.printable(problem)}")
    for key, reason in report.damaged[:_SHOWN]:
        click.echo(f"{key[:12]}: {message.printable(reason)}")
    if len(report.damaged) > _SHOWN:
        click.echo(f"… and {len(report.damaged) - _SHOWN:,} more damaged entries")
    if not report.is_sound:
        click.echo("damaged entries count as misses and are fetched again")
