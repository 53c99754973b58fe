"""Holds the parts of a reply that has been taken apart: objects, lists and single values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Leaf:
    """A single value."""

    kind: Literal["number", "string", "bare", "bool", "null", "line"]
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Pair:
    """A key with its value; `start` is where the key begins."""

    key: str
    value: Node
    start: int


@dataclass(frozen=True, slots=True)
class Obj:
    """An object; a key may stand in it twice."""

    pairs: tuple[Pair, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Arr:
    """A list."""

    items: tuple[Node, ...]
    start: int
    end: int


Node = Leaf | Obj | Arr
