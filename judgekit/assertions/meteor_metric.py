"""METEOR by nltk, for the worker process only; nltk is imported with the module.

Nothing is ever downloaded.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from judgekit.assertions.text_metrics import split_words

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def _left_out(name: str) -> Iterator[None]:
    """Import something without a module it can do without, unless that is there already."""
    modules = cast("dict[str, object]", sys.modules)
    if name in modules:
        yield
        return
    modules[name] = None
    try:
        yield
    finally:
        del modules[name]


# nltk takes one test of significance from scipy.stats, which takes longer to load than nltk.
with _left_out("scipy.stats"):
    from nltk.corpus import wordnet
    from nltk.translate.meteor_score import meteor_score

_REMEDY = (
    "run `python -m nltk.downloader wordnet` once where there is a network, or leave `synonyms` out"
)


def nltk_meteor_score(
    text: str,
    references: list[str],
    alpha: float,
    beta: float,
    gamma: float,
    synonyms: bool,  # noqa: FBT001 - the worker hands over a list of JSON values
) -> float:
    """METEOR of a text: how many of its words a good text has, and how far they stand together."""
    # Of P, the share of the text's words that are matched, and R, that of the reference's, it takes
    # the mean `P R / (alpha P + (1 - alpha) R)`; of it, `gamma (chunks / matches) ** beta` is taken
    # away. Words are matched when they are the same, then when their Porter stems are, then, with
    # `synonyms`, when WordNet has both in one set.
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
    """What keeps synonyms from being looked up on this machine."""
    try:
        wordnet.ensure_loaded()
    except LookupError:
        return f"needs the WordNet data of nltk, which are not on this machine; {_REMEDY}"
    return None


class _NoSynonyms:
    """Stands where nltk wants WordNet, and knows no word."""

    def synsets(self, _word: str) -> tuple[()]:
        """The sets of synonyms a word is in."""
        return ()
