"""`judgekit data`: lists and fetches public labelled datasets."""

from __future__ import annotations

import itertools
from pathlib import Path

import click

from judgekit import public_data, report
from judgekit.cli import console
from judgekit.cli.help import HelpGroup, command
from judgekit.cli.options import EXISTING_FILE, OutputOptions, option
from judgekit.cli.outputs import show_document, show_line
from judgekit.errors import SettingsError
from judgekit.report import numbers

# A note for each file would hide the other notes of a large set.
_EVERY = 25


class DataOptions(OutputOptions):
    """What all commands of data sets take."""

    folder: Path | None = option(
        "Folder of the sets.  [default: $JUDGEKIT_DATA, then .judgekit/data]", spelling="--to"
    )
    catalog_file: Path | None = option(
        "Your own catalog, with listings in sources/ beside it.  [default: judgekit's]",
        spelling="--catalog",
        kind=EXISTING_FILE,
    )


@click.group(cls=HelpGroup)
def data_command() -> None:
    """Public labelled data sets: human labels and recorded replies of judges.

    The sets are not part of judgekit. The command get downloads a set from its authors' repository
    at a pinned commit, verifies every file and writes rows for calibration.

    Examples:
        judgekit data list
        judgekit data get llmbar
        judgekit data path llmbar
    """


@command("list", DataOptions, data_command)
def data_list_command(options: DataOptions) -> None:
    """List the sets: contents, annotators, licence, size, and whether they are downloaded.

    Examples:
        judgekit data list
    """
    place = public_data.data_folder(options.folder)
    sets = public_data.load_catalog(options.catalog_file).sets
    # The files of a set, not its folder: an interrupted download leaves a folder too.
    here = {
        one.name: [str(path) for path in public_data.joined_files(one.name, place)] for one in sets
    }

    def data() -> object:
        listed = [{**_facts(one), "here": here[one.name]} for one in sets]
        return {"folder": str(place), "sets": listed}

    rows = [
        {
            "set": one.name,
            "what": one.what,
            "licence": one.licence,
            "size": report.format_file_size(one.n_bytes),
            "here": "yes" if here[one.name] else "no",
        }
        for one in sets
    ]
    count = numbers.format_count(len(sets), "data set")
    document = report.listing_document("Data sets", count, report.listing_table(rows), data=data)
    show_document(document, options)
    if not options.as_json:
        console.note(f"folder: {place}; fetch one with `judgekit data get NAME`")


class _DownloadOptions(DataOptions):
    origin: str | None = option(
        "Download from a mirror: an https address or folder with OWNER/REPO/COMMIT/PATH, or an "
        "address with {repository}, {commit} and {path}.",
        spelling="--from",
        metavar="URL|DIR",
    )


@command("get", _DownloadOptions, data_command)
@click.argument("name")
def data_get_command(options: _DownloadOptions, *, name: str) -> None:
    """Download a set, verify it and write its rows.

    Verified files are not downloaded again, so an interrupted download continues where it stopped.
    The licence is shown before anything is downloaded; complying with it is up to you.

    Examples:
        judgekit data get mt_bench
    """
    # An unknown name is an error before anything is created or downloaded.
    catalog = public_data.load_catalog(options.catalog_file)
    chosen = catalog.find(name)
    place = public_data.data_folder(options.folder)
    # Before the download: whoever cannot accept the licence must be able to stop it.
    console.note(f"{chosen.name}: {chosen.what}")
    console.note(f"labelled by: {chosen.labelled_by}")
    console.note(f"licence: {chosen.licence}")
    for source in chosen.sources:
        files = numbers.format_count(len(source.files), "file")
        console.note(f"source: {source.repository} at {source.commit[:12]}, {files}")
    n_files = itertools.count(1)

    def on_file(_: str) -> None:
        n = next(n_files)
        if n % _EVERY == 0:
            console.note(f"{n} files fetched")

    got = public_data.download_set(
        chosen, place, origin=options.origin or catalog.address, on_file=on_file
    )
    n_fetched = numbers.format_count(got.n_fetched, "file")
    n_present = numbers.format_count(got.n_kept, "file")
    done = {
        "folder": str(got.folder),
        "n_fetched": got.n_fetched,
        "n_kept": got.n_kept,
        "joined": {str(path): n for path, n in got.joined.items()},
        "own": {str(path): n for path, n in got.own.items()},
    }
    document = report.listing_document(
        f"Data set {chosen.name}",
        f"{n_fetched} fetched and verified, {n_present} already there",
        report.listing_table(
            {"file": str(path), "rows": str(n)} for path, n in (got.joined | got.own).items()
        ),
        data=lambda: {**_facts(chosen), **done},
    )
    show_document(document, options)


@command("path", DataOptions, data_command)
@click.argument("name")
def data_path_command(options: DataOptions, *, name: str) -> None:
    """Print the folder of a set's rows; an error if it was not downloaded.

    Examples:
        judgekit data path mt_bench
    """
    chosen = public_data.load_catalog(options.catalog_file).find(name)
    place = public_data.data_folder(options.folder)
    files = public_data.joined_files(chosen.name, place)
    # An error, not an empty path: `$(judgekit data path …)` would work in the wrong folder.
    if not files:
        raise SettingsError(
            f"{name} is not in {place}", hint=f"fetch it with `judgekit data get {name}`"
        )
    data = {"folder": str(place / name), "files": [str(file) for file in files]}
    show_line(str(place / name), data, options)


def _facts(one: public_data.PublicDataset) -> dict[str, object]:
    sources = [
        {"repository": s.repository, "commit": s.commit, "n_files": len(s.files)}
        for s in one.sources
    ]
    facts = one.model_dump(include={"name", "what", "labelled_by", "licence", "citation"})
    return {**facts, "n_bytes": one.n_bytes, "sources": sources}
