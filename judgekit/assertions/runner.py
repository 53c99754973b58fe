"""Carries out assertions and scorers on an output, with one result for each.

Exceptions become error results here. Groups and weighted scores are combined, and the assertions
of datasets validated, here too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import cache
from math import fsum, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, cast

from judgekit.assertions.registry import (
    Declaration,
    NotApplicableError,
    assertion_registry,
    declaration_of,
    replace_fields,
    scorer_registry,
)
from judgekit.assertions.selection import unpack_artifact
from judgekit.assertions.spec import (
    FindPlace,
    ParsedAssertion,
    read_arguments,
    read_specs,
    refuse_faults,
    spec_fault,
)
from judgekit.assertions.transforms import transform_output
from judgekit.errors import InputError, JudgekitError
from judgekit.records import (
    AssertionResult,
    Case,
    Dataset,
    Output,
    Score,
    ScoreBreakdown,
    meets_threshold,
)
from judgekit.registry import Registry

if TYPE_CHECKING:
    from judgekit.formats import FieldFault, Problem

# How many parsed specs are cached.
_CACHED_SPECS = 4096


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
        registry: The known assertions; None takes the built-in and installed ones.

    Returns:
        One result for each spec, in their order.

    Raises:
        InputError: A spec is invalid: an unknown type, a parameter that is missing, misspelt or
            of the wrong type. Lists every fault; nothing was carried out. Or `output` is not an
            output.

    Example:
        >>> from judgekit.records.output import Output
        >>> spec = {"type": "output.contains", "path": "outputs.main.text", "value": "hello"}
        >>> evaluate_assertions(Output(text="Say hello."), [spec])[0].passed
        True
    """
    checks = _parse_specs(assertions, registry)
    subject = unpack_artifact(output)
    return [_carry_out(check, subject, case) for check in checks]


# Parsed specs by identity: the same ones check thousands of outputs. Each with a copy, because ids
# are reused after an object is gone, and specs can be changed in place.
_CachedSpec = tuple[object, object, Registry | None, ParsedAssertion]
_PARSED_SPECS: dict[int, _CachedSpec] = {}
_NOT_CACHED: _CachedSpec = (object(), None, None, ParsedAssertion("", 0.0, is_negated=False))


def _parse_specs(
    specs: Sequence[Mapping[str, object]], registry: Registry | None
) -> list[ParsedAssertion]:
    if not isinstance(specs, list | tuple):
        refuse_faults(read_specs(specs, registry=registry)[1])
        # Another sequence may compute its items on each access.
        specs = list(specs)
    cached: list[ParsedAssertion] = []
    for each in specs:
        spec, copy, known, check = _PARSED_SPECS.get(id(each), _NOT_CACHED)
        if spec is not each or known is not registry or copy != each:
            break
        cached.append(check)
    else:
        return cached
    checks, faults = read_specs(specs, registry=registry)
    refuse_faults(faults)
    # Clearing it is cheaper than tracking an order, and a suite has far fewer specs.
    if len(_PARSED_SPECS) + len(specs) >= _CACHED_SPECS:
        _PARSED_SPECS.clear()
    for spec, check in zip(specs, checks, strict=True):
        _PARSED_SPECS[id(spec)] = (spec, deepcopy(spec), registry, check)
    return checks


def _carry_out(check: ParsedAssertion, output: Output, case: Case | None) -> AssertionResult:
    if check.members:
        parts = [_carry_out(member, output, case) for member in check.members]
        found = conclude_group(
            parts, rule=check.rule, threshold=check.threshold, is_scored=check.is_scored
        )
    else:
        subject = transform_output(output, check.transform, case=case)
        found = _call_assertion(check, subject, case)
    known: dict[str, object] = {"type": check.type, "weight": check.weight}
    if check.is_negated and found.passed is not None:
        known["passed"] = not found.passed
        known["value"] = None if found.value is None else 1 - found.value
    if known.get("passed", found.passed) and _has_lost_check(found.parts):
        known |= {"passed": None, "value": None, "error": found.message}
    return replace_fields(found, known)


def _has_lost_check(parts: Sequence[AssertionResult]) -> bool:
    """Whether a group lost a check when it was imported: it never passes, even if others decide."""
    return any(part.type.endswith("not_imported") or _has_lost_check(part.parts) for part in parts)


def _call_assertion(check: ParsedAssertion, output: Output, case: Case | None) -> AssertionResult:
    """Call one assertion; the one place where every exception is caught, as it may be anyone's."""
    try:
        function = cast("Callable[..., object]", check.function)
        found = function(output, case=case) if check.wants_case else function(output)
    except Exception as error:  # noqa: BLE001 - another package's assertion may raise anything
        # That a missing text does not contain a word says nothing, so a negated check stays open.
        if isinstance(error, NotApplicableError) and not check.is_negated:
            return AssertionResult(passed=False, message=_encodable(error.message))
        message = _encodable(_reason(error))
    else:
        if isinstance(found, AssertionResult):
            return found
        message = f"it returned {type(found).__name__}, not an AssertionResult"
    return AssertionResult(passed=None, message=message, error=message)


def _reason(error: Exception) -> str:
    if isinstance(error, JudgekitError):
        return str(error)
    if isinstance(error, RecursionError):
        return "the value it checks is nested too deeply"
    return f"it raised {type(error).__name__}: {error}"


def _encodable(message: str) -> str:
    """A message without lone surrogates, which a spec may contain and no UTF-8 file can."""
    return message.encode("utf-8", "backslashreplace").decode("utf-8")


_SHOWN = 3


def conclude_group(
    parts: Sequence[AssertionResult],
    *,
    rule: str,
    threshold: float | None = None,
    is_scored: bool = False,
) -> AssertionResult:
    """The result of a group from those of its members."""
    # A member that could not be checked counts as open: the group passes or fails only where it
    # would do so whatever the open ones are, and is an error otherwise. A member of weight 0 is
    # shown and does not count.
    counted = [part for part in parts if part.weight > 0]
    weighed = list(zip(counted, weight_shares([part.weight for part in counted]), strict=True))
    passed = fsum(share * _share(part, is_scored=is_scored) for part, share in weighed)
    is_open = fsum(share for part, share in weighed if part.passed is None)
    if threshold is None:
        verdict = decide_by_rule(rule, {part.passed for part in counted})
    else:
        # The least and the most that may have passed must agree.
        worst = meets_threshold(passed, threshold)
        best = meets_threshold(passed + is_open, threshold)
        verdict = worst if worst == best else None
    failed = [part for part in counted if part.passed is False]
    undecided = [part for part in counted if part.passed is None]
    n_passed = len(counted) - len(failed) - len(undecided)
    message = f"{n_passed} of {len(counted)} passed"
    if threshold is not None:
        message += f" ({passed:.2f} of the weight, {threshold:g} wanted)"
    named = [part for part in counted if part.passed] if rule == "none" else failed
    if named:
        verb = "passed" if rule == "none" else "failed"
        message += f"; {verb}: {_list_parts(named)}"
    if undecided:
        message += f"; could not be checked: {_list_parts(undecided)}"
    value = 1.0 - passed if rule == "none" else passed
    return AssertionResult(
        passed=verdict,
        actual=None,
        message=message,
        value=None if any(part.passed is None for part in counted) else min(max(value, 0.0), 1.0),
        error=message if verdict is None else None,
        parts=tuple(parts),
    )


def _share(part: AssertionResult, *, is_scored: bool) -> float:
    """How much of its weight a member earns."""
    has_value = is_scored and part.passed is not None and part.value is not None
    return part.value or 0.0 if has_value else float(part.passed is True)


def decide_by_rule(rule: str, found: set[bool | None]) -> bool | None:
    """The verdict where every member counts alike; None where open ones could turn it."""
    # One member can decide: a failed one an `all`, a passed one an `any` or a `none`.
    decisive = rule != "all"
    if decisive in found:
        return rule == "any"
    return None if None in found else rule != "any"


def _list_parts(parts: Sequence[AssertionResult]) -> str:
    more = f" and {len(parts) - _SHOWN} more" if len(parts) > _SHOWN else ""
    return "; ".join(f"{part.type} ({part.message})" for part in parts[:_SHOWN]) + more


ScorerSpec = str | Mapping[str, object] | Callable[..., Score]
"""A scorer's name, a mapping with its `type` and parameters, or a declared function."""


def score_output(
    output: Output | Mapping[str, object],
    scorers: Sequence[ScorerSpec],
    *,
    case: Case | None = None,
    weights: Mapping[str, float] | None = None,
    registry: Registry | None = None,
) -> ScoreBreakdown:
    """Score an output.

    Args:
        output: The output; it is not altered. A workflow's artifact, `{runId, snapshot, events}`,
            may stand in its place, or be its `data`.
        scorers: Names, specs (`{"type": "latency", "max_ms": 5000}`), or declared functions.
        case: The case that was answered, for scorers that look at it.
        weights: The weight of each scorer by its name, 0 or more; a scorer that is not named has
            1.
        registry: The known scorers; None takes the built-in and installed ones.

    Returns:
        Each score in the order of `scorers`, and their weighted mean. What could not be measured
        has an `error`, no value, and no part in the mean, which is None where nothing is left.

    Raises:
        InputError: A spec or a weight is invalid; lists every fault, and nothing was measured.

    Example:
        >>> from judgekit.records.output import Output
        >>> breakdown = score_output(Output(text="a", duration_ms=15_000), ["latency"])
        >>> breakdown.overall
        0.75
    """
    # Every fault is reported before anything runs, so that a typo costs no minutes.
    found = read_scorers(scorers, registry=registry)
    weights = weights or {}
    names = [declared.name for declared, _ in found]
    if unknown := sorted(weights.keys() - set(names)):
        raise InputError(
            f"weights name {', '.join(unknown)}, which is no scorer here",
            hint=f"the scorers are {', '.join(names)}",
        )
    for name, weight in weights.items():
        if not isfinite(weight) or weight < 0:
            raise InputError(f"the weight of {name} is {weight}, it must be 0 or more")
    subject = unpack_artifact(output)
    scores = tuple(_call_scorer(declared, values, subject, case) for declared, values in found)
    known = [
        (weights.get(name, 1.0), score.value)
        for name, score in zip(names, scores, strict=True)
        if score.value is not None
    ]
    shares = weight_shares([weight for weight, _ in known])
    mean = fsum(share * value for share, (_, value) in zip(shares, known, strict=True))
    return ScoreBreakdown(overall=min(max(mean, 0.0), 1.0) if any(shares) else None, scores=scores)


def read_scorers(
    scorers: Sequence[ScorerSpec],
    *,
    registry: Registry | None = None,
    place: FindPlace = lambda *_: "",
) -> list[tuple[Declaration, dict[str, object]]]:
    """Scorers with their arguments; invalid ones are refused before anything runs."""
    known = scorer_registry() if registry is None else registry
    read: list[tuple[Declaration, dict[str, object]]] = []
    faults: list[FieldFault] = []
    for number, spec in enumerate(scorers):
        where = ("scorers", number)
        if callable(spec):
            read.append((declaration_of(spec), {}))
            continue
        settings = {"type": spec} if isinstance(spec, str) else dict(spec)
        name = settings.pop("type", None)
        settings.pop("description", None)
        if not isinstance(name, str):
            faults.append(spec_fault((*where, "type"), "needs a `type`, the scorer's name"))
            continue
        try:
            declared = declaration_of(cast("Callable[..., object]", known.load(name)))
        except InputError as error:
            faults.append(spec_fault((*where, "type"), error.message, hint=error.hint))
            continue
        arguments, found = read_arguments(declared, settings, where=where)
        read.append((declared, arguments))
        faults += found
    refuse_faults(faults, of="scorers", place=place)
    return read


def _call_scorer(
    declared: Declaration, arguments: dict[str, object], output: Output, case: Case | None
) -> Score:
    """Call one scorer; the one place where every exception is caught, as it may be anyone's."""
    if declared.wants_case:
        arguments = {**arguments, "case": case}
    try:
        found = declared.function(output, **arguments)
    except Exception as error:  # noqa: BLE001 - another package's scorer may raise anything
        return Score(name=declared.name, value=None, error=_reason(error))
    if isinstance(found, Score):
        return found
    why = f"it returned {type(found).__name__}, not a Score"
    return Score(name=declared.name, value=None, error=why)


def weight_shares(weights: Sequence[float]) -> list[float]:
    """The share of each weight in their sum."""
    # Scaled first, because the sum of large weights may exceed the largest float.
    most = max(weights, default=0.0)
    if not most:
        return [0.0] * len(weights)
    scaled = [weight / most for weight in weights]
    total = fsum(scaled)
    return [weight / total for weight in scaled]


def validate_dataset(dataset: Dataset | Path | str) -> list[Problem]:
    """What is wrong with a file, or should be improved in a dataset that is valid.

    Args:
        dataset: A file, which is checked row by row as by `judgekit validate`; or the cases.

    Returns:
        An error for a dataset without cases, and for each assertion that cannot be checked
        (an unknown type, a missing or unusable value); warnings for ids given twice (a run
        refuses them), ids that differ only in case or punctuation, blank inputs, missing
        references of cases that do not say how they are evaluated, and vague descriptions.
        Empty when all is well.
    """
    # Carrying out assertions needs no reader of files.
    from judgekit.datasets import dataset_problems, load_dataset, validate_path  # noqa: PLC0415

    if isinstance(dataset, Dataset):
        return [*dataset_problems(dataset), *_assertion_problems(dataset)]
    problems = validate_path(dataset)
    with suppress(JudgekitError):  # among the problems, or no file of cases
        found = _assertion_problems(load_dataset(dataset, allow_empty=True))
        problems += [one.model_copy(update={"path": str(dataset)}) for one in found]
    return problems


def _assertion_problems(dataset: Dataset) -> Iterator[Problem]:
    from judgekit.formats import Problem  # noqa: PLC0415 - as above

    for case in dataset.cases:
        for fault in read_specs(case.assertions, registry=every_assertion())[1]:
            parts = {"message": fault.message, "case_id": case.id, "remedy": fault.remedy}
            yield Problem(severity="error", **parts)


@cache
def every_assertion() -> Registry:
    """The assertions of a run, including those that a suite configures and its scripts."""
    from judgekit.assertions.builtin import text_similarity  # noqa: PLC0415 - as above
    from judgekit.assertions.scripts import ScriptSettings, script_entries  # noqa: PLC0415

    # Allowed, because nothing is run here: their names must only be known.
    script, _, code = script_entries(ScriptSettings(Path(), is_allowed=True))
    similar = text_similarity.similar_entry(text_similarity.SimilaritySettings())
    return assertion_registry().plus(similar, script, code)
