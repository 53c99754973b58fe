"""Finds prompt templates, the user's and the shipped ones, and reads their headers.

They are compiled in `environment`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

from judgekit.errors import TemplateError, UnknownNameError
from judgekit.formats import typed_content
from judgekit.prompts.parsing import PairReplyFormat, ReplyFormat
from judgekit.records import PreferenceSlot
from judgekit.resources import shipped_file

_HEADER = re.compile(r"\A[\s\ufeff]*\{#-?\s*judgekit\s*\n(.*?)-?#\}", re.DOTALL)
_OTHER_HEADER = re.compile(r"^\s*\{#-?\s*judgekit\s*\n", re.MULTILINE | re.IGNORECASE)
_PAIR = re.compile(r"^[ \t]*judges[ \t]*:[ \t]*pair[ \t]*$", re.MULTILINE)
_CHOICE = re.compile(r"([^=]+)=([+-]?\d+(?:\.\d+)?)")
# Words may have an equals sign themselves, as in `A=B=tie`.
_SLOT = re.compile(r"(.+)=(first|second|tie)")
_FIELDS = ("description", "asks", "reply", "fields", "choices", "needs", "scales", "judges",
           "rationale", "shows")  # fmt: skip

SCORE_FIELDS = ("evidence", "rationale", "score", "confidence", "assessable")
"""The fields of a JSON reply about one output, in this order, unless the header names others."""

PREFERENCE_FIELDS = (
    "evidence_first", "evidence_second", "rationale", "score_first", "score_second", "preference",
    "confidence", "assessable",
)  # fmt: skip
"""The fields of a JSON reply that compares two outputs."""

# Folders of files that other templates include, and of the questions after a verdict.
_NOT_JUDGES = ("partials/", "analysis/")


@dataclass(frozen=True, slots=True)
class TemplateHeader:
    """The fields of the comment that a template begins with."""

    description: str
    # What one call asks about: one criterion, all of them, or only which output is better.
    asks: Literal["criterion", "all", "overall"]
    reply: ReplyFormat
    needs_trace: bool = False
    binary_only: bool = False
    # The reply format of a comparison of two outputs; None where one output is graded.
    pair: PairReplyFormat | None = None
    shows_examples: bool = False
    # The fields of a JSON reply about one question, in order, where the header names them.
    fields: tuple[str, ...] = ()

    @property
    def reply_fields(self) -> tuple[str, ...]:
        """The fields of a JSON reply about one question, named or not."""
        return self.fields or (PREFERENCE_FIELDS if self.pair else SCORE_FIELDS)

    @property
    def asks_evidence(self) -> bool:
        return self.reply.kind == "json" and "evidence" in self.reply_fields


def find_template(name: str, folders: Sequence[Path] = ()) -> tuple[str, tuple[Path, ...]]:
    """A template's file name, and the folders in which it and its partials are looked up."""
    # The user's folders come first, so that a file of the same name replaces a shipped one.
    path = Path(name)
    shipped = shipped_file("prompts")
    if path.suffix == ".j2" and path.is_file():
        return path.name, (path.resolve().parent, *folders, shipped)
    file_name = name if name.endswith(".j2") else f"{name}.j2"
    places = (*folders, shipped)
    if any((folder / file_name).is_file() for folder in places):
        return file_name, places
    raise UnknownNameError("template", name, template_names(folders))


def template_names(folders: Sequence[Path] = ()) -> list[str]:
    """The names of all templates that grade one output, sorted."""
    return [name for name in _all_names(folders) if not is_pair_template(name, folders)]


def pair_template_names(folders: Sequence[Path] = ()) -> list[str]:
    """The names of all templates that compare two outputs, sorted."""
    return [name for name in _all_names(folders) if is_pair_template(name, folders)]


def is_pair_template(name: str, folders: Sequence[Path] = ()) -> bool:
    """Whether a template compares two outputs: its header has `judges: pair`."""
    # Only this line is read: a list of names must not fail because one header is invalid.
    file_name, places = find_template(name, folders)
    path = next(folder / file_name for folder in places if (folder / file_name).is_file())
    try:
        typed = typed_content(path)
        match = _HEADER.match(path.read_text("utf-8") if typed is None else typed.decode())
    except (OSError, UnicodeDecodeError):
        return False
    return match is not None and _PAIR.search(match.group(1)) is not None


def _all_names(folders: Sequence[Path]) -> list[str]:
    names = {
        path.relative_to(folder).with_suffix("").as_posix()
        for folder in (*folders, shipped_file("prompts"))
        for path in folder.rglob("*.j2")
    }
    return sorted(name for name in names if not name.startswith(_NOT_JUDGES))


def read_header(source: str, name: str) -> TemplateHeader:
    """Read the comment that a template begins with."""
    fields = _fields(source, name)

    def one_of(field: str, *allowed: str) -> str:
        """The value of a field, the first of those allowed where it is not there."""
        value = fields.get(field, allowed[0])
        if value not in allowed:
            known = ", ".join(allowed)
            raise TemplateError(f"template {name}: {field}: {value!r} is none of {known}")
        return value

    is_pair = one_of("judges", "output", "pair") == "pair"
    asks = one_of("asks", "criterion", "all", *(["overall"] if is_pair else []))
    needs_choices = _reply_kinds(fields, is_pair=is_pair)
    kind = one_of("reply", *needs_choices)
    if asks == "all" and kind != "json":
        raise TemplateError(f"template {name}: asks: all needs reply: json")
    has_rationale = one_of("rationale", "asked", "none") == "asked"
    header = TemplateHeader(
        description=fields.get("description", ""),
        asks=cast('Literal["criterion", "all", "overall"]', asks),
        reply=ReplyFormat(),
    )
    choices = fields.get("choices", "")
    if "fields" in fields:
        known = PREFERENCE_FIELDS if is_pair else SCORE_FIELDS
        header = replace(header, fields=_reply_fields(fields["fields"], known, kind, name))
    if is_pair:
        slots = _slots_of_reply(choices, name, kind, needs_choices=needs_choices[kind])
        return replace(header, pair=PairReplyFormat(kind, slots, has_rationale))
    worth = _choices(choices, name, _CHOICE, "word=number")
    if needs_choices[kind] != bool(worth):
        raise TemplateError(f"template {name}: reply: choice and choices: go together")
    if kind == "json" and not has_rationale:
        raise TemplateError(f"template {name}: reply: json always asks for a rationale")
    scores = {word: float(number) for word, number in worth.items()}
    return replace(
        header,
        reply=ReplyFormat(kind, scores, has_rationale),
        needs_trace=one_of("needs", "output", "trace") == "trace",
        binary_only=one_of("scales", "any", "binary") == "binary",
        shows_examples=one_of("shows", "item", "examples") == "examples",
    )


def _reply_fields(text: str, known: tuple[str, ...], kind: str, name: str) -> tuple[str, ...]:
    if kind != "json":
        raise TemplateError(f"template {name}: fields: goes with reply: json")
    found = tuple(text.split())
    needed = {"rationale", "preference" if "preference" in known else "score"}
    if len(set(found)) < len(found) or not needed <= set(found) <= set(known):
        raise TemplateError(
            f"template {name}: fields: {text!r} does not list fields of a reply",
            hint=f"name each at most once: {', '.join(known)}; "
            f"{' and '.join(sorted(needed))} cannot be left out",
        )
    return found


def _reply_kinds(fields: Mapping[str, str], *, is_pair: bool) -> dict[str, bool]:
    """The kinds of replies, each with whether the template has to name its choices."""
    if fields.get("reply", "json") == "json":
        return {"json": False}
    # The patterns of text formats take long to compile, and few templates need them.
    from judgekit.prompts.parsing import PAIR_FORMATS, TEXT_FORMATS  # noqa: PLC0415

    if is_pair:
        return {"json": False} | {name: form.has_choices for name, form in PAIR_FORMATS.items()}
    return {"json": False} | {name: name == "choice" for name in TEXT_FORMATS}


def _fields(source: str, name: str) -> dict[str, str]:
    match, fields = _HEADER.match(source), dict[str, str]()
    if match is None and _OTHER_HEADER.search(source):
        hint = "begin the file with `{# judgekit`, in lower case"
        raise TemplateError(f"template {name}: its header is not its first line", hint=hint)
    for line in match.group(1).splitlines() if match else ():
        if not line.strip():
            continue
        key, colon, value = line.partition(":")
        if not colon or key.strip() not in _FIELDS:
            raise TemplateError(
                f"template {name}: its header has a line {line.strip()!r}",
                hint=f"a header line is `field: value` with one of {', '.join(_FIELDS)}",
            )
        if key.strip() in fields:
            raise TemplateError(f"template {name}: its header has {key.strip()}: twice")
        fields[key.strip()] = value.strip()
    return fields


def _slots_of_reply(
    choices: str, name: str, kind: str, *, needs_choices: bool
) -> dict[str, PreferenceSlot]:
    slots = cast("dict[str, PreferenceSlot]", _choices(choices, name, _SLOT, "word=first"))
    # A judge who cannot say "second" would prefer the first output every time.
    if slots and not {"first", "second"} <= set(slots.values()):
        raise TemplateError(f"template {name}: choices: needs a word for first and one for second")
    if kind == "json":
        if any(word != slot for word, slot in slots.items()):
            raise TemplateError(
                f"template {name}: in a JSON reply the choices are first, second and tie",
                hint="choices: first=first second=second, for a comparison without ties",
            )
    elif needs_choices != bool(slots):
        raise TemplateError(
            f"template {name}: reply: {kind} {'needs' if needs_choices else 'has no'} choices:",
            hint="choices: A=first B=second C=tie" if needs_choices else "take that line out",
        )
    return slots


def _choices(text: str, name: str, pattern: re.Pattern[str], form: str) -> dict[str, str]:
    """`yes=1 no=0` or `A=first B=second` as a mapping."""
    choices: dict[str, str] = {}
    for part in text.split():
        match = pattern.fullmatch(part)
        if match is None:
            raise TemplateError(f"template {name}: choices: {part!r} is not of the form {form}")
        choices[match[1]] = match[2]
    # Only of single letters does case count where a reply is read.
    if len({word if len(word) == 1 else word.casefold() for word in choices}) < len(text.split()):
        raise TemplateError(f"template {name}: choices: {text!r} has a word twice")
    return choices
