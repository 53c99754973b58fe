"""Parses assertion specs (`{"type": …}`) and reports all their faults at once.

The assertions are carried out in `runner`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, cast

from pydantic import TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from judgekit.assertions.registry import (
    ELSEWHERE,
    GROUPS,
    OPTIONAL,
    SYNONYMS,
    Declaration,
    assertion_registry,
    compares_variants,
    declaration_of,
    full_name,
)
from judgekit.assertions.transforms import step_fault
from judgekit.errors import InputError, UnknownNameError
from judgekit.extras import install_hint, is_installed
from judgekit.formats import FieldFault
from judgekit.records import Fraction, JsonObject, Name, Weight

if TYPE_CHECKING:
    from judgekit.formats import KeyPath, Synonym
    from judgekit.registry import Registry

# How deep groups may be nested.
_MAX_DEPTH = 20
_NOT_READ = ("type", "description", "metric")
# Compared as it stands, it would fail every good answer.
_ITEM_FIELD = re.compile(r"\s*\{\{\s*(?:item|sample)\.[\w.]+\s*\}\}\s*")
_ITEM_HINT = "write the text in the assertions of each case, or load the graders with their items"

_NOT = "not-"
_COMMON: Mapping[str, TypeAdapter[object]] = {
    "weight": TypeAdapter(Weight),
    "threshold": TypeAdapter(Fraction),
    # What an assertion stands for where rules judge; common but for assertions of one criterion.
    "criterion": TypeAdapter(Name),
    "transform": TypeAdapter(list[JsonObject]),
    "scored": TypeAdapter(bool),
}


@dataclass(frozen=True, slots=True)
class ParsedAssertion:
    """A valid spec, ready to be carried out."""

    type: str
    weight: float
    is_negated: bool
    # The function with its arguments; None for a group.
    function: Callable[..., object] | None = None
    wants_case: bool = False
    # Steps that the output goes through for this assertion alone.
    transform: tuple[JsonObject, ...] = ()
    # For a group: `all`, `any` or `none`.
    rule: str = ""
    # For a group: the share of its weight that must pass.
    threshold: float | None = None
    # Whether a member counts with its value rather than as passed or not.
    is_scored: bool = False
    members: tuple[ParsedAssertion, ...] = ()


def read_specs(
    specs: object, *, registry: Registry | None = None
) -> tuple[list[ParsedAssertion], list[FieldFault]]:
    """Parse specs; invalid ones are left out and have a fault."""
    reader = _Reader(assertion_registry() if registry is None else registry)
    checks = reader.read_all(specs, ("assertions",), depth=0)
    return checks, reader.faults


FindPlace = Callable[..., str]
"""The file and line of a fault by the keys and positions of `FieldFault.where`; may be empty."""


def check_specs(
    specs: object, *, registry: Registry | None = None, place: FindPlace = lambda *_: ""
) -> None:
    """Refuse invalid specs before anything runs; `place` says where a fault stands."""
    refuse_faults(read_specs(specs, registry=registry)[1], place=place)


class _Reader:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self.faults: list[FieldFault] = []

    def read_all(self, specs: object, where: KeyPath, *, depth: int) -> list[ParsedAssertion]:
        if isinstance(specs, str) or not isinstance(specs, Sequence):
            self._add(where, "must be a list of assertions")
            return []
        read = [self._read(spec, (*where, n), depth) for n, spec in enumerate(specs)]
        return [check for check in read if check is not None]

    def _read(self, spec: object, where: KeyPath, depth: int) -> ParsedAssertion | None:
        if not isinstance(spec, Mapping):
            self._add(where, "must be a mapping with a `type`")
            return None
        name = spec.get("type")
        if not isinstance(name, str) or not name.strip():
            hint = "for example {type: contains, value: 30 days}"
            self._add((*where, "type"), "needs a `type`, the assertion's name", hint=hint)
            return None
        n_before = len(self.faults)
        settings = {str(key): spec[key] for key in spec if key not in _NOT_READ}
        weight = self._take(settings, "weight", where, name)
        # A package may register a name of its own that begins so.
        is_negated = name.startswith(_NOT) and name not in self._registry
        plain = name.removeprefix(_NOT) if is_negated else name
        base = ParsedAssertion(name, 1.0 if weight is None else cast("float", weight), is_negated)
        # It has its result after all others: a part of one would be concluded without it.
        if compares_variants(plain) and (is_negated or depth or "transform" in settings):
            message = "stands by itself: it is not negated, in no group, and transforms nothing"
            self._add(where, message, name)
            return None
        if plain in GROUPS:
            check = self._group(base, GROUPS[plain], settings, where, depth)
        else:
            check = self._single(base, plain, settings, where)
        # An invalid spec is not carried out even in part.
        return check if len(self.faults) == n_before else None

    def _single(
        self, base: ParsedAssertion, plain: str, settings: dict[str, object], where: KeyPath
    ) -> ParsedAssertion | None:
        synonym, own_name = SYNONYMS.get(plain), full_name(plain)
        try:
            declared = declaration_of(cast("Callable[..., object]", self._registry.load(own_name)))
        except InputError as error:
            message, hint = error.message, error.hint
            if isinstance(error, UnknownNameError):
                message, hint = "no assertion is called so", _where_else(own_name, error.known)
            self._add((*where, "type"), message, base.type, hint)
            return None
        package = OPTIONAL.get(own_name)
        if package is not None and not is_installed(package):
            message = f"needs {package}, which is not installed"
            self._add((*where, "type"), message, base.type, install_hint(package))
        value = settings.get("value")
        if isinstance(value, str) and _ITEM_FIELD.fullmatch(value):
            message = f"`value` is {value}, which only a grader of OpenAI is given"
            self._add((*where, "value"), message, base.type, _ITEM_HINT)
        if "criterion" not in declared.parameters:
            self._take(settings, "criterion", where, base.type)
        transform = self._take(settings, "transform", where, base.type)
        steps = cast("list[JsonObject]", transform or [])
        for n, step in enumerate(steps):
            if fault := step_fault(step):
                self._add((*where, "transform", n), fault, base.type)
        arguments, faults = read_arguments(
            declared, settings, where=where, name=base.type, synonym=synonym
        )
        self.faults += faults
        return replace(
            base,
            function=partial(declared.function, **arguments),
            wants_case=declared.wants_case,
            transform=tuple(steps),
        )

    def _group(
        self,
        base: ParsedAssertion,
        rule: str,
        settings: dict[str, object],
        where: KeyPath,
        depth: int,
    ) -> ParsedAssertion | None:
        self._take(settings, "criterion", where, base.type)
        key = "assert" if "assert" in settings else "assertions"
        name, known = base.type, (key, "threshold", "scored") if rule == "all" else (key,)
        for other in settings:
            if other not in known:
                hint = f"it takes {', '.join((*known, 'weight'))}"
                self._add((*where, other), f"takes no `{other}`", name, hint)
        threshold = cast("float | None", self._take(settings, "threshold", where, name))
        is_scored = self._take(settings, "scored", where, name) is True
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
        return replace(base, rule=rule, threshold=threshold, members=members, is_scored=is_scored)

    def _take(self, settings: dict[str, object], key: str, where: KeyPath, name: str) -> object:
        """A field of a spec that is no parameter, removed from the settings."""
        value = settings.pop(key, None)
        try:
            return None if value is None else validate_argument(_COMMON[key], value)
        except InputError as error:
            self._add((*where, key), f"`{key}` {error.message}", name)
            return None

    def _add(
        self, where: KeyPath, message: str, name: str | None = None, hint: str | None = None
    ) -> None:
        self.faults.append(spec_fault(where, message, name=name, hint=hint))


def _where_else(name: str, known: Sequence[str]) -> str:
    for elsewhere in (name.partition(":")[0], name):
        if elsewhere in ELSEWHERE:
            return ELSEWHERE[elsewhere]
    if near := difflib.get_close_matches(name, [*known, *SYNONYMS, *GROUPS], n=3):
        return f"did you mean {' or '.join(near)}?"
    # There are too many names to list them here.
    families = ", ".join(dict.fromkeys(n.partition(".")[0] for n in known if "." in n))
    return f"there are {len(known)}, of the families {families}; docs/assertions.md lists them"


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SHOWN = 60


def spec_fault(
    where: KeyPath, message: str, *, name: str | None = None, hint: str | None = None
) -> FieldFault:
    """A fault whose message begins with its place."""
    # The place of the spec is enough: the message names the parameter.
    last = max((n for n, part in enumerate(where) if isinstance(part, int)), default=len(where) - 1)
    keys = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in where[: last + 1])
    called = "" if name is None else f" ({name})"
    return FieldFault(where, f"{''.join(keys).removeprefix('.')}{called}: {message}", hint)


def read_arguments(
    declared: Declaration,
    settings: Mapping[str, object],
    *,
    where: KeyPath,
    name: str | None = None,
    synonym: Synonym | None = None,
) -> tuple[dict[str, object], list[FieldFault]]:
    name = declared.name if name is None else name
    renamed: Mapping[str, str] = {} if synonym is None else synonym.renamed
    fixed: Mapping[str, object] = {} if synonym is None else synonym.fixed
    arguments, faults = dict(fixed), []
    assigned = set(fixed)
    for key, value in settings.items():
        # Files of other tools write `nodeId`; here the parameter is `node_id` or `node`.
        own = _HUMP.sub("_", key).lower()
        own = own if key in {own, to_camel(own)} else key
        spellings = (renamed.get(key, key), own, own.removesuffix("_id"))
        parameter = next((each for each in spellings if each in declared.parameters), None)
        if parameter is None or parameter in fixed:
            free = [name for name in declared.parameters if name not in fixed]
            near = difflib.get_close_matches(key, free, n=1)
            hint = (
                f"did you mean `{near[0]}`?" if near else f"it takes {', '.join(free) or 'nothing'}"
            )
            faults.append(spec_fault((*where, key), f"takes no `{key}`", name=name, hint=hint))
        elif parameter in assigned:
            faults.append(spec_fault((*where, key), f"sets `{parameter}` twice", name=name))
        else:
            assigned.add(parameter)
            try:
                arguments[parameter] = validate_argument(
                    declared.parameters[parameter].adapter, value
                )
            except InputError as error:
                message = f"`{key}` {error.message}"
                faults.append(spec_fault((*where, key), message, name=name, hint=error.hint))
    for parameter, about in declared.parameters.items():
        if about.is_required and parameter not in assigned:
            wanted = next((key for key, own in renamed.items() if own == parameter), parameter)
            # S1 files spell names in camel case.
            first, *others = wanted.split("_")
            camel = f" (or `{first}{''.join(map(str.title, others))}`)" if others else ""
            faults.append(spec_fault(where, f"needs `{wanted}`{camel}", name=name))
    return arguments, faults


def validate_argument(adapter: TypeAdapter[object], value: object) -> object:
    """A value, checked against a type hint; nothing is turned into another type."""
    try:
        return adapter.validate_python(value, strict=True)
    except ValidationError as error:
        details = error.errors(include_url=False)
        # Where a text or a list is allowed, the faults of a list are those of a list.
        detail = details[-1 if isinstance(details[0]["input"], dict | list) else 0]
        inner = "".join(f"[{part}]" for part in detail["loc"] if isinstance(part, int))
        what = detail["msg"].replace("Input should be", "must be").removeprefix("Value error, ")
        message = f"{inner} {what}, not {_short(detail['input'])}".strip()
        raise InputError(message) from error
    except InputError as error:
        raise InputError(f"is invalid: {error.message}", hint=error.hint) from error
    except RecursionError as error:
        raise InputError("is nested too deeply") from error


def refuse_faults(
    faults: Sequence[FieldFault], *, of: str = "assertions", place: FindPlace = lambda *_: ""
) -> None:
    """Raise an error that lists all faults, if there are any."""
    if len(faults) == 1:
        raise InputError(f"{place(*faults[0].where)}{faults[0].message}", hint=faults[0].remedy)
    if faults:
        lines = "".join(f"\n  {place(*one.where)}{one}" for one in faults)
        raise InputError(f"{len(faults)} faults in {of}:{lines}")


def _short(value: object) -> str:
    try:
        shown = repr(value)
    except ValueError:  # Python writes no number of more than 4,300 digits
        return "a number of too many digits"
    except RecursionError:
        return "what is nested too deeply"
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
