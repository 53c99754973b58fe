"""Case, two outputs and rubric to the messages a judge is sent that compares them blind."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from judgekit.errors import TemplateError
from judgekit.fingerprint import Frozen, fingerprint
from judgekit.prompts.pair_schemas import OVERALL, preference_schema, preferences_schema
from judgekit.prompts.rendering import as_text, criteria_data, judged_text, steps_text
from judgekit.prompts.replies.names import fold_name
from judgekit.prompts.sandbox import CompiledTemplate, make_environment
from judgekit.prompts.templates import find_template, read_header

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.prompts.replies.formats import PairReplyFormat
    from judgekit.records.case import Case
    from judgekit.records.output import Output
    from judgekit.records.record import JsonObject
    from judgekit.records.rubric import Criterion, Rubric

SLOT_LABELS = ("first", "second")
"""What the outputs are called where no labels are drawn."""

_BLOCKS = ("system", "shared", "question", "overall")
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
        self._schema = _frozen(preference_schema()) if self.reply.kind == "json" else None
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
            if fold_name(criterion.name) == OVERALL:
                raise TemplateError(
                    f"template {self.name} cannot ask about a criterion called {criterion.name!r} "
                    "beside the whole",
                    hint="use pairwise/criterion, or give the criterion another name",
                )
        system, shared, question = [self._block(block, item, criteria) for block in _BLOCKS[:3]]
        key = tuple(criterion.fingerprint for criterion in criteria)
        if key not in self._schemas:  # the same for every pair of a rubric
            self._schemas[key] = _frozen(preferences_schema(criteria))
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


def shown_text(output: Output) -> str:
    """The text of an output that a judge of two sees."""
    return judged_text(output) or steps_text(output)


def drawn_labels(case_id: str, seed: int = 0) -> tuple[str, str]:
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
        "input": as_text(case.input),
        "reference": None if case.reference is None else as_text(case.reference),
        "context": None if case.context is None else as_text(case.context),
        "first": first,
        "second": second,
        "first_fence": f"output-{labels[0]}" if is_drawn else labels[0],
        "second_fence": f"output-{labels[1]}" if is_drawn else labels[1],
        "first_called": f" ({labels[0]})" if is_drawn else "",
        "second_called": f" ({labels[1]})" if is_drawn else "",
    }


def _check_blocks(name: str, blocks: Sequence[str], *, asks: str) -> None:
    missing, strange = {"shared", "question"} - set(blocks), set(blocks) - set(_BLOCKS)
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


def _frozen(schema: JsonObject) -> JsonObject:
    return cast("JsonObject", Frozen(cast("dict[str, object]", schema)))
