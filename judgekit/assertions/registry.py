"""The plugin interface of assertions and scorers: the decorators `assertion` and `scorer`.

Also the registries, the synonyms of assertions, and the fast construction of results. The built-in
functions are in `builtin`; the specs that users write are parsed in `spec`.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import typing
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeVar

from pydantic import BaseModel, JsonValue, TypeAdapter
from pydantic.errors import PydanticUserError

from judgekit.errors import InputError, JudgekitError
from judgekit.formats import PROMPTFOO_ELSEWHERE, PROMPTFOO_SYNONYMS, Synonym
from judgekit.records import AssertionResult, Score
from judgekit.registry import Registry, RegistryEntry, declared_entries

_A = TypeVar("_A", bound=typing.Callable[..., AssertionResult])
_S = TypeVar("_S", bound=typing.Callable[..., Score])
_F = TypeVar("_F", bound=typing.Callable[..., object])
_MARK = "__judgekit_declared__"
_Kind = Literal["assertion", "scorer"]


class NotApplicableError(JudgekitError):
    """A premise of the check does not hold: the text or the field that it checks is missing.

    The check fails. Its negation is an error: that a missing text does not contain something means
    nothing.
    """


class UndecidedError(JudgekitError):
    """The check cannot be carried out: nothing was measured, or a limit was reached.

    It is an error, also when the check is negated.
    """


class Parameter(NamedTuple):
    """One parameter of an assertion or a scorer; the adapter validates its values."""

    is_required: bool
    adapter: TypeAdapter[object]


class Declaration(NamedTuple):
    """An assertion or a scorer as its decorator and its signature describe it."""

    name: str
    function: Callable[..., object]
    parameters: dict[str, Parameter]
    wants_case: bool


def assertion(name: str) -> Callable[[_A], _A]:
    """Declare a function to be an assertion."""
    # The function takes the output, then keyword-only parameters with type hints; a spec such as
    # `{"type": "acme.max_words", "limit": 50}` sets them. A parameter called `case` receives the
    # case instead. It returns an `AssertionResult`; what it raises becomes an error of the result.
    return lambda function: _marked(function, "assertion", name)


def scorer(name: str) -> Callable[[_S], _S]:
    """Declare a function to be a scorer."""
    # As `assertion`, but the function returns a `Score`.
    return lambda function: _marked(function, "scorer", name)


@cache
def declaration_of(function: Callable[..., object]) -> Declaration:
    """The declaration of an assertion or a scorer."""
    _, name = getattr(function, _MARK, (None, None))
    if name is None:
        raise InputError(
            f"{_called(function)} is neither an assertion nor a scorer",
            hint='put @assertion("acme.name") or @scorer("acme.name") above it',
        )
    keywords = list(inspect.signature(function).parameters.values())[1:]
    parameters = {
        each.name: Parameter(
            each.default is inspect.Parameter.empty, _adapter(function, name, each)
        )
        for each in keywords
        if each.name != "case"
    }
    return Declaration(name, function, parameters, len(parameters) < len(keywords))


def _marked(function: _F, kind: _Kind, name: str) -> _F:
    if not name.strip():
        raise InputError(f"{_called(function)} needs a name", hint="such as acme.max_words")
    # Keyword-only, because a spec sets parameters by name and new ones must not shift old ones.
    every = list(inspect.signature(function).parameters.values())
    keywords = all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in every[1:])
    if not every or every[0].kind is inspect.Parameter.KEYWORD_ONLY or not keywords:
        raise InputError(
            f"{_called(function)} must take the output, then keyword-only parameters",
            hint="def check(output, *, limit: int) -> AssertionResult",
        )
    setattr(function, _MARK, (kind, name))
    return function


def _adapter(
    function: Callable[..., object], name: str, parameter: inspect.Parameter
) -> TypeAdapter[object]:
    # Only this hint is resolved: the types of others may be imported for type checkers only.
    if parameter.annotation is inspect.Parameter.empty:
        raise InputError(f"{name}: the parameter {parameter.name!r} needs a type hint")
    lone = type(name, (), {"__annotations__": {parameter.name: parameter.annotation}})
    try:
        hints = typing.get_type_hints(
            lone, globalns=getattr(function, "__globals__", {}), include_extras=True
        )
        return TypeAdapter(hints[parameter.name])
    except (NameError, TypeError, AttributeError, PydanticUserError) as error:
        raise InputError(
            f"{name}: the type hint of {parameter.name!r} cannot be resolved: {error}",
            hint="import its types at run time, not only under TYPE_CHECKING",
        ) from error


def _called(function: object) -> str:
    return str(getattr(function, "__qualname__", function))


GROUPS: Mapping[str, str] = MappingProxyType(
    {"all": "all", "any": "any", "none": "none", "assert-set": "all"}
)
"""The types of groups, each with its rule: `all`, `any` or `none` of the members must pass."""

_AT_MOST = {"threshold": "value"}

SYNONYMS: Mapping[str, Synonym] = MappingProxyType({
    **PROMPTFOO_SYNONYMS,
    "char-count": Synonym("text.char_count"),
    "chrf": Synonym("text.chrf"),
    "is-valid-tool-call": Synonym("behavior.tool_calls_valid", {"value": "tools"}),
    "json_schema": Synonym("text.is_json", {"value": "schema"}),
    "numeric": Synonym("text.number"),
    "rouge-l": Synonym("text.rouge_l"),
    "similar:cosine": Synonym("similar"),
    "tokens": Synonym("metric.tokens.total.max", _AT_MOST),
})  # fmt: skip
"""The names that promptfoo uses, and other short ones, with the assertions they stand for."""


def full_name(name: str) -> str:
    """The assertion that a name stands for."""
    return SYNONYMS[name].name if name in SYNONYMS else name


def compares_variants(name: str) -> bool:
    """Whether an assertion is decided by the outputs of all variants to a case, not by one."""
    return full_name(name).startswith("variants.")


# Assertions that need an optional package, and that package.
OPTIONAL: Mapping[str, str] = MappingProxyType({
    "text.meteor": "nltk", "text.bleu": "sacrebleu", "text.chrf": "sacrebleu",
    "text.is_sql": "sqlglot", "text.contains_sql": "sqlglot",
})  # fmt: skip
ELSEWHERE: Mapping[str, str] = MappingProxyType(
    {**PROMPTFOO_ELSEWHERE, "similar": "a suite measures it; elsewhere use the scorer `similarity`"}
)
"""Names without an assertion here, with what there is instead."""


@cache
def assertion_registry() -> Registry:
    """The built-in assertions, and those of installed packages."""
    return _registry("assertion")


@cache
def scorer_registry() -> Registry:
    """The built-in scorers, and those of installed packages."""
    return _registry("scorer")


def _registry(kind: _Kind) -> Registry:
    return Registry(
        kind, _builtin_entries()[kind], plugins=lambda: declared_entries(f"judgekit.{kind}s")
    )


@cache
def _builtin_entries() -> dict[_Kind, list[RegistryEntry]]:
    # The modules are imported on first need, so that `import judgekit` and `--help` stay light.
    # Keep parsers and metrics out of them at module level: every run with a check imports them.
    package = importlib.import_module("judgekit.assertions.builtin")
    entries: dict[_Kind, list[RegistryEntry]] = {"assertion": [], "scorer": []}
    for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        values = vars(importlib.import_module(info.name)).values()
        # A function that a sibling imports counts only in the module that defines it.
        own = [v for v in values if hasattr(v, _MARK) and v.__module__ == info.name]
        for kind, name, function in sorted((*getattr(v, _MARK), v) for v in own):
            entries[kind].append(RegistryEntry(name, function))
    return entries


# Results are built without pydantic, which would take most of the time of a cheap check; the
# built-in functions pass valid values only.
_DEFAULTS: dict[str, object] = dict(AssertionResult(passed=True, message="-").__dict__)
_slots = BaseModel.__dict__
_set_fields_set = _slots["__pydantic_fields_set__"].__set__
_set_extra = _slots["__pydantic_extra__"].__set__
_set_private = _slots["__pydantic_private__"].__set__

# Both sets contain every field. The identity of the first marks a record that no caller has seen
# yet, so that it can still be changed in place.
_FRESH = set(AssertionResult.model_fields)
_FINAL = set(AssertionResult.model_fields)


def make_result(
    passed: bool,  # noqa: FBT001
    actual: JsonValue,
    message: str,
    value: float | None = None,
) -> AssertionResult:
    """The result of a built-in assertion, which must return it at once."""
    result = object.__new__(AssertionResult)
    fields = result.__dict__
    fields.update(_DEFAULTS)
    fields["passed"] = passed
    fields["actual"] = actual
    fields["message"] = message
    fields["value"] = value
    _set_fields_set(result, _FRESH)
    _set_extra(result, None)
    _set_private(result, None)
    return result


def replace_fields(result: AssertionResult, fields: dict[str, object]) -> AssertionResult:
    """A result with some fields changed; the values are not validated."""
    if result.__pydantic_fields_set__ is not _FRESH:
        fields = result.__dict__ | fields
        result = make_result(passed=True, actual=None, message="")
    result.__dict__.update(fields)
    _set_fields_set(result, _FINAL)
    return result
