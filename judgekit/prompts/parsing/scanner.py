"""Splits a reply into JSON documents and prose, without the model's reasoning."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from judgekit.prompts.parsing.fields import SCORE_KEYS, ExpectedCriteria, fold_key
from judgekit.prompts.parsing.nodes import JsonFaultError, Node, parse_tolerant_json

if TYPE_CHECKING:
    from judgekit.prompts.parsing.quotation import JudgedTexts

# Tags in which models put their reasoning; scores in it are drafts.
_KINDS = (
    r"think|thinking|thought|thoughts|thought_process|thinking_process|reasoning|reason|rationale"
    r"|explanation|justification|analysis|scratch_?pad|reflection|reflections|chain_of_thought|cot"
    r"|inner_monologue|monologue|internal|antthinking|deliberation|feedback|evidence|quote|quotes"
    r"|details"
)
_REASONING_TAG = (
    rf"(?:<|&lt;|◁)\s{{0,4}}(?P<close>/?)\s{{0,4}}(?:\w{{1,20}}:)?(?P<kind>{_KINDS})"
    rf"(?:\s[^<>]{{0,200}})?(?:>|&gt;|▷)"
    rf"|\[(?P<close2>/?)(?P<kind2>think|thinking|thought|reasoning)\]"
    rf"|<\|(?P<close3>begin_of_|start_|end_of_|end_|/|)(?P<kind3>think|thinking|thought|reasoning)\|>"
)
_REASONING_TAGS = re.compile(_REASONING_TAG, re.IGNORECASE)
_REASONING = (
    rf"(?P<channel><\|channel\|>\s*(?P<channel_name>\w*))"
    rf"|(?P<fence>(?:```|~~~)[ \t]*(?:think\w*|thought\w*|reasoning)\b)|{_REASONING_TAG}"
)
_CHANNEL_END = re.compile(r"<\|(?:end|start|channel)\|>")

# White space, invisible characters and comments, between a bracket and what follows it. Groups are
# not possessive: before Python 3.11.5 such a group may fail to match (CPython issue 106052).
_GAP = (
    r"(?:[\s\x00\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]++"
    r"|(?://|(?<=\s)#)[^\n]{0,200}+\n|/\*[^*]{0,200}+\*/){0,20}"
)
_JSON_START = (
    rf"[{{\uff5b](?:\s*+[{{\uff5b])?{_GAP}(?:\"[^\"\n]{{0,120}}\"|'[^'\n]{{0,120}}'"
    r"|[“”„][^“”\n]{0,120}[“”]|[\u2018\u2019\u201a][^\u2018\u2019\n]{0,120}[\u2018\u2019]"
    rf"|(?P<bare>[^\W\d][\w$.&/+ -]{{0,80}}?)){_GAP}[:\uff1a]"
    rf"|(?P<escaped>[{{\uff5b\[]\s*+[{{\uff5b]?\s*+\\+[\"'])"
    rf"|\[{_GAP}[{{\uff5b]|\[{_GAP}\[{_GAP}[{{\uff5b]"
)

# Brackets nested deeper than any verdict; parsing each of them in turn would take quadratic time.
_NOISE = r"(?P<noise>(?:[{\uff5b\[]\s{0,4}){41})"
_STOPS = re.compile(_REASONING, re.IGNORECASE)
_STOPS_WITH_JSON = re.compile(rf"{_REASONING}|{_NOISE}|{_JSON_START}", re.IGNORECASE)
_KEYS = re.compile(
    r"[\"'“”\u2018\u2019]?([^\W\d][\w &./-]{0,60}?)[\"'“”\u2018\u2019]?\s{0,20}[:=\uff1a]"
)
_QUOTING = re.compile(r"^[ \t]*+(?:>[ \t]?)+", re.MULTILINE)
# Some servers strip the channel tokens of gpt-oss, and leave their names.
_STRIPPED_CHANNELS = re.compile(r"\A\s*analysis.*?assistantfinal", re.DOTALL)

# Limits on hostile replies: what is larger is refused as too long to read.
_AFTER_FAULT = 40
_MOST_FAULTS = 50
_MOST_DOCUMENTS = 500
_MOST_LINES = 4_000
_LONGEST_PROSE = 200_000


class Scan(NamedTuple):
    """A reply taken apart."""

    text: str
    documents: tuple[Node, ...]
    # The prose before the first document, between each two, and after the last.
    pieces: tuple[str, ...]
    fault: str | None

    @property
    def prose(self) -> str:
        return " ".join(self.pieces)


def scan_reply(
    reply: str, names: ExpectedCriteria, judged: JudgedTexts, *, with_json: bool = True
) -> Scan:
    """Take a reply apart."""
    # A structure that begins like JSON and cannot be read makes the whole reply untrustworthy,
    # since its end is unknown; unless it is quoted from the judged text.
    text = _QUOTING.sub("", reply) if ">" in reply else reply
    if "assistantfinal" in text:
        text = _STRIPPED_CHANNELS.sub("", text)
    return _Scanner(text, names, judged, with_json=with_json).scan()


class _Scanner:
    """Walks through a reply once; `pos` is the next place to look at."""

    def __init__(
        self, text: str, names: ExpectedCriteria, judged: JudgedTexts, *, with_json: bool
    ) -> None:
        self.text = text
        self.stops = _STOPS_WITH_JSON if with_json else _STOPS
        self.names = names
        self.judged = judged
        self.pos = 0
        self.documents: list[Node] = []
        # Start, end, and whether it is a document; reasoning is dropped too.
        self.dropped: list[tuple[int, int, bool]] = []
        self.fault: str | None = None
        self.n_faults = 0
        self.block_ends: dict[int, int] = {}
        self.is_rest_quoted = False

    def scan(self) -> Scan:
        while self.fault is None and (match := self.stops.search(self.text, self.pos)):
            if match.group("channel"):
                if match.group("channel_name").casefold() == "final":
                    self._forget_before(match.end())
                else:
                    channel_end = _CHANNEL_END.search(self.text, match.end())
                    self._drop(match.start(), channel_end.start() if channel_end else -1, 0)
            elif match.group("fence"):
                self._drop(match.start(), self.text.find(match.group()[:3], match.end()), 3)
            elif kind := _kind(match):
                self._tag(match, kind)
            else:
                self._structure(match)
        scan = Scan(self.text, tuple(self.documents), self._pieces(), self.fault)
        n_lines = scan.prose.count("\n")
        if self.fault is None and (len(scan.prose) > _LONGEST_PROSE or n_lines > _MOST_LINES):
            return scan._replace(fault="too_long")
        return scan

    def _pieces(self) -> tuple[str, ...]:
        pieces: list[str] = []
        parts: list[str] = []
        last = 0
        for start, end, is_document in self.dropped:
            parts.append(self.text[last:start])
            last = end
            if is_document:
                pieces.append("".join(parts))
                parts = []
            else:
                parts.append("\n")
        return (*pieces, "".join([*parts, self.text[last:]]))

    def _tag(self, match: re.Match[str], kind: str) -> None:
        """Drop a reasoning block up to its matching end."""
        # Chat templates may open the reasoning in the prompt, so that the reply has the end only.
        if _is_close(match):
            self._forget_before(match.end())
            return
        if match.end() not in self.block_ends:
            self._pair_tags(match.end(), kind)
        self._drop(match.start(), self.block_ends[match.end()], 0)

    def _pair_tags(self, start: int, kind: str) -> None:
        """Note where each block ends, by the end of its opening tag; -1 where it has no end."""
        opened = {kind: [start]}
        self.block_ends[start] = -1
        for tag in _REASONING_TAGS.finditer(self.text, start):
            starts = opened.setdefault(_kind(tag) or "", [])
            if not _is_close(tag):
                starts.append(tag.end())
                self.block_ends[tag.end()] = -1
            elif starts:
                self.block_ends[starts.pop()] = tag.end()

    def _drop(self, start: int, end: int, closing: int) -> None:
        """Drop a block of reasoning; one without an end means that the reply was cut off."""
        if end >= 0:
            self.dropped.append((start, end + closing, False))
            self.pos = end + closing
            return
        # Once it is known, the rest need not be compared again.
        self.is_rest_quoted = self.is_rest_quoted or self.judged.has(self.text[start:].strip())
        if self.is_rest_quoted:
            self.pos = start + 1
        else:
            self.fault = "truncated"

    def _forget_before(self, end: int) -> None:
        self.documents.clear()
        self.dropped = [(0, end, False)]
        self.pos = end

    def _structure(self, opening: re.Match[str]) -> None:
        start = opening.start()
        if opening.group("noise"):
            self.fault = "too_deep"
            return
        try:
            if opening.group("escaped"):
                start = self._string_start(start)
            node = parse_tolerant_json(self.text, start)
        except JsonFaultError as fault:
            self._unreadable(start, fault, is_bare=bool(opening.group("bare")))
            return
        if len(self.documents) == _MOST_DOCUMENTS:
            self.fault = "too_long"
        self.documents.append(node)
        self.dropped.append((start, node.end, True))
        self.pos = node.end

    def _string_start(self, start: int) -> int:
        """Where the JSON string begins that contains an escaped structure."""
        if self.text[start - 1 : start] not in ('"', "'"):
            raise JsonFaultError(start, "garbled")
        return start - 1

    def _unreadable(self, start: int, fault: JsonFaultError, *, is_bare: bool) -> None:
        self.n_faults += 1
        if self.n_faults > _MOST_FAULTS:
            self.fault = "too_long"
            return
        # A quoted structure may be cut anywhere; what is quoted is skipped, then the scan resumes.
        end = self.judged.common_start(self.text, start)
        line_end = self.text.find("\n", fault.position, fault.position + _AFTER_FAULT)
        line_end = fault.position + _AFTER_FAULT if line_end < 0 else line_end
        keys = (match.group(1) for match in _KEYS.finditer(self.text, start, line_end))
        if end > start:
            self.pos = end
        # Prose in braces such as `{note: see above}` is no broken verdict unless it names one.
        elif (
            is_bare
            and fault.kind == "garbled"
            and self.n_faults < _MOST_FAULTS
            and not any(self.names.find(k) is not None or fold_key(k) in SCORE_KEYS for k in keys)
        ):
            self.pos = start + 1
        else:
            self.fault = "truncated" if fault.kind == "unclosed" else fault.kind


def _kind(match: re.Match[str]) -> str | None:
    kind: str | None = match.group("kind") or match.group("kind2") or match.group("kind3")
    # `<think>` may be closed as `</thinking>`.
    return kind and kind.casefold().removesuffix("ing")


def _is_close(match: re.Match[str]) -> bool:
    closing = match.group("close") or match.group("close2") or match.group("close3") or ""
    return closing.casefold() in {"/", "end_", "end_of_"}
