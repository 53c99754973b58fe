"""Ends the command with code 130 when Ctrl-C or SIGTERM comes while it is still being imported.

Nothing is open at that time. Python would print where in the imports it was, or lose the interrupt
in one of their callbacks, which cannot raise. This module imports next to nothing itself.
"""

from __future__ import annotations

import os
import signal

# What asks a process to end. On Windows that is Ctrl-Break: SIGTERM ends it at once there.
ENDING_SIGNALS = [getattr(signal, n) for n in ("SIGTERM", "SIGBREAK") if hasattr(signal, n)]

# 128 + SIGINT, as `Exit.INTERRUPTED`, whose module is not imported yet.
_INTERRUPTED = 130


def end_on_interrupt() -> None:
    """Let both end the process at once; Ctrl-C until `raise_interrupts` is called."""
    # A process that was started to ignore them, as with `nohup`, must still ignore them.
    for number in (signal.SIGINT, *ENDING_SIGNALS):
        if signal.getsignal(number) in {signal.default_int_handler, signal.SIG_DFL}:
            signal.signal(number, _end)


def raise_interrupts() -> None:
    """Let Ctrl-C raise `KeyboardInterrupt` again, so that what is open is closed."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: object) -> None:
    os._exit(_INTERRUPTED)
