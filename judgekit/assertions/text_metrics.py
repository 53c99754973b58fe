"""Text metrics as plain functions: edit distance, word ratio, ROUGE, BLEU, chrF.

It imports nothing heavy, because the worker process loads it too.
"""

from __future__ import annotations

import re
from collections import Counter

_WORD = re.compile(r"\w+")


def edit_distance(text: str, reference: str, most: int) -> int:
    """The least number of characters to insert, delete or replace to make one text the other."""
    from rapidfuzz.distance import Levenshtein  # noqa: PLC0415 - a native library

    # No distance is larger than the longer text, and rapidfuzz takes 64-bit numbers only.
    return Levenshtein.distance(
        text, reference, score_cutoff=min(most, max(len(text), len(reference)))
    )


def word_ratio(text: str, reference: str) -> float:
    """How similar two texts are in their words, whatever their order."""
    from rapidfuzz.fuzz import token_sort_ratio  # noqa: PLC0415 - a native library

    one, other = (" ".join(split_words(part)) for part in (text, reference))
    if not one and not other:
        return float(text.strip() == reference.strip())
    return token_sort_ratio(one, other) / 100


def rouge_n_score(text: str, reference: str, n: int) -> float:
    """ROUGE-N: the F1 of the n-grams of words that two texts share."""
    ours, theirs = (
        Counter(tuple(words[at : at + n]) for at in range(len(words) - n + 1))
        for words in (split_words(text), split_words(reference))
    )
    shared = (ours & theirs).total()
    return _f1(shared, ours.total(), theirs.total())


def rouge_l_score(text: str, reference: str) -> float:
    """ROUGE-L: the F1 of the longest common subsequence of words."""
    from rapidfuzz.distance import LCSseq  # noqa: PLC0415 - a native library

    ours, theirs = split_words(text), split_words(reference)
    return _f1(LCSseq.similarity(ours, theirs), len(ours), len(theirs))


def bleu_score(text: str, reference: str) -> float:
    """BLEU of one sentence or text."""
    from sacrebleu import sentence_bleu  # noqa: PLC0415 - slow to import

    return _share(sentence_bleu(text, [reference]).score)


def chrf_score(text: str, reference: str) -> float:
    """chrF: the F-score of the character n-grams that two texts share."""
    from sacrebleu import sentence_chrf  # noqa: PLC0415 - slow to import

    return _share(sentence_chrf(text, [reference]).score)


def split_words(text: str) -> list[str]:
    """The words of a text: letters and digits, in small letters."""
    return _WORD.findall(text.casefold())


def _f1(shared: int, n_ours: int, n_theirs: int) -> float:
    return 2 * shared / (n_ours + n_theirs) if shared else 0.0


def _share(percent: float) -> float:
    return min(max(percent / 100, 0.0), 1.0)
