"""Runs strangers' programs, each once, within limits, and leaves nothing of them behind."""

from judgekit.processes.child import neutralised
from judgekit.processes.environment import scrubbed_environment
from judgekit.processes.running import (
    Finished,
    Limits,
    ProcessFailedError,
    ProcessFailure,
    find_program,
    run_process,
)

__all__ = [
    "Finished",
    "Limits",
    "ProcessFailedError",
    "ProcessFailure",
    "find_program",
    "neutralised",
    "run_process",
    "scrubbed_environment",
]
