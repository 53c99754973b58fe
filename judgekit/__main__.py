"""`python -m judgekit` is the command `judgekit`."""

from __future__ import annotations

from judgekit.cli.startup import end_on_interrupt


def main() -> None:
    """Run the command line; Ctrl-C while it is still being imported ends it without a word."""
    end_on_interrupt()
    from judgekit.cli.main import main as run  # noqa: PLC0415 - the slow part

    run()


if __name__ == "__main__":
    main()
