"""Finds prompt templates, own and shipped, and reads their headers.

They are compiled in `environment`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from judgekit.errors import TemplateError, UnknownNameError
from judgekit.prompts.parsing import PairReplyFormat, ReplyFormat
from judgekit.resources import shipped_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from judgekit.records import PreferenceSlot

_HEADER = re.compile(r"\A\{#-?\s*judgekit\s*\n(.*?)-?#\}", re.DOTALL)
_PAIR = re.compile(r"^[ \t]*judges[ \t]*:[ \t]*pair[ \t]*$", re.MULTILINE)
_CHOICE = re.compile(r"([^=]+)=([+-]?\d+(?:\.\d+)?)")

_FIELDS = ("description", "asks", "reply", "choices", "needs", "scales", "judges", "rationale",
           "shows")  # fmt: skip

_PAIR_KINDS = ("json", "choice", "brackets", "stated", "two_scores")
_WITH_CHOICES = ("choice", "brackets", "stated")
_SLOTS = ("first", "second", "tie")
_NOT_JUDGES = ("partials/", "analysis/")
"""Folders of what is included elsewhere, and of what is asked after a verdict."""


@dataclass(frozen=True, slots=True)
class TemplateHeader:
    """What a template says of itself in the comment it opens with."""

    description: str
    """What it is for."""

    asks: Literal["criterion", "all", "overall"]
    """Whether a call asks about one criterion, about all of them, or about the whole only."""

    reply: ReplyFormat
    """The reply format the judge is asked for."""

    needs_trace: bool
    """Whether it can only be used for outputs with a trace."""

    binary_only: bool
    """Whether it can only be used for criteria that score 0 or 1."""

    pair: PairReplyFormat | None = None
    """The reply format where it compares two outputs; None where it sees one."""

    shows_examples: bool = False
    """Whether it shows the examples of a criterion."""


def find_template(name: str, folders: Sequence[Path] = ()) -> tuple[str, tuple[Path, ...]]:
    """Where a template lies: its file name, and the folders to look it and its partials up in."""
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
    """The names of all templates that grade one output, own and shipped, sorted."""
    return [name for name in _all_names(folders) if not is_pair_template(name, folders)]


def pair_template_names(folders: Sequence[Path] = ()) -> list[str]:
    """The names of all templates that compare two outputs, own and shipped, sorted."""
    return [name for name in _all_names(folders) if is_pair_template(name, folders)]


def is_pair_template(name: str, folders: Sequence[Path] = ()) -> bool:
    """Whether a template compares two outputs: its header says `judges: pair`."""
    file_name, places = find_template(name, folders)
    path = next(folder / file_name for folder in places if (folder / file_name).is_file())
    try:
        match = _HEADER.match(path.read_text(encoding="utf-8"))
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
    """Read the comment a template opens with."""
    match = _HEADER.match(source)
    fields = {} if match is None else _fields(match.group(1), name)
    if _one_of("judges", fields.get("judges", "output"), ("output", "pair"), name) == "pair":
        return _pair_header(fields, name)
    asks = _one_of("asks", fields.get("asks", "criterion"), ("criterion", "all"), name)
    kind = fields.get("reply", "json")
    if kind != "json":
        from judgekit.prompts.parsing import TEXT_FORMATS  # noqa: PLC0415 - few templates need it

        kind = _one_of("reply", kind, ("json", *TEXT_FORMATS), name)
    choices = _choices(fields.get("choices", ""), name)
    if (kind == "choice") != bool(choices):
        raise TemplateError(f"template {name}: reply: choice and choices: go together")
    if asks == "all" and kind != "json":
        raise TemplateError(f"template {name}: asks: all needs reply: json")
    reason = _one_of("rationale", fields.get("rationale", "asked"), ("asked", "none"), name)
    if reason == "none" and kind == "json":
        raise TemplateError(f"template {name}: reply: json always asks for a rationale")
    return TemplateHeader(
        description=fields.get("description", ""),
        asks=cast('Literal["criterion", "all"]', asks),
        reply=ReplyFormat(
            kind=kind,
            choices=choices,
            asks_rationale=reason == "asked",
        ),
        needs_trace=_one_of("needs", fields.get("needs", "output"), ("output", "trace"), name)
        == "trace",
        binary_only=_one_of("scales", fields.get("scales", "any"), ("any", "binary"), name)
        == "binary",
        shows_examples=_one_of("shows", fields.get("shows", "item"), ("item", "examples"), name)
        == "examples",
    )


def _pair_header(fields: dict[str, str], name: str) -> TemplateHeader:
    asks = _one_of("asks", fields.get("asks", "criterion"), ("criterion", "all", "overall"), name)
    kind = _one_of("reply", fields.get("reply", "json"), _PAIR_KINDS, name)
    choices = _slots(fields.get("choices", ""), name)
    if (kind in _WITH_CHOICES) != bool(choices):
        raise TemplateError(
            f"template {name}: reply: {kind} {'needs' if kind in _WITH_CHOICES else 'has no'} "
            "choices:",
            hint="choices: A=first B=second C=tie",
        )
    if asks == "all" and kind != "json":
        raise TemplateError(f"template {name}: asks: all needs reply: json")
    reason = _one_of("rationale", fields.get("rationale", "asked"), ("asked", "none"), name)
    return TemplateHeader(
        description=fields.get("description", ""),
        asks=cast('Literal["criterion", "all", "overall"]', asks),
        reply=ReplyFormat(),
        needs_trace=False,
        binary_only=False,
        pair=PairReplyFormat(
            kind=cast('Literal["json", "choice", "brackets", "stated", "two_scores"]', kind),
            choices=choices,
            asks_rationale=reason == "asked",
        ),
    )


def _slots(text: str, name: str) -> dict[str, PreferenceSlot]:
    """`A=first B=second C=tie` as a mapping; first and second have to be there."""
    choices: dict[str, PreferenceSlot] = {}
    for part in text.split():
        word, _, slot = part.partition("=")
        if not word or slot not in _SLOTS:
            raise TemplateError(f"template {name}: choices: {part!r} is not of the form word=first")
        choices[word] = cast("PreferenceSlot", slot)
    if choices and not _both(choices.values()):
        raise TemplateError(f"template {name}: choices: needs a word for first and one for second")
    return choices


def _both(slots: Iterable[PreferenceSlot]) -> bool:
    return {"first", "second"} <= set(slots)


def _fields(text: str, name: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        key, colon, value = line.partition(":")
        if not colon or key.strip() not in _FIELDS:
            raise TemplateError(
                f"template {name}: its header has a line {line.strip()!r}",
                hint=f"a header line is `field: value` with one of {', '.join(_FIELDS)}",
            )
        if key.strip() in fields:
            raise TemplateError(f"template {name}: its header says {key.strip()}: twice")
        fields[key.strip()] = value.strip()
    return fields


def _one_of(field: str, value: str, allowed: Sequence[str], name: str) -> str:
    if value not in allowed:
        raise TemplateError(f"template {name}: {field}: {value!r} is none of {', '.join(allowed)}")
    return value


def _choices(text: str, name: str) -> dict[str, float]:
    """`yes=1 no=0` as a mapping."""
    choices: dict[str, float] = {}
    for part in text.split():
        match = _CHOICE.fullmatch(part)
        if match is None:
            raise TemplateError(
                f"template {name}: choices: {part!r} is not of the form word=number"
            )
        choices[match[1]] = float(match[2])
    return choices
