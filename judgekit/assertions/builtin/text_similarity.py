"""Assertions that compare a text with a reference, and the scorer `similarity`.

The formulas are in `text_metrics`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from inspect import cleandoc
from math import fsum, sqrt
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from judgekit.assertions import text_metrics
from judgekit.assertions.builtin.text import TextList  # noqa: TC001
from judgekit.assertions.registry import UndecidedError, assertion, scorer
from judgekit.assertions.sandbox import TimeoutSeconds, run_bounded
from judgekit.assertions.selection import PathText, text_of
from judgekit.errors import InputError
from judgekit.extras import install_hint, is_installed
from judgekit.records import AssertionResult, Case, Count, Fraction, Output, Score, meets_threshold
from judgekit.registry import RegistryEntry

# The product of two lengths up to which a comparison takes a few milliseconds.
_QUICK = 4_000_000
_METEOR = "judgekit.assertions.meteor_metric"
_TIMEOUT_S = 5.0

# WordNet is read from disk once; the first load can take many seconds on a slow disk.
_LOAD_S = 60.0


def _usable_synonyms(synonyms: bool) -> bool:  # noqa: FBT001 - pydantic passes one argument
    # Without nltk the whole assertion is refused elsewhere.
    if not synonyms or not is_installed("nltk"):
        return synonyms
    try:
        fault = run_bounded(f"{_METEOR}:wordnet_fault", timeout_s=_LOAD_S)
    except UndecidedError as error:
        raise InputError(f"cannot read the WordNet data of nltk: {error.message}") from error
    if fault is not None:
        raise InputError(str(fault))
    return synonyms


Power = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Synonyms = Annotated[bool, AfterValidator(_usable_synonyms)]


def measure_similarity(
    measure: Callable[..., float], text: str, other: str, *arguments: object, timeout_s: float
) -> float:
    """How similar two texts are, computed in the worker process if they are long."""
    # Starting the worker costs more than a short comparison takes.
    if len(text) * len(other) <= _QUICK:
        return measure(text, other, *arguments)
    return _in_worker(measure.__name__, text, other, *arguments, timeout_s=timeout_s)


def reference_text(value: str | None, case: Case | None) -> str:
    if value is not None:
        return value
    if case is None or not isinstance(case.reference, str):
        raise UndecidedError("there is nothing to compare with: neither a value nor a reference")
    return case.reference


def _in_worker(
    measure: str, *arguments: object, timeout_s: float, module: str = text_metrics.__name__
) -> float:
    found = run_bounded(f"{module}:{measure}", *arguments, timeout_s=timeout_s)
    return float(str(found))


def _similarity_result(what: str, found: float, threshold: float) -> AssertionResult:
    # As floats the ratio of 4 to 5 is 0.19999999999999996 off 1, and must reach 0.8.
    passed = meets_threshold(found, threshold)
    message = f"{what} is {found:.3f}, {threshold:g} wanted"
    return AssertionResult(passed=passed, actual=found, message=message, value=found)


@assertion("text.levenshtein")
def levenshtein(
    output: Output,
    *,
    value: str,
    threshold: Count = 5,
    path: PathText | None = None,
    timeout_s: TimeoutSeconds = _TIMEOUT_S,
) -> AssertionResult:
    """Pass when the edit distance to the value is at most the threshold.

    Args:
        value: The text to compare with.
        threshold: The largest edit distance that passes, in characters.
    """
    # The distance is not computed beyond the threshold: `actual` is one more then.
    text = text_of(output, path)
    found = measure_similarity(
        text_metrics.edit_distance, text, value, threshold, timeout_s=timeout_s
    )
    passed = found <= threshold
    distance = f"{found:.0f}" if passed else f"more than {threshold}"
    message = f"the edit distance is {distance}, limit {threshold}"
    return AssertionResult(passed=passed, actual=int(found), message=message)


def _metric(
    title: str, measure: Callable[..., float], threshold: float = 0.5, *, is_slow: bool = False
) -> Callable[..., AssertionResult]:
    score = (
        partial(_in_worker, measure.__name__) if is_slow else partial(measure_similarity, measure)
    )

    @assertion(f"text.{measure.__name__.removesuffix('_score')}")
    def reaches(
        output: Output,
        *,
        value: str | TextList | None = None,
        threshold: Fraction = threshold,
        path: PathText | None = None,
        timeout_s: TimeoutSeconds = _TIMEOUT_S,
        case: Case | None = None,
    ) -> AssertionResult:
        text = text_of(output, path)
        others = value if isinstance(value, list) else [reference_text(value, case)]
        best = max(score(text, other, timeout_s=timeout_s) for other in others)
        return _similarity_result(title, best, threshold)

    about = cleandoc(measure.__doc__ or "").replace("\n", "\n    ")
    reaches.__doc__ = f"""Pass when the {title} score of the text reaches the threshold.

    {about}

    Args:
        value: The text to compare with, or several, of which the best counts; None takes the
            case's reference.
        threshold: The smallest score that passes, on [0, 1].
    """
    return reaches


character_ratio = _metric("character ratio", text_metrics.character_ratio_score)
word_bleu = _metric("BLEU (words)", text_metrics.word_bleu_score)
gleu = _metric("GLEU", text_metrics.gleu_score)
rouge_l = _metric("ROUGE-L", text_metrics.rouge_l_score, 0.75)
# sacrebleu is slow to import, so only the worker imports it.
bleu = _metric("BLEU", text_metrics.bleu_score, is_slow=True)
chrf = _metric("chrF", text_metrics.chrf_score, is_slow=True)


@assertion("text.meteor")
def meteor(
    output: Output,
    *,
    value: str | TextList | None = None,
    threshold: Fraction = 0.5,
    alpha: Fraction = 0.9,
    beta: Power = 3.0,
    gamma: Fraction = 0.5,
    synonyms: Synonyms = False,
    path: PathText | None = None,
    timeout_s: TimeoutSeconds = _TIMEOUT_S,
    case: Case | None = None,
) -> AssertionResult:
    """Pass when the METEOR score of the text reaches the threshold.

    Args:
        value: The text to compare with, or several, of which the best counts; None takes the
            case's reference.
        threshold: The smallest score that passes, on [0, 1].
        alpha: The weight of recall against precision, on [0, 1].
        beta: How fast the penalty grows with the number of pieces that the shared words form.
        gamma: The largest penalty, on [0, 1].
        synonyms: Whether WordNet's synonyms match too, whose data must be on the machine; else
            only equal words and equal stems match.
    """
    text = text_of(output, path)
    others = value if isinstance(value, list) else [reference_text(value, case)]
    found = _in_worker(
        "nltk_meteor_score", text, others, alpha, beta, gamma, synonyms,
        timeout_s=timeout_s, module=_METEOR,
    )  # fmt: skip
    used = "words, stems and synonyms" if synonyms else "words and stems, no synonyms"
    return _similarity_result(f"METEOR ({used})", found, threshold)


@assertion("text.rouge_n")
def rouge_n(
    output: Output,
    *,
    value: str | None = None,
    threshold: Fraction = 0.75,
    n: Annotated[int, Field(ge=1, le=9)] = 1,
    signs: bool = False,
    path: PathText | None = None,
    timeout_s: TimeoutSeconds = _TIMEOUT_S,
    case: Case | None = None,
) -> AssertionResult:
    """Pass when the ROUGE-N score of the text reaches the threshold: the F1 of its n-grams.

    Args:
        value: The text to compare with; None takes the case's reference.
        threshold: The smallest score that passes, on [0, 1].
        n: The number of words in an n-gram.
        signs: Whether each punctuation mark counts as a word.
    """
    text, other = text_of(output, path), reference_text(value, case)
    found = measure_similarity(
        text_metrics.rouge_n_score, text, other, n, signs, timeout_s=timeout_s
    )
    return _similarity_result(f"ROUGE-{n}", found, threshold)


Embedder = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Turns texts into vectors of one length; may have a `name`, which the score's method shows."""

# The method without an extra: rapidfuzz's ratio of the sorted words; and that of `semantic`.
LEXICAL = "lexical: token sort ratio"
WORDLLAMA = "semantic: wordllama"


@scorer("similarity")
def similarity(
    output: Output,
    *,
    reference: str | None = None,
    method: Literal["lexical", "semantic", "best"] | None = None,
    embed: Embedder | None = None,
    path: PathText | None = None,
    case: Case | None = None,
) -> Score:
    """Score how similar the output and a reference are.

    The value is the word ratio, or the cosine of the vectors with negative ones as 0.

    Args:
        reference: The text to compare with; None takes the case's reference.
        method: `lexical` compares words; `semantic` compares vectors, of `embed` or of the extra
            `semantic`; `best` is semantic where that is available, else lexical. None is semantic
            with `embed`, else lexical, so that installing an extra changes no number. The score's
            `method` names the one that was used.
        embed: What turns texts into vectors; None takes the extra `semantic`.
    """
    text, other = _compared_text(output, path), reference_text(reference, case)
    # `lexical` compares words even where an embedder is available.
    chosen = None if method == "lexical" else embed
    if chosen is None and method in ("semantic", "best"):
        try:
            chosen = _wordllama()
        except ImportError as error:
            if method == "semantic":
                raise UndecidedError(
                    "semantic similarity is not installed", hint=install_hint("wordllama")
                ) from error
    if chosen is None:
        used = LEXICAL
        raw = measure_similarity(text_metrics.word_ratio, text, other, timeout_s=_TIMEOUT_S)
    else:
        name = getattr(embed, "name", None) or getattr(embed, "__name__", "embeddings")
        used = WORDLLAMA if embed is None else f"semantic: {name}"
        raw = cosine(*chosen([text, other]))
    value = min(max(raw, 0.0), 1.0)
    return Score(name="similarity", value=value, raw=raw, method=used, message=f"{raw:.3f}")


def _compared_text(output: Output, path: str | None) -> str:
    """The text of an output; of a workflow's outputs the only one they have."""
    outputs = output.data.get("outputs") if isinstance(output.data, dict) else None
    if path is not None or output.text is not None or not isinstance(outputs, dict):
        return text_of(output, path)
    fields = (each.values() if isinstance(each, dict) else [each] for each in outputs.values())
    texts = [one for of_node in fields for one in of_node if isinstance(one, str)]
    # Compared as JSON, names of nodes and fields would count as words.
    if len(texts) != 1:
        what = f"the outputs have {len(texts)} texts, and no `path` names the one to compare"
        raise UndecidedError(what, hint="name it, for example `path: outputs.main.text`")
    return texts[0]


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of the angle between two vectors."""
    if len(one) != len(other):
        raise UndecidedError(f"embeddings of {len(one)} and {len(other)} numbers do not compare")
    norm = sqrt(fsum(x * x for x in one)) * sqrt(fsum(x * x for x in other))
    # Written so that nan is refused too.
    if not norm > 0:
        raise UndecidedError("a text without words has no embedding to compare")
    # Rounding can give a cosine just above 1.
    product = fsum(float(x) * float(y) for x, y in zip(one, other, strict=True))
    return min(max(product / norm, -1.0), 1.0)


@cache
def _wordllama() -> Embedder:
    import wordllama  # noqa: PLC0415 - optional, and slow to import

    # The loader looks for the tokenizer in a folder that the package lacks, and would download it.
    folder = Path(str(wordllama.__file__)).parent
    model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    return lambda texts: model.embed(list(texts)).tolist()


SIMILAR_ASSERTION = "similar"


@dataclass(frozen=True, slots=True)
class SimilaritySettings:
    """How the similarity of texts is measured in a run."""

    # As for the scorer `similarity`; `best` is semantic where that is installed.
    method: Literal["lexical", "semantic", "best"] = "best"
    # What turns texts into vectors; None takes what is installed.
    embed: Embedder | None = None

    def arguments(self) -> dict[str, object]:
        """The same as parameters of the scorer."""
        method: dict[str, object] = {"method": self.method}
        return method if self.embed is None else {**method, "embed": self.embed}


def similar_entry(settings: SimilaritySettings) -> RegistryEntry:
    """The assertion `similar`, for the registry of a run."""
    # `{"type": "similar", "value": "30 days", "threshold": 0.8}`; without a value it compares with
    # the case's reference.

    @assertion(SIMILAR_ASSERTION)
    def similar(
        output: Output,
        *,
        value: str | None = None,
        threshold: Fraction = 0.75,
        path: PathText | None = None,
        case: Case | None = None,
    ) -> AssertionResult:
        """Pass when the output is similar enough to a text."""
        method, embed = settings.method, settings.embed
        found = similarity(
            output, reference=value, method=method, embed=embed, path=path, case=case
        )
        score = found.value or 0.0
        passed = meets_threshold(score, threshold)
        message = f"the similarity is {score:.3f} ({found.method}), {threshold:g} wanted"
        return AssertionResult(passed=passed, actual=score, value=score, message=message)

    return RegistryEntry(SIMILAR_ASSERTION, similar)
