"""Reads assertion specs, `{"type": …}`, into checks that can be carried out; finds all faults."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from pydantic import TypeAdapter

from judgekit.checks.arguments import (
    Place,
    SpecFault,
    checked,
    fault,
    read_arguments,
    refuse_faults,
)
from judgekit.checks.builtin import ELSEWHERE, EXTRAS, GROUPS, SYNONYMS, assertion_registry
from judgekit.checks.seam import Declared, declared
from judgekit.errors import InputError, UnknownNameError
from judgekit.records.check import Weight
from judgekit.records.record import Fraction

if TYPE_CHECKING:
    from judgekit.records.case import Case
    from judgekit.records.output import Output
    from judgekit.registry import Registry

MAX_DEPTH = 20
"""How deep groups may be nested."""

_COMMON = ("type", "weight", "description", "metric")
_CRITERION = "criterion"
"""The criterion an assertion stands for where rules judge; common but for assertions of one."""

_NOT = "not-"
_WEIGHT: TypeAdapter[object] = TypeAdapter(Weight)
_THRESHOLD: TypeAdapter[object] = TypeAdapter(Fraction)


@dataclass(frozen=True, slots=True)
class Check:
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

    members: tuple[Check, ...] = ()
    """For a group: its members."""

    def call(self, output: Output, case: Case | None) -> object:
        """What the assertion says of an output."""
        function = cast("Callable[..., object]", self.function)
        return function(output, case=case) if self.wants_case else function(output)


def read_specs(
    specs: object, *, registry: Registry | None = None, where: Place = ("assertions",)
) -> tuple[list[Check], list[SpecFault]]:
    """Read specs."""
    reader = _Reader(assertion_registry() if registry is None else registry)
    checks = reader.read_all(specs, where, depth=0)
    return checks, reader.faults


def check_specs(
    specs: object, *, registry: Registry | None = None, where: Place = ("assertions",)
) -> None:
    """Refuse specs that are unsound, before anything is run."""
    refuse_faults(read_specs(specs, registry=registry, where=where)[1])


class _Reader:
    """Reads specs and gathers what is wrong with them."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self.faults: list[SpecFault] = []

    def read_all(self, specs: object, where: Place, *, depth: int) -> list[Check]:
        if isinstance(specs, str) or not isinstance(specs, Sequence):
            self._add(where, "must be a list of assertions")
            return []
        read = [self._read(spec, (*where, n), depth) for n, spec in enumerate(specs)]
        return [check for check in read if check is not None]

    def _read(self, spec: object, where: Place, depth: int) -> Check | None:
        if not isinstance(spec, Mapping):
            self._add(where, "must be a mapping with a `type`")
            return None
        name = spec.get("type")
        if not isinstance(name, str) or not name.strip():
            self._add((*where, "type"), "needs a `type`, the assertion's name")
            return None
        n_before = len(self.faults)
        weight = self._number(spec, "weight", _WEIGHT, where, name)
        is_negated = name.startswith(_NOT) and name not in self._registry
        plain = name.removeprefix(_NOT) if is_negated else name
        settings = {str(key): spec[key] for key in spec if key not in _COMMON}
        base = Check(name, 1.0 if weight is None else weight, is_negated)
        if plain in GROUPS:
            check = self._group(base, GROUPS[plain], settings, where, depth)
        else:
            check = self._single(base, plain, settings, where)
        return check if len(self.faults) == n_before else None

    def _single(
        self, base: Check, plain: str, settings: Mapping[str, object], where: Place
    ) -> Check | None:
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
        return Check(base.type, base.weight, base.is_negated, function, said.wants_case)

    def _find(self, name: str, plain: str, where: Place) -> Declared | None:
        try:
            return declared(cast("Callable[..., object]", self._registry.load(plain)))
        except UnknownNameError as error:
            near = difflib.get_close_matches(plain, [*error.known, *SYNONYMS, *GROUPS], n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else _families(error.known)
            hint = ELSEWHERE.get(plain.partition(":")[0], ELSEWHERE.get(plain, hint))
            self._add((*where, "type"), "no assertion is called so", name, hint)
        except InputError as error:
            self._add((*where, "type"), error.message, name, error.hint)
        return None

    def _need(self, own_name: str, name: str, where: Place) -> None:
        """Note the extra that an assertion needs and that is not installed."""
        package, extra = EXTRAS.get(own_name, (None, None))
        if package is not None and find_spec(package) is None:
            hint = f"pip install 'judgekit-llm[{extra}]'"
            self._add((*where, "type"), f"needs {package}, which is not installed", name, hint)

    def _group(
        self, base: Check, rule: str, settings: Mapping[str, object], where: Place, depth: int
    ) -> Check | None:
        settings = self._without_criterion(settings, where, base.type)
        key = "assert" if "assert" in settings else "assertions"
        name, known = base.type, (key, "threshold") if rule == "all" else (key,)
        for other in settings:
            if other not in known:
                hint = f"it takes {', '.join((*known, 'weight'))}"
                self._add((*where, other), f"takes no `{other}`", name, hint)
        threshold = self._number(settings, "threshold", _THRESHOLD, where, name)
        if depth >= MAX_DEPTH:
            self._add(where, f"groups are nested deeper than {MAX_DEPTH}", name)
            return None
        if not settings.get(key):
            self._add(where, f"needs `{key}`, a list of at least one", name)
            return None
        members = tuple(self.read_all(settings[key], (*where, key), depth=depth + 1))
        if members and not any(member.weight for member in members):
            self._add((*where, key), "every member has the weight 0, so that none counts", name)
        return Check(
            name, base.weight, base.is_negated, rule=rule, threshold=threshold, members=members
        )

    def _without_criterion(
        self, settings: Mapping[str, object], where: Place, name: str
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
        where: Place,
        name: str,
    ) -> float | None:
        if spec.get(key) is None:
            return None
        try:
            return cast("float", checked(adapter, spec[key]))
        except InputError as error:
            self._add((*where, key), f"`{key}` {error.message}", name)
            return None

    def _add(
        self, where: Place, message: str, name: str | None = None, hint: str | None = None
    ) -> None:
        self.faults.append(fault(where, message, name=name, hint=hint))


def _families(known: Sequence[str]) -> str:
    """Where the names are listed; there are too many to list them here."""
    first = ", ".join(dict.fromkeys(name.partition(".")[0] for name in known if "." in name))
    return f"there are {len(known)}, of the families {first}; docs/assertions.md lists them"
