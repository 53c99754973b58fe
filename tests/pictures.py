"""Small images for tests, made here so that no binary file lies in the repository."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

GIF = base64.b64decode("R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=")


def png(red: int = 255, *, size: int = 8) -> bytes:
    """A square PNG of one colour."""
    rows = b"".join(b"\0" + bytes([red, 0, 0]) * size for _ in range(size))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(
        b"IDAT", zlib.compress(rows)
    ) + chunk(b"IEND", b"")  # fmt: skip


def data_url(content: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def asked_about(*parts: Any, text: str = "What is this?") -> list[Any]:
    """An input of one message with a text and further parts."""
    return [{"role": "user", "content": [{"type": "text", "text": text}, *parts]}]


def image(**source: Any) -> dict[str, Any]:
    return {"type": "image", **source}
