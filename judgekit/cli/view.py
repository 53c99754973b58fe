"""`judgekit view`: shows the results of a store in the browser, on this machine only."""

from __future__ import annotations

import secrets
import webbrowser
from contextlib import closing
from pathlib import Path

import click

from judgekit.cli import console
from judgekit.cli.help import command
from judgekit.cli.options import CacheFolderOptions, StoreOptions, option
from judgekit.cli.validate import checked_file
from judgekit.store import RunStore


class _ViewOptions(StoreOptions, CacheFolderOptions):
    port: int = option("Port of 127.0.0.1 (0: any free one).", 0)
    no_open: bool = option("Print the address without opening a browser.", default=False)
    edit: Path | None = option(
        "Edit the cases, rubrics, suites and templates of the folder DIR.",
        metavar="DIR",
        kind=click.Path(path_type=Path, exists=True, file_okay=False),
    )


@command("view", _ViewOptions)
@click.argument("run", required=False)
def view_command(options: _ViewOptions, *, run: str | None) -> None:
    """Show runs in the browser.

    The pages are served to this machine only, and only to whoever has the address that is printed.

    Examples:
        judgekit view
        judgekit view latest
        judgekit view --edit .
    """
    from judgekit.web import ViewContext, editor_routes, serve_view  # noqa: PLC0415 - the server, only here

    # Whoever writes a suite has no run yet.
    with closing(RunStore(options.store, create=options.edit is not None)) as store:
        path = "" if options.edit is None else "edit"
        path = path if run is None else f"runs/{store.run(run).id}"
        write_token = None if options.edit is None else secrets.token_urlsafe(32)
        context = ViewContext(store, secrets.token_urlsafe(32), write_token, options.edit)
        routes = []
        if options.edit is not None:
            routes = editor_routes(context, checked_file, cache=options.cache_dir)

        def ready(address: str) -> None:
            address = address.replace("/?", f"/{path}?")
            console.note(f"showing {options.store} at {address}")
            if not options.no_open:
                webbrowser.open(address)

        serve_view(context, port=options.port, routes=routes, ready=ready)
