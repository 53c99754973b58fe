"""A small published set, made for the tests: two preferences of a judge that never was."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

REPOSITORY, COMMIT = "someone/pairs", "a" * 40
PAIR = {
    "instruction": "Say hi.",
    "outputs": ["hi", "no"],
    "preferences": {"human": 1},
    "probs": [0.75, 0.25],
}
FILES = {
    "result/big.calibration.jsonl": json.dumps(PAIR).encode() + b"\n",
    "result/small.calibration.jsonl": json.dumps({**PAIR, "probs": [0.25, 0.75]}).encode() + b"\n",
}
BIG, SMALL = FILES


def served(name: str) -> str:
    """Where a mirror has a file."""
    return f"{REPOSITORY}/{COMMIT}/{name}"


def mirrored() -> dict[str, bytes]:
    """The files as a mirror has them."""
    return {served(name): body for name, body in FILES.items()}


def write_catalog(folder: Path, *, source: str | None = None, listing: str | None = None) -> Path:
    """A catalog with the one set, and its listing beside it."""
    pinned = {
        name: {"bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
        for name, body in FILES.items()
    }
    (folder / "sources").mkdir(parents=True)
    text = json.dumps({REPOSITORY: pinned}) if listing is None else listing
    (folder / "sources" / "made.json").write_text(text)
    path = folder / "catalog.yaml"
    source = source or f"{{repository: {REPOSITORY}, commit: {COMMIT}}}"
    path.write_text(
        "from: https://files.invalid/{repository}/{commit}/{path}\n"
        "sets:\n"
        "  made:\n"
        "    what: one pair\n"
        "    labelled_by: one person\n"
        "    licence: none stated\n"
        "    citation: nowhere\n"
        "    converter: confidence\n"
        f"    sources: [{source}]\n"
    )
    return path
