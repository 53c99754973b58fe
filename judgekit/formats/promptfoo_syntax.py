"""Reads the languages within promptfoo's files: Nunjucks templates and JavaScript expressions.

A template becomes the Jinja of prompts here, and a simple expression the steps of a transform, as
`assertions.transforms` has them. Neither is run; what is more than that is refused by name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import JsonValue

    from judgekit.records import JsonObject

# A comment, a part that is no template, an expression, a tag.
_PART = re.compile(
    r"\{#.*?#\}|\{%-?\s*raw\s*-?%\}.*?\{%-?\s*endraw\s*-?%\}|\{\{.*?\}\}|\{%.*?%\}", re.DOTALL
)
_MADE = re.compile(r"\{%-?\s*(?:for\s+(.+?)\s+in\s|set\s+([\w\s,]+?)\s*(?:=|-?%\}))")
_PAIRS = re.compile(r"(\s+\w+\s*,\s*\w+\s+in\s)(.+?)(\s*)", re.DOTALL)
_TOKEN = re.compile(
    r"""(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\d[\w.]*)|(?P<name>[A-Za-z_$][\w$]*)"""
    r"""|(?P<sign>===|!==|==|!=|<=|>=|[^\s])|(?P<space>\s+)"""
)
_TAGS = frozenset({"if", "elif", "else", "endif", "for", "endfor", "set", "endset"})
_WORDS = frozenset({"in", "and", "or", "not", "is", "if", "else", "true", "false", "none", "loop"})
_SAME = {"===": "==", "!==": "!=", "null": "none", "undefined": "none", "elseif": "elif"}
_FILTERS = frozenset({
    "abs", "batch", "capitalize", "default", "d", "first", "float", "indent", "int", "join",
    "last", "length", "list", "lower", "reject", "rejectattr", "replace", "reverse", "round",
    "select", "selectattr", "sort", "string", "sum", "title", "trim", "truncate", "upper",
    "wordcount",
})  # fmt: skip
# A prompt is not HTML, so `safe` changes nothing; the argument of `dump` is the indentation.
_OTHER_FILTERS = {"safe": "string", "dump": "compact_json"}

# Jinja takes `x.items` for the method of a dict, where Nunjucks takes it for a key.
_DICT_NAMES = frozenset(name for name in dir(dict) if not name.startswith("_"))


class UntranslatedError(ValueError):
    """A template does what Jinja cannot do, or what data may not do; the text names it."""


@dataclass(slots=True)
class _Names:
    """The names of a template: those it sets itself, and those that it reads from the case."""

    certain: Container[str]
    values: Container[str]  # those that JavaScript may print in another way
    own: set[str]
    read: set[str] = field(default_factory=set)


def as_jinja(
    text: str, certain: Container[str] = (), values: Container[str] = ()
) -> tuple[str, set[str]]:
    """The template over the variables of a case, and the names of the variables that it reads."""
    # A name that is not `certain` is empty where a case has no such variable, as in Nunjucks.
    made = [match[1] or match[2] for match in _MADE.finditer(text)]
    names = _Names(certain, values, {name for one in made for name in re.findall(r"\w+", one)})
    pieces: list[str] = []
    end = 0
    for match in _PART.finditer(text):
        before = text[end : match.start()]
        pieces += [before, _part(match.group(), before, text[match.end() :][:1], names)]
        end = match.end()
    return "".join((*pieces, text[end:])), names.read


def _part(part: str, before: str, after: str, names: _Names) -> str:
    if part.startswith("{#"):
        return ""
    is_tag = part.startswith("{%")
    if is_tag and re.match(r"\{%-?\s*raw\b", part):
        return part
    opening, inner, closing = part[:2], part[2:-2], part[-2:]
    if inner[:1] == "-":
        opening, inner = f"{opening}-", inner[1:]
    # Prompts here drop the line end after a tag and the space before it; in Nunjucks both stay.
    elif is_tag and re.search(r"(?:^|\n)[ \t]+$", before):
        opening = f"{opening}+"
    if inner[-1:] == "-":
        closing, inner = f"-{closing}", inner[:-1]
    elif is_tag and after == "\n":
        closing = f"+{closing}"
    return opening + (_tag(inner, names) if is_tag else _printed(inner, names)) + closing


def _printed(inner: str, names: _Names) -> str:
    """An expression that is printed, as JavaScript does where it may be no text."""
    first = re.match(r"\s*(\w+)\s*([.\[]?)", inner)
    translated = _expression(inner, names)
    is_text = first is None or not (first[2] or first[1] in names.values or first[1] in names.own)
    return translated if is_text else f'({translated.strip()})|default("")|javascript_text'


def _tag(inner: str, names: _Names) -> str:
    word = inner.split(maxsplit=1)[0] if inner.strip() else ""
    space, rest = inner.split(word, maxsplit=1) if word else (inner, "")
    tag = _SAME.get(word, word)
    if tag not in _TAGS:
        raise UntranslatedError(f"the tag `{word[:40]}`")
    # Nunjucks goes through the keys and values of an object where two names are given.
    if tag == "for" and (pairs := _PAIRS.fullmatch(rest)):
        return f"{space}for{pairs[1]}({_expression(pairs[2], names)}).items(){pairs[3]}"
    return f"{space}{tag}{_expression(rest, names)}"


def _expression(text: str, names: _Names) -> str:
    tokens = [(match.lastgroup, match.group()) for match in _TOKEN.finditer(text)]
    found = [_SAME.get(value, value) for _, value in tokens]
    solid = [place for place, (kind, _) in enumerate(tokens) if kind != "space"]
    for last, place, following in zip([None, *solid], solid, [*solid[1:], None], strict=False):
        if tokens[place][0] != "name":
            continue
        before = "" if last is None else tokens[last][1]
        after = "" if following is None else tokens[following][1]
        if last is not None and before == ".":
            found[last], found[place] = _attribute(found[place], after)
        elif following is not None and found[place] == "dump" and before == "|" and after == "(":
            found[place], found[following] = "compact_json", "(indent="
        else:
            found[place] = _name(found[place], before, after, names, is_alone=len(solid) == 1)
    return "".join(found)


def _attribute(name: str, after: str) -> tuple[str, str]:
    """What stands for the dot before a field of a value, and for its name."""
    if after == "(":
        raise UntranslatedError(f"the method `{name[:40]}()`")
    if name == "length":
        return "|", name
    return ("", f'["{name}"]') if name in _DICT_NAMES else (".", name)


def _name(name: str, before: str, after: str, names: _Names, *, is_alone: bool) -> str:
    if before == "|":
        if name not in _FILTERS and name not in _OTHER_FILTERS:
            raise UntranslatedError(f"the filter `{name[:40]}`")
        return _OTHER_FILTERS.get(name, name)
    # The name of an argument stands before its value, as in `truncate(length=3)`.
    is_argument = after == "=" and before in {"(", ","}
    if name in _WORDS or name in names.own or is_argument or before == "is":
        return name
    if after == "(" and name != "range":
        raise UntranslatedError(f"the function `{name[:40]}()`")
    if name == "env":
        raise UntranslatedError("`env`: a prompt shows no environment variables")
    if after == "(":
        return name
    names.read.add(name)
    shown = f'variables["{name}"]' if name in _DICT_NAMES or "$" in name else f"variables.{name}"
    if name in names.certain or after == "is":
        return shown
    return f'{shown}|default("")' if is_alone else f'({shown}|default(""))'


_BEGIN = re.compile(r"\s*(?:(output)\b|(JSON\.parse|JSON\.stringify|String|)\s*\()")
_CLOSE = re.compile(r"\s*\)")
_QUOTED = r""""(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'"""
_BODY = r"(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\n\[*])(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\n\[])*"

# An escape, a class of characters, or the end; the classes of nothing and of everything; and a
# hyphen beside a class such as `\w` within one, which is no range.
_SPECIAL = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\$", re.DOTALL)
_CLASSES = {"[]": "(?!)", "[^]": r"[\s\S]"}
_HYPHEN = re.compile(r"(?<=\\[dDsSwW])-(?!\])|(?<!\[)-(?=\\[dDsSwW])")

# What draft 7 of JSON Schema has and the newest has not.
_DRAFT_7 = re.compile(r'"(?:dependencies|additionalItems)": |"items": \[')

# What may follow in a chain. The flag `g` makes `match` give all matches and no groups, and a
# negative number in brackets names nothing, so neither is read.
_LINK = re.compile(
    rf"""\s*(?:
        (?:\?\.)?\[\s*(?:(?P<index>\d+)|(?P<key>{_QUOTED}))\s*\]
      | \??\.\s*(?P<plain>trim|toLowerCase|toUpperCase|pop|shift)\(\s*\)
      | \??\.\s*(?P<part>split|join)\(\s*(?P<by>{_QUOTED})\s*\)
      | \??\.\s*match\(\s*/(?P<pattern>{_BODY})/(?P<flags>[imsu]*)\s*\)
      | \??\.\s*replace\(\s*/(?P<old>{_BODY})/(?P<marks>[gimsu]*)\s*,\s*(?P<with>{_QUOTED})\s*\)
      | \??\.\s*(?P<swap>replaceAll|replace)\(\s*(?P<from>{_QUOTED})\s*,\s*(?P<to>{_QUOTED})\s*\)
      | \??\.\s*(?P<cut>slice|at)\(\s*(?P<bounds>-?\d+(?:\s*,\s*-?\d+)?)\s*\)
      | \??\.\s*substring\(\s*(?P<natural>\d+(?:\s*,\s*\d+)?)\s*\)
      | \??\.\s*(?P<name>[A-Za-z_$][\w$]*+)(?!\s*\()
    )""",
    re.VERBOSE,
)
_FUNCTIONS = {"JSON.parse": "parse_json", "JSON.stringify": "to_json"}
_PLAIN: dict[str, JsonObject] = {
    "trim": {"trim": True}, "toLowerCase": {"lower": True}, "toUpperCase": {"upper": True},
    "pop": {"path": [-1]}, "shift": {"path": [0]},
}  # fmt: skip


def as_steps(code: str) -> list[JsonObject] | None:
    """The steps of an expression over `output`; None where it is more than that."""
    text = code.strip().removesuffix(";").strip()
    try:
        steps, at = _chain(text, 0)
    except (ValueError, RecursionError):
        return None
    return steps if at == len(text) else None


def python_pattern(pattern: str, flags: str = "") -> str:
    """A regular expression of JavaScript as Python writes it."""
    own = "".join(sorted(set(flags) & set("ims")))
    named = re.sub(r"(?<!\\)\(\?<(?=[A-Za-z_])", "(?P<", pattern.replace("\\/", "/"))
    named = re.sub(r"\\k<(\w+)>", r"(?P=\1)", named)
    # In Python `$` also matches before a final line end.
    special = {**_CLASSES} | ({} if "m" in own else {"$": "\\Z"})
    whole = _SPECIAL.sub(lambda m: special.get(m[0]) or _HYPHEN.sub(r"\-", m[0]), named)
    return f"(?{own}){whole}" if own else whole


def as_draft(schema: JsonValue) -> JsonValue:
    """A JSON Schema of promptfoo, with its draft where the newest one reads it in another way."""
    # A file is read as YAML, so its keys and values are JSON.
    is_old = _DRAFT_7.search(json.dumps(schema)) is not None
    if not isinstance(schema, dict) or "$schema" in schema or not is_old:
        return schema
    return {"$schema": "http://json-schema.org/draft-07/schema#", **schema}


def _chain(text: str, at: int) -> tuple[list[JsonObject], int]:
    """The steps from a place on, and where they end."""
    steps: list[JsonObject] = []
    if (start := _BEGIN.match(text, at)) is None:
        raise ValueError
    at = start.end()
    if start[1] is None:
        steps, at = _chain(text, at)
        if (end := _CLOSE.match(text, at)) is None:
            raise ValueError
        at = end.end()
        steps += [{_FUNCTIONS[start[2]]: True}] if start[2] in _FUNCTIONS else []
    while link := _LINK.match(text, at):
        steps.append(_step(link.groupdict()))
        at = link.end()
    return steps, at


def _step(part: dict[str, str | None]) -> JsonObject:
    found = {name: text for name, text in part.items() if text is not None}
    if "plain" in found:
        return _PLAIN[found["plain"]]
    if "pattern" in found:
        return {"match": python_pattern(found["pattern"], found["flags"])}
    if "swap" in found or "old" in found:
        return {"replace": _replacement(found)}
    if bounds := found.get("natural") or found.get("bounds"):
        return {"path" if found.get("cut") == "at" else "slice": [*map(int, bounds.split(","))]}
    if "part" in found:
        return {found["part"]: _unquoted(found["by"])}
    key = _unquoted(found["key"]) if "key" in found else found.get("name")
    return {"path": [int(found["index"]) if key is None else key]}


def _replacement(found: dict[str, str]) -> JsonObject:
    new = _unquoted(found["with"] if "old" in found else found["to"])
    if "$" in new:  # which stands for what was matched
        raise ValueError(new)
    if "old" in found:
        pattern = python_pattern(found["old"], found["marks"])
        return {"pattern": pattern, "with": new, "all": "g" in found["marks"]}
    return {"text": _unquoted(found["from"]), "with": new, "all": found["swap"] == "replaceAll"}


def _unquoted(quoted: str) -> str:
    body = quoted[1:-1].replace("\\'", "'")
    return str(
        json.loads(f'"{body}"' if quoted[0] == '"' else '"' + body.replace('"', '\\"') + '"')
    )
