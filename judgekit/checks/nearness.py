"""Assertions that a text is near to another: edit distance, BLEU, chrF, METEOR, ROUGE.

Texts of any length cost at most their time limit: an edit distance is only followed up to the
threshold, and what takes longer is stopped and is an error.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from judgekit.checks import text_scores
from judgekit.checks.bounded import TimeoutSeconds, bounded
from judgekit.checks.matching import Texts  # noqa: TC001 - the seam reads the hints
from judgekit.checks.paths import PathText  # noqa: TC001 - the seam reads the hints
from judgekit.checks.seam import UndecidedError, assertion
from judgekit.checks.subjects import text_of
from judgekit.errors import InputError
from judgekit.records.check import AssertionResult
from judgekit.records.record import Count, Fraction  # noqa: TC001 - the seam reads the hints

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.records.case import Case
    from judgekit.records.output import Output

_QUICK = 4_000_000
"""Products of two lengths up to which the work is done at once, in a few milliseconds."""

_METEOR = "judgekit.checks.meteor"
_TIMEOUT_S = 5.0
_LOAD_S = 60.0


def usable_synonyms(synonyms: bool) -> bool:  # noqa: FBT001 - pydantic hands it over alone
    """Whether synonyms are looked up, where they can be."""
    if not synonyms or find_spec("nltk") is None:  # the latter is told of the whole assertion
        return synonyms
    try:
        fault = bounded(f"{_METEOR}:wordnet_fault", timeout_s=_LOAD_S)
    except UndecidedError as error:
        raise InputError(f"cannot read the WordNet data of nltk: {error.message}") from error
    if fault is not None:
        raise InputError(str(fault))
    return synonyms


Power = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""A number that a share is raised to."""

Synonyms = Annotated[bool, AfterValidator(usable_synonyms)]
"""Whether synonyms are looked up; refused where they cannot be."""


@assertion("text.levenshtein")
def levenshtein(
    output: Output,
    *,
    value: str,
    threshold: Count = 5,
    path: PathText | None = None,
    timeout_s: TimeoutSeconds = _TIMEOUT_S,
) -> AssertionResult:
    """Pass when at most so many characters differ."""
    text = text_of(output, path)
    found = near(text_scores.edit_distance, text, value, threshold, timeout_s=timeout_s)
    passed = found <= threshold
    said = f"{found:.0f}" if passed else f"more than {threshold}"
    message = f"the edit distance is {said}, limit {threshold}"
    return AssertionResult(passed=passed, actual=int(found), message=message)


@assertion("text.bleu")
def bleu(
    output: Output,
    *,
    value: str | None = None,
    threshold: Fraction = 0.5,
    path: PathText | None = None,
    timeout_s: TimeoutSeconds = _TIMEOUT_S,
    case: Case | None = None,
) -> AssertionResult:
    """Pass when the BLEU score of the text reaches the threshold."""
    text, other = text_of(output, path), reference_text(value, case)
    found = _in_worker("bleu", text, other, timeout_s=timeout_s)
    return _reaches("BLEU", found, threshold)


@assertion("text.chrf")
def chrf(
    output: Output,
    *,
    value: str | None = None,
    threshold: Fraction = 0.5,
    path: PathText | None = None,
    timeout_s: TimeoutSeconds = _TIMEOUT_S,
    case: Case | None = None,
) -> AssertionResult:
    """Pass when the chrF score of the text reaches the threshold."""
    # chrF compares rows of characters, so that other forms of a word count in part.
    text, other = text_of(output, path), reference_text(value, case)
    found = _in_worker("chrf", text, other, timeout_s=timeout_s)
    return _reaches("chrF", found, threshold)


@assertion("text.meteor")
def meteor(
    output: Output,
    *,
    value: str | Texts | None = None,
    threshold: Fraction = 0.5,
    alpha: Fraction = 0.9,
    beta: Power = 3.0,
    gamma: Fraction = 0.5,
    synonyms: Synonyms = False,
    path: PathText | None = None,
    timeout_s: TimeoutSeconds = _TIMEOUT_S,
    case: Case | None = None,
) -> AssertionResult:
    """Pass when the METEOR score of the text reaches the threshold."""
    text = text_of(output, path)
    others = value if isinstance(value, list) else [reference_text(value, case)]
    found = _in_worker(
        "meteor", text, others, alpha, beta, gamma, synonyms,
        timeout_s=timeout_s, module=_METEOR,
    )  # fmt: skip
    used = "words, stems and synonyms" if synonyms else "words and stems, no synonyms"
    return _reaches(f"METEOR ({used})", found, threshold)


@assertion("text.rouge_n")
def rouge_n(
    output: Output,
    *,
    value: str | None = None,
    threshold: Fraction = 0.75,
    n: Annotated[int, Field(ge=1, le=9)] = 1,
    path: PathText | None = None,
    timeout_s: TimeoutSeconds = _TIMEOUT_S,
    case: Case | None = None,
) -> AssertionResult:
    """Pass when the F1 of the n-grams of words that both texts have reaches the threshold."""
    text, other = text_of(output, path), reference_text(value, case)
    found = near(text_scores.rouge_n, text, other, n, timeout_s=timeout_s)
    return _reaches(f"ROUGE-{n}", found, threshold)


@assertion("text.rouge_l")
def rouge_l(
    output: Output,
    *,
    value: str | None = None,
    threshold: Fraction = 0.75,
    path: PathText | None = None,
    timeout_s: TimeoutSeconds = _TIMEOUT_S,
    case: Case | None = None,
) -> AssertionResult:
    """Pass when the F1 of the longest row of words both texts have in order is high enough."""
    text, other = text_of(output, path), reference_text(value, case)
    found = near(text_scores.rouge_l, text, other, timeout_s=timeout_s)
    return _reaches("ROUGE-L", found, threshold)


def near(
    measure: Callable[..., float], text: str, other: str, *arguments: object, timeout_s: float
) -> float:
    """How near two texts are, worked out here when they are short, else in the worker process."""
    if len(text) * len(other) <= _QUICK:
        return measure(text, other, *arguments)
    return _in_worker(measure.__name__, text, other, *arguments, timeout_s=timeout_s)


def reference_text(value: str | None, case: Case | None) -> str:
    """What a text is compared with."""
    if value is not None:
        return value
    if case is None or not isinstance(case.reference, str):
        raise UndecidedError("there is nothing to compare with: neither a value nor a reference")
    return case.reference


def _in_worker(
    measure: str, *arguments: object, timeout_s: float, module: str = text_scores.__name__
) -> float:
    found = bounded(f"{module}:{measure}", *arguments, timeout_s=timeout_s)
    return float(str(found))


def _reaches(what: str, found: float, threshold: float) -> AssertionResult:
    passed = found >= threshold
    message = f"{what} is {found:.3f}, {threshold:g} wanted"
    return AssertionResult(passed=passed, actual=found, message=message, value=found)
