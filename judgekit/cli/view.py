"""`judgekit view`: shows the results of a store in the browser, on this machine only."""

from __future__ import annotations

import json
import secrets
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from judgekit import report, store as stores
from judgekit.cli import console
from judgekit.cli.help import command
from judgekit.cli.options import CacheFolderOptions, StoreOptions, flag, option
from judgekit.errors import SettingsError
from judgekit.extras import require_package

if TYPE_CHECKING:
    from judgekit.report import JudgeReplies

_LAST_PORT = 65_535


class _ViewOptions(StoreOptions, CacheFolderOptions):
    with_replies: bool = flag("Show the judge's prompts and raw replies as well.")
    port: int = option("Port of 127.0.0.1 (0: any free one).", 0, ge=0, le=_LAST_PORT)
    no_open: bool = flag("Print the address without opening a browser.")
    as_json: bool = flag('Print {"url", "port"} as one line of JSON.', spelling="--json")
    export: Path | None = option(
        "Write a static site of the results to DIR and exit; serves nothing.", metavar="DIR"
    )
    edit: Path | None = option(
        "Edit the cases, rubrics, suites and templates of the folder DIR.",
        metavar="DIR",
        kind=click.Path(path_type=Path, exists=True, file_okay=False),
    )
    limit: int | None = option("With --export: only the latest N runs (default: all).", ge=1)


@command("view", _ViewOptions)
@click.argument("run", required=False)
def view_command(options: _ViewOptions, *, run: str | None) -> None:
    """Show runs in the browser.

    The pages are served to this machine only, and only to whoever has the address that is printed.
    RUN opens one run: its id, the beginning of an id, latest or latest:SUITE. What is stored
    meanwhile is shown when a page is reloaded; the page of a running run follows it. Ctrl-C ends
    it, with exit code 0.

    With --edit, the pages edit the files of a folder too, and show what a judge would be sent;
    nothing outside of DIR can be opened, and nothing is written before you save it.

    With --export, a static site is written to DIR instead, for CI artifacts and GitHub Pages: it
    opens from disk and needs no server. Its pages contain the inputs and outputs of your cases. DIR
    is new, empty or an earlier export; other files in it are kept.

    Examples:
        judgekit view
        judgekit view latest
        judgekit view --edit .
        judgekit view --export site --limit 20
    """
    if options.limit is not None and options.export is None:
        raise SettingsError("--limit goes with --export", hint="judgekit view --export DIR")
    if options.edit is not None and options.export is not None:
        raise SettingsError("--export serves nothing that could be edited", hint="omit --edit")
    require_package("starlette", "judgekit view")
    # Whoever writes a suite may have no run yet.
    with options.open_store(create=options.edit is not None) as store:
        from judgekit.cli.setup import page_replies  # noqa: PLC0415 - Jinja, only for pages

        with page_replies(options.cache_dir, is_wanted=options.with_replies) as replies:
            if options.export is not None:
                _export(store, options, run, replies)
                return
            start = "" if options.edit is None else "edit"
            path = start if run is None else report.page_path("runs", store.run(run).id)
            _serve(store, options, path, replies)


def _serve(
    store: stores.RunStore, options: _ViewOptions, path: str, replies: JudgeReplies | None
) -> None:
    from judgekit.web import ViewContext, editor_routes, labelling_routes, serve_view  # noqa: PLC0415 - the server, only here

    def ready(address: str) -> None:
        address = address.replace("/?", f"/{path}?")
        if options.as_json:
            line = json.dumps({"url": address, "port": urlsplit(address).port})
            sys.stdout.write(f"{line}\n")
            # Whoever waits for the line waits for the pipe.
            sys.stdout.flush()
        else:
            console.note(f"showing {store.location.name} at {address}")
            console.note("Ctrl-C ends it")
        if not options.no_open:
            webbrowser.open(address)

    write_token = None if options.edit is None else secrets.token_urlsafe(32)
    token = secrets.token_urlsafe(32)
    context = ViewContext(store, token, write_token, options.edit, replies)
    # Without a token for writing these show labels and their agreement, but take none.
    routes = labelling_routes(context)
    if options.edit is not None:
        from judgekit.cli.validate import checked_file  # noqa: PLC0415 - Jinja, only here

        routes += editor_routes(context, checked_file, cache=options.cache_dir)
    serve_view(context, port=options.port, routes=routes, ready=ready)


def _export(
    store: stores.RunStore, options: _ViewOptions, run: str | None, replies: JudgeReplies | None
) -> None:
    from judgekit.web import export_site  # noqa: PLC0415 - Jinja, only here

    folder = options.export
    if folder is None or run is not None:
        raise SettingsError("--export writes all runs, not one", hint="omit RUN, or use --limit")
    n = export_site(store, folder, limit=options.limit, replies=replies)
    if options.as_json:
        console.print_json({"folder": str(folder), "pages": n})
    console.note(
        f"wrote {report.format_count(n, 'page')} to {folder}: open {folder / 'index.html'}"
    )
    console.note("the pages contain the inputs and outputs of your cases")
