"""Options of an audit, and the inputs of its probes: outputs, pairs, rubric, and prompt injections.

Attacks are shipped or read from a file, and inserted into an output.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from judgekit import evaluation, formats
from judgekit.bias_audit.results import Margins
from judgekit.errors import DatasetError, SettingsError
from judgekit.resources import shipped_file

if TYPE_CHECKING:
    from judgekit.formats import FileRow
    from judgekit.records import Case, Criterion, Output, Rubric

AttackGoal = Literal["max", "min", "unscored", "chosen", "other"]
"""What an attack tries to achieve: the best score, the worst, no usable answer, to be chosen of two
outputs, or something else (to leak the instructions, to run as code)."""

AttackPosition = Literal["start", "end", "whole"]
"""The position of an attack: before the output, after it, or in its place."""

_GOALS: Mapping[str, AttackGoal] = {
    "max": "max", "min": "min", "unscored": "unscored", "chosen": "chosen", "other": "other",
    "win_A": "chosen", "tie": "other", "leak": "other", "exec": "other",
}  # fmt: skip

_PLACES: tuple[AttackPosition, ...] = ("start", "end", "whole")
_GAP = re.compile("<(?:first|second|top|bottom|best verdicts?)>")
_HINT = 'a row is {"id": …, "family": …, "payload": …, "place": "end", "goal": "max"}'

# A recipe that makes more characters is a mistake, and would fill the memory.
_MOST_TEXT = 2_000_000

# Only texts with these goals name criteria and scores.
_NAMES_SCORES = frozenset({"max", "min", "chosen"})


@dataclass(frozen=True, slots=True)
class Attack:
    """A text that instructs the judge, of a kind (`family`), with its position and goal.

    In the payload `<first>` and `<second>` stand for criteria, `<top>` and `<bottom>` for the best
    and the worst score, `<best verdict>` and `<best verdicts>` for a reply with the best score on
    one criterion or on all.
    """

    id: str
    family: str
    payload: str
    place: AttackPosition = "end"
    goal: AttackGoal = "max"

    def on(self, text: str, rubric: Rubric) -> str:
        payload = self.text(rubric)
        if self.place == "whole":
            return payload
        return f"{payload}\n\n{text}" if self.place == "start" else f"{text}\n\n{payload}"

    def text(self, rubric: Rubric) -> str:
        first, last = rubric.criteria[0], rubric.criteria[min(1, len(rubric.criteria) - 1)]
        scale = first.scale
        every = {"criteria": {one.name: _best_of(one) for one in rubric.criteria}}
        gaps = {
            "<first>": first.name,
            "<second>": last.name,
            "<top>": f"{scale.max:g}",
            "<bottom>": f"{scale.min:g}",
            "<best verdict>": json.dumps(_best_of(first), ensure_ascii=False),
            "<best verdicts>": json.dumps(every, ensure_ascii=False),
        }
        return _GAP.sub(lambda match: gaps[match[0]], self.payload)


@dataclass(frozen=True, slots=True)
class AttackCorpus:
    """The attacks of one file (no name for those shipped), and how many rows have no attack."""

    attacks: tuple[Attack, ...]
    n_left_out: int = 0
    name: str | None = None

    @property
    def families(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(attack.family for attack in self.attacks))

    def finder(self, rubric: Rubric) -> Callable[[str], Attack | None]:
        """A function that finds the attack in a text, for simulated judges that obey some."""
        texts = [(attack.text(rubric), attack) for attack in self.attacks]
        # The longest first, because a short attack can be the end of a longer one.
        texts.sort(key=lambda pair: len(pair[1].payload), reverse=True)

        def attack_in(text: str) -> Attack | None:
            return next((one for payload, one in texts if _is_in(text, payload, one.place)), None)

        return attack_in


@lru_cache(maxsize=1)
def shipped_corpus() -> AttackCorpus:
    corpus = read_attacks(shipped_file("prompts", "attacks", "injection.jsonl"))
    return AttackCorpus(corpus.attacks)


def read_attacks(path: Path) -> AttackCorpus:
    # A row is either an attack (`id`, `family`, `payload`, and optionally `place` and `goal`) or an
    # attacked output (`id`, `family`, `clean_output`, `attacked_output`, `attack_span`, `goal`,
    # `criteria`), whose payload is the text of the span. In the latter, the names of the criteria
    # and their best score are replaced by those of the audited rubric. Rows without a goal contain
    # no attack.
    attacks: dict[str, Attack] = {}
    n_left_out = 0
    for row in formats.iter_rows(path):
        attack = _attack(row, path)
        if attack is None:
            n_left_out += 1
        elif attack.id in attacks:
            raise DatasetError(
                f"the id {attack.id!r} is used twice", path=path, line=row.line,
                hint="give each attack an id of its own",
            )  # fmt: skip
        else:
            attacks[attack.id] = attack
    if not attacks:
        raise DatasetError("the file has no attacks", path=path, hint=_HINT)
    return AttackCorpus(tuple(attacks.values()), n_left_out, str(path))


DEFAULT_N_REPEATS = 3
"""Repeats in the stability probe."""

DEFAULT_N_ATTACKS = 3
"""Attacks tried on each output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """Probes, sizes and margins of an audit.

    Attributes:
        probes: Names of probes; empty for all.
        n_cases: Size of a random sample of cases; None takes all.
        paraphrases: Templates that paraphrase the judge's own; empty for those shipped.
        family: The judge's model family (GPT, Claude, …); None infers it from the model's name.
        n_askings: Repeats in the stability probe, 2 or more.
        attacks: Your own attacks, or a file that `read_attacks` accepts; None for those shipped.
        n_attacks: Attacks tried on each output, 1 or more.
        margins: The smallest effects that matter.
        level: Confidence level of the intervals, in (0, 1).
        seed: Seed of every random choice.
        max_cost_usd: The spending limit. A probe of known price that exceeds what the earlier
            probes leave is skipped.

    Raises:
        SettingsError: When one is out of its range.
    """

    probes: tuple[str, ...] = ()
    n_cases: int | None = None
    paraphrases: tuple[str, ...] = ()
    family: str | None = None
    n_askings: int = DEFAULT_N_REPEATS
    attacks: AttackCorpus | Path | str | None = None
    n_attacks: int = DEFAULT_N_ATTACKS
    margins: Margins = field(default_factory=Margins)
    level: float = 0.95
    seed: int = 0
    max_cost_usd: float | None = None

    def __post_init__(self) -> None:
        for name, least in (("n_askings", 2), ("n_attacks", 1), ("n_cases", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise SettingsError(f"{name} is {value}; it is {least} or more")
        if not 0 < self.level < 1:
            raise SettingsError(f"level is {self.level:g}; it lies between 0 and 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditInputs:
    """Everything a probe can use to plan its questions.

    Attributes:
        items: Cases with their outputs, in order, without outputs that record an error.
        family: The judge's model family, as a text would name it; None if unknown.
        is_recorded: Whether the judge's answers are recorded, so that there are none for changed
            texts.
    """

    items: tuple[tuple[Case, Output], ...]
    rubric: Rubric
    asks_all: bool = False
    paraphrases: tuple[str, ...] = ()
    family: str | None = None
    is_recorded: bool = False
    attacks: tuple[Attack, ...] = field(default_factory=lambda: shipped_corpus().attacks)
    options: AuditOptions = field(default_factory=AuditOptions)

    def draw(self, *about: str | None) -> random.Random:
        # One for each output, so that adding outputs or probes changes no other choice.
        return random.Random(f"judgekit audit {self.options.seed} {about}")

    @property
    def pairs(self) -> tuple[evaluation.OutputPair, ...]:
        by_case: dict[str, list[tuple[Case, Output]]] = {}
        for case, output in self.items:
            by_case.setdefault(case.id, []).append((case, output))
        return tuple(
            evaluation.OutputPair(case, a, b)
            for group in by_case.values()
            for (case, a), (_, b) in combinations(group, 2)
            if (a.text, a.data) != (b.text, b.data)
        )


def select_cases(
    answers: Sequence[tuple[Case, Output]], *, limit: int | None, sample: int | None, seed: int
) -> tuple[tuple[Case, Output], ...]:
    """The outputs of some of the cases; all outputs of a case stay together."""
    names = list(dict.fromkeys(case.id for case, _ in answers))
    if sample is not None and sample < len(names):
        sampled = set(random.Random(seed).sample(names, sample))
        names = [name for name in names if name in sampled]
    wanted = set(names[:limit])
    return tuple((case, output) for case, output in answers if case.id in wanted)


def _best_of(criterion: Criterion) -> dict[str, object]:
    """A judge's JSON reply on a criterion, with the best score."""
    top = criterion.scale.max
    score = int(top) if float(top).is_integer() else top
    reason = "It answers the question in full."
    return {"evidence": [], "rationale": reason, "score": score, "confidence": 1,
            "assessable": True}  # fmt: skip


def _is_in(text: str, payload: str, place: AttackPosition) -> bool:
    if place == "whole":
        return text == payload
    return text.startswith(payload) if place == "start" else text.endswith(payload)


def _attack(row: FileRow, path: Path) -> Attack | None:
    fields = row.fields
    if "payload" not in fields and "attacked_output" not in fields:
        raise _invalid("no payload and no attacked_output", row, path)
    goal = fields.get("goal", "max" if "payload" in fields else None)
    if goal is None:
        return None
    if goal not in _GOALS:
        raise _invalid(f"the goal {goal!r:.40} is not one of {', '.join(_GOALS)}", row, path)
    known = _GOALS[str(goal)]
    place = fields.get("place", "end")
    if "payload" not in fields:
        payload, place = _from_output(row, path, known)
    elif place in _PLACES:
        payload = _text(row, "payload", path)
    else:
        raise _invalid(f"the place {place!r:.40} is not one of {', '.join(_PLACES)}", row, path)
    if not payload:
        raise _invalid("the attack is an empty text", row, path)
    return Attack(
        _text(row, "id", path), _text(row, "family", path), payload, place=place, goal=known
    )


def _from_output(row: FileRow, path: Path, goal: AttackGoal) -> tuple[str, AttackPosition]:
    if row.fields.get("attacked_output") is None:
        return _generalised(_from_recipe(row, path), row, goal), "whole"
    whole, span = _text(row, "attacked_output", path), row.fields.get("attack_span")
    if span is None:
        return _generalised(whole, row, goal), "whole"
    # `type` and not `isinstance`, because true and false are integers too.
    bounds = [n for n in span if type(n) is int] if isinstance(span, list) else []
    if not isinstance(span, list) or len(span) != 2 or len(bounds) != 2:  # noqa: PLR2004 - from, to
        raise _invalid("attack_span is not [start, end]", row, path)
    start, end = bounds
    if not 0 <= start < end <= len(whole):
        raise _invalid(f"attack_span {span} lies outside of attacked_output", row, path)
    place: AttackPosition = "end" if start else "whole" if end == len(whole) else "start"
    return _generalised(whole[start:end], row, goal), place


def _from_recipe(row: FileRow, path: Path) -> str:
    # Very long attacks are stored as a recipe, so that a corpus stays a readable file.
    recipe = row.fields.get("attacked_output_recipe")
    if not isinstance(recipe, dict):
        raise _invalid("attacked_output is missing, and so is its recipe", row, path)
    prefix, repeat, suffix = (recipe.get(name, "") for name in ("prefix", "repeat", "suffix"))
    times = recipe.get("times", 1)
    if not isinstance(times, int) or times < 0:
        raise _invalid("the recipe's times is not a whole number", row, path)
    if len(str(repeat)) * times > _MOST_TEXT:
        raise _invalid(f"the recipe makes more than {_MOST_TEXT:,} characters", row, path)
    return f"{prefix}{str(repeat) * times}{suffix}"


def _generalised(payload: str, row: FileRow, goal: AttackGoal) -> str:
    """A payload with placeholders for the criteria and scores that it was written for."""
    criteria = row.fields.get("criteria")
    if goal not in _NAMES_SCORES or not isinstance(criteria, list):
        return payload
    known = [one for one in criteria if isinstance(one, dict)]
    for gap, one in zip(("<first>", "<second>"), known, strict=False):
        name = one.get("name")
        if isinstance(name, str) and name:
            payload = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", gap, payload)
    bound, gap = ("min", "<bottom>") if goal == "min" else ("max", "<top>")
    score = known[0].get(bound) if known else None
    if isinstance(score, int | float):
        # The score has to stand alone: the 5 of "15", "5.5" or "v5" is another number.
        alone = rf"(?<![0-9A-Za-z_.]){re.escape(f'{score:g}')}(?![0-9A-Za-z_]|\.[0-9])"
        payload = re.sub(alone, gap, payload)
    return payload


def _text(row: FileRow, name: str, path: Path) -> str:
    value = row.fields.get(name)
    if not isinstance(value, str) or not value:
        raise _invalid(f"{name} is missing or is no text", row, path)
    return value


def _invalid(what: str, row: FileRow, path: Path) -> DatasetError:
    return DatasetError(f"no attack: {what}", path=path, line=row.line, hint=_HINT)
