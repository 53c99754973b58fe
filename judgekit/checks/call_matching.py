"""Whether tool calls are the ones that were expected: arguments, order, and how many coincide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, JsonValue, PlainValidator, ValidationError, model_validator

from judgekit.checks.matching import same_json
from judgekit.checks.paths import PathText, find_in
from judgekit.checks.patterns import PatternText, search
from judgekit.checks.subjects import json_text, shown
from judgekit.records.record import Finite, JsonObject, Name, Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.checks.calls import ToolCall

ArgumentsMode = Literal["exact", "subset", "superset", "ignore"]
"""How the arguments of a call stand to the expected ones: `exact` the same; `subset` none beyond
them; `superset` all of them, and maybe more; `ignore` whatever they are."""

OrderMode = Literal["strict", "in_order", "unordered", "subset", "superset"]
"""How the calls stand to the expected ones: `strict` the same calls in the same order;
`in_order` all of them in that order, others between; `unordered` the same calls in any order;
`subset` no call beyond them; `superset` all of them in any order, and maybe more."""

_TIMEOUT_S = 1.0


class Demand(Record):
    """What one argument must be; every demand that is made must hold."""

    equals: JsonValue = None
    """The value itself; null demands nothing."""

    one_of: tuple[JsonValue, ...] | None = None
    """The values it may have."""

    contains: str | None = None
    """A part of its text."""

    matches: PatternText | None = None
    """A pattern of Python's `re` that is found in its text."""

    min: Finite | None = None
    """The least number."""

    max: Finite | None = None
    """The greatest number."""

    exists: bool = True
    """Whether it is there at all; false demands that it is not."""


class ExpectedCall(Record):
    """A tool call as it should be."""

    tool: Name
    """The tool."""

    arguments: JsonObject | None = None
    """What it should be called with; None where any arguments will do."""

    match: ArgumentsMode | Annotated[tuple[PathText, ...], Field(min_length=1)] | None = None
    """How its arguments are compared, or the paths that must be the same; None takes the
    assertion's way."""

    where: dict[PathText, Demand] = Field(default_factory=dict)
    """What must hold of single arguments, by their path."""

    @model_validator(mode="before")
    @classmethod
    def _reads_short_forms(cls, given: object) -> object:
        if isinstance(given, str):
            return {"tool": given}
        if isinstance(given, dict):
            given = dict(given)
            if "tool" not in given and "name" in given:
                given["tool"] = given.pop("name")
            if "arguments" not in given and "args" in given:
                given["arguments"] = given.pop("args")
            if isinstance(given.get("where"), dict):
                given["where"] = {k: _demand(v) for k, v in given["where"].items()}
        return given


def _read_call(given: object) -> ExpectedCall:
    try:
        return ExpectedCall.model_validate(given)
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in detail["loc"])
        what = detail["msg"].removeprefix("Value error, ")
        raise ValueError(f"{place}: {what}" if place else what) from error


def _read_calls(given: object) -> tuple[ExpectedCall, ...]:
    if not isinstance(given, list | tuple):
        raise ValueError("must be a list of calls")  # noqa: TRY004 - pydantic wants ValueError
    return tuple(_read_call(item) for item in given)


OneCall = Annotated[ExpectedCall, PlainValidator(_read_call)]
"""An expected call, as a spec writes it: a tool's name, or an object."""

ExpectedCalls = Annotated[tuple[ExpectedCall, ...], PlainValidator(_read_calls)]
"""Expected calls, as a spec writes them: a list of names or objects."""


def fits(call: ToolCall, expected: ExpectedCall, mode: ArgumentsMode) -> bool:
    """Whether a call is the expected one."""
    if call.tool != expected.tool:
        return False
    if expected.arguments is not None and not _arguments_fit(call.arguments, expected, mode):
        return False
    return all(_holds(call.arguments, path, demand) for path, demand in expected.where.items())


def pairs(
    calls: Sequence[ToolCall], expected: Sequence[ExpectedCall], mode: ArgumentsMode
) -> dict[int, int]:
    """As many calls as possible, each with an expected call of its own."""
    fitting = [
        [number for number, call in enumerate(calls) if fits(call, wanted, mode)]
        for wanted in expected
    ]
    taken: dict[int, int] = {}
    for number in range(len(expected)):
        _place(number, fitting, taken, set())
    return {wanted: made for made, wanted in taken.items()}


def in_order(
    calls: Sequence[ToolCall], expected: Sequence[ExpectedCall], mode: ArgumentsMode
) -> int:
    """How many of the expected calls were made one after the other, others between."""
    found = 0
    for call in calls:
        if found < len(expected) and fits(call, expected[found], mode):
            found += 1
    return found


def described(call: ToolCall | ExpectedCall) -> str:
    """A call as a message shows it."""
    return call.tool if call.arguments is None else f"{call.tool}({shown(call.arguments)})"


def _place(
    wanted: int, fitting: Sequence[Sequence[int]], taken: dict[int, int], tried: set[int]
) -> bool:
    """Give an expected call a call, moving others where that helps (an augmenting path)."""
    stack = [(wanted, iter(fitting[wanted]))]
    way: list[int] = []
    while stack:
        made = next((m for m in stack[-1][1] if m not in tried), None)
        if made is None:
            stack.pop()
            del way[-1:]
            continue
        tried.add(made)
        way.append(made)
        if made not in taken:
            for (owner, _), place in zip(stack, way, strict=True):
                taken[place] = owner
            return True
        stack.append((taken[made], iter(fitting[taken[made]])))
    return False


def _arguments_fit(given: JsonValue, expected: ExpectedCall, mode: ArgumentsMode) -> bool:
    wanted, how = expected.arguments or {}, expected.match or mode
    if not isinstance(how, str):
        return all(_same_at(given, wanted, path) for path in how)
    if how == "ignore":
        return True
    made = {} if given is None else given
    if how == "exact":
        return same_json(made, wanted)
    if not isinstance(made, dict):
        return False
    fewer, more = (made, wanted) if how == "subset" else (wanted, made)
    return all(name in more and same_json(more[name], value) for name, value in fewer.items())


def _same_at(given: JsonValue, wanted: JsonValue, path: str) -> bool:
    (is_given, one), (is_wanted, other) = find_in(given, path), find_in(wanted, path)
    return is_given == is_wanted and same_json(one, other)


def _holds(given: JsonValue, path: str, demand: Demand) -> bool:
    is_there, found = find_in(given, path)
    if not is_there or not demand.exists:
        return not is_there and not demand.exists
    text = found if isinstance(found, str) else json_text(found)
    return (
        (demand.equals is None or same_json(found, demand.equals))
        and (demand.one_of is None or any(same_json(found, value) for value in demand.one_of))
        and (demand.contains is None or demand.contains in text)
        and _is_between(found, demand)
        and (
            demand.matches is None
            or search(demand.matches, text, ignore_case=False, timeout_s=_TIMEOUT_S) is not None
        )
    )


def _is_between(found: JsonValue, demand: Demand) -> bool:
    if demand.min is None and demand.max is None:
        return True
    if isinstance(found, bool) or not isinstance(found, int | float):
        return False
    return (demand.min is None or found >= demand.min) and (
        demand.max is None or found <= demand.max
    )


def _demand(value: object) -> object:
    """A bare value demands that the argument is that value."""
    is_demand = isinstance(value, dict) and value and value.keys() <= Demand.model_fields.keys()
    return value if is_demand else {"equals": value}
