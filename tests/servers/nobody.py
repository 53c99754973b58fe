"""A place on loopback where nobody listens, and nobody can begin to."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def unserved_port() -> Iterator[int]:
    """A port that is taken, so that no other process gets it, and refuses every connection."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield int(taken.getsockname()[1])
