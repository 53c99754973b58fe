"""Removes names of models and vendors from an output, so that a judge cannot tell who made it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import NamedTuple

WITHHELD_NAME = "[name withheld]"
_MODELS = (
    r"(?:Chat)?GPT(?:[- ]?[0-9][\w.]{0,5})?(?:[- ](?:turbo|mini|nano|preview))?|chatgpt|Claude"
    r"|Gemini|Bard|LLaMA|Llama|Mistral|Mixtral|Qwen|Tongyi|DeepSeek|Grok|Copilot|PaLM|Vicuna"
    r"|Alpaca|Kimi|ChatGLM|ERNIE|Ernie Bot|Gemma|OpenAssistant|Open Assistant|Koala|Dolly|Falcon"
)
_COMPANIES = (
    r"OpenAI|Open AI|Anthropic|Google(?: DeepMind| AI| Research)?|DeepMind|Meta(?: AI)?"
    r"|Facebook AI|Mistral AI|Mistral|Alibaba(?: Cloud)?|DeepSeek|xAI|Microsoft|Cohere"
    r"|Moonshot AI|Zhipu AI|Baidu|LMSYS(?: Org)?|Stability AI|Databricks|Hugging ?Face"
)

# Parts of the names above: a text without any of them needs no slow search.
_STEMS = (
    "GPT", "gpt", "Claude", "Gemini", "Bard", "LaMA", "Llama", "istral", "ixtral", "Qwen",
    "Tongyi", "eepSeek", "Grok", "Copilot", "PaLM", "Vicuna", "Alpaca", "Kimi", "GLM", "ERNIE",
    "Ernie", "Gemma", "Assistant", "Koala", "Dolly", "Falcon", "OpenAI", "Open AI", "Anthropic",
    "Google", "eepMind", "Meta", "Facebook", "Alibaba", "xAI", "Microsoft", "Cohere", "Moonshot",
    "Zhipu", "Baidu", "LMSYS", "Stability", "Databricks", "Hugging",
)  # fmt: skip
_VERSION = (
    r"(?:[- ]?v?[0-9]+(?:\.[0-9]+)*[a-z]?)?(?:[- ](?:Opus|Sonnet|Haiku|Pro|Flash|Ultra|Nano|Chat))?"
)
_NAME = rf"(?P<name>(?:{_MODELS}){_VERSION})(?![\w-])"
_MAKER = rf"(?P<name>{_COMPANIES})(?!\w)"
_CALLED = r"(?:an? [\w -]{0,40}?(?:called|named|known as)\s+)?"
_KIND = r"(?:,? an? [\w -]{0,40}?)?"
_WITHIN = r"(?:[^.!?\n]|\.(?=\d)){0,60}?"
_WHO = r"(?:\bI\b|(?i:\b(?:language|AI) model\b|\b(?:assistant|system|chatbot)\b))"
_MADE = (
    r"(?:made|created|developed|trained|built|designed|provided|powered|released|maintained|run)"
    r" (?:and [a-z]+ )?(?:by|at|from) (?:the team at )?"
)
_SELF = r"(?i:\b(?:I am|I['\u2019]m|my name is|call me|I am called))\s+"

# Each pattern needs words that make the sentence one about its writer.
_MAKERS = (
    rf"{_SELF}{_CALLED}{_NAME}",
    rf"\b[Aa]s {_NAME}(?=,? (?:I\b|an? (?:AI|large|language)))",
    rf"\b{_NAME}(?= here\b|,? an? (?:AI|large|language)[^.\n]{{0,40}}\b(?:by|from)\b)",
    rf"(?m:^[ \t]*[-\u2013\u2014~][ \t]*){_NAME}\s*\Z",
    r"(?m:^[ \t>*_#]*(?P<name>ChatGPT|GPT-[0-9][\w.]{0,5})[*_]*:)",
    rf"{_WHO}{_WITHIN}\b{_MADE}{_MAKER}",
    rf"{_SELF}{_CALLED}(?:{_MODELS}){_VERSION}{_KIND},? (?:by|from|of) {_MAKER}",
    rf"{_SELF}{_MAKER}(?=['\u2019]s (?:{_MODELS}))",
    rf"{_SELF}(?:{_COMPANIES})['\u2019]s {_NAME}",
    rf"(?i:\bmy (?:creators?|developers?|makers?)(?:,| at| by| from| is)? )(?:at )?{_MAKER}",
    rf"\bI\b{_WITHIN}\b{_MAKER}(?=['\u2019]s? (?:usage |content |safety )?(?:polic|guideline))",
)


# They take long to compile, and only blind comparisons need them.
@cache
def _makers() -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, _MAKERS))


_IN_SELF = (
    r"(?i:\b(?:I am|I['\u2019]m|my name is|as|(?:written|generated|produced) by"
    r"|(?:answer|output|response) (?:of|by|from)|variant|model|version|candidate|system))"
    r"[ :=\"'`(\[]{1,3}"
)
_IN_LABEL = r"(?i:\b(?:variant|model|version|candidate|system)[ :=\"'`(\[]{1,3})"

# Words that follow `as` and `I am` in any text: as names they count only after `variant` and the
# like.
_COMMON = frozenset({
    "a", "all", "am", "an", "and", "any", "as", "at", "be", "being", "best", "better", "but", "by",
    "do", "first", "for", "from", "go", "good", "happy", "he", "her", "here", "his", "i", "if",
    "in", "is", "it", "its", "just", "like", "long", "me", "more", "my", "new", "no", "not", "now",
    "of", "ok", "old", "on", "one", "or", "our", "out", "second", "she", "short", "so", "sure",
    "that", "the", "their", "they", "this", "to", "two", "up", "us", "was", "we", "well", "with",
    "you", "your",
})  # fmt: skip

# A name with a letter and a digit or punctuation, which no word of a language has.
_DISTINCT = re.compile(r"(?=.*[^\W\d_])(?=.*[\d_:/.-]).{4,}")


class Redaction(NamedTuple):
    """A name that was removed; `start` and `end` are its place in the original text."""

    text: str
    start: int
    end: int


def scrub(text: str, names: Iterable[str] = ()) -> tuple[str, tuple[Redaction, ...]]:
    """A text without the names of its maker, and what was removed."""
    # Names of models and of the companies that make them are removed only where the text is about
    # itself (`As ChatGPT, I …`, `I am Claude`, `a language model trained by OpenAI`): a text about
    # models keeps them. `names` are those of the variants, their models and files. They are removed
    # everywhere, as whole words, if they cannot be words of a language (they have a digit or a
    # hyphen, and four characters or more); others, such as `v2`, only where the text is about
    # itself (`I am v2`), and common words, such as `a` or `new`, only as `variant new`.
    patterns = [*_makers()] if any(stem in text for stem in _STEMS) else []
    if own := frozenset(names):
        folded = text.casefold()
        patterns += [pattern for name, pattern in _own_names(own) if name in folded]
    places = {match.span("name") for pattern in patterns for match in pattern.finditer(text)}
    found: list[Redaction] = []
    for start, end in sorted(places):
        if found and start < found[-1].end:  # two names overlap: both are removed
            _, first, last = found.pop()
            found.append(Redaction(text[first : max(last, end)], first, max(last, end)))
        else:
            found.append(Redaction(text[start:end], start, end))
    parts: list[str] = []
    last = 0
    for removed in found:
        parts += [text[last : removed.start], WITHHELD_NAME]
        last = removed.end
    return "".join([*parts, text[last:]]), tuple(found)


@lru_cache(maxsize=64)
def _own_names(names: frozenset[str]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    # An output names `gpt-4o`, and the suite `openai/gpt-4o`.
    plain = {name.strip() for name in names}
    plain |= {name.rpartition("/")[2] for name in plain if "/" in name}
    patterns: list[tuple[str, re.Pattern[str]]] = []
    for name in sorted(plain - {""}):
        word = rf"(?<![\w-])(?P<name>{re.escape(name)})(?![\w-])"
        if _DISTINCT.fullmatch(name):
            patterns.append((name.casefold(), re.compile(word, re.IGNORECASE)))
        else:
            is_common = len(name) == 1 or name.casefold() in _COMMON
            lead = _IN_LABEL if is_common else _IN_SELF
            patterns.append((name.casefold(), re.compile(lead + word)))
    return tuple(patterns)
