"""Whether a text is, or holds, well-formed XML; entities are never expanded or fetched."""

from __future__ import annotations

import re
from contextlib import suppress
from xml.parsers import expat

_START = re.compile(r"<[A-Za-z_]")
_TRIED = 1_000
"""How many places of a text are tried for an element that begins there."""


class _EndReached(Exception):  # noqa: N818 - no error: the element that was looked for is whole
    """The outermost element is closed."""


def xml_fault(text: str, required: list[str]) -> str | None:
    """Why a text is no XML document."""
    seen: set[str] = set()
    try:
        _parser(seen, required).Parse(text.strip(), True)
    except (expat.ExpatError, ValueError) as error:
        return str(error)
    return _lacking(seen, required)


def contained_xml_fault(text: str, required: list[str]) -> str | None:
    """Why a text holds no well-formed XML element."""
    first = None
    for n, found in enumerate(_START.finditer(text)):
        if n == _TRIED:
            raise OverflowError(f"more than {_TRIED} places of the text may begin an element")
        seen: set[str] = set()
        try:
            with suppress(_EndReached):
                _parser(seen, required, is_part=True).Parse(text[found.start() :], True)
            fault = _lacking(seen, required)
        except (expat.ExpatError, ValueError) as error:
            fault = str(error)
        if fault is None:
            return None
        first = first or fault
    return first or "there is no element"


def _parser(seen: set[str], required: list[str], *, is_part: bool = False) -> expat.XMLParserType:
    parser = expat.ParserCreate()
    inside: list[str] = []
    deepest = max((path.count(".") + 1 for path in required), default=0)

    def start(name: str, _: object) -> None:
        inside.append(name)
        if len(inside) <= deepest:
            seen.add(".".join(inside))

    def end(_: str) -> None:
        inside.pop()
        if is_part and not inside:
            raise _EndReached

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    # With a default handler expat hands over references to entities instead of expanding them.
    parser.DefaultHandler = lambda _: None
    return parser


def _lacking(seen: set[str], required: list[str]) -> str | None:
    missing = [path for path in required if path not in seen]
    return f"it lacks the element {', '.join(missing)}" if missing else None
