"""Runs a function of a check in a worker process, so that a hostile output costs little."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from judgekit.assertions.registry import UndecidedError
from judgekit.subprocess import ProcessFailedError
from judgekit.subprocess.worker_pool import call_bounded

TimeoutSeconds = Annotated[float, Field(gt=0, le=600, allow_inf_nan=False)]


def run_bounded(function: str, *arguments: object, timeout_s: float) -> object:
    """Call `module:function` in a worker; what it raises, and a limit, leave a check undecided."""
    try:
        return call_bounded(function, *arguments, timeout_s=timeout_s)
    except ProcessFailedError as error:
        raise UndecidedError(error.message) from error
