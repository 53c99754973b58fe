"""Reads assertion specs (`{"type": …}`) into assertions that can be carried out.

Reports every fault at once. They are carried out in `runner`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from pydantic import TypeAdapter, ValidationError

from judgekit.assertions.registry import (
    ELSEWHERE,
    EXTRAS,
    GROUPS,
    SYNONYMS,
    Declaration,
    assertion_registry,
    declaration_of,
)
from judgekit.errors import InputError, UnknownNameError
from judgekit.records import Fraction, Weight

if TYPE_CHECKING:
    from judgekit.formats import Synonym
    from judgekit.records import Case, Output
    from judgekit.registry import Registry

# How deep groups may be nested.
_MAX_DEPTH = 20
_COMMON = ("type", "weight", "description", "metric")

# The criterion an assertion stands for where rules judge; common but for assertions of one.
_CRITERION = "criterion"
_NOT = "not-"
_WEIGHT: TypeAdapter[object] = TypeAdapter(Weight)
_THRESHOLD: TypeAdapter[object] = TypeAdapter(Fraction)


@dataclass(frozen=True, slots=True)
class ParsedAssertion:
    """A spec that is sound, ready to be carried out."""

    type: str
    """The type as the spec has it."""

    weight: float
    """Its weight in its group."""

    is_negated: bool
    """Whether it passes when it does not hold."""

    function: Callable[..., object] | None = None
    """What carries it out, with its arguments; None for a group."""

    wants_case: bool = False
    """Whether it is handed the case."""

    rule: str = ""
    """For a group: `all`, `any` or `none`."""

    threshold: float | None = None
    """For a group: the share of its weight that must pass."""

    members: tuple[ParsedAssertion, ...] = ()
    """For a group: its members."""

    def call(self, output: Output, case: Case | None) -> object:
        """What the assertion says of an output."""
        function = cast("Callable[..., object]", self.function)
        return function(output, case=case) if self.wants_case else function(output)


def read_specs(
    specs: object, *, registry: Registry | None = None, where: SpecLocation = ("assertions",)
) -> tuple[list[ParsedAssertion], list[SpecFault]]:
    """Read specs."""
    reader = _Reader(assertion_registry() if registry is None else registry)
    checks = reader.read_all(specs, where, depth=0)
    return checks, reader.faults


def check_specs(
    specs: object, *, registry: Registry | None = None, where: SpecLocation = ("assertions",)
) -> None:
    """Refuse specs that are unsound, before anything is run."""
    refuse_faults(read_specs(specs, registry=registry, where=where)[1])


class _Reader:
    """Reads specs and gathers what is wrong with them."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self.faults: list[SpecFault] = []

    def read_all(self, specs: object, where: SpecLocation, *, depth: int) -> list[ParsedAssertion]:
        if isinstance(specs, str) or not isinstance(specs, Sequence):
            self._add(where, "must be a list of assertions")
            return []
        read = [self._read(spec, (*where, n), depth) for n, spec in enumerate(specs)]
        return [check for check in read if check is not None]

    def _read(self, spec: object, where: SpecLocation, depth: int) -> ParsedAssertion | None:
        if not isinstance(spec, Mapping):
            self._add(where, "must be a mapping with a `type`")
            return None
        name = spec.get("type")
        if not isinstance(name, str) or not name.strip():
            self._add((*where, "type"), "needs a `type`, the assertion's name")
            return None
        n_before = len(self.faults)
        weight = self._number(spec, "weight", _WEIGHT, where, name)
        # A package may register a name of its own that begins so.
        is_negated = name.startswith(_NOT) and name not in self._registry
        plain = name.removeprefix(_NOT) if is_negated else name
        settings = {str(key): spec[key] for key in spec if key not in _COMMON}
        base = ParsedAssertion(name, 1.0 if weight is None else weight, is_negated)
        if plain in GROUPS:
            check = self._group(base, GROUPS[plain], settings, where, depth)
        else:
            check = self._single(base, plain, settings, where)
        # A spec with a fault is not carried out even in part.
        return check if len(self.faults) == n_before else None

    def _single(
        self, base: ParsedAssertion, plain: str, settings: Mapping[str, object], where: SpecLocation
    ) -> ParsedAssertion | None:
        synonym = SYNONYMS.get(plain)
        own_name = plain if synonym is None else synonym.name
        said = self._find(base.type, own_name, where)
        if said is None:
            return None
        self._need(own_name, base.type, where)
        if _CRITERION not in said.parameters:
            settings = self._without_criterion(settings, where, base.type)
        arguments, faults = read_arguments(
            said, settings, where=where, name=base.type, synonym=synonym
        )
        self.faults += faults
        function = partial(said.function, **arguments)
        return ParsedAssertion(base.type, base.weight, base.is_negated, function, said.wants_case)

    def _find(self, name: str, plain: str, where: SpecLocation) -> Declaration | None:
        try:
            return declaration_of(cast("Callable[..., object]", self._registry.load(plain)))
        except UnknownNameError as error:
            near = difflib.get_close_matches(plain, [*error.known, *SYNONYMS, *GROUPS], n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else _families(error.known)
            hint = ELSEWHERE.get(plain.partition(":")[0], ELSEWHERE.get(plain, hint))
            self._add((*where, "type"), "no assertion is called so", name, hint)
        except InputError as error:
            self._add((*where, "type"), error.message, name, error.hint)
        return None

    def _need(self, own_name: str, name: str, where: SpecLocation) -> None:
        """Note the extra that an assertion needs and that is not installed."""
        package, extra = EXTRAS.get(own_name, (None, None))
        if package is not None and find_spec(package) is None:
            hint = f"pip install 'judgekit-llm[{extra}]'"
            self._add((*where, "type"), f"needs {package}, which is not installed", name, hint)

    def _group(
        self,
        base: ParsedAssertion,
        rule: str,
        settings: Mapping[str, object],
        where: SpecLocation,
        depth: int,
    ) -> ParsedAssertion | None:
        settings = self._without_criterion(settings, where, base.type)
        key = "assert" if "assert" in settings else "assertions"
        name, known = base.type, (key, "threshold") if rule == "all" else (key,)
        for other in settings:
            if other not in known:
                hint = f"it takes {', '.join((*known, 'weight'))}"
                self._add((*where, other), f"takes no `{other}`", name, hint)
        threshold = self._number(settings, "threshold", _THRESHOLD, where, name)
        # Recursion as deep as a file likes would end the process.
        if depth >= _MAX_DEPTH:
            self._add(where, f"groups are nested deeper than {_MAX_DEPTH}", name)
            return None
        if not settings.get(key):
            self._add(where, f"needs `{key}`, a list of at least one", name)
            return None
        members = tuple(self.read_all(settings[key], (*where, key), depth=depth + 1))
        # Such a group would pass whatever its members say.
        if members and not any(member.weight for member in members):
            self._add((*where, key), "every member has the weight 0, so that none counts", name)
        return ParsedAssertion(
            name, base.weight, base.is_negated, rule=rule, threshold=threshold, members=members
        )

    def _without_criterion(
        self, settings: Mapping[str, object], where: SpecLocation, name: str
    ) -> Mapping[str, object]:
        if _CRITERION not in settings:
            return settings
        named = settings[_CRITERION]
        if not isinstance(named, str) or not named.strip():
            self._add((*where, _CRITERION), "`criterion` must be a criterion's name", name)
        return {key: value for key, value in settings.items() if key != _CRITERION}

    def _number(
        self,
        spec: Mapping[str, object],
        key: str,
        adapter: TypeAdapter[object],
        where: SpecLocation,
        name: str,
    ) -> float | None:
        if spec.get(key) is None:
            return None
        try:
            return cast("float", validate_argument(adapter, spec[key]))
        except InputError as error:
            self._add((*where, key), f"`{key}` {error.message}", name)
            return None

    def _add(
        self, where: SpecLocation, message: str, name: str | None = None, hint: str | None = None
    ) -> None:
        self.faults.append(spec_fault(where, message, name=name, hint=hint))


def _families(known: Sequence[str]) -> str:
    """Where the names are listed; there are too many to list them here."""
    first = ", ".join(dict.fromkeys(name.partition(".")[0] for name in known if "." in name))
    return f"there are {len(known)}, of the families {first}; docs/assertions.md lists them"


SpecLocation = tuple[str | int, ...]
"""Where a spec or one of its parameters stands: keys and list positions."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class SpecFault:
    """One thing wrong with a spec."""

    where: SpecLocation
    """The spec, or its parameter."""

    message: str
    """What is wrong: the place, the assertion's type and the parameter."""

    hint: str | None = None
    """How to mend it."""

    def __str__(self) -> str:
        """What and how, on one line."""
        return self.message if self.hint is None else f"{self.message}; {self.hint}"


def spec_fault(
    where: SpecLocation, message: str, *, name: str | None = None, hint: str | None = None
) -> SpecFault:
    """A fault that says where it is."""
    # The place of the spec is enough: the message names the parameter.
    last = max((n for n, part in enumerate(where) if isinstance(part, int)), default=len(where) - 1)
    called = "" if name is None else f" ({name})"
    return SpecFault(where, f"{_format_location(where[: last + 1])}{called}: {message}", hint)


def read_arguments(
    said: Declaration,
    settings: Mapping[str, object],
    *,
    where: SpecLocation,
    name: str | None = None,
    synonym: Synonym | None = None,
) -> tuple[dict[str, object], list[SpecFault]]:
    """The arguments a spec sets."""
    name = said.name if name is None else name
    renamed: Mapping[str, str] = {} if synonym is None else synonym.renamed
    fixed: Mapping[str, object] = {} if synonym is None else synonym.fixed
    arguments, faults = dict(fixed), []
    given = set(fixed)
    for key, value in settings.items():
        parameter = _parameter(key, said, renamed)
        if parameter is None or parameter in fixed:
            hint = _near(key, [p for p in said.parameters if p not in fixed])
            faults.append(spec_fault((*where, key), f"takes no `{key}`", name=name, hint=hint))
        elif parameter in given:
            faults.append(spec_fault((*where, key), f"sets `{parameter}` twice", name=name))
        else:
            given.add(parameter)
            try:
                arguments[parameter] = validate_argument(said.parameters[parameter].adapter, value)
            except InputError as error:
                message = f"`{key}` {error.message}"
                faults.append(spec_fault((*where, key), message, name=name, hint=error.hint))
    for parameter, about in said.parameters.items():
        if about.is_required and parameter not in given:
            wanted = next((key for key, own in renamed.items() if own == parameter), parameter)
            faults.append(spec_fault(where, f"needs `{wanted}`{_camel(wanted)}", name=name))
    return arguments, faults


def validate_argument(adapter: TypeAdapter[object], value: object) -> object:
    """A value, checked against a type hint; nothing is turned into another type."""
    try:
        return adapter.validate_python(value, strict=True)
    except ValidationError as error:
        raise InputError(_words(error)) from error
    except InputError as error:
        raise InputError(f"is unsound: {error.message}", hint=error.hint) from error
    except RecursionError as error:
        raise InputError("is nested too deeply") from error


def refuse_faults(faults: Sequence[SpecFault], *, of: str = "assertions") -> None:
    """Raise what is wrong, if anything is."""
    if len(faults) == 1:
        raise InputError(faults[0].message, hint=faults[0].hint)
    if faults:
        lines = "".join(f"\n  {one}" for one in faults)
        raise InputError(f"{len(faults)} faults in {of}:{lines}")


def _format_location(where: SpecLocation) -> str:
    """A place as people write it."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where)
    return text.removeprefix(".")


def _parameter(key: str, said: Declaration, renamed: Mapping[str, str]) -> str | None:
    """The parameter a key of a spec sets; `nodeId` sets `node_id`, or `node`."""
    own = _HUMP.sub("_", key).lower()
    # Files of other tools write `nodeId`; here the parameter is `node_id` or `node`.
    for name in (renamed.get(key, key), own, own.removesuffix("_id")):
        if name in said.parameters:
            return name
    return None


def _camel(name: str) -> str:
    """The other spelling, which S1 files have."""
    first, *others = name.split("_")
    return f" (or `{first}{''.join(map(str.title, others))}`)" if others else ""


def _near(key: str, known: list[str]) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    return f"did you mean `{near[0]}`?" if near else f"it takes {', '.join(known) or 'nothing'}"


def _words(error: ValidationError) -> str:
    """What pydantic says of one value, in plain words."""
    details = error.errors(include_url=False)
    # Of what may be a text or a list, a list is told what is wrong with it as a list.
    detail = details[-1 if isinstance(details[0]["input"], dict | list) else 0]
    inner = "".join(f"[{part}]" for part in detail["loc"] if isinstance(part, int))
    what = detail["msg"].replace("Input should be", "must be").removeprefix("Value error, ")
    short = _short(detail["input"])
    return f"{inner + ' ' if inner else ''}{what}, not {short}"


def _short(value: object) -> str:
    try:
        shown = repr(value)
    except ValueError:  # Python writes no number of more than 4,300 digits
        return "a number of too many digits"
    except RecursionError:
        return "what is nested too deeply"
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
