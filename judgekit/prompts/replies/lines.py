"""Reads lines, the simple part of YAML, tables and tags as documents."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judgekit.prompts.replies.documents import Arr, Leaf, Obj, Pair
from judgekit.prompts.replies.names import fold_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.prompts.replies.documents import Node

_ROW = re.compile(
    r"(?P<indent>[ \t]*+)"
    r"(?P<bullet>(?:[-*•+][ \t]++|[0-9]{1,3}[.)][ \t]++|#{1,6}[ \t]++){0,3}+)"
    r"(?P<key>[^\s:\uff1a=|][^:\uff1a=|\n]{0,99}?)[ \t]{0,20}[:\uff1a=](?P<value>[^\n]*+)"
)
_DECORATION = " \t*_`\"'“”\u2018\u2019[]"
_BLOCK = re.compile(r"\s*[|>][+-]?[0-9]?\s*")
_OWN_SCALE = re.compile(
    r"[(\[] ?(?:out of |/|max\.? )?"
    r"((?:[+-]?[0-9.]{1,9} ?(?:-|\u2013|—|to|\.\.) ?)?[0-9.]{1,9}) ?[)\]][*_` ]{0,4}\Z"
)
_LIST_BULLET = re.compile(r"[-*•+]")


@dataclass(slots=True)
class _Open:
    """An object under construction: rows indented deeper than `indent` belong to it."""

    indent: int
    start: int
    key: str = ""
    is_item: bool = False
    pairs: list[Pair] = field(default_factory=list)
    items: list[Obj] = field(default_factory=list)
    end: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """A line `key: value`; `dash` is where its bullet stands, `scale` what it says of its scale."""

    key: str
    value: str
    indent: int
    dash: int | None
    scale: str | None
    start: int
    value_start: int
    end: int


def read_outline(prose: str) -> Obj:
    """The lines `key: value` of a text as one object; deeper indented ones belong to the one above."""
    root = _Open(-1, 0)
    stack = [root]
    for row in _rows(prose):
        while len(stack) > 1 and _ends(row, stack[-1]):
            _close(stack)
        _add(row, stack)
    while len(stack) > 1:
        _close(stack)
    if root.items:
        listed = Arr(tuple(root.items), root.items[0].start, root.items[-1].end)
        root.pairs.append(Pair("results", listed, listed.start))
    return Obj(tuple(root.pairs), 0, len(prose))


def _rows(prose: str) -> Iterator[Row]:
    block: int | None = None
    start = 0
    for line in prose.splitlines(keepends=True):
        body, at = line.rstrip("\r\n"), start
        start += len(line)
        if not body.strip():
            continue
        indent = len(body) - len(body.lstrip(" \t"))
        if block is not None and indent > block:
            continue
        block = None
        match = None if body.lstrip().startswith(("|", "<")) else _ROW.match(body)
        if match is None:
            continue
        row = _row(match, at)
        if _BLOCK.fullmatch(match.group("value")):
            block = indent
        yield row


def _row(match: re.Match[str], at: int) -> Row:
    bullet = match.group("bullet")
    key, value = match.group("key").strip(_DECORATION), match.group("value")
    scale = _OWN_SCALE.search(key)
    return Row(
        key=key if scale is None else key[: scale.start()].strip(_DECORATION),
        value=value.strip().removeprefix("**").removeprefix("__").strip(),
        indent=len(match.group("indent")) + (len(bullet) if _LIST_BULLET.match(bullet) else 0),
        dash=len(match.group("indent")) if _LIST_BULLET.match(bullet) else None,
        scale=None if scale is None else scale.group(1),
        start=at + match.start("key"),
        value_start=at + match.start("value"),
        end=at + match.end(),
    )


def _ends(row: Row, top: _Open) -> bool:
    """Whether a row stands outside the innermost open object."""
    if row.dash is None or fold_key(row.key) not in _ITEM_KEYS:
        return row.indent <= top.indent
    return top.indent > row.dash or (top.is_item and top.indent == row.dash)


def _add(row: Row, stack: list[_Open]) -> None:
    top = stack[-1]
    if row.dash is not None and fold_key(row.key) in _ITEM_KEYS:
        item = _Open(row.dash, row.start, is_item=True)
        stack.append(item)
        top = item
    top.end = row.end
    if row.scale is not None:
        top.pairs.append(Pair("scale", Leaf("line", row.scale, row.start, row.start), row.start))
    if row.value:
        leaf = Leaf("line", row.value, row.value_start, row.end)
        top.pairs.append(Pair(row.key, leaf, row.start))
    else:
        stack.append(_Open(row.indent, row.start, row.key, end=row.end))


_ITEM_KEYS = frozenset({"name", "criterion", "metric", "dimension", "aspect"})


def _close(stack: list[_Open]) -> None:
    done = stack.pop()
    parent = stack[-1]
    parent.end = max(parent.end, done.end)
    if not done.pairs and not done.items:
        return
    obj = Obj(tuple(done.pairs), done.start, done.end)
    if not done.key:
        parent.items.append(obj)
        return
    node: Node = Arr(tuple(done.items), done.start, done.end) if done.items else obj
    parent.pairs.append(Pair(done.key, node, done.start))
