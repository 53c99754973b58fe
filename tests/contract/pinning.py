"""Compares values with pinned files, or writes the files anew."""

from __future__ import annotations

import fcntl
import json
import math
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PINNED = Path(__file__).parent / "pinned"


@dataclass(frozen=True)
class Pins:
    """The pinned files, and whether they are to be written."""

    updates: bool

    def check(self, file: str, key: str, value: object) -> None:
        """Hold a JSON value against the entry `key` of `pinned/<file>.json`."""
        value = steady(value)
        path = PINNED / f"{file}.json"
        if self.updates:
            with _locked():
                known = read(file) if path.exists() else {}
                # 0 and 0.0 are equal: only what differs is written.
                if key not in known or known[key] != value:
                    _write(path, json.dumps(known | {key: value}, indent=1, sort_keys=True))
            return
        assert value == read(file)[key], f"{path.name} says otherwise of {key!r}; {_REMEDY}"

    def check_text(self, file: str, text: str) -> None:
        """Hold a text against `pinned/<file>`."""
        path = PINNED / file
        if self.updates:
            _write(path, text)
            return
        assert text.rstrip().splitlines() == path.read_text(encoding="utf-8").splitlines(), (
            f"{file} says otherwise; {_REMEDY}"
        )


_REMEDY = "if that is meant: python -m pytest tests/contract --update-pinned, and read the diff"


def read(file: str) -> dict[str, Any]:
    """All entries of `pinned/<file>.json`."""
    entries: dict[str, Any] = json.loads((PINNED / f"{file}.json").read_text(encoding="utf-8"))
    return entries


def steady(value: Any) -> Any:
    """A JSON value whose floats have ten digits, so that no machine's last bit decides."""
    if isinstance(value, dict):
        return {str(name): steady(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [steady(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.10g}") if math.isfinite(value) else str(value)
    return value


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text.rstrip()}\n", encoding="utf-8")


@contextmanager
def _locked() -> Iterator[None]:
    """One process at a time writes, for tests run beside each other."""
    with Path(__file__).open(encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
