"""Text metrics as plain functions: edit distance, word ratio, ROUGE, BLEU, chrF.

It imports nothing heavy, because the worker process loads it too.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter

# The longest sequence of words, and what stands for no shared one in a logarithm.
_ORDERS = 4
_NO_MATCH = 1e-7


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


def character_ratio_score(text: str, reference: str) -> float:
    """Twice the length of the longest common subsequence of characters, by that of both texts."""
    from rapidfuzz.fuzz import ratio  # noqa: PLC0415 - a native library

    return ratio(text, reference) / 100


def rouge_n_score(text: str, reference: str, n: int, signs: bool = False) -> float:  # noqa: FBT001, FBT002 - a worker passes it by place
    """ROUGE-N: the F1 of the n-grams of words, or of words and signs, that two texts share."""
    ours, theirs = (_ngrams(split_words(one, signs=signs), n) for one in (text, reference))
    shared = (ours & theirs).total()
    return _f1(shared, ours.total(), theirs.total())


def rouge_l_score(text: str, reference: str) -> float:
    """ROUGE-L: the F1 of the longest common subsequence of words."""
    from rapidfuzz.distance import LCSseq  # noqa: PLC0415 - a native library

    ours, theirs = split_words(text), split_words(reference)
    return _f1(LCSseq.similarity(ours, theirs), len(ours), len(theirs))


def bleu_score(text: str, reference: str) -> float:
    """BLEU: the precision of the text's sequences of one to four words."""
    from sacrebleu import sentence_bleu  # noqa: PLC0415 - slow to import

    return _share(sentence_bleu(text, [reference]).score)


def word_bleu_score(text: str, reference: str) -> float:
    """BLEU of the words between white space, as promptfoo computes it.

    An order without a match counts as 1e-7.
    """
    ours, theirs = text.lower().split(), reference.lower().split()
    logs: list[float] = []
    for n in range(1, min(_ORDERS, len(ours)) + 1):
        counts = _ngrams(ours, n)
        shared = (counts & _ngrams(theirs, n)).total()
        logs.append(math.log(shared / counts.total() or _NO_MATCH))
    penalty = min(0.0, 1 - len(theirs) / len(ours)) if ours else 0.0
    return math.exp(penalty + math.fsum(logs) / len(logs)) if logs else 0.0


def gleu_score(text: str, reference: str) -> float:
    """GLEU (Wu and others 2016): of runs of 1 to 4 words, the lower of precision and recall."""
    ours, theirs = ([word.rstrip(".") for word in one.lower().split()] for one in (text, reference))
    sides = [(_ngrams(ours, n), _ngrams(theirs, n)) for n in range(1, _ORDERS + 1)]
    shared = sum((one & other).total() for one, other in sides)
    most = max(sum(one.total() for one, _ in sides), sum(other.total() for _, other in sides))
    return shared / most if most else 0.0


def _ngrams(words: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[at : at + n]) for at in range(len(words) - n + 1))


def chrf_score(text: str, reference: str) -> float:
    """chrF: the F-score of shared sequences of characters; other forms of a word count in part."""
    from sacrebleu import sentence_chrf  # noqa: PLC0415 - slow to import

    return _share(sentence_chrf(text, [reference]).score)


def split_words(text: str, *, signs: bool = False) -> list[str]:
    """The words of a text: letters and digits, in small letters; with `signs` each mark, too."""
    folded, marks = text.casefold(), ""
    if not folded.isascii():
        # For `re` vowel signs (of Hindi, Thai and others) are no part of a word, so that words that
        # differ in them alone would be the same; and an accent may be a character of its own.
        folded = unicodedata.normalize("NFC", folded)
        marks = "".join(sorted(c for c in {*folded} if unicodedata.category(c).startswith("M")))
    word = rf"[\w{marks}]+"
    return re.findall(rf"{word}|[^\w\s{marks}]" if signs else word, folded)


def _f1(shared: int, n_ours: int, n_theirs: int) -> float:
    return 2 * shared / (n_ours + n_theirs) if shared else 0.0


def _share(percent: float) -> float:
    return min(max(percent / 100, 0.0), 1.0)
