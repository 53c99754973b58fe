"""Turns a case, one output or two, and a rubric into the messages for a judge.

The replies are read in `judgekit.prompts.parsing`.
"""

from __future__ import annotations

import random
from operator import methodcaller
from typing import TYPE_CHECKING, NamedTuple, cast, get_args

from judgekit.errors import TemplateError
from judgekit.fingerprint import Frozen, canonical_json, fingerprint
from judgekit.prompts.conversation import IMAGE_MARKER, whole_conversation
from judgekit.prompts.environment import CompiledTemplate, make_environment
from judgekit.prompts.fences import judged_text, steps_text, to_text
from judgekit.prompts.parsing import HIGHEST_SIDE_SCORE, LOWEST_SIDE_SCORE, fold_name
from judgekit.prompts.templates import PREFERENCE_FIELDS, SCORE_FIELDS, find_template, read_header
from judgekit.records import PreferenceSlot, show_images

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from pydantic import JsonValue

    from judgekit.prompts.conversation import ConversationPart
    from judgekit.prompts.parsing import PairReplyFormat
    from judgekit.prompts.templates import TemplateHeader
    from judgekit.records import Case, Criterion, CriterionNeed, JsonObject, Output, Rubric, Scale

# The variables of a template that change with the case, whose text nobody has checked, and those
# that change with the criterion.
_CONVERSATION_NAMES = frozenset({"conversation", "turns"})
ITEM_NAMES = _CONVERSATION_NAMES | {
    "input", "reference", "context", "output", "trace", "steps", "expectations",
}  # fmt: skip
CRITERIA_NAMES = frozenset({"criterion", "criteria"})

# The labels of two outputs where none are drawn.
SLOT_LABELS = ("first", "second")

# A text that no template has of itself, in the places where each need would be shown.
_MARK = "judgekit-shown-7c41"
_MARKED: dict[CriterionNeed, dict[str, JsonValue]] = {
    "trace": {"steps": _MARK, "trace": [{"type": "message", "content": _MARK}]},
    "reference": {"reference": _MARK},
    "context": {"context": _MARK},
}

_ANY_CRITERION: dict[str, JsonValue] = {
    **dict.fromkeys(("name", "question", "scoring_guide", "scores", "scale", "weight"), "any"),
    "min": 0,
    "max": 1,
    **{name: [] for name in ("levels", "examples")},
    "levels_are_all": False,
}

# What any template may show, for a trial before anything is paid.
_TRIAL: dict[str, JsonValue] = {
    **dict.fromkeys(ITEM_NAMES, ""),
    **dict.fromkeys(
        (f"{side}{more}" for side in SLOT_LABELS for more in ("", "_fence", "_called")), "any"
    ),
    **dict.fromkeys(("winner", "loser", "reasons"), ""),
    "criterion": _ANY_CRITERION,
    "criteria": [_ANY_CRITERION],
}


class JudgePrompt(NamedTuple):
    """One question to a judge about one output or two, ready to send."""

    # The criteria it asks about; none where it asks only which output is better overall.
    criteria: tuple[Criterion, ...]
    messages: tuple[dict[str, str], ...]
    # How many characters of the last message the other prompts about this output share.
    shared_prefix: int
    # None for templates with a reply format of their own.
    reply_schema: JsonObject | None
    # The header of the template it was rendered with, which says how the reply is read.
    header: TemplateHeader
    asks_overall: bool = False
    # What of a conversation it shows, where it shows one.
    part: ConversationPart | None = None


class _Frame(NamedTuple):
    """What the prompts about the same criteria have in common, whatever is graded."""

    # The text of each block; None where it depends on the output.
    texts: tuple[str | None, ...]
    shown: dict[str, JsonValue]
    reply_schema: JsonObject | None


class JudgeTemplate:
    """A compiled template with its header."""

    _may_have: tuple[str, ...] = ("system", "shared", "question")

    def __init__(self, name: str, folders: Sequence[Path] = ()) -> None:
        file_name, places = find_template(name, folders)
        self._compiled = CompiledTemplate(make_environment(places), file_name)
        self.header = read_header(self._compiled.sources[file_name], file_name)
        self.name = file_name.removesuffix(".j2")
        self.fingerprint = fingerprint(dict(self._compiled.sources))
        self._compiled.check_limits(_TRIAL)

    @property
    def id(self) -> str:
        """Name and fingerprint: `pointwise/criterion@1f3c…`, twelve digits."""
        return f"{self.name}@{self.fingerprint[:12]}"

    def compile(self) -> None:
        """Compile it now, before the first prompt."""
        self._compiled.compile()

    def _check_blocks(self) -> None:
        blocks, optional = self._compiled.blocks, ("system", *self._may_have[3:])
        if {"shared", "question"} - set(blocks) or set(blocks) - set(self._may_have):
            raise TemplateError(
                f"template {self.name} has the blocks {', '.join(blocks) or 'none'}",
                hint=f"a template has the blocks shared and question, and may have "
                f"{' and '.join(optional)}",
            )

    def _prompt(
        self,
        criteria: tuple[Criterion, ...],
        texts: Sequence[str],
        schema: JsonObject | None,
        *,
        asks_overall: bool = False,
        is_alone: bool = False,
    ) -> JudgePrompt:
        system, shared, question = texts
        # `shared` comes first, so that providers' prompt caches hit for all prompts about one
        # output; where there is one only, it would be written to them for nothing.
        prefix = f"{shared}\n\n" if shared and question else shared
        n_shared = 0 if is_alone else len(prefix)
        user = {"role": "user", "content": prefix + question}
        messages = ({"role": "system", "content": system}, user) if system else (user,)
        return JudgePrompt(criteria, messages, n_shared, schema, self.header, asks_overall)


class PromptTemplate(JudgeTemplate):
    """A compiled template that turns a case, an output and a rubric into prompts.

    A template has the blocks `shared` and `question`, and may have `system`. Blocks that use
    nothing of the case are rendered once for each criterion, not once for each output.
    """

    def __init__(self, name: str, folders: Sequence[Path] = ()) -> None:
        super().__init__(name, folders)
        if self.header.pair is not None:
            raise TemplateError(
                f"template {self.name} compares two outputs, and one is to be graded",
                hint="use it to compare, or a template such as pointwise/criterion",
            )
        self._check_blocks()
        self._frames: dict[str, _Frame] = {}
        self._shown: dict[CriterionNeed, bool] = {}
        uses = self._compiled.uses
        self._shows_item = {block for block in uses if uses[block] & ITEM_NAMES}
        # Whether it shows conversations message by message.
        self.shows_turns = any(names & _CONVERSATION_NAMES for names in uses.values())
        self._shows_criteria = {block for block in uses if uses[block] & CRITERIA_NAMES}

    def prompts(
        self,
        case: Case,
        output: Output,
        rubric: Rubric,
        part: ConversationPart | None = None,
        *,
        expectations: str = "",
    ) -> list[JudgePrompt]:
        """The prompts that grade an output, or a part of it: one a criterion, or one for all."""
        self.check_fits(rubric)
        if self.header.needs_trace and not output.trace:
            raise TemplateError(
                f"template {self.name} renders a trace, and the output has none",
                hint="use pointwise/criterion for outputs without a trace",
            )
        item = {**item_data(case, output), "expectations": expectations}
        if part is None and self.shows_turns:
            part = whole_conversation(case, output)
        if part is not None:
            item |= part.data()
        rendered: dict[str, str] = {}
        prompts: list[JudgePrompt] = []
        groups = [rubric.criteria] if self.header.asks == "all" else [*zip(rubric.criteria)]
        is_alone = len(groups) == 1 and self.header.asks == "criterion"
        for criteria in groups:
            frame, texts = self._frame(criteria), list[str]()
            for block, fixed in zip(self._may_have, frame.texts, strict=True):
                text = fixed
                if text is None and block in self._shows_criteria:
                    text = self._compiled.render(block, {**item, **frame.shown})
                elif text is None:
                    # It depends on the output alone, so one text serves every criterion.
                    text = rendered.get(block) or self._compiled.render(block, item)
                    rendered[block] = text
                texts.append(text)
            prompt = self._prompt(criteria, texts, frame.reply_schema, is_alone=is_alone)
            prompts.append(prompt if part is None else prompt._replace(part=part))
        return prompts

    def _frame(self, criteria: tuple[Criterion, ...]) -> _Frame:
        one = len(criteria) == 1
        key = criteria[0].fingerprint if one else "\n".join([c.fingerprint for c in criteria])
        if key not in self._frames:
            shown, texts = criteria_data(criteria), list[str | None]()
            for block in self._may_have:
                if block not in self._compiled.blocks:
                    texts.append("")
                elif block in self._shows_item:
                    texts.append(None)
                else:
                    texts.append(self._compiled.render(block, shown))
            schema = None
            if self.header.reply.kind == "json":
                fields = self.header.fields
                if self.header.asks == "all":
                    schema = criteria_schema(criteria, fields)
                else:
                    schema = criterion_schema(criteria[0], fields)
            self._frames[key] = _Frame(tuple(texts), shown, schema and freeze_schema(schema))
        return self._frames[key]

    def shows(self, need: CriterionNeed, criterion: Criterion) -> bool:
        """Whether its prompts contain the trace, the reference or the context."""
        # Rendered and not only parsed: a template may include a part that it switches off.
        if need not in self._shown:
            item: dict[str, JsonValue] = {"input": "", "output": "", "steps": "", "trace": []}
            item |= {"reference": None, "context": None, "conversation": [], "turns": []}
            item |= {"expectations": "", **_MARKED[need]}
            data = {**criteria_data((criterion,)), **item}
            texts = [self._compiled.render(block, data) for block in self._compiled.blocks]
            self._shown[need] = any(_MARK in text for text in texts)
        return self._shown[need]

    def _check_shows(self, criterion: Criterion) -> None:
        for need in criterion.needs:
            if not self.shows(need, criterion):
                raise TemplateError(
                    f"criterion {criterion.name!r} needs the {need}, and template {self.name} "
                    "does not show it",
                    hint=f"use a template that shows the {need}, or remove it from `needs`",
                )

    def check_fits(self, rubric: Rubric) -> None:
        """Refuse a rubric that the template cannot ask about, whatever output is graded."""
        header = self.header
        if rubric.require_evidence and not header.asks_evidence:
            raise TemplateError(
                f"the rubric requires evidence, and template {self.name} asks for no quotations",
                hint="use a template that asks for `evidence` in JSON, such as pointwise/criterion",
            )
        worth = header.reply.choices.values()
        for criterion in rubric.criteria:
            scale = criterion.scale
            if criterion.needs:
                self._check_shows(criterion)
            if criterion.examples and not header.shows_examples:
                raise TemplateError(
                    f"the rubric has examples, and template {self.name} does not show them",
                    hint="grade with the template pointwise/few_shot, one of your own with `shows: "
                    "examples`, or take `examples` out of the rubric",
                )
            if header.binary_only and scale.points != (0.0, 1.0):
                raise TemplateError(
                    f"template {self.name} asks yes-or-no questions, and criterion "
                    f"{criterion.name!r} scores {scale_words(scale)}",
                    hint="give the criterion scale: binary, or use pointwise/joint",
                )
            # Choices worth 0 and 1 would be valid scores of a scale from 0 to 5, and wrong.
            ends = [min(worth), max(worth)] if worth else []
            if ends and (ends != [scale.min, scale.max] or not all(map(scale.holds, worth))):
                raise TemplateError(
                    f"template {self.name} gives the scores {', '.join(f'{n:g}' for n in worth)}"
                    f", and criterion {criterion.name!r} scores {scale_words(scale)}",
                    hint="give the criterion a scale with these scores and the same ends, or use "
                    "pointwise/criterion",
                )


def item_data(case: Case, output: Output) -> dict[str, JsonValue]:
    """What a template may show of a case and an output, as plain texts."""
    item = case_texts(case)
    if case.input is None:
        item["input"] = ""
    item["output"] = judged_text(output, IMAGE_MARKER)
    to_json = methodcaller("model_dump", mode="json", exclude_none=True)
    events = list(map(to_json, output.trace))
    for event in events:
        if "content" in event:
            event["content"] = show_images(event["content"], IMAGE_MARKER)
    item["trace"] = events
    item["steps"] = steps_text(output, IMAGE_MARKER) if output.trace else ""
    return item


def case_texts(case: Case) -> dict[str, JsonValue]:
    """What a template may show of a case, as plain texts."""
    item: dict[str, JsonValue] = {}
    for name in ("input", "reference", "context"):
        value = getattr(case, name)
        is_text = value is None or isinstance(value, str)
        item[name] = value if is_text else to_text(value, IMAGE_MARKER)
    return item


def criteria_data(criteria: Sequence[Criterion], *, is_pair: bool = False) -> dict[str, JsonValue]:
    """What a template may show of the criteria; of pairs the weights, too, where they differ."""
    # No thresholds, and no weights of scores: a judge that knew them could aim at a verdict.
    has_weights = is_pair and len({criterion.weight for criterion in criteria}) > 1
    shown: list[JsonValue] = []
    for criterion in criteria:
        levels: list[JsonValue] = []
        for level in criterion.scale.levels:
            value = f"{level.value:g}"
            levels.append({"value": value, "name": level.name, "description": level.description})
        examples: list[JsonValue] = []
        for example in criterion.examples:
            fields = example.model_dump(exclude={"raw", "case_id"})
            examples.append({**fields, "score": f"{example.raw:g}"})
        shown.append(
            {
                "name": criterion.name,
                "question": criterion.question,
                "scoring_guide": criterion.scoring_guide,
                "scores": scale_words(criterion.scale),
                "scale": scale_words(criterion.scale, is_short=True),
                "weight": f"{criterion.weight:g}" if has_weights else None,
                "min": criterion.scale.min,
                "max": criterion.scale.max,
                "levels": levels,
                "levels_are_all": 0 < len(levels) == len(criterion.scale.points or ()),
                "examples": examples,
            }
        )
    return {"criteria": shown} if len(shown) > 1 else {"criteria": shown, "criterion": shown[0]}


# No vowels, so that two of them make no word; no A, which sounds like a rank.
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"


class PairTemplate(JudgeTemplate):
    """A compiled template that compares two outputs.

    It has the blocks `shared` and `question`, and may have `system`; with `asks: criterion` it
    may have `overall`, the question which is better overall. The outputs are `first` and `second`,
    to be fenced as `first_fence` and `second_fence`; no block may say which variant made them.
    """

    _may_have = ("system", "shared", "question", "overall")

    def __init__(self, name: str, folders: Sequence[Path] = ()) -> None:
        super().__init__(name, folders)
        if self.header.pair is None:
            raise TemplateError(
                f"template {self.name} grades one output, and two are to be compared",
                hint="its header needs judges: pair",
            )
        self.reply: PairReplyFormat = self.header.pair
        self._check_blocks()
        if "overall" in self._compiled.blocks and self.header.asks != "criterion":
            raise TemplateError(
                f"template {self.name} has a block overall, which asks: {self.header.asks} never "
                "uses",
                hint="the block overall goes with asks: criterion",
            )
        self._choices = tuple(self.reply.choices) or _CHOICES
        self._schema = None
        if self.reply.kind == "json":
            self._schema = freeze_schema(preference_schema(self.header.fields, self._choices))
        self._schemas: dict[tuple[str, ...], JsonObject] = {}
        # By the fingerprints and weights of the criteria
        self._criteria: dict[tuple[tuple[str, float], ...], dict[str, JsonValue]] = {}
        self._texts: dict[tuple[str, tuple[tuple[str, float], ...]], str] = {}

    def prompts(
        self,
        case: Case,
        first: str,
        second: str,
        rubric: Rubric,
        *,
        labels: tuple[str, str] = SLOT_LABELS,
    ) -> list[JudgePrompt]:
        """The prompts that compare two outputs in one order."""
        item = pair_data(case, first, second, labels)
        if self.header.asks == "all":
            return [self._joint_prompt(item, rubric.criteria)]
        opening = self._block("system", item), self._block("shared", item)
        prompts: list[JudgePrompt] = []
        for criteria in zip(rubric.criteria) if self.header.asks == "criterion" else ():
            texts = *opening, self._block("question", item, criteria)
            prompts.append(self._prompt(criteria, texts, self._schema))
        block, alone = ("question", True) if self.header.asks == "overall" else ("overall", False)
        if block in self._compiled.blocks:
            texts = *opening, self._block(block, item, rubric.criteria)
            prompts.append(self._prompt((), texts, self._schema, asks_overall=True, is_alone=alone))
        return prompts

    def _joint_prompt(
        self, item: dict[str, JsonValue], criteria: tuple[Criterion, ...]
    ) -> JudgePrompt:
        for criterion in criteria:
            if fold_name(criterion.name) == OVERALL_KEY:
                raise TemplateError(
                    f"template {self.name} cannot ask about a criterion called {criterion.name!r} "
                    "beside the overall preference",
                    hint="use pairwise/criterion, or give the criterion another name",
                )
        texts = [self._block(block, item, criteria) for block in self._may_have[:3]]
        key = tuple(criterion.fingerprint for criterion in criteria)
        if key not in self._schemas:  # one schema serves all pairs of a rubric
            schema = preferences_schema(criteria, self.header.fields, self._choices)
            self._schemas[key] = freeze_schema(schema)
        return self._prompt(criteria, texts, self._schemas[key], asks_overall=True)

    def _block(
        self, block: str, item: dict[str, JsonValue], criteria: tuple[Criterion, ...] = ()
    ) -> str:
        if block not in self._compiled.blocks:
            return ""
        key = tuple((criterion.fingerprint, criterion.weight) for criterion in criteria)
        if key not in self._criteria:
            self._criteria[key] = criteria_data(criteria, is_pair=True) if criteria else {}
        if not self._compiled.uses[block].isdisjoint(item):
            return self._compiled.render(block, item | self._criteria[key])
        # It shows nothing of the case: one text serves all pairs.
        if (block, key) not in self._texts:
            self._texts[block, key] = self._compiled.render(block, self._criteria[key])
        return self._texts[block, key]


def draw_labels(case_id: str, seed: int = 0) -> tuple[str, str]:
    """Two labels without a meaning, for the first and the second place."""
    # They belong to the places and not to the outputs, so that the call with the other order
    # exposes a judge that prefers a label.
    draw = random.Random(f"judgekit labels {seed} {case_id}")
    first, second, third, fourth = draw.sample(_LETTERS, 4)
    return first + second, third + fourth


def pair_data(case: Case, first: str, second: str, labels: tuple[str, str]) -> dict[str, JsonValue]:
    """What a template may show of a case and two outputs, as plain texts."""
    fence, called = ("{}", "") if labels == SLOT_LABELS else ("output-{}", " ({})")
    return {
        **case_texts(case),
        # A comparison has always shown an absent input as `null`; the cache keys depend on it.
        "input": to_text(case.input, IMAGE_MARKER),
        "first": first,
        "second": second,
        "first_fence": fence.format(labels[0]),
        "second_fence": fence.format(labels[1]),
        "first_called": called.format(labels[0]),
        "second_called": called.format(labels[1]),
    }


# A scale with more points than this is described as a range, not listed.
_MOST_POINTS = 21

# So few are listed even where every whole number between the ends is one.
_FEW_POINTS = 2


def criterion_schema(criterion: Criterion, fields: Sequence[str] = ()) -> JsonObject:
    """JSON Schema of the answer to one criterion, whose scale bounds the score."""
    # Evidence and rationale come before the score: a model that has written a score defends it.
    points = criterion.scale.points
    whole = criterion.scale.integer or (points is not None and all(map(float.is_integer, points)))
    score: JsonObject = {"type": "integer" if whole else "number"}
    # Bounds are given as listed values or in words: strict modes of several providers refuse
    # `minimum` and `maximum`.
    if points is not None and len(points) <= _MOST_POINTS:
        score["enum"] = list(map(int, points)) if whole else list(points)
    # Where a judge may say null and no field is there to say why, small models say it of outputs
    # that are merely bad.
    may_decline = not fields or "assessable" in fields
    kinds: dict[str, JsonValue] = {
        "evidence": {"type": "array", "items": {"type": "string"}},
        "rationale": {"type": "string"},
        "score": {"anyOf": [score, {"type": "null"}]} if may_decline else score,
        "confidence": {"type": "number"},
        # Last, so that a "true" the judge has just written does not stand before its score.
        "assessable": {"type": "boolean"},
    }
    names = fields or SCORE_FIELDS
    return closed_object(dict(zip(names, map(kinds.__getitem__, names), strict=True)))


def criteria_schema(criteria: Sequence[Criterion], fields: Sequence[str] = ()) -> JsonObject:
    """JSON Schema of the answers to several criteria at once, keyed by their names."""
    answers: JsonObject = {c.name: criterion_schema(c, fields) for c in criteria}
    if not fields:
        return closed_object({"criteria": closed_object(answers)})
    answers, shared = _shared(answers)
    return {**closed_object({"criteria": closed_object(answers)}), "$defs": shared}


def _shared(answers: JsonObject) -> tuple[JsonObject, JsonObject]:
    """The answers as references, and each answer that they refer to once, by its name."""
    names: dict[str, str] = {}
    shared: JsonObject = {}
    references: JsonObject = {}
    for key, answer in answers.items():
        name = names.setdefault(canonical_json(answer), f"answer_{len(names) + 1}")
        shared[name] = answer
        references[key] = {"$ref": f"#/$defs/{name}"}
    return references, shared


def scale_words(scale: Scale, *, is_short: bool = False) -> str:
    """The scores of a scale in words, fit for a prompt; short ones as `1 to 5 (5 is best)`."""
    points, best = scale.points, f"({scale.max:g} is best)"
    if points is None or len(points) > _MOST_POINTS:
        kind = "whole number" if scale.integer else "number"
        return f"{'' if is_short else 'a '}{kind} from {scale.min:g} to {scale.max:g} {best}"
    if not is_short:
        return f"one of {', '.join(map('{:g}'.format, points))} {best}"
    if len(points) > _FEW_POINTS and [*points] == [points[0] + n for n in range(len(points))]:
        return f"{scale.min:g} to {scale.max:g} {best}"
    return f"{', '.join(map('{:g}'.format, points[:-1]))} or {points[-1]:g} {best}"


def closed_object(properties: Mapping[str, JsonValue]) -> JsonObject:
    """JSON Schema of an object that has all the properties and no others."""
    return {
        "type": "object",
        "properties": {**properties},
        "required": list(properties),
        "additionalProperties": False,
    }


# The key of the overall preference, beside those on criteria.
OVERALL_KEY = "overall"

_CHOICES: tuple[str, ...] = get_args(PreferenceSlot)


def preference_schema(fields: Sequence[str] = (), choices: Sequence[str] = _CHOICES) -> JsonObject:
    """JSON Schema of one preference."""
    quotes: JsonObject = {"type": "array", "items": {"type": "string"}}
    score: JsonObject = {
        "type": "integer",
        "enum": [*range(LOWEST_SIDE_SCORE, HIGHEST_SIDE_SCORE + 1)],
    }
    if not fields or "assessable" in fields:
        score = {"anyOf": [score, {"type": "null"}]}
    kinds: dict[str, JsonValue] = {
        "evidence_first": quotes,
        "evidence_second": quotes,
        "rationale": {"type": "string"},
        "score_first": score,
        "score_second": score,
        "preference": {"type": "string", "enum": [*choices]},
        "confidence": {"type": "number"},
        # Last, so that a "true" the judge has just written does not stand before its choice.
        "assessable": {"type": "boolean"},
    }
    names = fields or PREFERENCE_FIELDS
    return closed_object(dict(zip(names, map(kinds.__getitem__, names), strict=True)))


def preferences_schema(
    criteria: Sequence[Criterion], fields: Sequence[str] = (), choices: Sequence[str] = _CHOICES
) -> JsonObject:
    """JSON Schema of the preferences on several criteria and overall, in one reply."""
    answer = preference_schema(fields, choices)
    answers: JsonObject = {criterion.name: answer for criterion in criteria}
    if not fields:
        return closed_object({"criteria": closed_object(answers), OVERALL_KEY: answer})
    answers, shared = _shared({**answers, OVERALL_KEY: answer})
    whole = answers.pop(OVERALL_KEY)
    return {
        **closed_object({"criteria": closed_object(answers), OVERALL_KEY: whole}),
        "$defs": shared,
    }


# A schema as an object whose canonical text is computed once for all cache keys.
freeze_schema = cast("Callable[[JsonObject], JsonObject]", Frozen)
