"""Case, output and rubric to the messages a judge is sent."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast

from judgekit.errors import TemplateError
from judgekit.fingerprint import Frozen, fingerprint
from judgekit.prompts.sandbox import CompiledTemplate, make_environment
from judgekit.prompts.schemas import criteria_schema, criterion_schema, scale_words
from judgekit.prompts.templates import find_template, read_header

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.records.case import Case
    from judgekit.records.output import Output
    from judgekit.records.record import JsonObject
    from judgekit.records.rubric import Criterion, Rubric

_ITEM_NAMES = frozenset({"input", "reference", "context", "output", "trace", "steps"})
_BLOCKS = ("system", "shared", "question")


class Prompt(NamedTuple):
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
        strange = set(self._compiled.blocks) - set(_BLOCKS)
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

    def prompts(self, case: Case, output: Output, rubric: Rubric) -> list[Prompt]:
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
    ) -> Prompt:
        key = "\n".join([criterion.fingerprint for criterion in criteria])
        if key not in self._frames:
            fixed = tuple([self._fixed_text(block, criteria) for block in _BLOCKS])
            self._frames[key] = _Frame(fixed, self._schema(criteria))
        frame = self._frames[key]
        system, shared, question = [
            self._text(block, item, criteria, rendered) if fixed is None else fixed
            for block, fixed in zip(_BLOCKS, frame.texts, strict=True)
        ]
        prefix = f"{shared}\n\n" if shared and question else shared
        user = {"role": "user", "content": prefix + question}
        messages = ({"role": "system", "content": system}, user) if system else (user,)
        return Prompt(criteria, messages, len(prefix), frame.reply_schema)

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
        "input": "" if case.input is None else as_text(case.input),
        "reference": None if case.reference is None else as_text(case.reference),
        "context": None if case.context is None else as_text(case.context),
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
    data = as_text(output.data)
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


def as_text(value: JsonValue) -> str:
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
