"""Makes new inputs from those of a corpus: of their bytes, and of the values in them."""

from __future__ import annotations

import copy
import io
import json
import warnings
import zipfile
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 3, 0.1, 5.5, -0.0, 1e308, -1e308, 2**31, 2**63, 2**64, 10**30),
    *(float("nan"), float("inf"), "", " ", "\n", "x" * 5000, "\0", "\ud800", "\u202e", "NaN", "4"),
    *("1e999", "yes", "../../etc/passwd", "/etc/passwd", "C:\\x", "~", ".", "a/b", "{{ 7 * 7 }}"),
    *("{{ x.y }}", "{% for a in range(9) %}", "=1+1", "file:///etc/passwd", "(a+)+$", "[", "$ref"),
    *("http://127.0.0.1:9/x", "data:image/png;base64,AAAA", "2026-13-45T99:99:99Z", "2026-01-01"),
    *("é\u0301", "\U0001f600", "#/definitions/a", [], {}, [[]], [None], [{}], [1, "a"]),
    *({"": None}, {"a": {"b": {"c": [1]}}}),
)
_TOKENS = (
    *(bytes([one]) for one in b"\"'{}[]:,\n\r\t\\#\0\xff-0%;"),
    *(b"[[", b"\\u", b"\\ud800", b"\xef\xbb\xbf", b"\xff\xfe", b"NaN", b"1e999", b"9" * 30),
    *(b"- ", b"---\n", b"&a ", b"*a", b"<<: ", b"!!python/name:os.system ", b"? ", b"|\n", b">\n"),
    *(b"{{", b"}}", b"{%", b"%}", b"```", b"```json\n", b"<think>", b"</think>", b"Score: ", b"/5"),
    *(b"[RESULT]", b"[[4]]", b"null", b"true", b"PK\x03\x04", b"\xc3\xa9", b"\xe2\x80\xa8"),
)
_ARCHIVES = {".zip", ".eval"}


class Mutator:
    """Changes inputs at random; what it puts in comes from the other inputs of the corpus too."""

    def __init__(self, corpus: Sequence[bytes], rng: random.Random) -> None:
        self._corpus = corpus
        self._rng = rng
        self._values: list[Any] = list(_VALUES)
        self._keys = ["id", "case_id", "text", "type", "name", "path", "value"]
        for content in corpus:
            for parsed in _parsed(content):
                for _, key, value in _places([parsed]):
                    self._values.append(value)
                    if isinstance(key, str):
                        self._keys.append(key)

    def mutate(self, content: bytes, suffix: str = "") -> bytes:
        """An input like another one."""
        if suffix in _ARCHIVES and self._rng.random() < 0.8:
            return self._archive(content)
        for _ in range(self._rng.choice((1, 1, 1, 2, 3, 6))):
            content = self._structured(content) if self._rng.random() < 0.65 else self._raw(content)
        return content

    def _archive(self, content: bytes) -> bytes:
        rng = self._rng
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                members = [(one.filename, archive.read(one)) for one in archive.infolist()]
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError):
            return self._raw(content)
        if not members:
            return self._raw(content)
        place = rng.randrange(len(members))
        name, data = members[place]
        if rng.random() < 0.2:
            name = rng.choice(
                ("../out.txt", "/abs", "a\\b", "eval/tests.json", "x" * 300, "a/", "")
            )
        else:
            data = self.mutate(data)
        members[place : place + (rng.random() < 0.8)] = [(name, data)]
        packed = io.BytesIO()
        with (
            warnings.catch_warnings(action="ignore"),  # a name given twice is a mutation
            zipfile.ZipFile(packed, "w", rng.choice((0, 8))) as archive,
        ):
            for one in members:
                archive.writestr(zipfile.ZipInfo(one[0]), one[1])
        return packed.getvalue()

    def _structured(self, content: bytes) -> bytes:
        """Change a value of a JSON or YAML document, or of one line of JSON."""
        parsed = list(_parsed(content))
        if not parsed:
            return self._raw(content)
        for _ in range(self._rng.choice((1, 1, 2))):
            self._change(parsed)
        if len(parsed) == 1:
            if not content.lstrip().startswith((b"{", b"[")) and self._rng.random() < 0.5:
                return yaml.safe_dump(parsed[0], allow_unicode=True).encode("utf-8", "replace")
            return json.dumps(parsed[0], indent=self._rng.choice((None, 1))).encode()
        return b"".join(json.dumps(one).encode() + b"\n" for one in parsed)

    def _change(self, parsed: list[Any]) -> None:
        rng = self._rng
        places = [place for place in _places(parsed) if place[0] is not parsed or len(parsed) > 1]
        if not places:
            parsed[0] = self._value()
            return
        holder, key, value = rng.choice(places)
        kind = rng.randrange(7)
        if kind == 0:
            del holder[key]
        elif kind == 1 and isinstance(holder, list):
            holder.insert(key, _copied(value))
        elif kind == 2 and isinstance(holder, dict):
            holder[rng.choice(self._keys)] = holder.pop(key)
        elif kind == 3:
            holder[key] = rng.choice(([value], {"value": value}, str(value)))
        elif kind == 4 and isinstance(holder, dict):
            holder[rng.choice(self._keys)] = self._value()
        elif kind == 5:
            holder[key] = _copied(rng.choice(places)[2])
        else:
            holder[key] = self._value()

    def _value(self) -> Any:
        return _copied(self._rng.choice(self._values))

    def _raw(self, content: bytes) -> bytes:
        rng = self._rng
        start, end = sorted(rng.randrange(len(content) + 1) for _ in range(2))
        end = min(end, start + rng.choice((0, 1, 2, 8, 64, 1000)))
        kind = rng.randrange(6)
        if kind == 0:
            piece = b""
        elif kind == 1:
            piece = content[start:end] * rng.choice((2, 3, 50))
        elif kind == 2:
            other = rng.choice(self._corpus) or b" "
            at = rng.randrange(len(other))
            piece = other[at : at + rng.choice((1, 8, 100))]
        elif kind == 3 and end > start:
            piece = bytes([content[start] ^ (1 << rng.randrange(8))]) + content[start + 1 : end]
        else:
            piece = rng.choice(_TOKENS) * rng.choice((1, 1, 1, 2, 200))
        return (content[:start] + piece + content[end:])[:100_000]


def _copied(value: Any) -> Any:
    """A copy; None of what Python 3.13 reads, and is nested too deeply to be copied."""
    try:
        return copy.deepcopy(value)
    except RecursionError:
        return None


def _parsed(content: bytes) -> Iterator[Any]:
    """The document in an input, or its lines that are JSON."""
    try:
        whole = json.loads(content)
    except (ValueError, RecursionError):
        pass
    else:
        yield whole
        return
    lines = []
    for line in content.splitlines()[:200]:
        try:
            lines.append(json.loads(line))
        except (ValueError, RecursionError):
            continue
    if lines:
        yield from lines
        return
    try:
        found = yaml.safe_load(content)
        json.dumps(found)  # dates and sets are left alone
    except (yaml.YAMLError, ValueError, RecursionError, TypeError, AttributeError):
        return
    if isinstance(found, dict | list):
        yield found


def _places(value: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Every value in a value, with what holds it and the key it is held under."""
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        items = holder.items() if isinstance(holder, dict) else enumerate(holder)
        for key, inner in list(items):
            yield holder, key, inner
            if isinstance(inner, dict | list):
                waiting.append(inner)
