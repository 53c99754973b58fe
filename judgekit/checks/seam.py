"""The seam of assertions and scorers: plain functions that a decorator gives a name.

```python
@assertion("acme.max_words")
def max_words(output: Output, *, limit: int) -> AssertionResult:
    n = len((output.text or "").split())
    return AssertionResult(passed=n <= limit, actual=n, message=f"{n} words, limit {limit}")
```
"""

from __future__ import annotations

import inspect
import typing
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError

from judgekit.errors import InputError, JudgekitError
from judgekit.records.check import AssertionResult, Score

if TYPE_CHECKING:
    from collections.abc import Callable

Assertion = typing.Callable[..., AssertionResult]
"""Looks at an output and says whether something holds."""

Scorer = typing.Callable[..., Score]
"""Measures an output."""

_A = TypeVar("_A", bound=Assertion)
_S = TypeVar("_S", bound=Scorer)
_F = TypeVar("_F", bound=typing.Callable[..., object])
_MARK = "__judgekit_name__"


class UnmetError(JudgekitError):
    """A premise of the check does not hold: the text or the field it looks at is not there.

    The check fails. Its negation is open, and so an error: that what is missing does not contain
    something says nothing.
    """


class UndecidedError(JudgekitError):
    """The check cannot be carried out: nothing was measured, or a limit was reached.

    It is an error, also when the check is negated.
    """


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an assertion or a scorer."""

    name: str
    """Its name."""

    is_required: bool
    """Whether it has no default."""

    adapter: TypeAdapter[object]
    """Checks a value against the type hint."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What a function says of itself by its decorator and its signature."""

    name: str
    """The name it was declared with."""

    function: Callable[..., object]
    """The function."""

    parameters: dict[str, Parameter]
    """What a spec may set, by name."""

    wants_case: bool
    """Whether it is handed the case, as `case`; None where there is none."""


def assertion(name: str) -> Callable[[_A], _A]:
    """Declare a function to be an assertion."""
    # The function takes the output, then keyword-only parameters with type hints; a spec such as
    # `{"type": "acme.max_words", "limit": 50}` sets them. A parameter called `case` is handed the
    # case instead. It returns an `AssertionResult`; what it raises becomes an error of the result.
    return lambda function: _marked(function, name)


def scorer(name: str) -> Callable[[_S], _S]:
    """Declare a function to be a scorer."""
    # As `assertion`, but the function returns a `Score`.
    return lambda function: _marked(function, name)


@cache
def declared(function: Callable[..., object]) -> Declared:
    """What an assertion or a scorer says of itself."""
    name = getattr(function, _MARK, None)
    if not isinstance(name, str):
        raise InputError(
            f"{_called(function)} is neither an assertion nor a scorer",
            hint='put @assertion("acme.name") or @scorer("acme.name") above it',
        )
    taken = list(inspect.signature(function).parameters.values())[1:]
    parameters = {
        parameter.name: Parameter(
            parameter.name,
            parameter.default is inspect.Parameter.empty,
            _adapter(function, name, parameter),
        )
        for parameter in taken
        if parameter.name != "case"
    }
    return Declared(name, function, parameters, any(p.name == "case" for p in taken))


def _marked(function: _F, name: str) -> _F:
    if not name.strip():
        raise InputError(f"{_called(function)} needs a name", hint="such as acme.max_words")
    first, *others = inspect.signature(function).parameters.values()
    keywords = all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in others)
    if first.kind is inspect.Parameter.KEYWORD_ONLY or not keywords:
        raise InputError(
            f"{_called(function)} must take the output, then keyword-only parameters",
            hint="def check(output, *, limit: int) -> AssertionResult",
        )
    setattr(function, _MARK, name)
    return function


def _adapter(
    function: Callable[..., object], name: str, parameter: inspect.Parameter
) -> TypeAdapter[object]:
    """Only the parameters' hints are resolved: others may be imported for type checkers only."""
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
