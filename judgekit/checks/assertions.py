"""Carries out assertions on an output: one place that calls them, and one result for each."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from judgekit.checks.arguments import refuse_faults
from judgekit.checks.artifacts import as_output
from judgekit.checks.findings import changed, stamped
from judgekit.checks.groups import conclude_group
from judgekit.checks.seam import UnmetError
from judgekit.checks.specs import Check, read_specs
from judgekit.errors import JudgekitError
from judgekit.records.check import AssertionResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judgekit.records.case import Case
    from judgekit.records.output import Output
    from judgekit.registry import Registry

_KEPT = 4096
"""How many specs, and lists of specs, are kept as they were read."""

_Read = TypeVar("_Read")


def evaluate_assertions(
    output: Output | Mapping[str, object],
    assertions: Sequence[Mapping[str, object]],
    *,
    case: Case | None = None,
    registry: Registry | None = None,
) -> list[AssertionResult]:
    """Carry out assertions on an output.

    An assertion that cannot be carried out (nothing was measured, it raised, it took too long)
    is a result with an `error`, which neither passes nor fails, also when it is negated.

    Args:
        output: The output; it is not altered. A workflow's artifact, `{runId, snapshot, events}`,
            may stand in its place, or be its `data`.
        assertions: Specs: mappings with a `type` and that assertion's parameters.
        case: The case that was answered, for assertions that look at it.
        registry: The assertions there are; None takes the built-in and installed ones.

    Returns:
        One result for each spec, in their order.

    Raises:
        InputError: A spec is unsound: an unknown type, a parameter that is missing, misspelt or
            of the wrong type. Lists every fault; nothing was carried out. Or what is given is
            no output.

    Example:
        >>> from judgekit.records.output import Output
        >>> spec = {"type": "output.contains", "path": "outputs.main.text", "value": "hello"}
        >>> evaluate_assertions(Output(text="Say hello."), [spec])[0].passed
        True
    """
    checks = _checks(assertions, registry)
    subject = as_output(output)
    return [_carry_out(check, subject, case) for check in checks]


def _checks(specs: Sequence[Mapping[str, object]], registry: Registry | None) -> list[Check]:
    if not isinstance(specs, list | tuple):
        refuse_faults(read_specs(specs, registry=registry)[1])
    whole = _LISTS.find(specs, registry)
    if whole is not None:
        return whole.read
    known = [kept for spec in specs if (kept := _READ.find(spec, registry)) is not None]
    if len(known) < len(specs):
        checks, faults = read_specs(specs, registry=registry)
        refuse_faults(faults)
        for spec, check in zip(specs, checks, strict=True):
            _READ.keep(spec, registry, check, copy=deepcopy(spec))
        return checks
    checks = [kept.read for kept in known]
    if len(specs) > 1:
        copies = [kept.copy for kept in known]
        _LISTS.keep(
            specs, registry, checks, copy=copies if isinstance(specs, list) else tuple(copies)
        )
    return checks


class _Entry(NamedTuple, Generic[_Read]):
    """A spec, or a list of them, and what it was read as."""

    spec: object
    copy: object
    registry: Registry | None
    read: _Read


class _Kept(Generic[_Read]):
    """Specs, or lists of them, as they were read: the same are asked of thousands of outputs.

    They are known by their identity, and read anew when they have been changed since.
    """

    def __init__(self) -> None:
        self._kept: dict[int, _Entry[_Read]] = {}

    def find(self, spec: object, registry: Registry | None) -> _Entry[_Read] | None:
        kept = self._kept.get(id(spec))
        if kept is None or kept[0] is not spec or kept[2] is not registry or kept[1] != spec:
            return None
        return kept

    def keep(self, spec: object, registry: Registry | None, read: _Read, *, copy: object) -> None:
        if len(self._kept) >= _KEPT:
            self._kept.clear()
        self._kept[id(spec)] = _Entry(spec, copy, registry, read)


_READ: _Kept[Check] = _Kept()
_LISTS: _Kept[list[Check]] = _Kept()


def _carry_out(check: Check, output: Output, case: Case | None) -> AssertionResult:
    if check.members:
        parts = [_carry_out(member, output, case) for member in check.members]
        found = conclude_group(parts, rule=check.rule, threshold=check.threshold)
    else:
        found = _call(check, output, case)
    return _stamped(found, check)


def _call(check: Check, output: Output, case: Case | None) -> AssertionResult:
    """Call one assertion; the one place where every exception is caught, as it may be anyone's."""
    try:
        found = check.call(output, case)
    except Exception as error:  # noqa: BLE001 - a stranger's assertion may raise anything
        return _broken_off(error, is_negated=check.is_negated)
    if not isinstance(found, AssertionResult):
        return _error(f"it returned {type(found).__name__}, not an AssertionResult")
    return found


def _broken_off(error: Exception, *, is_negated: bool) -> AssertionResult:
    if isinstance(error, UnmetError) and not is_negated:
        return AssertionResult(passed=False, message=_sayable(error.message))
    if isinstance(error, JudgekitError):
        return _error(str(error))
    if isinstance(error, RecursionError):
        return _error("what it looks at is nested too deeply")
    return _error(f"it raised {type(error).__name__}: {error}")


def _error(message: str) -> AssertionResult:
    message = _sayable(message)
    return AssertionResult(passed=None, message=message, error=message)


def _sayable(message: str) -> str:
    """A message without halves of characters, which a spec may hold and no text can."""
    return message.encode("utf-8", "backslashreplace").decode("utf-8")


def _stamped(found: AssertionResult, check: Check) -> AssertionResult:
    """The result with the spec's type and weight; turned round where the spec negates it."""
    if not check.is_negated or found.passed is None:
        return stamped(found, check.type, check.weight)
    value = None if found.value is None else 1 - found.value
    return changed(
        found, type=check.type, weight=check.weight, passed=not found.passed, value=value
    )
