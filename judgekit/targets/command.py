"""A command as the system under test.

The case is written as JSON to stdin, the output read as JSON from stdout.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from judgekit.errors import SettingsError
from judgekit.subprocess import (
    ProcessFailedError,
    ProcessFailure,
    ProcessLimits,
    find_program,
    run_process,
)
from judgekit.targets.target import TargetCall, call_timeout_s, encode_call

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from judgekit.records import Case, Output, TargetErrorKind

_KINDS: dict[ProcessFailure, TargetErrorKind] = {
    "timeout": "timeout",
    "signal": "signal",
    "too_large": "too_large",
}

# The end of stderr, since programs write the cause of a failure last.
_SHOWN_STDERR = 500


class CommandTarget:
    """Starts the program once for each case."""

    def __init__(
        self,
        variant: str,
        command: Sequence[str],
        *,
        folder: Path,
        environment: Mapping[str, str],
        limits: ProcessLimits,
        secrets: Sequence[str] = (),
    ) -> None:
        try:
            # Looked for now, so that a missing program is reported once, before any case and any
            # payment.
            find_program(command, environment=environment, folder=folder)
        except ProcessFailedError as error:
            message = f"the command of variant {variant!r}: {error.message}"
            raise SettingsError(message, hint=error.hint) from error
        self.id = variant
        self._command = tuple(command)
        self._folder = folder
        self._environment = environment
        self._limits = limits
        self._secrets = tuple(secrets)

    async def answer(self, case: Case, *, repeat: int = 0) -> Output:
        call = TargetCall(case, self.id, self._secrets)
        stdin = encode_call(case, repeat)
        limits = replace(self._limits, timeout_s=call_timeout_s(case, self._limits.timeout_s))
        try:
            stdout = await run_process(
                self._command,
                stdin,
                limits=limits,
                environment=self._environment,
                folder=self._folder,
            )
        except ProcessFailedError as error:
            # By the kind a report shows whether the program was slow, missing or wrong.
            last = error.stderr[-_SHOWN_STDERR:].strip()
            end = f"; the end of stderr: {last}" if last else ""
            return call.failed(
                _KINDS.get(error.kind, "exit"), f"{self._command[0]}: {error.message}{end}"
            )
        return call.read_bytes(stdout, source="stdout")

    async def aclose(self) -> None:
        """Nothing is held between two cases."""
