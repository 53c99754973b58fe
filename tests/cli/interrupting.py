"""Ctrl-C in this process, pressed by a server as requests arrive, each heard before the next."""

from __future__ import annotations

import signal
import sys
import threading
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    import pytest

_HEARD = "Ctrl-C again to stop at once"
_PATIENCE_S = 60


class CtrlC:
    """Interrupts the main thread, from any other.

    Two signals that come before Python has run the handler of the first are one; so the second
    waits until the program has said that it heard the first.

    Args:
        monkeypatch: Listens to stderr for as long as the test lasts.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._heard = threading.Event()
        self._is_pressed = False
        monkeypatch.setattr(sys, "stderr", _Listening(sys.stderr, self._heard))

    def press(self) -> None:
        """Press it once."""
        main = threading.main_thread().ident
        assert main is not None
        signal.pthread_kill(main, signal.SIGINT)

    def press_once(self) -> None:
        """Press it, and nothing when called again."""
        if not self._is_pressed:
            self._is_pressed = True
            self.press()

    def press_and_wait(self) -> None:
        """Press it once, and go on when it was heard."""
        self.press()
        assert self._heard.wait(_PATIENCE_S), "nobody heard the interrupt"

    def press_twice(self) -> None:
        """Press it, and again when the first was heard."""
        self.press_and_wait()
        self.press()


class _Listening:
    """A stream that notices when it is said that an interrupt was heard."""

    def __init__(self, stream: TextIO, heard: threading.Event) -> None:
        self._stream = stream
        self._noticed = heard

    def write(self, text: str) -> int:
        if _HEARD in text:
            self._noticed.set()
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
