"""Finds in the words of a question what makes two judges read it differently."""

from __future__ import annotations

import re

_VAGUE = re.compile(
    r"\b(?:(?:in|un)?(?:appropriate|adequate)(?:ly)?|(?:un)?(?:reasonabl[ey]|suitabl[ey])"
    r"|(?:im)?proper(?:ly)?|(?:un)?(?:acceptabl[ey]|satisfactor(?:y|ily))|sensibl[ey]|good|great"
    r"|nice(?:ly)?|decent(?:ly)?|(?:in)?sufficient(?:ly)?|effective(?:ly)?|meaningful(?:ly)?"
    r"|user-friendly|well[- ]written|well[- ]structured|(?:high|top)[- ]quality|as needed)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|`[^`]*`")

_QUALITIES = (
    r"accurate|correct|true|right|factual|complete|thorough|concise|brief|short|clear|readable"
    r"|coherent|consistent|helpful|useful|relevant|polite|friendly|courteous|respectful|professional"
    r"|safe|harmless|honest|fluent|grammatical|specific|detailed|original|creative|engaging"
    r"|persuasive|unbiased|neutral|fair|grounded|faithful|supported|valid|efficient|fast|secure"
    r"|accuracy|correctness|completeness|conciseness|brevity|clarity|readability|coherence"
    r"|consistency|helpfulness|relevance|politeness|tone|style|grammar|spelling|fluency|safety"
    r"|honesty|originality|creativity"
)
_CHECKS = (
    r"cite|cites|mention|mentions|follow|follows|explain|explains|include|includes|avoid|avoids"
    r"|address|addresses|contain|contains|provide|provides|respond|responds|offer|offers|refuse"
    r"|refuses|refer|refers|agree|agrees|stay|stays|give|gives|keep|keeps|use|uses|is|are|does|do"
    r"|did|was|were|has|have|can|could|will|would|should"
)
_AND = r",?\s+(?:and|as well as|plus)(?:\s+(?:also|then|\w+ly))?\s+"
_JOINED = (
    re.compile(rf"\b(?:{_QUALITIES})(?:ly)?{_AND}(?:{_QUALITIES})(?:ly)?\b", re.IGNORECASE),
    re.compile(rf"\w+{_AND}(?:{_CHECKS})\b", re.IGNORECASE),
    re.compile(r"\?.*\?", re.DOTALL),
)

_ASKS = r"(?:is|are|was|were|does|do|did|has|have|can|could|will|would|should)"
_LEADING = re.compile(
    rf"^\W*{_ASKS}n['\u2019]t\b|\b(?:surely|obviously|of course|don['\u2019]t you|would you agree"
    r"|do you agree|isn['\u2019]t it)\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(rf"^\W*{_ASKS}\b[^,;?]*?(?:\bnot\b|\bnever\b|n['\u2019]t\b)", re.IGNORECASE)
_BAD = re.compile(
    rf"^\W*{_ASKS}\b.*\b(?:hallucinat\w+|fabricat\w+|violates?|omits?|ignores?|leaks?"
    r"|contradicts?|invents?|errors?|mistakes?|toxic\w*|offensive|biased|harmful|misleading"
    r"|irrelevant|wrong|incorrect|false)\b",
    re.IGNORECASE | re.DOTALL,
)
_TURNED = re.compile(
    r"\b(?:free|without|avoids?|no|not|never|rather|instead|nothing)\b", re.IGNORECASE
)

_WORD = re.compile(r"[^\W\d_]+")
_ENDING = re.compile(r"(?:ing|ed|ly|es|s)$")
_EMPTY = frozenset(
    {
        "a", "an", "the", "of", "to", "in", "on", "at", "by",
        "for", "with", "from", "as", "or", "and", "is", "are", "was",
        "were", "be", "been", "do", "does", "did", "has", "have", "it",
        "its", "this", "that", "which", "what", "who", "how", "every", "each",
        "all", "any", "there", "than", "into", "only", "own", "output", "answer",
        "response", "reply", "text", "result",
    }
)  # fmt: skip
_LEAST_WORDS = 2
_SHORTEST_STEM = 3


def vague_words(text: str) -> list[str]:
    """The words of a text that nothing can contradict ("appropriate", "high quality")."""
    found = (match.group().lower() for match in _VAGUE.finditer(_QUOTED.sub("", text)))
    return list(dict.fromkeys(found))


def joined_checks(question: str) -> str | None:
    """The place where a question asks two things at once."""
    # A guess from the words around "and": two qualities, or a second verb that is asked for.
    for pattern in _JOINED:
        if match := pattern.search(question):
            return " ".join(match.group().split())
    return None


def asks_negatively(question: str) -> str | None:
    """How a question is turned so that its yes and no are confused."""
    if _LEADING.search(question):
        return "leading"
    if _NEGATED.search(question):
        return "negated"
    if _BAD.search(question) and not _TURNED.search(question):
        return "inverted"
    return None


def overlap(one: str, other: str) -> float:
    """How far two questions use the same words."""
    first, second = _stems(one), _stems(other)
    if min(len(first), len(second)) < _LEAST_WORDS:
        return 0.0
    return len(first & second) / len(first | second)


def _stems(text: str) -> set[str]:
    words = {word.lower() for word in _WORD.findall(text)} - _EMPTY
    return {_stem(word) for word in words}


def _stem(word: str) -> str:
    stem = _ENDING.sub("", word)
    return stem if len(stem) >= _SHORTEST_STEM else word
