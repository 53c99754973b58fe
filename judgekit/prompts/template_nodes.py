"""Takes a template apart: the texts and the printed values of each block, includes followed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from jinja2 import nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jinja2.sandbox import ImmutableSandboxedEnvironment

_FENCE = "fenced"
_COUNTING = frozenset({_FENCE, "length", "count", "wordcount", "int", "float"})
"""Filters after which nothing of a foreign text is left that could be read as an instruction."""

_NONE: frozenset[str] = frozenset()
_Carried = dict[str, frozenset[str]]
"""The untrusted variables whose text each name carries."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of plain text in a template, or one value that it prints."""

    file: str
    """The file's name below its template folder."""

    line: int
    """Where it begins, from 1."""

    text: str = ""
    """The text; empty for a printed value."""

    names: frozenset[str] = _NONE
    """The variables a printed value is made of."""

    unfenced: frozenset[str] = _NONE
    """The untrusted variables whose text is printed without a fence."""


def block_pieces(
    environment: ImmutableSandboxedEnvironment, name: str, untrusted: frozenset[str]
) -> dict[str, tuple[Piece, ...]]:
    """The pieces of each block of a template, in the order they are printed."""
    # Both branches of a condition count, and a loop's body once.
    walk = _Walk(environment)
    tree = walk.parsed(name)
    carried = {each: frozenset({each}) for each in untrusted}
    found = {
        block.name: tuple(walk.body(block.body, name, dict(carried)))
        for block in tree.find_all(nodes.Block)
    }
    outside = [node for node in tree.body if not isinstance(node, nodes.Block)]
    return {**found, "": tuple(walk.body(outside, name, dict(carried)))}


class _Walk:
    """Goes through statements in their order and keeps track of what names carry."""

    def __init__(self, environment: ImmutableSandboxedEnvironment) -> None:
        self._environment = environment
        self._macros: dict[str, nodes.Macro] = {}
        self._inside: tuple[str, ...] = ()

    def parsed(self, name: str) -> nodes.Template:
        loader = self._environment.loader
        source = "" if loader is None else loader.get_source(self._environment, name)[0]
        return self._environment.parse(source, name)

    def body(self, statements: list[nodes.Node], file: str, carried: _Carried) -> Iterator[Piece]:
        for statement in statements:
            yield from self._statement(statement, file, carried)

    def _statement(self, node: nodes.Node, file: str, carried: _Carried) -> Iterator[Piece]:
        match node:
            case nodes.Output():
                for child in node.nodes:
                    yield from self._printed(child, file, carried)
            case nodes.Assign():
                _bind(node.target, _carries(node.node, carried), carried)
            case nodes.AssignBlock():
                pieces = list(self.body(node.body, file, dict(carried)))
                held = _NONE if _fences(node.filter) else _union(p.unfenced for p in pieces)
                _bind(node.target, held, carried)
            case nodes.Macro():
                self._macros[node.name] = node
            case nodes.Include():
                yield from self._included(node, carried)
            case _:
                yield from self._nested(node, file, carried)

    def _nested(self, node: nodes.Node, file: str, carried: _Carried) -> Iterator[Piece]:
        match node:
            case nodes.If():
                for branch in (node.body, *(other.body for other in node.elif_), node.else_):
                    yield from self.body(branch, file, carried)
            case nodes.For():
                inner = dict(carried)
                _bind(node.target, _carries(node.iter, carried), inner)
                yield from self.body([*node.body, *node.else_], file, inner)
            case nodes.With():
                inner = dict(carried)
                for target, value in zip(node.targets, node.values, strict=True):
                    _bind(target, _carries(value, carried), inner)
                yield from self.body(node.body, file, inner)
            case nodes.FilterBlock():
                for piece in self.body(node.body, file, dict(carried)):
                    unfenced = _NONE if _fences(node.filter) else piece.unfenced
                    yield replace(piece, unfenced=unfenced)
            case _:
                inside = [each for each in node.iter_child_nodes() if isinstance(each, nodes.Stmt)]
                yield from self.body([*inside], file, dict(carried))

    def _included(self, node: nodes.Include, carried: _Carried) -> Iterator[Piece]:
        target = node.template
        name = str(target.value) if isinstance(target, nodes.Const) else ""
        yield from self.body(self.parsed(name).body, name, dict(carried))

    def _printed(self, node: nodes.Expr, file: str, carried: _Carried) -> Iterator[Piece]:
        if isinstance(node, nodes.TemplateData):
            yield Piece(file, node.lineno, text=node.data)
        elif (macro := self._called(node)) is not None:
            outer, self._inside = self._inside, (*self._inside, macro.name)
            yield from self.body(macro.body, file, _arguments(macro, node, carried))
            self._inside = outer
        else:
            yield Piece(file, node.lineno, names=_names(node), unfenced=_carries(node, carried))

    def _called(self, node: nodes.Expr) -> nodes.Macro | None:
        """The macro a printed expression calls; its body prints what is handed to it."""
        if not isinstance(node, nodes.Call) or not isinstance(node.node, nodes.Name):
            return None
        name = node.node.name
        return None if name in self._inside else self._macros.get(name)


def _arguments(macro: nodes.Macro, node: nodes.Expr, carried: _Carried) -> _Carried:
    inner = dict(carried)
    if isinstance(node, nodes.Call):
        given = {keyword.key: keyword.value for keyword in node.kwargs}
        given |= {name.name: value for name, value in zip(macro.args, node.args, strict=False)}
        for argument in macro.args:
            value = given.get(argument.name)
            inner[argument.name] = _NONE if value is None else _carries(value, carried)
    return inner


def _bind(target: nodes.Node, held: frozenset[str], carried: _Carried) -> None:
    for name in _names(target):
        carried[name] = held


def _carries(node: nodes.Node, carried: _Carried) -> frozenset[str]:
    """The untrusted variables whose text can come out of an expression."""
    match node:
        case nodes.Name():
            return carried.get(node.name, _NONE)
        case nodes.Filter() if node.name in _COUNTING:
            return _NONE
        case nodes.Test() | nodes.Compare() | nodes.Not():
            return _NONE
        case nodes.CondExpr():
            otherwise = _NONE if node.expr2 is None else _carries(node.expr2, carried)
            return _carries(node.expr1, carried) | otherwise
    return _union(_carries(child, carried) for child in node.iter_child_nodes())


def _fences(node: nodes.Filter | None) -> bool:
    """Whether a chain of filters has the fence in it."""
    return node is not None and any(
        each.name == _FENCE for each in (node, *node.find_all(nodes.Filter))
    )


def _names(node: nodes.Node) -> frozenset[str]:
    found = [node] if isinstance(node, nodes.Name) else []
    return frozenset(name.name for name in (*found, *node.find_all(nodes.Name)))


def _union(sets: Iterator[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*sets)
