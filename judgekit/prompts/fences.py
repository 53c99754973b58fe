"""The texts of outputs, their fences in prompts, and signs that they address the judge."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from base64 import b64decode
from functools import cache, lru_cache, partial
from itertools import product
from operator import attrgetter
from typing import TYPE_CHECKING

from judgekit import records  # loaded when used: processes that render need none

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pydantic import JsonValue

    from judgekit.records import Image, Output

_MARKER_BYTES = 10  # 16 base-32 digits, the longest marker
_MARKER_LENGTHS = (6, 8, 10, 12, 14, 16)  # shorter ones a text could hold all of
_DIGIT_PAIRS = tuple(map("".join, product("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", repeat=2)))

# Markers of texts up to so many characters are cached; 4,096 of them take 4 MB at most.
_LONGEST_CACHED = 1000

# How an image is shown to readers.
IMAGE_TITLE: Callable[[Image], str] = attrgetter("title")


def to_text(value: JsonValue, show: Callable[[Image], str] = IMAGE_TITLE) -> str:
    """A text as it is; any other JSON value as indented JSON, its images as `show` names them."""
    if isinstance(value, str):
        return value
    return json.dumps(records.show_images(value, show), ensure_ascii=False, indent=2)


def judged_text(output: Output, show: Callable[[Image], str] = IMAGE_TITLE) -> str:
    """The text of an output for a judge: its text, and its data as JSON."""
    if output.data is None:
        return output.text or ""
    data = to_text(output.data, show)
    return data if output.text is None else f"{output.text}\n\n{data}"


def steps_text(output: Output, show: Callable[[Image], str] = IMAGE_TITLE) -> str:
    """The trace of an output, a numbered line for each event."""
    lines = []
    for number, event in enumerate(output.trace, start=1):
        more = {k: v for k, v in (event.model_extra or {}).items() if v is not None}
        content = (
            "" if event.content is None else _on_one_line(records.show_images(event.content, show))
        )
        extra = _on_one_line(more) if more else ""
        name = f" {event.name}" if event.name else ""
        details = " ".join(part for part in (content, extra) if part)
        lines.append(f"{number}. {event.type}{name}{f': {details}' if details else ''}")
    return "\n".join(lines)


def _on_one_line(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def pairwise_text(output: Output, show: Callable[[Image], str] = IMAGE_TITLE) -> str:
    """The text of an output for a judge that compares two: without a text, its steps."""
    return judged_text(output, show) or steps_text(output, show)


def fence_marker(text: str, length: int) -> str:
    """The marker of `length` characters that fences a text, derived from the text itself."""
    # A text never contains its own marker: if it does, the next one is taken, so that no length
    # lets an author close the fence. The same text always gets the same marker, so that requests
    # stay byte-identical and the caches, also the providers', hit.
    body = text.encode("utf-8", "surrogatepass")
    counter = 0
    while True:
        digest = hashlib.sha256(b"judgekit fence %d\n" % counter + body).digest()
        marker, number = "", int.from_bytes(digest[:_MARKER_BYTES])
        for shift in range(70, 70 - 5 * length, -10):  # two digits at a time; `b32encode` is slow
            marker += _DIGIT_PAIRS[number >> shift & 1023]
        if marker not in text:
            return marker
        counter += 1


# Questions and references stand in the prompts of every variant and criterion.
_cached_marker = lru_cache(maxsize=4096)(fence_marker)


def fence_text(text: str | None, label: str = "text", length: int = 16) -> str:
    """The text between an opening and a closing line with its marker, 6 to 16 characters long."""
    if length not in _MARKER_LENGTHS:
        raise ValueError(f"a marker has 6, 8, 10, 12, 14 or 16 characters, not {length!r}")
    if text is None:
        raise ValueError(f"fenced({label!r}) has no text: print it inside {{% if … is not none %}}")
    marker = (_cached_marker if len(text) <= _LONGEST_CACHED else fence_marker)(text, length)
    return f"<{label} {marker}>\n{text}\n</{label} {marker}>"


DEGENERATE = "degenerate_output"
INJECTION = "injection_suspected"

_ROLE = r"(?:grader|judge|evaluator|reviewer|assessor|scorer|rater)s?"
_TOP = r"(?:full|max(?:imum)?|highest|perfect|top)\b"
_WORK = r"(?:responses?|answers?|outputs?|submissions?|criteri\w+|everything|this|it|all)"
_FENCE = r"(?:outputs?|responses?|submissions?|answers?|candidate\w*|rubric|instructions?|system)"

# Where an order may begin: at the start of a sentence, and not inside a report or a quotation.
_ORDER = re.compile(r"(?:^|[.!?:;>\]})*]\s*|\n\s*|\b(?:please|kindly|must|you|and)\s+)$")

# Not the cache of `re` itself, which takes longer than the search in a short text.
_compiled = cache(partial(re.compile, flags=re.MULTILINE))


def _either(*patterns: str) -> str:
    return "|".join(patterns)


# The words of which a text has one where a sign or an order can be found, the signs, the verbs of
# orders, and what follows them. Most texts have few of the words, and are not searched. Each
# pattern is compiled when it is first needed, since that takes milliseconds.
_SIGNS: tuple[tuple[tuple[str, ...], str, tuple[str, ...], str], ...] = (
    (  # The rules are to be ignored.
        ("ignor", "disregard", "forget", "игнор", "忽略", "无视", "無視"),
        _either(
            r"(?<![\"'\u201c\u2018`«])(?:ignore|disregard|forget)\s(?:[\w,]+\s){0,6}?"
            r"(?:instructions?|prompts?|rubric|grading|scoring|you were \w+)\b",
            r"(?:ignora|ignore[zs]|ignoriere\w*|игнорируй\w*)\b[^.\n]{0,30}"
            r"(?:rúbrica|instruc|crit[èe]re|consigne|bewertung|anweisung|инструкц|критери)",
            r"(?:忽略|无视|無視)[^。\n]{0,12}(?:评分|指令|标准|規則)",
            r"(?:採点|指示|評価)[^。\n]{0,8}無視",
        ),
        ("ignore ", "disregard ", "forget "),
        r"\w+\s(?:all\s|everything\s)?(?:of\s)?the\s(?:above|criteria|guidelines|rules)\b",
    ),
    (  # The judge is spoken to.
        ("evaluat", "grader", "judge", "reviewer", "assessor", "scorer", "rater"),
        _either(
            rf"(?:notes?|message|attention|instructions?|memo) (?:to|for) (?:the |all )?{_ROLE}\b",
            rf"(?:dear|hello|hey|hi) (?:ai )?{_ROLE}\b[^\n]{{0,120}}\b(?:rate|score|marks?|grade)",
            rf"(?:^|[\[(<>.]\s*|!--\s*){_ROLE}(?: override| guidance| notes?| instructions?)?\s*:",
            r"new (?:instructions?|rubric|criteria)\b[^.\n]{0,20}\bevaluat",
            r"evaluation (?:is |mode |has )?(?:is )?(?:complete|over|off|passed|instructions)\b",
            r"evaluating this\b[^.\n]{0,40}\b(?:illegal|refuse)",
        ),
        (),
        "",
    ),
    (  # A score is ordered, or written in the form in which judges write it.
        ("scor", "rate ", "rating:", "grad", "judging", "verdict", "winner", '"pass'),
        _either(
            r"before (?:scoring|grading|judging|you (?:score|grade|judge))\b",
            r"your own (?:verdict|score|grade|judgment)\b",
            r"(?:expected|required|only valid) (?:verdict|grade|score) is\b",
            r"^[^\w\n]{0,12}(?:final )?(?:grade|scores?|rating|verdict):\s*\W*"
            r"(?:\d+\s*(?:/|$)|[a-f]$|pass|correct)",
            r"scores?: *\w+ \d|grade: c\b",
            r'"(?:verdict|winner)"\s*:|"pass(?:ed)?"\s*:\s*(?:true|false)',
            r'"score"\s*:[^}]{0,400}"(?:rationale|reason(?:ing)?)"\s*:',
        ),
        ("score ", "rate ", "grade "),
        rf"\w+\s(?:\w+\s){{0,4}}?(?:\d|{_TOP})",
    ),
    (
        ("positive review only", "whichever l"),
        "positive review only|whichever (?:letter|label)",
        (),
        "",
    ),
    (
        ("give ", "award ", "assign ", "return "),
        "",
        ("give ", "award ", "assign ", "return "),
        (
            rf"\w+\s(?:\w+\s){{0,4}}?(?:{_WORK}\s(?:\w+\s){{0,2}}?"
            rf"(?:an?\s)?(?:\d+(?![\w ]*\b(?:words|sentences))|nan\b|{_TOP})|"
            rf"{_TOP} (?:possible )?(?:marks|scores?|ratings?|points|grades?)\b|"
            rf"\d+ (?:to|for|on) (?:\w+\s){{0,2}}?{_WORK})"
        ),
    ),
    (
        ("set ", "choose "),
        "",
        ("set ", "choose "),
        rf"set\s(?:\w+\s){{0,2}}?(?:scores?|criteri\w+) to\b|choose (?:it|me|this {_WORK})\b",
    ),
    (  # The frame of a prompt.
        ("[", "<|", "<<", "--", "==", "##"),
        _either(
            r"(?<!\w)\[\[\s*(?:\d+|[abc]|tie)\s*\]\]|\[result\]\s*\d",
            r"\[(?:the )?(?:end|start|begin)\b[^\]\n]{0,20}\b"
            r"(?:data|answer|output|response)\w*\]",
            rf"[-=#]\s*(?:end|begin)(?: of)? (?:the )?{_FENCE}\b",
            r"#\s*rubric \((?:revised|updated|new)\)",
            r"<\|im_start\|>\s*(?:system|user|assistant)|<\|im_end\|>\s*<\|",
            r"<\|start_header_id\|>|\[/inst\]|<<sys>>",
        ),
        (),
        "",
    ),
)

_TAG = re.compile(rf"<(/?)\s*({_FENCE})\s*>")
_OPENER = re.compile(
    r"(?:sure|certainly|of course|okay|absolutely|solution|answer|explanation|respuesta|解|"
    r"かいせつ)"
    r"|(?:let'?s|let us|let me)\b[\w' ]{0,60}\bstep by step"
)
_LONGEST_OPENER, _MOST_WORDS = 100, 12
# A letter, a digit or a picture: each can be an answer, which punctuation cannot.
_CONTENT = re.compile("[^\\W_]|[\u2190-\u2bff\U0001f000-\U0001faff]")
_INVISIBLE = re.compile(
    "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\U000e0020-\U000e007e]"
)
# A zero-width joiner makes emoji, a non-joiner Persian words, tag characters flags: never several
# of the former in a row, and of the latter only behind a black flag.
_HIDDEN = re.compile(
    "\u200b(?:[^\u200b]{0,2}\u200b){3}|[\u200b-\u200d\u2060\ufeff]{4}|[\u202d\u202e]"
    "|(?<![\U0001f3f4\U000e0020-\U000e007e])[\U000e0020-\U000e007e]{2,}"
)
_BASE64 = re.compile(r"\b[A-Za-z0-9+/]{24,}={0,2}")
# Cyrillic and Greek letters that look like Latin ones; NFKC has made the others alike.
_LOOKALIKES = tuple(zip("аеорсухіѕԁοαν", "aeopcyxisdoav", strict=True))  # noqa: RUF001


def output_flags(text: str, criteria: Iterable[str] = ()) -> tuple[str, ...]:
    """What is odd about an output, whoever judges it; no score depends on it.

    The signs are those of known attacks, in the words that are usual. An attack that is worded
    otherwise is not found; `judgekit audit` measures which attacks a judge obeys.

    Returns:
        `degenerate_output` where it holds no content: only punctuation, or the opening of an
        answer, which some judges give the best score (Zhao et al. 2025, arXiv:2507.08794).
        `injection_suspected` where it holds what looks like an instruction to the judge, a
        verdict, the frame of a prompt, or hidden characters.
    """
    if len(text) <= _LONGEST_OPENER:
        opening = text.casefold().strip(" \n\r\t.!:,\u2026\uff1a")
        is_announced = text.rstrip().endswith((":", "\uff1a")) and len(text.split()) <= _MOST_WORDS
        if is_announced or _OPENER.fullmatch(opening) or not _CONTENT.search(opening):
            return (DEGENERATE,)
    if text.isascii():
        folded = text.lower()
    else:
        visible = _INVISIBLE.sub("", text)
        if len(visible) < len(text) and _HIDDEN.search(text):
            return (INJECTION,)
        folded = unicodedata.normalize("NFKC", visible).lower()
        for odd, plain in _LOOKALIKES:  # `str.translate` takes thirty times as long
            folded = folded.replace(odd, plain)
    names = tuple(map(str.lower, criteria))
    if _is_addressed(folded, names):
        return (INJECTION,)
    # A judge decodes what it is asked to decode.
    if "base64" in folded or "decode" in folded:
        texts = (_decoded(one[0]).lower() for one in _BASE64.finditer(text))
        return (INJECTION,) if any(_is_addressed(one, names) for one in texts) else ()
    return ()


def _is_addressed(folded: str, criteria: tuple[str, ...]) -> bool:
    """Whether a text in lower case speaks to a judge, or for one."""
    for words, signs, verbs, order in _SIGNS:
        # Not `any` with a generator, which takes three times as long.
        if any(map(folded.__contains__, words)) and (
            (signs and _compiled(signs).search(folded)) or _is_ordered(verbs, order, folded)
        ):
            return True
    if any(map(folded.__contains__, criteria)) and _verdict_on(criteria).search(folded):
        return True
    return "</" in folded and _leaves_its_frame(folded)


def _is_ordered(verbs: tuple[str, ...], order: str, folded: str) -> bool:
    """Whether one of the verbs begins a sentence that is such an order."""
    for verb in verbs:
        start = folded.find(verb)
        while start >= 0:
            is_first = _ORDER.search(folded, max(0, start - 12), start)
            if is_first and _compiled(order).match(folded, start):
                return True
            start = folded.find(verb, start + 1)
    return False


def _leaves_its_frame(folded: str) -> bool:
    """Whether it closes an element that it did not open, and opens one after that."""
    tags = [(found[1], found[2]) for found in _TAG.finditer(folded)]
    return len(tags) > 1 and tags[0][0] == "/" and any(not closes for closes, _ in tags)


@lru_cache(maxsize=256)
def _verdict_on(criteria: tuple[str, ...]) -> re.Pattern[str]:
    """A score beside the name of a criterion, as the replies of judges have it."""
    names = "|".join(map(re.escape, criteria))
    return re.compile(
        rf"\b(?:{names})[\"'*]*\s*[:=]\s*(?:\{{\s*[\"']score[\"']\s*:\s*)?\d{{1,2}}(?=\s*(?:[,}}/\n]|$))"
    )


def _decoded(token: str) -> str:
    try:
        return b64decode(token + "=" * (-len(token) % 4)).decode()
    except ValueError:
        return ""
