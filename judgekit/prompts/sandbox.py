"""The one place that runs Jinja: an immutable sandbox over plain JSON data."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from jinja2 import FileSystemLoader, StrictUndefined, Template, TemplateSyntaxError, nodes
from jinja2.exceptions import SecurityError, TemplateError, TemplateNotFound
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from judgekit import errors
from judgekit.prompts.quoting import fenced

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import CodeType

    from pydantic import JsonValue

_FILTERS = (
    "abs", "capitalize", "count", "default", "first", "float", "indent", "int", "join", "last",
    "length", "list", "lower", "max", "min", "reject", "rejectattr", "replace", "reverse",
    "round", "select", "selectattr", "sort", "string", "sum", "title", "trim", "truncate",
    "unique", "upper", "wordcount", "map", "batch", "d", "e",
)  # fmt: skip
_FAULTS = (
    TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError,
    RecursionError,
)  # fmt: skip
"""What a template that is wrong in itself may raise while it is rendered."""

_MAX_RANGE = 1_000
_INCLUDING = (nodes.Include, nodes.Import, nodes.FromImport)
_KEPT = 256
"""Templates that are kept compiled; every judge and every test of a suite opens the same few."""


def make_environment(folders: Sequence[Path]) -> ImmutableSandboxedEnvironment:
    """A sandbox that finds templates in the given folders, the first folder first."""
    # Attributes that begin with an underscore, methods that change a value and globals are out of
    # reach; an undefined name is an error; only harmless filters are there, and `fenced`.
    environment = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader([str(folder) for folder in folders]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,  # an included file ends its own last line
        autoescape=False,  # a prompt is not HTML; judged text must not be rewritten
        auto_reload=False,
    )
    known = environment.filters
    environment.filters = {name: known[name] for name in _FILTERS if name in known}
    environment.filters["fenced"] = fenced
    environment.filters["compact_json"] = _compact_json
    environment.globals = {"range": _capped_range}
    return environment


class CompiledTemplate:
    """A template's blocks, ready to render; built once, used for every case.

    Files are read anew each time; the same text is compiled once in a process.
    """

    def __init__(self, environment: ImmutableSandboxedEnvironment, name: str) -> None:
        self.name = name
        self.sources = _sources(environment, name)
        parts = _compiled(name, tuple(self.sources.items()))
        self._uses = parts.uses
        self._template = Template.from_code(environment, parts.code, environment.globals)
        self._blocks = self._template.blocks
        self.blocks = tuple(self._blocks)

    def names_used(self, block: str) -> frozenset[str]:
        """The variables a block, or what it includes, may read."""
        return self._uses[block]

    def render(self, block: str | None, data: Mapping[str, JsonValue]) -> str:
        """One block rendered over plain data; surrounding white space removed."""
        try:
            context = self._template.new_context(dict(data))
            parts = self._template.root_render_func if block is None else self._blocks[block]
            return "".join(parts(context)).strip()
        except SecurityError as error:
            raise errors.TemplateError(f"template {self.name}: not allowed: {error}") from error
        except _FAULTS as error:
            part = "" if block is None else f", block {block!r}"
            raise errors.TemplateError(
                f"template {self.name}{part}: {error}",
                hint=f"variables there are: {', '.join(sorted(data))}",
            ) from error


class _Includes(NodeTransformer):
    """Puts what an included file says in the place of the include: rendering is twice as fast."""

    def __init__(self, trees: Mapping[str, nodes.Template]) -> None:
        self._trees = trees

    def visit_Include(self, node: nodes.Include) -> nodes.Node:  # noqa: N802 - jinja's own scheme
        """The body of the file, with a scope of its own, as an include has."""
        target = node.template
        if not isinstance(target, nodes.Const):
            return node
        tree = self._trees[target.value]
        if not node.with_context or tree.find(nodes.Block) is not None:
            return node  # it sees other variables, or has blocks of its own
        self.visit(tree)
        return nodes.Scope(tree.body, lineno=node.lineno)


class _Compiled(NamedTuple):
    code: CodeType
    uses: Mapping[str, frozenset[str]]


@lru_cache(maxsize=_KEPT)
def _compiled(name: str, sources: tuple[tuple[str, str], ...]) -> _Compiled:
    """The template with what it includes in place, and the variables that each block may read."""
    trees = {file: _parse(file, source) for file, source in sources}
    blocks = trees[name].find_all(nodes.Block)
    uses = {block.name: frozenset(_names(block, trees)) for block in blocks}
    _Includes(trees).visit(trees[name])
    try:
        return _Compiled(_compiler().compile(trees[name], name, name), uses)
    except TemplateSyntaxError as error:
        raise _syntax_error(error, name) from error


@cache
def _compiler() -> ImmutableSandboxedEnvironment:
    """What parses and compiles: it finds no files and renders nothing."""
    return make_environment(())


def _compact_json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)


def _capped_range(*bounds: int) -> range:
    numbers = range(*bounds)
    if len(numbers) > _MAX_RANGE:
        raise errors.TemplateError(f"range() in a template may count to {_MAX_RANGE} at most")
    return numbers


def _sources(
    environment: ImmutableSandboxedEnvironment, name: str, above: tuple[str, ...] = ()
) -> dict[str, str]:
    """The text of a template and of all it includes, by name."""
    if name in above:
        raise errors.TemplateError(f"template {above[0]} includes {name}, which includes itself")
    source = _source(environment, name, wanted_by=above[-1] if above else name)
    found = {name: source}
    for target in _included(name, source):
        found |= _sources(environment, target, (*above, name))
    return found


def _source(environment: ImmutableSandboxedEnvironment, name: str, *, wanted_by: str) -> str:
    loader = environment.loader
    if loader is None:
        raise errors.TemplateError(f"no folder to find the template {name} in")
    try:
        return loader.get_source(environment, name)[0]
    except TemplateNotFound as error:
        by = "" if name == wanted_by else f", included by {wanted_by}"
        raise errors.TemplateError(f"no template file {name}{by}") from error
    except UnicodeDecodeError as error:
        raise errors.TemplateError(f"template {name} is not UTF-8 text: {error}") from error


def _parse(name: str, source: str) -> nodes.Template:
    try:
        return _compiler().parse(source, name)
    except TemplateSyntaxError as error:
        raise _syntax_error(error, name) from error


@lru_cache(maxsize=_KEPT)
def _included(name: str, source: str) -> tuple[str, ...]:
    """The names of the files that a template includes."""
    tree = _parse(name, source)
    if tree.find(nodes.Extends) is not None:
        raise errors.TemplateError(
            f"template {name} uses extends", hint="put the shared part in a file and include it"
        )
    for node in tree.find_all(_INCLUDING):
        target = getattr(node, "template", None)
        if not isinstance(target, nodes.Const) or not isinstance(target.value, str):
            raise errors.TemplateError(
                f"template {name}:{node.lineno}: the name of an included file must be a plain text"
            )
    return tuple(_targets(tree))


def _targets(node: nodes.Node) -> list[str]:
    """The names of the files a part of a template includes; `_included` made sure of their form."""
    found = (getattr(including, "template", None) for including in node.find_all(_INCLUDING))
    return [target.value for target in found if isinstance(target, nodes.Const)]


def _names(node: nodes.Node, trees: Mapping[str, nodes.Template]) -> set[str]:
    names = {found.name for found in node.find_all(nodes.Name) if found.ctx == "load"}
    for target in _targets(node):
        names |= _names(trees[target], trees)
    return names


def _syntax_error(error: TemplateSyntaxError, name: str) -> errors.TemplateError:
    return errors.TemplateError(f"template {error.name or name}:{error.lineno}: {error.message}")
