"""Scores how alike an output and a reference are: in their words, or in what they are about.

No similarity knows whether an answer is true: a contradiction in the words of the reference
scores high.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import fsum, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, cast

from judgekit.checks import text_scores
from judgekit.checks.nearness import near, reference_text
from judgekit.checks.paths import PathText  # noqa: TC001 - the seam reads the hints
from judgekit.checks.seam import UndecidedError, scorer
from judgekit.checks.subjects import text_of
from judgekit.records.check import Score

if TYPE_CHECKING:
    from judgekit.records.case import Case
    from judgekit.records.output import Output

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Turns texts into vectors of one length; may have a `name`, which the score's method shows."""

LEXICAL = "lexical: token sort ratio"
"""The method that needs nothing: rapidfuzz's ratio of the sorted words."""

WORDLLAMA = "semantic: wordllama"
"""The method of the extra `semantic`."""

_TIMEOUT_S = 5.0


@scorer("similarity")
def similarity(
    output: Output,
    *,
    reference: str | None = None,
    method: Literal["lexical", "semantic", "best"] | None = None,
    embed: Embed | None = None,
    path: PathText | None = None,
    case: Case | None = None,
) -> Score:
    """Score how alike the output and a reference are."""
    text, other = text_of(output, path), reference_text(reference, case)
    chosen = None if method == "lexical" else embed
    if chosen is None and method in ("semantic", "best"):
        chosen = _installed(needed=method == "semantic")
    if chosen is None:
        ratio = near(text_scores.word_ratio, text, other, timeout_s=_TIMEOUT_S)
        return _score(ratio, LEXICAL)
    method_name = WORDLLAMA if embed is None else f"semantic: {_name(embed)}"
    ours, theirs = chosen([text, other])
    return _score(cosine(ours, theirs), method_name)


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of the angle between two vectors."""
    if len(one) != len(other):
        raise UndecidedError(f"embeddings of {len(one)} and {len(other)} numbers do not compare")
    norm = sqrt(fsum(x * x for x in one)) * sqrt(fsum(x * x for x in other))
    if not norm > 0:
        raise UndecidedError("a text without words has no embedding to compare")
    product = fsum(float(x) * float(y) for x, y in zip(one, other, strict=True))
    return min(max(product / norm, -1.0), 1.0)


def _score(raw: float, method: str) -> Score:
    value = min(max(raw, 0.0), 1.0)
    return Score(name="similarity", value=value, raw=raw, method=method, message=f"{raw:.3f}")


def _name(embed: Embed) -> str:
    return str(getattr(embed, "name", None) or getattr(embed, "__name__", "embeddings"))


class _Vectors(Protocol):
    """An array that can be turned into lists."""

    def tolist(self) -> list[list[float]]:
        """The rows as lists."""
        ...


def _installed(*, needed: bool) -> Embed | None:
    """The embedding that is installed; its weights come with the package."""
    try:
        return _wordllama()
    except ImportError as error:
        if not needed:
            return None
        raise UndecidedError(
            "semantic similarity is not installed", hint="pip install 'judgekit-llm[semantic]'"
        ) from error


@cache
def _wordllama() -> Embed:
    import wordllama  # noqa: PLC0415 - optional, and slow to import

    # The loader looks for the tokenizer in a folder the package does not have, and would fetch it.
    folder = Path(str(wordllama.__file__)).parent
    model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    return lambda texts: cast("_Vectors", model.embed(list(texts))).tolist()
