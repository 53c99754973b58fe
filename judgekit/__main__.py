"""`python -m judgekit` is the command `judgekit`."""

from __future__ import annotations

from judgekit.cli.main import main

if __name__ == "__main__":
    main()
