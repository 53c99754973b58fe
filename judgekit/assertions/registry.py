"""The plugin interface of assertions and scorers: the decorators `assertion` and `scorer`.

Also the registries, the synonyms of assertions, and the fast construction of results. The built-in
functions are in `builtin`; the specs that users write are parsed in `spec`.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import typing
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, TypeAdapter
from pydantic.errors import PydanticUserError

from judgekit.errors import InputError, JudgekitError
from judgekit.records import VALUE_TOLERANCE, AssertionResult, Score
from judgekit.registry import Registry, RegistryEntry, declared_entries

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic import JsonValue

_A = TypeVar("_A", bound=typing.Callable[..., AssertionResult])
_S = TypeVar("_S", bound=typing.Callable[..., Score])
_F = TypeVar("_F", bound=typing.Callable[..., object])
_MARK = "__judgekit_declared__"
_Kind = Literal["assertion", "scorer"]


class _Mark(NamedTuple):
    """What a decorator leaves on a function."""

    kind: _Kind
    name: str


class NotApplicableError(JudgekitError):
    """A premise of the check does not hold: the text or the field that it checks is missing.

    The check fails. Its negation is an error: that a missing text does not contain something means
    nothing.
    """


class UndecidedError(JudgekitError):
    """The check cannot be carried out: nothing was measured, or a limit was reached.

    It is an error, also when the check is negated.
    """


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an assertion or a scorer; the adapter validates its values."""

    name: str
    is_required: bool
    adapter: TypeAdapter[object]


@dataclass(frozen=True, slots=True)
class Declaration:
    """An assertion or a scorer as its decorator and its signature describe it."""

    name: str
    function: Callable[..., object]
    parameters: dict[str, Parameter]
    """What a spec may set, by name."""

    wants_case: bool
    """Whether it has a parameter `case`."""


def assertion(name: str) -> Callable[[_A], _A]:
    """Declare a function to be an assertion."""
    # The function takes the output, then keyword-only parameters with type hints; a spec such as
    # `{"type": "acme.max_words", "limit": 50}` sets them. A parameter called `case` receives the
    # case instead. It returns an `AssertionResult`; what it raises becomes an error of the result.
    return lambda function: _marked(function, _Mark("assertion", name))


def scorer(name: str) -> Callable[[_S], _S]:
    """Declare a function to be a scorer."""
    # As `assertion`, but the function returns a `Score`.
    return lambda function: _marked(function, _Mark("scorer", name))


@cache
def declaration_of(function: Callable[..., object]) -> Declaration:
    """The declaration of an assertion or a scorer."""
    mark = getattr(function, _MARK, None)
    if not isinstance(mark, _Mark):
        raise InputError(
            f"{_called(function)} is neither an assertion nor a scorer",
            hint='put @assertion("acme.name") or @scorer("acme.name") above it',
        )
    keywords = list(inspect.signature(function).parameters.values())[1:]
    parameters: dict[str, Parameter] = {}
    for parameter in keywords:
        if parameter.name != "case":
            is_required = parameter.default is inspect.Parameter.empty
            adapter = _adapter(function, mark.name, parameter)
            parameters[parameter.name] = Parameter(parameter.name, is_required, adapter)
    return Declaration(mark.name, function, parameters, any(p.name == "case" for p in keywords))


def _marked(function: _F, mark: _Mark) -> _F:
    if not mark.name.strip():
        raise InputError(f"{_called(function)} needs a name", hint="such as acme.max_words")
    # Keyword-only, because a spec sets parameters by name and new ones must not shift old ones.
    first, *others = inspect.signature(function).parameters.values()
    keywords = all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in others)
    if first.kind is inspect.Parameter.KEYWORD_ONLY or not keywords:
        raise InputError(
            f"{_called(function)} must take the output, then keyword-only parameters",
            hint="def check(output, *, limit: int) -> AssertionResult",
        )
    setattr(function, _MARK, mark)
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


@dataclass(frozen=True, slots=True)
class Synonym:
    """Another name of the assertion `name`."""

    name: str
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Other names of its parameters, with the real ones."""

    fixed: Mapping[str, object] = field(default_factory=dict)
    """Parameters that the synonym sets."""


_AT_MOST = {"threshold": "value"}
_FOLDED = MappingProxyType({"ignore_case": True})

SYNONYMS: Mapping[str, Synonym] = MappingProxyType({
    "char-count": Synonym("text.char_count"),
    "bleu": Synonym("text.bleu"),
    "chrf": Synonym("text.chrf"),
    "contains": Synonym("text.contains"),
    "contains-all": Synonym("text.contains_all"),
    "contains-any": Synonym("text.contains_any"),
    "contains-html": Synonym("text.contains_html"),
    "contains-json": Synonym("text.contains_json", {"value": "schema"}),
    "contains-sql": Synonym("text.contains_sql"),
    "contains-xml": Synonym("text.contains_xml", {"value": "required_elements"}),
    "cost": Synonym("metric.total_cost_usd.max", _AT_MOST),
    "equals": Synonym("text.equals"),
    "finish-reason": Synonym("behavior.finish_reason"),
    "icontains": Synonym("text.contains", fixed=_FOLDED),
    "icontains-all": Synonym("text.contains_all", fixed=_FOLDED),
    "icontains-any": Synonym("text.contains_any", fixed=_FOLDED),
    "is-html": Synonym("text.is_html"),
    "is-json": Synonym("text.is_json", {"value": "schema"}),
    "is-refusal": Synonym("text.is_refusal"),
    "is-sql": Synonym("text.is_sql"),
    "is-valid-function-call": Synonym("behavior.tool_calls_valid", {"value": "tools"}),
    "is-valid-openai-function-call": Synonym("behavior.tool_calls_valid", {"value": "tools"}),
    "is-valid-openai-tools-call": Synonym("behavior.tool_calls_valid", {"value": "tools"}),
    "is-valid-tool-call": Synonym("behavior.tool_calls_valid", {"value": "tools"}),
    "is-xml": Synonym("text.is_xml", {"value": "required_elements"}),
    "json_schema": Synonym("text.is_json", {"value": "schema"}),
    "latency": Synonym("metric.latency_ms.max", _AT_MOST),
    "levenshtein": Synonym("text.levenshtein"),
    "meteor": Synonym("text.meteor"),
    "numeric": Synonym("text.number"),
    "regex": Synonym("text.regex"),
    "rouge-l": Synonym("text.rouge_l"),
    "rouge-n": Synonym("text.rouge_n"),
    "similar:cosine": Synonym("similar"),
    "starts-with": Synonym("text.starts_with"),
    "tool-call-f1": Synonym("trajectory.f1", {"value": "calls"}),
    "tokens": Synonym("metric.tokens.total.max", _AT_MOST),
    "word-count": Synonym("text.word_count"),
})  # fmt: skip
"""The names that promptfoo uses, and other short ones, with the assertions they stand for."""

# Assertions that need an optional package: the module to import, and the extra that installs it.
EXTRAS: Mapping[str, tuple[str, str]] = MappingProxyType({"text.meteor": ("nltk", "meteor")})

_ASK_A_JUDGE = "that asks a model: put it into the rubric as a criterion"
_OWN_CODE = "code runs as a custom check, where scripts are allowed"
_COMPARED = "compare the variants: judgekit compare"
_RETRIEVAL = "that judges what was retrieved: grade what your retriever returns, with a rubric"
_LOG_PROBABILITIES = "the log-probabilities of the system under test are not recorded"
_TRACE = "use `trajectory.no_tool_errors`, `trajectory.steps.max` or `metric.latency_ms.max`"

_CRITERIA = (
    "agent-rubric", "answer-relevance", "classifier", "context-faithfulness",
    "conversation-relevance", "factuality", "g-eval", "llm-rubric", "model-graded-closedqa",
    "model-graded-factuality", "moderation", "pi", "search-rubric", "trajectory:goal-success",
)  # fmt: skip

ELSEWHERE: Mapping[str, str] = MappingProxyType({
    **dict.fromkeys(_CRITERIA, _ASK_A_JUDGE),
    **dict.fromkeys(("javascript", "python", "ruby"), _OWN_CODE),
    **dict.fromkeys(("max-score", "select-best"), _COMPARED),
    **dict.fromkeys(("context-recall", "context-relevance"), _RETRIEVAL),
    **dict.fromkeys(("perplexity", "perplexity-score"), _LOG_PROBABILITIES),
    **dict.fromkeys(("trace-error-spans", "trace-span-count", "trace-span-duration"), _TRACE),
    "gleu": "use `bleu` or `chrf`",
    "guardrails": "check what the guardrail lets through: `is-refusal`, `finish-reason`, or a "
    "criterion",
    "human": "annotators grade with judgekit label",
    "similar": "a suite measures it; elsewhere use the scorer `similarity`",
    "skill-used": "use `trajectory.tool_used` with the tool that loads the skill",
    "trajectory:step-count": "use `trajectory.steps.max` or `trajectory.tool_calls.max`",
    "trajectory:tool-args-match": "use `trajectory.arguments_match`",
    "trajectory:tool-sequence": "use `trajectory.matches`",
    "trajectory:tool-used": "use `trajectory.tool_used`",
    "webhook": "assertions make no network calls: write one, or use a custom check",
})  # fmt: skip
"""Names of other tools that are not assertions here, with what to use instead."""


@cache
def assertion_registry() -> Registry:
    """The built-in assertions, and those of installed packages."""
    return _registry("assertion")


@cache
def scorer_registry() -> Registry:
    """The built-in scorers, and those of installed packages."""
    return _registry("scorer")


def _registry(kind: _Kind) -> Registry:
    entries = [
        RegistryEntry(mark.name, function)
        for mark, function in _builtin_functions()
        if mark.kind == kind
    ]
    return Registry(kind, entries, plugins=lambda: declared_entries(f"judgekit.{kind}s"))


@cache
def _builtin_functions() -> tuple[tuple[_Mark, object], ...]:
    """The functions that the modules of `builtin` declare."""
    # The modules are imported on first need, so that `import judgekit` and `--help` stay light.
    # Keep parsers and metrics out of them at module level: every run with a check imports them.
    package = importlib.import_module("judgekit.assertions.builtin")
    found: list[tuple[_Mark, object]] = []
    for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        # A function that a sibling imports counts only in the module that defines it.
        own = [
            (mark, value)
            for value in vars(importlib.import_module(info.name)).values()
            if isinstance(mark := getattr(value, _MARK, None), _Mark)
            and value.__module__ == info.name
        ]
        found += sorted(own, key=lambda pair: pair[0].name)
    return tuple(found)


# Results are built without pydantic, which would take most of the time of a cheap check; the
# built-in functions pass valid values only.
_new = object.__new__
_DEFAULTS: dict[str, object] = dict(AssertionResult(passed=True, message="-").__dict__)
_slots = BaseModel.__dict__
_set_fields_set = _slots["__pydantic_fields_set__"].__set__
_set_extra = _slots["__pydantic_extra__"].__set__
_set_private = _slots["__pydantic_private__"].__set__

# Both sets contain every field. The identity of the first marks a record that no caller has seen
# yet, so that it can still be changed in place.
_FRESH = set(AssertionResult.model_fields)
_FINAL = set(AssertionResult.model_fields)


def make_result(passed: bool, actual: JsonValue, message: str) -> AssertionResult:  # noqa: FBT001
    """The result of a built-in assertion, which must return it at once."""
    result = _new(AssertionResult)
    fields = result.__dict__
    fields.update(_DEFAULTS)
    fields["passed"] = passed
    fields["actual"] = actual
    fields["message"] = message
    _set_fields_set(result, _FRESH)
    _set_extra(result, None)
    _set_private(result, None)
    return result


def meets_threshold(value: float, threshold: float) -> bool:
    """Whether a value reaches a threshold, within rounding."""
    # As floats 0.1 + 0.7 is 0.7999999999999999, and must reach 0.8.
    return value >= threshold - VALUE_TOLERANCE


def label_result(found: AssertionResult, kind: str, weight: float) -> AssertionResult:
    """A result with the type and weight of its spec."""
    if found.__pydantic_fields_set__ is not _FRESH:
        return replace_fields(found, type=kind, weight=weight)
    fields = found.__dict__
    fields["type"] = kind
    fields["weight"] = weight
    _set_fields_set(found, _FINAL)
    return found


def replace_fields(found: AssertionResult, **fields: object) -> AssertionResult:
    """A result with some fields changed; the values are not validated."""
    if found.__pydantic_fields_set__ is _FRESH:
        found.__dict__.update(fields)
        _set_fields_set(found, _FINAL)
        return found
    result = _new(AssertionResult)
    result.__dict__.update(found.__dict__)
    result.__dict__.update(fields)
    _set_fields_set(result, _FINAL)
    _set_extra(result, None)
    _set_private(result, None)
    return result
