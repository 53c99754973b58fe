"""`python -m judgekit` is the command `judgekit`."""

from __future__ import annotations

import atexit
import gc
import os
import sys

from judgekit.cli.startup import end_on_interrupt


def start() -> None:
    """Run the command line; Ctrl-C while it is still being imported ends it without a word."""
    # Registered first, so that it runs last. Without it Python's last collections walk through all
    # that was imported, a fifth of the time of a short command, to free what ends with the process.
    atexit.register(gc.freeze)
    # Imports and records fill memory with objects that stay. At Python's default of 700 new objects
    # the collector goes through all of them again and again: 7 % of the time of `grade`; at 50,000
    # still 6 % of a short command's.
    gc.set_threshold(200_000, 20, 100)
    # glibc gives freed memory back to the system from 128 KiB on, as much as packing a reply takes,
    # and every page of it is cleared when it is taken again: 15 % of the time of `cache import`.
    # Freeing one large block raises that limit. No page of it is touched.
    bytes(8 << 20)
    end_on_interrupt()
    # A closed stream is None; its number would go to the next file, a database perhaps.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
    from judgekit.cli.main import main  # noqa: PLC0415 - the slow part

    main()


if __name__ == "__main__":
    start()
