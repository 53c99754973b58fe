"""Strict parsers for JSON (with JSON Schema), XML, HTML and SQL.

The worker process runs them, so the module imports nothing of judgekit.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from datetime import date
from functools import lru_cache, partial
from html.parser import HTMLParser
from itertools import chain
from typing import TYPE_CHECKING, NoReturn
from xml.parsers import expat

if TYPE_CHECKING:
    from jsonschema.protocols import Validator
    from sqlglot.expressions import Expr

_OPENING = re.compile(r"[\[{]")

# How many faults a result lists, and how many characters of each.
_SHOWN = 5
_WANTED = 200

# How many places of a text are tried for a JSON value that begins there.
_DECODED_MAX = 2_000


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def read_json(text: str) -> object:
    return _DECODER.decode(text)


def schema_faults(schema: object, text: str, formats: bool = False) -> list[str]:  # noqa: FBT001, FBT002 - a worker passes it by place
    """The violations of a schema in a JSON text; `formats` such as `email` count where wanted."""
    return _faults(_validator(json.dumps(schema), formats=formats), read_json(text))


def contained_json_faults(text: str, schema: object, formats: bool = False) -> list[str]:  # noqa: FBT001, FBT002 - a worker passes it by place
    """Why a text contains no JSON object or list that satisfies a schema."""
    first: list[str] = []
    at = 0
    for _ in range(_DECODED_MAX):
        found = _OPENING.search(text, at)
        if found is None:
            return first or ["there is no object and no list"]
        try:
            value, at = _DECODER.raw_decode(text, found.start())
        except ValueError:
            at = found.start() + 1
            continue
        faults = []
        if schema is not None:
            faults = _faults(_validator(json.dumps(schema), formats=formats), value)
        if not faults:
            return []
        # The first value is the one whose faults are shown: it is likely the answer.
        first = first or faults
    raise OverflowError(f"more than {_DECODED_MAX} places of the text may begin a JSON value")


def invalid_schema(schema: object) -> str | None:
    """Why a schema cannot be used."""
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415 - slow to import

    if not isinstance(schema, dict | bool):
        return "a schema is a mapping or a truth value"
    try:
        _validator(json.dumps(schema)).check_schema(schema)
    except SchemaError as error:
        return f"{_pointer(list(error.absolute_path))}{error.message}"[:_WANTED]
    return _dangling_reference(schema)


_CLOCK = r"(?:[01]\d|2[0-3]):[0-5]\d"
_TIME = rf"{_CLOCK}:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-]{_CLOCK})"
_LABEL = r"[A-Za-z\d](?:[A-Za-z\d-]{0,61}[A-Za-z\d])?"
_POINTER = r"(?:/(?:[^~/]|~[01])*)*"
_URI = r"(?:%[A-Fa-f\d]{2}|[!$&-;=?-Z\[\]_a-z~])*"
_URI += rf"(?:\#{_URI})?"
_IRI = _URI.replace("~", "~\xa0-\ud7ff\uf900-\U000efffd")
_SCHEME = r"[A-Za-z][A-Za-z\d+.-]*:"
_REFERENCE = rf"(?:{_SCHEME}|(?![^/?#]*:))"  # a first part with a colon would be a scheme
_VARIABLE = r"\w(?:\.?(?:\w|%[A-Fa-f\d]{2}))*(?::[1-9]\d{0,3}|\*)?"
# Formats that jsonschema passes over where further packages are missing.
_FORMS = {
    "date-time": rf"\d{{4}}-\d\d-\d\d[Tt ]{_TIME}",
    "time": _TIME,
    "duration": r"P(?!\Z)(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?"
    r"(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)",
    "hostname": rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*",
    "uri": _SCHEME + _URI,
    "uri-reference": _REFERENCE + _URI,
    "iri": _SCHEME + _IRI,
    "iri-reference": _REFERENCE + _IRI,
    "uri-template": r"(?:[^\x00-\x20\x7f-\x9f\"'%<>\\^`{|}]|%[A-Fa-f\d]{2}"
    rf"|\{{[+#./;?&=,!@|]?{_VARIABLE}(?:,{_VARIABLE})*\}})*",
    "json-pointer": _POINTER,
    "relative-json-pointer": rf"(?:0|[1-9]\d*)(?:[+-][1-9]\d*)?(?:\#|{_POINTER})",
}


def _has_form(name: str, value: object) -> bool:
    if not isinstance(value, str):
        return True
    if name == "date-time":
        date.fromisoformat(value[:10])
    return re.fullmatch(_FORMS[name], value, re.ASCII) is not None


@lru_cache(maxsize=256)
def _validator(schema: str, *, formats: bool = False) -> Validator:
    from jsonschema import Draft202012Validator, FormatChecker  # noqa: PLC0415 - slow to import
    from jsonschema.validators import validator_for  # noqa: PLC0415 - slow to import
    from referencing import Registry  # noqa: PLC0415 - slow to import

    value = json.loads(schema)
    kind = validator_for(value, default=Draft202012Validator)
    checker = FormatChecker(()) if formats else None
    if checker is not None:
        forms = {name: (partial(_has_form, name), ValueError) for name in _FORMS}
        checker.checkers = {**kind.FORMAT_CHECKER.checkers, **forms}
    return kind(value, registry=Registry(), format_checker=checker)  # an empty one fetches nothing


def _faults(validator: Validator, value: object) -> list[str]:
    from referencing.exceptions import Unresolvable  # noqa: PLC0415 - slow to import

    faults = []
    try:
        for error in validator.iter_errors(value):
            faults.append(f"{_pointer(list(error.absolute_path))}{error.message}"[:_WANTED])
            if len(faults) == _SHOWN:
                break
    except Unresolvable as error:
        raise LookupError(f"the schema refers to {error.ref}, which it does not contain") from error
    return faults


def _pointer(path: list[str | int]) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return f"{text.removeprefix('.')}: " if text else ""


def _dangling_reference(schema: dict[str, object] | bool) -> str | None:  # noqa: FBT001
    from referencing import Registry, Resource  # noqa: PLC0415 - slow to import
    from referencing.exceptions import Unresolvable  # noqa: PLC0415 - slow to import
    from referencing.jsonschema import DRAFT202012  # noqa: PLC0415 - slow to import

    # Fetching a schema would send a request from a test, so the registry has this one only.
    root = Resource.from_contents(schema, default_specification=DRAFT202012)
    left = [(Registry().resolver_with_root(root), root)]
    while left:
        resolver, part = left.pop()
        fields = part.contents if isinstance(part.contents, dict) else {}
        for name in {"$ref", "$dynamicRef"} & fields.keys():
            # The package jsonschema includes the standard's own schemas.
            if fields[name].startswith("https://json-schema.org/draft"):
                continue
            try:
                resolver.lookup(fields[name])
            except Unresolvable:
                return f"it refers to {fields[name]}, which it does not contain; nothing is fetched"
        left += [(resolver.in_subresource(inner), inner) for inner in part.subresources()]
    return None


_ELEMENT_START = re.compile(r"<[^\W\d]")  # names may begin with a letter of any script

# How many places of a text are tried for an element that begins there.
_ELEMENTS_TRIED = 1_000


class _EndReached(Exception):  # noqa: N818 - no error: the element is complete
    """The outermost element is closed."""


def xml_fault(text: str, required: list[str]) -> str | None:
    """Why a text is no XML document."""
    elements: set[str] = set()
    try:
        _parser(elements, required).Parse(text.strip(), True)
    except (expat.ExpatError, ValueError) as error:
        return str(error)
    return _lacking(elements, required)


def contained_xml_fault(text: str, required: list[str]) -> str | None:
    """Why a text contains no well-formed XML element."""
    first = None
    for n, found in enumerate(_ELEMENT_START.finditer(text)):
        if n == _ELEMENTS_TRIED:
            raise OverflowError(
                f"more than {_ELEMENTS_TRIED} places of the text may begin an element"
            )
        elements: set[str] = set()
        try:
            with suppress(_EndReached):
                _parser(elements, required, is_part=True).Parse(text[found.start() :], True)
            fault = _lacking(elements, required)
        except (expat.ExpatError, ValueError) as error:
            fault = str(error)
        if fault is None:
            return None
        first = first or fault
    return first or "there is no element"


def _parser(
    elements: set[str], required: list[str], *, is_part: bool = False
) -> expat.XMLParserType:
    parser = expat.ParserCreate()
    inside: list[str] = []
    # Deeper paths are not stored, because a deep document would fill the memory.
    deepest = max((path.count(".") + 1 for path in required), default=0)

    def start(name: str, _: object) -> None:
        inside.append(name)
        if len(inside) <= deepest:
            elements.add(".".join(inside))

    def end(_: str) -> None:
        inside.pop()
        if is_part and not inside:
            raise _EndReached

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    # With a default handler expat passes references to entities on instead of expanding them, so
    # that a small document cannot become a huge one.
    parser.DefaultHandler = lambda _: None
    return parser


def _lacking(elements: set[str], required: list[str]) -> str | None:
    missing = [path for path in required if path not in elements]
    return f"it lacks the element {', '.join(missing)}" if missing else None


_VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
})  # fmt: skip

# Elements whose end tag HTML lets one leave out.
_CLOSED_BY_OTHERS = frozenset({
    "html", "head", "body", "li", "dt", "dd", "p", "rt", "rp", "optgroup", "option", "colgroup",
    "thead", "tbody", "tfoot", "tr", "td", "th",
})  # fmt: skip

_KNOWN = _VOID | _CLOSED_BY_OTHERS | frozenset({
    "a", "abbr", "address", "article", "aside", "audio", "b", "bdi", "bdo", "blockquote", "button",
    "canvas", "caption", "cite", "code", "data", "datalist", "del", "details", "dfn", "dialog",
    "div", "dl", "em", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4",
    "h5", "h6", "header", "hgroup", "i", "iframe", "ins", "kbd", "label", "legend", "main", "map",
    "mark", "math", "menu", "meter", "nav", "noscript", "object", "ol", "output", "picture", "pre",
    "progress", "q", "ruby", "s", "samp", "script", "search", "section", "select", "slot", "small",
    "span", "strong", "style", "sub", "summary", "sup", "svg", "table", "template", "textarea",
    "time", "title", "u", "ul", "var", "video", "font", "center", "big", "strike", "tt",
})  # fmt: skip


def html_fault(text: str) -> str | None:
    """Why a text is no HTML document or fragment."""
    reader = _Reader(text)
    for name, line in reversed(reader.open):
        if name not in _CLOSED_BY_OTHERS:
            reader.fault(f"<{name}> is never closed", line)
    if not reader.n_elements and not reader.faults:
        return "there is no element"
    return reader.faults[0] if reader.faults else None


def contained_html_fault(text: str) -> str | None:
    """Why a text contains no HTML element: one that is void, or closed."""
    return None if _Reader(text).n_elements else "there is no element"


class _Reader(HTMLParser):
    """Tracks which elements are open, and collects the faults."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.faults: list[str] = []
        self.open: list[tuple[str, int]] = []
        self.n_elements = 0
        self._foreign = 0
        self.feed(text)
        self.close()

    def fault(self, message: str, line: int | None = None) -> None:
        self.faults.append(f"line {self.getpos()[0] if line is None else line}: {message}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if not self._foreign and tag not in _KNOWN and "-" not in tag:
            self.fault(f"<{tag}> is no HTML element")
        elif tag in _VOID:
            self.n_elements += 1
        else:
            self.open.append((tag, self.getpos()[0]))
            self._foreign += tag in {"svg", "math"}

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._foreign:
            return  # in SVG and MathML `<path/>` is a whole element
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        names = [name for name, _ in self.open]
        if tag in _VOID and tag not in names:
            self.fault(f"</{tag}> closes an element that has no content")
            return
        if tag not in names:
            self.fault(f"</{tag}> closes nothing")
            return
        while self.open:
            name, line = self.open.pop()
            self._foreign -= name in {"svg", "math"}
            if name == tag:
                self.n_elements += 1
                return
            if name not in _CLOSED_BY_OTHERS:
                self.fault(f"<{name}> is not closed before </{tag}>", line)

    def handle_data(self, data: str) -> None:
        if not self.open and data.strip():
            self.fault(f"text outside of any element: {data.strip()[:40]!r}")


# The expressions of sqlglot that are statements; it parses any text as some expression.
_STATEMENTS = (
    "Query", "DML", "DDL", "Drop", "Alter", "Set", "Use", "Pragma", "Describe", "Transaction",
    "Commit", "Rollback", "Analyze", "Show", "TruncateTable", "Merge", "Copy",
)  # fmt: skip
_FENCED = re.compile(r"```[ \t]*(?:sql)?[ \t]*\n(.*?)```", re.DOTALL | re.IGNORECASE)
_BEGINS = re.compile(
    r"^[ \t]*(?:select|with|insert|update|delete|create|alter|drop|merge)\b",
    re.IGNORECASE | re.MULTILINE,
)
_BREAK = re.compile(r";|\n[ \t]*\n")
_STATEMENTS_TRIED = 20


def sql_fault(text: str, dialect: str | None, tables: list[str] | None) -> str | None:
    from sqlglot import parse  # noqa: PLC0415 - slow to import
    from sqlglot.errors import SqlglotError  # noqa: PLC0415 - slow to import

    try:
        parsed = [statement for statement in parse(text, dialect=dialect) if statement is not None]
    except SqlglotError as error:
        return " ".join(re.sub(r"\x1b\[[0-9;]*m", "", str(error)).split())[:200]
    if not parsed:
        return "there is no statement"
    for statement in parsed:
        if not _is_statement(statement):
            return f"{statement.sql()[:60]!r} is no statement"
    foreign = () if tables is None else (_foreign_table(each, tables) for each in parsed)
    return next(filter(None, foreign), None)


def contained_sql_fault(text: str, dialect: str | None, tables: list[str] | None) -> str | None:
    # Fenced code is tried first, then what follows a line that begins with a word like `SELECT`.
    fenced = (found.group(1) for found in _FENCED.finditer(text))
    begun = (_BREAK.split(text[found.start() :], 1)[0] for found in _BEGINS.finditer(text))
    first = None
    for n, candidate in enumerate(chain(fenced, begun)):
        fault = sql_fault(candidate, dialect, tables)
        if fault is None:
            return None
        first = first or fault
        if n == _STATEMENTS_TRIED:
            break
    return first or "nothing begins like a statement"


def _is_statement(statement: Expr) -> bool:
    # sqlglot parses any name as an expression, and "select what you like" as a query of no table.
    from sqlglot import expressions  # noqa: PLC0415 - slow to import

    kinds = tuple(getattr(expressions, n) for n in _STATEMENTS if hasattr(expressions, n))
    if not isinstance(statement, expressions.Select):
        return isinstance(statement, kinds)
    columns = [c for part in statement.expressions for c in part.find_all(expressions.Column)]
    has_table = bool(statement.args.get("from_") or statement.args.get("from"))
    return bool(statement.expressions) and (has_table or not columns)


def _foreign_table(statement: Expr, tables: list[str]) -> str | None:
    from sqlglot import expressions  # noqa: PLC0415 - slow to import

    allowed = {name.lower() for name in tables}
    allowed |= {cte.alias.lower() for cte in statement.find_all(expressions.CTE)}
    for table in statement.find_all(expressions.Table):
        if not table.name:  # a function in the place of a table, such as `generate_series(1, 3)`
            continue
        if not {table.name.lower(), f"{table.db}.{table.name}".lower().strip(".")} & allowed:
            return f"it names the table {table.name}, which is not among {', '.join(tables)}"
    return None
