"""Runs the command line in this process and says what came of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from judgekit.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., "Ran"]


class Ran(NamedTuple):
    """What a command came to."""

    code: int
    """Its exit code."""

    out: str
    """Its stdout."""

    err: str
    """Its stderr."""

    @property
    def json(self) -> Any:
        """Its stdout, read as JSON."""
        return json.loads(self.out)


def runner(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """A function that runs the command line with the given arguments."""

    def run(*arguments: object) -> Ran:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        streams = capsys.readouterr()
        assert isinstance(stopped.value.code, int)
        return Ran(stopped.value.code, streams.out, streams.err)

    return run
