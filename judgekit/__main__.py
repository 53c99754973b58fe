"""`python -m judgekit` is the command `judgekit`."""

from __future__ import annotations

from judgekit.cli.startup import end_on_interrupt


def start() -> None:
    """Run the command line; Ctrl-C while it is still being imported ends it without a word."""
    end_on_interrupt()
    from judgekit.cli.main import main  # noqa: PLC0415 - the slow part

    main()


if __name__ == "__main__":
    start()
