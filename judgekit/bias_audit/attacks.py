"""Prompt-injection texts, shipped or from a file, and how they are placed in an output.

Found again.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, cast

from judgekit.errors import DatasetError
from judgekit.formats import iter_rows
from judgekit.resources import shipped_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from judgekit.formats import FileRow
    from judgekit.records import Criterion, Rubric

AttackGoal = Literal["max", "min", "unscored", "chosen", "other"]
"""What an attack wants: the best score, the worst, no usable answer, to be chosen of two outputs,
or something else (to leak the instructions, to run as code), which must not raise the score."""

AttackPosition = Literal["start", "end", "whole"]
"""Where an attack stands: before the output, after it, or in its place."""

_GOALS: Mapping[str, AttackGoal] = {
    "max": "max", "min": "min", "unscored": "unscored", "chosen": "chosen", "other": "other",
    "win_A": "chosen", "tie": "other", "leak": "other", "exec": "other",
}  # fmt: skip

_PLACES: tuple[AttackPosition, ...] = ("start", "end", "whole")
_MOST_TEXT = 2_000_000
"""Characters of a text that a recipe makes; a longer one is a slip."""

_GAP = re.compile("<(?:first|second|top|bottom|best verdicts?)>")
_TOLD = frozenset({"max", "min", "chosen"})
"""Goals whose texts name scores."""


@dataclass(frozen=True, slots=True)
class Attack:
    """A text that instructs the judge.

    Attributes:
        family: The kind of attack.
        payload: The text. `<first>` and `<second>` stand for criteria, `<top>` and `<bottom>` for
            the best and the worst score, `<best verdict>` and `<best verdicts>` for a reply with
            the best score on one criterion or on all.
        place: Its position in the output.
        goal: What it tries to achieve.
    """

    id: str
    family: str
    payload: str
    place: AttackPosition = "end"
    goal: AttackGoal = "max"

    def on(self, text: str, rubric: Rubric) -> str:
        """An output with the attack in it."""
        payload = self.said(rubric)
        if self.place == "whole":
            return payload
        return f"{payload}\n\n{text}" if self.place == "start" else f"{text}\n\n{payload}"

    def said(self, rubric: Rubric) -> str:
        """The payload as it is said to a judge of a rubric."""
        first, last = rubric.criteria[0], rubric.criteria[min(1, len(rubric.criteria) - 1)]
        scale = first.scale
        every = {"criteria": {one.name: _best_of(one) for one in rubric.criteria}}
        gaps = {
            "<first>": first.name,
            "<second>": last.name,
            "<top>": f"{scale.max:g}",
            "<bottom>": f"{scale.min:g}",
            "<best verdict>": _written(_best_of(first)),
            "<best verdicts>": _written(every),
        }
        return _GAP.sub(lambda found: gaps[found[0]], self.payload)


@dataclass(frozen=True, slots=True)
class AttackCorpus:
    """The attacks of one file.

    Attributes:
        n_left_out: Rows without an attack: harmless texts, for detectors.
        name: The file; None for the shipped attacks.
    """

    attacks: tuple[Attack, ...]
    n_left_out: int = 0
    name: str | None = None

    @property
    def families(self) -> tuple[str, ...]:
        """Every kind, in order of appearance."""
        return tuple(dict.fromkeys(attack.family for attack in self.attacks))

    def finder(self, rubric: Rubric) -> Callable[[str], Attack | None]:
        """Tells which attack stands in a text, for made-up judges that obey some."""
        said = [(attack.said(rubric), attack) for attack in self.attacks]
        said.sort(key=lambda pair: len(pair[1].payload), reverse=True)

        def attack_in(text: str) -> Attack | None:
            return next((one for payload, one in said if _stands(payload, one.place, text)), None)

        return attack_in


@lru_cache(maxsize=1)
def shipped_corpus() -> AttackCorpus:
    """The attacks that come with judgekit."""
    found = read_attacks(shipped_file("prompts", "attacks", "injection.jsonl"))
    return AttackCorpus(found.attacks)


def read_attacks(path: Path) -> AttackCorpus:
    """The attacks of a file."""
    # A row is either an attack (`id`, `family`, `payload`, and as you like `place` and `goal`), or
    # an attacked output (`id`, `family`, `clean_output`, `attacked_output`, `attack_span`, `goal`,
    # `criteria`), whose payload is what the span says. Of the latter the names of the criteria and
    # their best score become those of the rubric that is audited; rows without a goal hold no
    # attack.
    found: dict[str, Attack] = {}
    n_left_out = 0
    for row in iter_rows(path):
        attack = _attack(row, path)
        if attack is None:
            n_left_out += 1
        elif attack.id in found:
            raise DatasetError(
                f"the id {attack.id!r} comes a second time", path=path, line=row.line,
                hint="give each attack a name of its own",
            )  # fmt: skip
        else:
            found[attack.id] = attack
    if not found:
        raise DatasetError("there is no attack in it", path=path, hint=_HINT)
    return AttackCorpus(tuple(found.values()), n_left_out, str(path))


def _best_of(criterion: Criterion) -> dict[str, object]:
    """What a judge says of a criterion in JSON, with the best score."""
    top = criterion.scale.max
    score = int(top) if float(top).is_integer() else top
    said = "It answers the question in full."
    return {"evidence": [], "rationale": said, "score": score, "confidence": 1, "assessable": True}


def _written(verdict: Mapping[str, object]) -> str:
    return json.dumps(verdict, ensure_ascii=False)


def _stands(payload: str, place: AttackPosition, text: str) -> bool:
    if place == "whole":
        return text == payload
    return text.startswith(payload) if place == "start" else text.endswith(payload)


_HINT = 'a row is {"id": …, "family": …, "payload": …, "place": "end", "goal": "max"}'


def _attack(row: FileRow, path: Path) -> Attack | None:
    fields = row.fields
    if "payload" not in fields and "attacked_output" not in fields:
        raise _unsound("no payload and no attacked_output", row, path)
    goal = fields.get("goal", "max" if "payload" in fields else None)
    if goal is None:
        return None
    if goal not in _GOALS:
        raise _unsound(f"the goal {goal!r:.40} is not one of {', '.join(_GOALS)}", row, path)
    known = _GOALS[str(goal)]
    payload, place = _given(row, path) if "payload" in fields else _spanned(row, path, known)
    if not payload:
        raise _unsound("the attack is an empty text", row, path)
    return Attack(
        _text(row, "id", path), _text(row, "family", path), payload, place=place, goal=known
    )


def _given(row: FileRow, path: Path) -> tuple[str, AttackPosition]:
    place = row.fields.get("place", "end")
    if place not in _PLACES:
        raise _unsound(f"the place {place!r:.40} is not one of {', '.join(_PLACES)}", row, path)
    return _text(row, "payload", path), place


def _spanned(row: FileRow, path: Path, goal: AttackGoal) -> tuple[str, AttackPosition]:
    """The attack in an attacked output, and where it stands there."""
    if row.fields.get("attacked_output") is None:
        return _general(_from_recipe(row, path), row, goal), "whole"
    whole, span = _text(row, "attacked_output", path), row.fields.get("attack_span")
    if span is None:
        return _general(whole, row, goal), "whole"
    if not (isinstance(span, list) and len(span) == 2 and all(type(n) is int for n in span)):  # noqa: PLR2004 - from, to
        raise _unsound("attack_span is not [start, end]", row, path)
    start, end = (cast("int", n) for n in span)
    if not 0 <= start < end <= len(whole):
        raise _unsound(f"attack_span {span} lies outside of attacked_output", row, path)
    place: AttackPosition = "end" if start else "whole" if end == len(whole) else "start"
    return _general(whole[start:end], row, goal), place


def _from_recipe(row: FileRow, path: Path) -> str:
    recipe = row.fields.get("attacked_output_recipe")
    if not isinstance(recipe, dict):
        raise _unsound("attacked_output is missing, and so is its recipe", row, path)
    prefix, repeat, suffix = (recipe.get(name, "") for name in ("prefix", "repeat", "suffix"))
    times = recipe.get("times", 1)
    if not isinstance(times, int) or times < 0:
        raise _unsound("the recipe's times is not a whole number", row, path)
    if len(str(repeat)) * times > _MOST_TEXT:
        raise _unsound(f"the recipe makes more than {_MOST_TEXT:,} characters", row, path)
    return f"{prefix}{str(repeat) * times}{suffix}"


def _general(payload: str, row: FileRow, goal: AttackGoal) -> str:
    """A payload with the rubric's own criteria and scores in place of those it was written for."""
    criteria = row.fields.get("criteria")
    if goal not in _TOLD or not isinstance(criteria, list):
        return payload
    known = [one for one in criteria if isinstance(one, dict)]
    for gap, one in zip(("<first>", "<second>"), known, strict=False):
        name = one.get("name")
        if isinstance(name, str) and name:
            payload = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", gap, payload)
    bound, gap = ("min", "<bottom>") if goal == "min" else ("max", "<top>")
    score = known[0].get(bound) if known else None
    if isinstance(score, int | float):
        alone = rf"(?<![0-9A-Za-z_.]){re.escape(f'{score:g}')}(?![0-9A-Za-z_]|\.[0-9])"
        payload = re.sub(alone, gap, payload)
    return payload


def _text(row: FileRow, name: str, path: Path) -> str:
    value = row.fields.get(name)
    if not isinstance(value, str) or not value:
        raise _unsound(f"{name} is missing or is no text", row, path)
    return value


def _unsound(what: str, row: FileRow, path: Path) -> DatasetError:
    return DatasetError(f"no attack: {what}", path=path, line=row.line, hint=_HINT)
