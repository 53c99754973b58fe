"""`judgekit view`: shows the results of a store in the browser, on this machine only."""

from __future__ import annotations

import secrets
import webbrowser
from contextlib import closing

import click

from judgekit.cli import console
from judgekit.cli.help import command
from judgekit.cli.options import StoreOptions, option
from judgekit.store import RunStore


class _ViewOptions(StoreOptions):
    port: int = option("Port of 127.0.0.1 (0: any free one).", 0)
    no_open: bool = option("Print the address without opening a browser.", default=False)


@command("view", _ViewOptions)
@click.argument("run", required=False)
def view_command(options: _ViewOptions, *, run: str | None) -> None:
    """Show runs in the browser.

    The pages are served to this machine only, and only to whoever has the address that is printed.

    Examples:
        judgekit view
        judgekit view latest
    """
    from judgekit.web import ViewContext, serve_view  # noqa: PLC0415 - the server, only here

    with closing(RunStore(options.store, create=False)) as store:
        path = "" if run is None else f"runs/{store.run(run).id}"

        def ready(address: str) -> None:
            address = address.replace("/?", f"/{path}?")
            console.note(f"showing {options.store} at {address}")
            if not options.no_open:
                webbrowser.open(address)

        serve_view(ViewContext(store, secrets.token_urlsafe(32)), port=options.port, ready=ready)
