"""The only module that uses Jinja for prompts: a sandbox over plain JSON data.

Also the syntax tree that `template_lint` checks.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from jinja2 import FileSystemLoader, StrictUndefined, Template, TemplateSyntaxError, meta, nodes
from jinja2.exceptions import SecurityError, TemplateError, TemplateNotFound
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from judgekit import errors
from judgekit.prompts.fences import fence_text, to_text
from judgekit.resources import shipped_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from jinja2 import Environment
    from pydantic import JsonValue


_FILTERS = (
    "abs", "capitalize", "count", "default", "first", "float", "indent", "int", "join", "last",
    "length", "list", "lower", "max", "min", "reject", "rejectattr", "replace", "reverse",
    "round", "select", "selectattr", "sort", "string", "sum", "title", "trim", "truncate",
    "unique", "upper", "wordcount", "map", "batch", "d", "e",
)  # fmt: skip

# What an invalid template may raise while it is rendered.
_FAULTS = (
    TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError,
    RecursionError,
)  # fmt: skip
_MAX_RANGE = 1_000

# Every judge and every test of a suite opens the same few templates.
_CACHED_TEMPLATES = 256

# A rendering takes a millisecond; the rest is for a machine that is busy, and for huge traces.
RENDERING_S = 5.0
_MAX_CHARACTERS = 50_000_000

# A template and all that it includes: their names and texts.
_Sources = tuple[tuple[str, str], ...]


class TemplateLimitError(errors.TemplateError):
    """A template takes more time or memory than a template may."""


def make_environment(
    folders: Sequence[Path], texts: Mapping[str, str] | None = None
) -> ImmutableSandboxedEnvironment:
    """A sandbox that finds templates among texts, then in folders, the first folder first."""
    # Templates may come from unknown authors: attributes that begin with an underscore, methods
    # that change a value and globals are out of reach, an undefined name is an error, and only
    # harmless filters are defined.
    environment = ImmutableSandboxedEnvironment(
        loader=_Loader([str(folder) for folder in folders], texts or {}),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,  # an included file ends its own last line
        autoescape=False,  # a prompt is not HTML; judged text must not be rewritten
        auto_reload=False,
    )
    known = environment.filters
    environment.filters = {name: known[name] for name in _FILTERS if name in known}
    environment.filters["fenced"] = fence_text
    environment.filters["compact_json"] = partial(json.dumps, ensure_ascii=False)
    environment.filters["javascript_text"] = _javascript_text
    environment.globals = {"range": _capped_range}
    return environment


def _javascript_text(value: JsonValue) -> str:
    from judgekit.formats import javascript_text  # noqa: PLC0415 - for imported prompts only

    return javascript_text(value)


class _Loader(FileSystemLoader):
    """Finds templates in folders; one that is being edited is read as typed."""

    def __init__(self, folders: Sequence[str], texts: Mapping[str, str]) -> None:
        super().__init__(folders)
        self._texts = texts

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        if template in self._texts:
            return self._texts[template], template, lambda: True
        # Not needed, and slow to import, where a worker renders what it was sent.
        from judgekit.formats import typed_content  # noqa: PLC0415

        source, filename, is_current = super().get_source(environment, template)
        typed = typed_content(Path(filename))
        return source if typed is None else typed.decode(), filename, is_current


class CompiledTemplate:
    """A template's blocks, ready to render; built once, used for every case."""

    # Files are read each time, so that a change is seen; the same text is compiled only once.
    # What is not shipped is compiled and rendered in a worker process, within limits: the sandbox
    # limits what a template reaches, not what it costs.

    def __init__(
        self,
        environment: ImmutableSandboxedEnvironment,
        name: str,
        *,
        prints_json: bool = False,
        is_trusted: bool = False,
    ) -> None:
        self.name = name
        self.sources: dict[str, str] = {}
        # Whether objects and lists print as JSON.
        self._prints_json = prints_json
        try:
            _read_sources(environment, name, self.sources)
            self._sources = tuple(self.sources.items())
            # `uses` has the variables that each block, or what it includes, may read.
            self.blocks, self.uses = _outlined(name, self._sources)
            self._runs_here = is_trusted or _is_shipped(self._sources)
            if is_trusted:
                self.compile()
        except RecursionError:
            raise errors.TemplateError(f"template {name} is nested too deeply") from None
        if not self._runs_here:
            _check_bounded(name, self._sources)

    def compile(self) -> None:
        """Compile it now and not with the first prompt, if it is rendered in this process."""
        _ = self._template if self._runs_here else None

    @cached_property
    def _template(self) -> Template:
        # Shipped templates compile: only those that are rendered need the time.
        return _compiled(self.name, self._sources)

    def variables(self) -> frozenset[str]:
        """The variables that it may read in any of its parts."""
        trees = {file: _read_tree(file, source) for file, source in self.sources.items()}
        return _variables_in(trees[self.name], trees)

    def check_limits(self, data: Mapping[str, JsonValue]) -> None:
        """Render a template with limits over made-up data, before anything is paid."""
        for block in (self.blocks or (None,)) if not self._runs_here else ():
            try:
                self.render(block, data)
            except TemplateLimitError:
                raise
            except errors.TemplateError:  # real data may have what it wants
                continue

    def render(self, block: str | None, data: Mapping[str, JsonValue]) -> str:
        """One block rendered over plain data; surrounding white space removed."""
        if not self._runs_here:
            return _call_worker(self.name, self._sources, block, data, self._prints_json)
        try:
            values = dict(data)
            if self._prints_json:
                values = {name: _printing_json(value) for name, value in data.items()}
            context, template = self._template.new_context(values), self._template
            parts = template.root_render_func if block is None else template.blocks[block]
            return "".join(parts(context)).strip()
        except SecurityError as error:
            raise errors.TemplateError(f"template {self.name}: not allowed: {error}") from error
        except _FAULTS as error:
            part = "" if block is None else f", block {block!r}"
            raise errors.TemplateError(
                f"template {self.name}{part}: {error}",
                hint=f"variables there are: {', '.join(sorted(data))}",
            ) from error


def _call_worker(
    name: str,
    sources: _Sources,
    block: str | None,
    data: Mapping[str, JsonValue] | None,
    prints_json: bool,  # noqa: FBT001 - passed on as it is
) -> str:
    """What `render_in_worker` returns, or an error."""
    # Shipped templates need no process.
    from judgekit.subprocess import ProcessFailedError  # noqa: PLC0415
    from judgekit.subprocess.worker_pool import call_bounded  # noqa: PLC0415

    part = "" if block is None else f", block {block!r}"
    arguments = name, sources, block, data, prints_json
    try:
        # The sources are sent each time, so that any worker can render any template.
        function = f"{__name__}:{render_in_worker.__name__}"
        found = call_bounded(function, *arguments, timeout_s=RENDERING_S)
    except ProcessFailedError as error:
        raise TemplateLimitError(
            f"template {name}{part}: {error.message}",
            hint="shorten its loops, or render less; shipped templates have no such limits",
        ) from error
    except RecursionError:
        raise errors.TemplateError(f"template {name}{part}: the data are too deep") from None
    except ValueError as error:  # an integer of more digits than Python prints
        raise errors.TemplateError(f"template {name}{part}: {error}") from error
    text, message, hint = cast("tuple[str, str | None, str | None]", found)
    if message is not None:
        raise errors.TemplateError(message, hint=hint)
    return text


def render_in_worker(
    name: str,
    sources: Sequence[Sequence[str]],
    block: str | None,
    data: Mapping[str, JsonValue] | None,
    prints_json: bool,  # noqa: FBT001 - the arguments are JSON
) -> tuple[str, str | None, str | None]:
    """Render a block in this process: its text, or the message and hint of an error."""
    # Without data, the template is only compiled.
    try:
        template = _opened(name, tuple((file, text) for file, text in sources), prints_json)
        text = "" if data is None else template.render(block, data)
    except errors.TemplateError as error:
        return "", error.message, error.hint
    if len(text) > _MAX_CHARACTERS:
        return "", f"template {name} makes a text of over {_MAX_CHARACTERS:,} characters", None
    return text, None, None


@lru_cache(maxsize=_CACHED_TEMPLATES)
def _opened(name: str, sources: _Sources, prints_json: bool) -> CompiledTemplate:  # noqa: FBT001
    environment = make_environment((), dict(sources))
    return CompiledTemplate(environment, name, prints_json=prints_json, is_trusted=True)


@lru_cache(maxsize=_CACHED_TEMPLATES)
def _check_bounded(name: str, sources: _Sources) -> None:
    """Compile a template in a worker, because Jinja computes constants as it compiles."""
    _call_worker(name, sources, None, None, False)


@lru_cache(maxsize=_CACHED_TEMPLATES)
def _is_shipped(sources: _Sources) -> bool:
    """Whether a template and all it includes are judgekit's own, word for word."""
    folder = shipped_file("prompts")
    return all(
        (path := folder / name).is_file() and path.read_text(encoding="utf-8") == text
        for name, text in sources
    )


class _Includes(NodeTransformer):
    """Replaces each include with the included file, which makes rendering twice as fast."""

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


@lru_cache(maxsize=_CACHED_TEMPLATES)
def _compiled(name: str, sources: _Sources) -> Template:
    """The template with what it includes in place."""
    trees = {file: _parse(file, source) for file, source in sources}
    _Includes(trees).visit(trees[name])
    environment = make_environment((), dict(sources))
    try:
        code = environment.compile(trees[name], name, name)
    except TemplateSyntaxError as error:
        raise _syntax_error(error, name) from error
    return Template.from_code(environment, code, environment.globals)


@lru_cache(maxsize=_CACHED_TEMPLATES)
def _outlined(name: str, sources: _Sources) -> tuple[tuple[str, ...], Mapping[str, frozenset[str]]]:
    """The blocks of a template, and the variables that each may read."""
    trees = {file: _read_tree(file, source) for file, source in sources}
    uses = {one.name: _variables_in(one, trees) for one in trees[name].find_all(nodes.Block)}
    return tuple(uses), uses


@cache
def _compiler() -> ImmutableSandboxedEnvironment:
    # It finds no files and renders nothing, so one instance serves all folders.
    return make_environment(())


def _capped_range(*bounds: int) -> range:
    numbers = range(*bounds)
    if len(numbers) > _MAX_RANGE:
        raise errors.TemplateError(f"range() in a template may count to {_MAX_RANGE} at most")
    return numbers


def _read_sources(
    environment: ImmutableSandboxedEnvironment,
    name: str,
    found: dict[str, str],
    above: tuple[str, ...] = (),
) -> None:
    """Add the text of a template and of all it includes, by name."""
    if name in above:
        raise errors.TemplateError(f"template {above[0]} includes {name}, which includes itself")
    if name in found:
        return
    try:
        source = cast("FileSystemLoader", environment.loader).get_source(environment, name)[0]
    except TemplateNotFound as error:
        by = f", included by {above[-1]}" if above else ""
        raise errors.TemplateError(f"no template file {name}{by}") from error
    except UnicodeDecodeError as error:
        raise errors.TemplateError(f"template {name} is not UTF-8 text: {error}") from error
    found[name] = source
    for target in _included_files(name, source):
        _read_sources(environment, target, found, (*above, name))


def _parse(name: str, source: str) -> nodes.Template:
    try:
        return _compiler().parse(source, name)
    except TemplateSyntaxError as error:
        raise _syntax_error(error, name) from error
    except RecursionError as error:
        raise errors.TemplateError(f"template {name} is nested too deeply") from error
    except ValueError as error:  # a number of more digits than Python reads
        raise errors.TemplateError(f"template {name}: {error}") from error


# Most files are included in several templates. Callers must not change what they share.
_read_tree = lru_cache(maxsize=_CACHED_TEMPLATES)(_parse)


@lru_cache(maxsize=_CACHED_TEMPLATES)
def _included_files(name: str, source: str) -> tuple[str, ...]:
    tree = _read_tree(name, source)
    if tree.find(nodes.Extends) is not None:
        raise errors.TemplateError(
            f"template {name} uses extends", hint="put the shared part in a file and include it"
        )
    targets: list[str] = []
    for node in tree.find_all((nodes.Include, nodes.Import, nodes.FromImport)):
        target = getattr(node, "template", None)
        if not isinstance(target, nodes.Const) or not isinstance(target.value, str):
            raise errors.TemplateError(
                f"template {name}:{node.lineno}: the name of an included file must be a plain text"
            )
        targets.append(target.value)
    return tuple(targets)


def _variables_in(node: nodes.Node, trees: Mapping[str, nodes.Template]) -> frozenset[str]:
    names, files, parts = set[str](), set[str](), [node]
    while parts:
        part = parts.pop()
        names |= {found.name for found in part.find_all(nodes.Name) if found.ctx == "load"}
        # Its hint names a whole template, but it reads any part of one.
        new = set(map(str, meta.find_referenced_templates(cast("nodes.Template", part)))) - files
        files |= new
        parts += [trees[name] for name in new]
    return frozenset(names)


def _syntax_error(error: TemplateSyntaxError, name: str) -> errors.TemplateError:
    return errors.TemplateError(f"template {error.name or name}:{error.lineno}: {error.message}")


class _Fields(dict[str, "JsonValue"]):
    """An object that prints as JSON."""

    def __str__(self) -> str:
        return to_text(dict(self))


class _Items(list["JsonValue"]):
    """A list that prints as JSON."""

    def __str__(self) -> str:
        return to_text(list(self))


def _printing_json(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return _Fields({name: _printing_json(item) for name, item in value.items()})
    return _Items(map(_printing_json, value)) if isinstance(value, list) else value


_FENCE = "fenced"

# Filters after which no untrusted text is left that could be read as an instruction.
_COUNTING = frozenset({_FENCE, "length", "count", "wordcount", "int", "float"})
_NONE: frozenset[str] = frozenset()

# The untrusted variables whose text each name carries.
_Carried = dict[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class TemplatePiece:
    """A piece of plain text in a template, or one value that it prints."""

    file: str
    line: int
    # The text; empty for a printed value.
    text: str = ""
    # The variables of a printed value.
    names: frozenset[str] = _NONE
    # The untrusted variables whose text is printed without a fence.
    unfenced: frozenset[str] = _NONE


def block_pieces(
    environment: ImmutableSandboxedEnvironment, name: str, untrusted: frozenset[str]
) -> dict[str, tuple[TemplatePiece, ...]]:
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


_MAX_PARTS = 10_000


class _Walk:
    """Visits statements in order and tracks which untrusted text each name carries."""

    def __init__(self, environment: ImmutableSandboxedEnvironment) -> None:
        self._environment = environment
        self._macros: dict[str, nodes.Macro] = {}
        self._inside: tuple[str, ...] = ()
        self._n_parts = 0

    def parsed(self, name: str) -> nodes.Template:
        loader = cast("FileSystemLoader", self._environment.loader)
        return self._environment.parse(loader.get_source(self._environment, name)[0], name)

    def body(
        self, statements: list[nodes.Node], file: str, carried: _Carried
    ) -> Iterator[TemplatePiece]:
        # Macros and files that use one another twice would be walked through for ever.
        self._n_parts += 1
        if self._n_parts > _MAX_PARTS:
            raise errors.TemplateError(f"template {file} has more than {_MAX_PARTS} parts")
        for statement in statements:
            yield from self._statement(statement, file, carried)

    def _statement(self, node: nodes.Node, file: str, carried: _Carried) -> Iterator[TemplatePiece]:
        match node:
            case nodes.Output():
                for child in node.nodes:
                    yield from self._printed(child, file, carried)
            case nodes.Assign():
                _bind(node.target, _untrusted_in(node.node, carried), carried)
            case nodes.AssignBlock():
                pieces = list(self.body(node.body, file, dict(carried)))
                untrusted = _NONE if _fences(node.filter) else _union(p.unfenced for p in pieces)
                _bind(node.target, untrusted, carried)
            case nodes.Macro():
                self._macros[node.name] = node
            case nodes.Include():
                target = node.template
                name = str(target.value) if isinstance(target, nodes.Const) else ""
                yield from self.body(self.parsed(name).body, name, dict(carried))
            case _:
                yield from self._nested(node, file, carried)

    def _nested(self, node: nodes.Node, file: str, carried: _Carried) -> Iterator[TemplatePiece]:
        match node:
            case nodes.For():
                inner = dict(carried)
                _bind(node.target, _untrusted_in(node.iter, carried), inner)
                yield from self.body([*node.body, *node.else_], file, inner)
            case nodes.With():
                inner = dict(carried)
                for target, value in zip(node.targets, node.values, strict=True):
                    _bind(target, _untrusted_in(value, carried), inner)
                yield from self.body(node.body, file, inner)
            case nodes.FilterBlock():
                for piece in self.body(node.body, file, dict(carried)):
                    unfenced = _NONE if _fences(node.filter) else piece.unfenced
                    yield replace(piece, unfenced=unfenced)
            case _:
                # Only the branches of a condition have the scope of what is around them.
                scope = carried if isinstance(node, nodes.If) else dict(carried)
                inside = [each for each in node.iter_child_nodes() if isinstance(each, nodes.Stmt)]
                yield from self.body([*inside], file, scope)

    def _printed(self, node: nodes.Expr, file: str, carried: _Carried) -> Iterator[TemplatePiece]:
        if isinstance(node, nodes.TemplateData):
            yield TemplatePiece(file, node.lineno, text=node.data)
            return
        called = node.node if isinstance(node, nodes.Call) else None
        macro = self._macros.get(called.name) if isinstance(called, nodes.Name) else None
        # A macro that calls itself would be followed for ever.
        if not isinstance(node, nodes.Call) or macro is None or macro.name in self._inside:
            untrusted = _untrusted_in(node, carried)
            yield TemplatePiece(file, node.lineno, names=_variables_of(node), unfenced=untrusted)
            return
        inner = dict(carried)
        values = {keyword.key: keyword.value for keyword in node.kwargs}
        values |= {name.name: value for name, value in zip(macro.args, node.args, strict=False)}
        for argument in macro.args:
            value = values.get(argument.name)
            inner[argument.name] = _NONE if value is None else _untrusted_in(value, carried)
        outer, self._inside = self._inside, (*self._inside, macro.name)
        yield from self.body(macro.body, file, inner)
        self._inside = outer


def _bind(target: nodes.Node, untrusted: frozenset[str], carried: _Carried) -> None:
    for name in _variables_of(target):
        carried[name] = untrusted


def _untrusted_in(node: nodes.Node, carried: _Carried) -> frozenset[str]:
    """The untrusted variables whose text an expression can print."""
    match node:
        case nodes.Name():
            return carried.get(node.name, _NONE)
        case nodes.Filter() if node.name in _COUNTING:
            return _NONE
        case nodes.Filter() if node.name == "truncate" and _fences(node):  # it cuts the fence
            return _union(carried.get(name, _NONE) for name in _variables_of(node))
        case nodes.Test() | nodes.Compare() | nodes.Not():
            return _NONE  # it prints true or false
        case nodes.CondExpr():
            otherwise = _NONE if node.expr2 is None else _untrusted_in(node.expr2, carried)
            return _untrusted_in(node.expr1, carried) | otherwise
    return _union(_untrusted_in(child, carried) for child in node.iter_child_nodes())


def _fences(node: nodes.Filter | None) -> bool:
    return node is not None and any(
        each.name == _FENCE for each in (node, *node.find_all(nodes.Filter))
    )


def _variables_of(node: nodes.Node) -> frozenset[str]:
    found = [node] if isinstance(node, nodes.Name) else []
    return frozenset(name.name for name in (*found, *node.find_all(nodes.Name)))


def _union(sets: Iterator[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*sets)
