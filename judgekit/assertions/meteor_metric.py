"""METEOR by nltk, for the worker process only; nltk is imported with the module.

Nothing is ever downloaded.
"""

from __future__ import annotations

import sys
from typing import cast

from judgekit.assertions.text_metrics import split_words

# nltk takes one test of significance from scipy.stats, which takes longer to load than nltk; an
# entry None prevents its import.
_modules = cast("dict[str, object]", sys.modules)
_modules.setdefault("scipy.stats", None)

from nltk.corpus import wordnet  # noqa: E402
from nltk.translate.meteor_score import meteor_score  # noqa: E402

if _modules["scipy.stats"] is None:
    del _modules["scipy.stats"]

_REMEDY = (
    "run `python -m nltk.downloader wordnet` once where there is a network, or leave `synonyms` out"
)


def nltk_meteor_score(
    text: str,
    references: list[str],
    alpha: float,
    beta: float,
    gamma: float,
    synonyms: bool,  # noqa: FBT001 - the worker passes a list of JSON values
) -> float:
    """METEOR of a text: how many words it shares with a reference, and how contiguous they are."""
    # P is the share of the text's words that are matched, R that of the reference's. The score is
    # their mean `P R / (alpha P + (1 - alpha) R)`, reduced by the share
    # `gamma (chunks / matches) ** beta`. Words match when they are equal, then when their Porter
    # stems are, then, with `synonyms`, when WordNet has both in one set.
    found = meteor_score(
        [split_words(reference) for reference in references],
        split_words(text),
        wordnet=wordnet if synonyms else _NoSynonyms(),
        alpha=alpha,
        beta=beta,
        gamma=gamma,
    )
    return float(found)


def wordnet_fault() -> str | None:
    """Why synonyms cannot be looked up on this machine."""
    try:
        wordnet.ensure_loaded()
    except LookupError:
        return f"needs the WordNet data of nltk, which are not on this machine; {_REMEDY}"
    return None


class _NoSynonyms:
    """Takes the place of WordNet in nltk, and knows no word."""

    def synsets(self, _word: str) -> tuple[()]:
        return ()
