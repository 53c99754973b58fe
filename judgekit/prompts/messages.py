"""Turns a case, its output or two outputs, and a rubric into the messages a judge is sent.

The replies are read in `judgekit.prompts.parsing`.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast

from judgekit.errors import TemplateError
from judgekit.fingerprint import Frozen, fingerprint
from judgekit.prompts.environment import CompiledTemplate, make_environment
from judgekit.prompts.parsing import fold_name
from judgekit.prompts.schema import (
    OVERALL_KEY,
    criteria_schema,
    criterion_schema,
    preference_schema,
    preferences_schema,
    scale_words,
)
from judgekit.prompts.templates import find_template, read_header

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.prompts.parsing import PairReplyFormat
    from judgekit.records import Case, Criterion, JsonObject, Output, Rubric

_ITEM_NAMES = frozenset({"input", "reference", "context", "output", "trace", "steps"})

_POINTWISE_BLOCKS = ("system", "shared", "question")


class JudgePrompt(NamedTuple):
    """One question to a judge, ready to send."""

    criteria: tuple[Criterion, ...]
    """The criteria it asks about."""

    messages: tuple[dict[str, str], ...]
    """Chat messages: a system message where the template has one, and one user message."""

    shared_prefix: int
    """How many characters of the last message the sibling prompts share."""

    reply_schema: JsonObject | None
    """JSON Schema of the reply; None for templates with a reply format of their own."""


@dataclass(frozen=True, slots=True)
class _Depends:
    """What the text of a block depends on."""

    on_item: bool
    on_criteria: bool

    @classmethod
    def of(cls, names: frozenset[str]) -> _Depends:
        return cls(bool(names & _ITEM_NAMES), bool(names & {"criterion", "criteria"}))


class _Frame(NamedTuple):
    """What the prompts about the same criteria have in common, whatever is graded."""

    texts: tuple[str | None, ...]
    """The text of each block; None where it depends on the item."""

    reply_schema: JsonObject | None
    """JSON Schema of the reply."""


class PromptTemplate:
    """A template, compiled; turns a case, an output and a rubric into prompts.

    A template has the blocks `shared` and `question`, and may have `system`. `shared` stands
    first in the user message, so that providers' prompt caches hit, and `question` last. Blocks
    that use nothing of the case are rendered once for each criterion, not once for each output.
    """

    def __init__(self, name: str, folders: Sequence[Path] = ()) -> None:
        file_name, places = find_template(name, folders)
        self._compiled = CompiledTemplate(make_environment(places), file_name)
        self.header = read_header(self._compiled.sources[file_name], file_name)
        self.name = file_name.removesuffix(".j2")
        self.fingerprint = fingerprint(dict(self._compiled.sources))
        if self.header.pair is not None:
            raise TemplateError(
                f"template {self.name} compares two outputs, and one is to be graded",
                hint="use it to compare, or a template such as pointwise/criterion",
            )
        self._frames: dict[str, _Frame] = {}
        missing = {"shared", "question"} - set(self._compiled.blocks)
        strange = set(self._compiled.blocks) - set(_POINTWISE_BLOCKS)
        if missing or strange:
            raise TemplateError(
                f"template {self.name} has the blocks {', '.join(self._compiled.blocks) or 'none'}",
                hint="a template has the blocks shared and question, and may have system",
            )
        self._depends = {
            block: _Depends.of(self._compiled.names_used(block)) for block in self._compiled.blocks
        }

    @property
    def id(self) -> str:
        """Name and fingerprint: `pointwise/criterion@1f3c…`, twelve digits."""
        return f"{self.name}@{self.fingerprint[:12]}"

    def prompts(self, case: Case, output: Output, rubric: Rubric) -> list[JudgePrompt]:
        """The prompts that grade one output: one a criterion, or one for all of them."""
        self._check_fits(output, rubric)
        item = item_data(case, output)
        rendered: dict[str, str] = {}
        if self.header.asks == "all":
            return [self._prompt(item, rubric.criteria, rendered)]
        return [self._prompt(item, (criterion,), rendered) for criterion in rubric.criteria]

    def _prompt(
        self,
        item: dict[str, JsonValue],
        criteria: tuple[Criterion, ...],
        rendered: dict[str, str],
    ) -> JudgePrompt:
        key = "\n".join([criterion.fingerprint for criterion in criteria])
        if key not in self._frames:
            fixed = tuple([self._fixed_text(block, criteria) for block in _POINTWISE_BLOCKS])
            self._frames[key] = _Frame(fixed, self._schema(criteria))
        frame = self._frames[key]
        system, shared, question = [
            self._text(block, item, criteria, rendered) if fixed is None else fixed
            for block, fixed in zip(_POINTWISE_BLOCKS, frame.texts, strict=True)
        ]
        prefix = f"{shared}\n\n" if shared and question else shared
        user = {"role": "user", "content": prefix + question}
        messages = ({"role": "system", "content": system}, user) if system else (user,)
        return JudgePrompt(criteria, messages, len(prefix), frame.reply_schema)

    def _fixed_text(self, block: str, criteria: tuple[Criterion, ...]) -> str | None:
        """A block's text; None where it depends on the item."""
        depends = self._depends.get(block)
        if depends is None:
            return ""
        return None if depends.on_item else self._compiled.render(block, criteria_data(criteria))

    def _schema(self, criteria: tuple[Criterion, ...]) -> JsonObject | None:
        if self.header.reply.kind != "json":
            return None
        one = self.header.asks == "criterion"
        schema = criterion_schema(criteria[0]) if one else criteria_schema(criteria)
        return cast("JsonObject", Frozen(cast("dict[str, object]", schema)))

    def _text(
        self,
        block: str,
        item: dict[str, JsonValue],
        criteria: tuple[Criterion, ...],
        rendered: dict[str, str],
    ) -> str:
        """The text of a block that depends on the item; rendered once where on nothing else."""
        if self._depends[block].on_criteria:
            return self._compiled.render(block, {**item, **criteria_data(criteria)})
        if block not in rendered:
            rendered[block] = self._compiled.render(block, item)
        return rendered[block]

    def _check_fits(self, output: Output, rubric: Rubric) -> None:
        if self.header.needs_trace and not output.trace:
            raise TemplateError(
                f"template {self.name} renders a trace, and the output has none",
                hint="use pointwise/criterion for outputs without a trace",
            )
        if not self.header.shows_examples and any(c.examples for c in rubric.criteria):
            raise TemplateError(
                f"the rubric has examples, and template {self.name} does not show them",
                hint="grade with the template pointwise/few_shot, one of your own with `shows: "
                "examples`, or take `examples` out of the rubric",
            )
        for criterion in rubric.criteria if self.header.binary_only else ():
            if criterion.scale.points != (0.0, 1.0):
                raise TemplateError(
                    f"template {self.name} asks yes-or-no questions, and criterion "
                    f"{criterion.name!r} scores {scale_words(criterion.scale)}",
                    hint="give the criterion scale: binary, or use pointwise/joint",
                )
        _check_choices(self.name, self.header.reply.choices, rubric)


def _check_choices(name: str, choices: Mapping[str, float], rubric: Rubric) -> None:
    """Choices that stop short of a scale's ends would be read as scores of that scale."""
    ends = (min(choices.values()), max(choices.values())) if choices else None
    for criterion in rubric.criteria if ends else ():
        if ends != (criterion.scale.min, criterion.scale.max):
            raise TemplateError(
                f"template {name} gives the scores {', '.join(f'{n:g}' for n in choices.values())}"
                f", and criterion {criterion.name!r} scores {scale_words(criterion.scale)}",
                hint="give the criterion a scale with the same ends, or use pointwise/criterion",
            )


def item_data(case: Case, output: Output) -> dict[str, JsonValue]:
    """What a template may show of a case and an output, as plain texts."""
    return {
        "input": "" if case.input is None else to_text(case.input),
        "reference": None if case.reference is None else to_text(case.reference),
        "context": None if case.context is None else to_text(case.context),
        "output": judged_text(output),
        "trace": [event.model_dump(mode="json", exclude_none=True) for event in output.trace],
        "steps": steps_text(output),
    }


def criteria_data(criteria: Sequence[Criterion]) -> dict[str, JsonValue]:
    """What a template may show of the criteria; weights and thresholds are none of its business."""
    shown: list[JsonValue] = [_criterion_data(criterion) for criterion in criteria]
    return {"criteria": shown} if len(shown) > 1 else {"criteria": shown, "criterion": shown[0]}


def judged_text(output: Output) -> str:
    """The text of an output that a judge sees: its text, and its data as JSON."""
    if output.data is None:
        return output.text or ""
    data = to_text(output.data)
    return data if output.text is None else f"{output.text}\n\n{data}"


def steps_text(output: Output) -> str:
    """The trace of an output, a numbered line for each event."""
    lines = []
    for number, event in enumerate(output.trace, start=1):
        more = {k: v for k, v in (event.model_extra or {}).items() if v is not None}
        content = "" if event.content is None else _on_one_line(event.content)
        extra = _on_one_line(more) if more else ""
        name = f" {event.name}" if event.name else ""
        said = " ".join(part for part in (content, extra) if part)
        lines.append(
            f"{number}. {event.type}{name}: {said}" if said else f"{number}. {event.type}{name}"
        )
    return "\n".join(lines)


def to_text(value: JsonValue) -> str:
    """A text as it is; any other JSON value as indented JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def _on_one_line(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _criterion_data(criterion: Criterion) -> dict[str, JsonValue]:
    return {
        "name": criterion.name,
        "question": criterion.question,
        "scoring_guide": criterion.scoring_guide,
        "scores": scale_words(criterion.scale),
        "min": criterion.scale.min,
        "max": criterion.scale.max,
        "levels": [
            {"value": f"{level.value:g}", "name": level.name, "description": level.description}
            for level in criterion.scale.levels
        ],
        "examples": [
            {**example.model_dump(exclude={"raw", "case_id"}), "score": f"{example.raw:g}"}
            for example in criterion.examples
        ],
    }


SLOT_LABELS = ("first", "second")
"""What the outputs are called where no labels are drawn."""

_PAIRWISE_BLOCKS = ("system", "shared", "question", "overall")

_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
"""No vowels, so that two of them make no word; no A, which sounds like a rank."""


@dataclass(frozen=True, slots=True)
class PairPrompt:
    """One question to a judge about two outputs, ready to send."""

    criteria: tuple[Criterion, ...]
    """The criteria it asks about by themselves; none where it asks about the whole only."""

    asks_overall: bool
    """Whether it asks about the whole."""

    messages: tuple[dict[str, str], ...]
    """Chat messages: a system message where the template has one, and one user message."""

    shared_prefix: int
    """How many characters of the last message the sibling prompts share."""

    reply_schema: JsonObject | None
    """JSON Schema of the reply; None for templates with a reply format of their own."""


class PairTemplate:
    """A template that compares two outputs, compiled.

    It has the blocks `shared` and `question`, and may have `system`; with `asks: criterion` it
    may have `overall`, the question about the whole. The outputs are `first` and `second`, to be
    fenced as `first_fence` and `second_fence`; nothing in a block says whose they are.
    """

    def __init__(self, name: str, folders: Sequence[Path] = ()) -> None:
        file_name, places = find_template(name, folders)
        self._compiled = CompiledTemplate(make_environment(places), file_name)
        self.name = file_name.removesuffix(".j2")
        self.header = read_header(self._compiled.sources[file_name], file_name)
        self.fingerprint = fingerprint(dict(self._compiled.sources))
        if self.header.pair is None:
            raise TemplateError(
                f"template {self.name} grades one output, and two are to be compared",
                hint="its header needs judges: pair",
            )
        self.reply: PairReplyFormat = self.header.pair
        _check_blocks(self.name, self._compiled.blocks, asks=self.header.asks)
        self._schema = _frozen_schema(preference_schema()) if self.reply.kind == "json" else None
        self._schemas: dict[tuple[str, ...], JsonObject] = {}

    @property
    def id(self) -> str:
        """Name and fingerprint: `pairwise/criterion@1f3c…`, twelve digits."""
        return f"{self.name}@{self.fingerprint[:12]}"

    def prompts(
        self,
        case: Case,
        first: str,
        second: str,
        rubric: Rubric,
        *,
        labels: tuple[str, str] = SLOT_LABELS,
    ) -> list[PairPrompt]:
        """The prompts that compare two outputs in one order."""
        item = pair_data(case, first, second, labels)
        if self.header.asks == "all":
            return [self._joint(item, rubric.criteria)]
        found = []
        system, shared = self._block("system", item, ()), self._block("shared", item, ())
        if self.header.asks == "criterion":
            for criterion in rubric.criteria:
                question = self._block("question", item, (criterion,))
                found.append(self._prompt(system, shared, question, (criterion,)))
        block = "question" if self.header.asks == "overall" else "overall"
        if block in self._compiled.blocks:
            question = self._block(block, item, rubric.criteria)
            found.append(self._prompt(system, shared, question, ()))
        return found

    def _joint(self, item: dict[str, JsonValue], criteria: tuple[Criterion, ...]) -> PairPrompt:
        for criterion in criteria:
            if fold_name(criterion.name) == OVERALL_KEY:
                raise TemplateError(
                    f"template {self.name} cannot ask about a criterion called {criterion.name!r} "
                    "beside the whole",
                    hint="use pairwise/criterion, or give the criterion another name",
                )
        system, shared, question = [
            self._block(block, item, criteria) for block in _PAIRWISE_BLOCKS[:3]
        ]
        key = tuple(criterion.fingerprint for criterion in criteria)
        if key not in self._schemas:  # the same for every pair of a rubric
            self._schemas[key] = _frozen_schema(preferences_schema(criteria))
        return self._prompt(system, shared, question, criteria, joint=self._schemas[key])

    def _prompt(
        self,
        system: str,
        shared: str,
        question: str,
        criteria: tuple[Criterion, ...],
        *,
        joint: JsonObject | None = None,
    ) -> PairPrompt:
        prefix = f"{shared}\n\n" if shared and question else shared
        messages = [{"role": "system", "content": system}] if system else []
        messages.append({"role": "user", "content": prefix + question})
        return PairPrompt(
            criteria=criteria,
            asks_overall=joint is not None or not criteria,
            messages=tuple(messages),
            shared_prefix=len(prefix),
            reply_schema=joint or self._schema,
        )

    def _block(
        self, block: str, item: dict[str, JsonValue], criteria: tuple[Criterion, ...]
    ) -> str:
        if block not in self._compiled.blocks:
            return ""
        asked = criteria_data(criteria) if criteria else {}
        return self._compiled.render(block, {**item, **asked})


def pairwise_text(output: Output) -> str:
    """The text of an output that a judge of two sees."""
    return judged_text(output) or steps_text(output)


def draw_labels(case_id: str, seed: int = 0) -> tuple[str, str]:
    """Two labels that mean nothing, for the places an output is shown in."""
    # They belong to the places and not to the outputs, so that a judge who likes a label is found
    # out by the other order.
    draw = random.Random(f"judgekit labels {seed} {case_id}")
    first, second, third, fourth = draw.sample(_LETTERS, 4)
    return first + second, third + fourth


def pair_data(case: Case, first: str, second: str, labels: tuple[str, str]) -> dict[str, JsonValue]:
    """What a template may show of a case and two outputs, as plain texts."""
    is_drawn = labels != SLOT_LABELS
    return {
        "input": to_text(case.input),
        "reference": None if case.reference is None else to_text(case.reference),
        "context": None if case.context is None else to_text(case.context),
        "first": first,
        "second": second,
        "first_fence": f"output-{labels[0]}" if is_drawn else labels[0],
        "second_fence": f"output-{labels[1]}" if is_drawn else labels[1],
        "first_called": f" ({labels[0]})" if is_drawn else "",
        "second_called": f" ({labels[1]})" if is_drawn else "",
    }


def _check_blocks(name: str, blocks: Sequence[str], *, asks: str) -> None:
    missing, strange = {"shared", "question"} - set(blocks), set(blocks) - set(_PAIRWISE_BLOCKS)
    if missing or strange:
        raise TemplateError(
            f"template {name} has the blocks {', '.join(blocks) or 'none'}",
            hint="it has the blocks shared and question, and may have system and overall",
        )
    if "overall" in blocks and asks != "criterion":
        raise TemplateError(
            f"template {name} has a block overall, and asks: {asks} never asks it",
            hint="the block overall goes with asks: criterion",
        )


def _frozen_schema(schema: JsonObject) -> JsonObject:
    return cast("JsonObject", Frozen(cast("dict[str, object]", schema)))
