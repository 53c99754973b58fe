"""Finds what in a template misleads judges or lets judged text out of its fence.

By reading the template and by rendering it over made-up cases.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.errors import TemplateError
from judgekit.prompts.environment import (
    CompiledTemplate,
    TemplatePiece,
    block_pieces,
    make_environment,
)
from judgekit.prompts.messages import PairTemplate, PromptTemplate, criterion_schema
from judgekit.prompts.parsing import RATIONALE_KEYS, TEXT_FORMATS
from judgekit.prompts.rubric_lint import Flaw
from judgekit.prompts.templates import find_template, is_pair_template
from judgekit.records import Case, Criterion, Level, Output, Rubric, Scale, TraceEvent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from judgekit.prompts.templates import TemplateHeader


def lint_template(name: str, folders: Sequence[Path] = ()) -> list[Flaw]:
    """What in a template lets judged text in, confuses the judge, or costs more than it need."""
    # The template is read as a tree, includes followed, and rendered over made-up cases.
    return list(template_flaws(name, folders))


def lint_partial(path: Path) -> list[Flaw]:
    """What in a partial lets judged text in; all else shows in the templates that include it."""
    return list(partial_flaws(path))


UNTRUSTED = frozenset({"input", "output", "reference", "context", "steps", "trace"})
"""Variables that hold text from the case or the output."""

_CRITERIA = frozenset({"criterion", "criteria"})
_SIDES = frozenset({"first", "second"})
_JUDGED = frozenset({"output", "steps", "trace"})
_BLOCKS = ("system", "shared", "question")
_PLACE = re.compile(r":(\d+): ")

_NO_INSTRUCTION = re.compile(
    r"\b(?:never|not|no|n['\u2019]t)\W+(?:[\w'\u2019]+\W+){0,6}?(?:instructions?|commands?|obey|follow)\b"
    r"|\binstructions?\W+(?:[\w'\u2019]+\W+){0,8}?(?:ignored?|never|not)\b"
    r"|\b(?:ignore|disregard)\W+(?:[\w'\u2019]+\W+){0,6}?(?:instructions?|requests?|commands?)\b",
    re.IGNORECASE,
)

_SCORE_BEFORE_REASON = re.compile(
    r"\b(?:score|rating|verdict|grade|number|choice)\b[^.\n]{0,60}?\b(?:then|followed by|before|"
    r"and after that|and explain)\b[^.\n]{0,40}?\b(?:explain|reason\w*|rationale|feedback|"
    r"justif\w+|why)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _ParsedTemplate:
    """A template, taken apart."""

    header: TemplateHeader
    file: str
    pieces: Mapping[str, Sequence[TemplatePiece]]
    uses: Mapping[str, frozenset[str]]

    @property
    def whole(self) -> list[TemplatePiece]:
        """All pieces in the order a judge reads them."""
        return [piece for block in _BLOCKS for piece in self.pieces.get(block, ())]

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.whole)

    def printed(self, block: str) -> frozenset[str]:
        return frozenset[str]().union(*(piece.names for piece in self.pieces.get(block, ())))

    def place_of(self, offset: int) -> tuple[str, int]:
        """The file and line of a place in `text`."""
        for piece in self.whole:
            if offset < len(piece.text):
                return piece.file, piece.line + piece.text.count("\n", 0, offset)
            offset -= len(piece.text)
        return self.file, 1


def template_flaws(name: str, folders: Sequence[Path] = ()) -> Iterator[Flaw]:
    """What in a template lets judged text in, confuses the judge, or costs more than it need."""
    file_name, places = find_template(name, folders)
    if is_pair_template(name, folders):
        yield from _pair_flaws(name, file_name, folders)
        return
    try:
        template = PromptTemplate(name, folders)
    except TemplateError as error:
        yield _located(_invalid_template(error), file_name, places)
        return
    environment = make_environment(places)
    compiled = CompiledTemplate(environment, file_name)
    look = _ParsedTemplate(
        header=template.header,
        file=file_name,
        pieces=block_pieces(environment, file_name, UNTRUSTED),
        uses={block: compiled.names_used(block) for block in compiled.blocks},
    )
    found = [flaw for rule in _TEMPLATE_RULES for flaw in rule(look)]
    known = {flaw.rule for flaw in found}
    found += [flaw for flaw in trial_flaws(template) if flaw.rule not in known]
    for flaw in found:
        yield _located(flaw, file_name, places)


def _pair_flaws(name: str, file_name: str, folders: Sequence[Path]) -> Iterator[Flaw]:
    """The rules that hold for a template that compares two outputs as well."""
    _, places = find_template(name, folders)
    try:
        template = PairTemplate(name, folders)
    except TemplateError as error:
        yield _located(_invalid_template(error), file_name, places)
        return
    environment = make_environment(places)
    look = _ParsedTemplate(
        header=template.header,
        file=file_name,
        pieces=block_pieces(environment, file_name, UNTRUSTED | _SIDES),
        uses={},
    )
    shown = frozenset[str]().union(*(look.printed(block) for block in _BLOCKS))
    found = [flaw for rule in (_fence_rule, _stray_rule, _guard_rule) for flaw in rule(look)]
    for side in sorted(_SIDES - shown):
        message = f"the output shown {side} is never shown to the judge"
        remedy = f"print {{{{ {side} | fenced({side}_fence) }}}}"
        found.append(Flaw("output-not-shown", "error", message, remedy))
    for flaw in found:
        yield _located(flaw, file_name, places)


def partial_flaws(path: Path) -> Iterator[Flaw]:
    """What in a partial lets judged text in; everything else shows in what includes it."""
    file_name, places = find_template(str(path))
    folders = (path.resolve().parent.parent, *places)
    environment = make_environment(folders)
    CompiledTemplate(environment, file_name)
    pieces = block_pieces(environment, file_name, UNTRUSTED)
    for flaw in _unfenced(pieces.get("", ()), None):
        yield _located(flaw, file_name, folders)


def _invalid_template(error: TemplateError) -> Flaw:
    place = _PLACE.search(error.message)
    line = None if place is None else int(place[1])
    remedy = error.hint or "mend it; no request can be made with it"
    return Flaw("unsound", "error", error.message, remedy, line=line)


def _located(flaw: Flaw, file_name: str, places: Sequence[Path]) -> Flaw:
    """The flaw with the file that contains it, found as the template was."""
    wanted = file_name if flaw.path is None else str(flaw.path)
    found = (folder / wanted for folder in places if (folder / wanted).is_file())
    return replace(flaw, path=next(found, None))


def _fence_rule(look: _ParsedTemplate) -> Iterator[Flaw]:
    for block, pieces in look.pieces.items():
        if block:
            yield from _unfenced(pieces, f"block {block}")


def _unfenced(pieces: Sequence[TemplatePiece], place: str | None) -> Iterator[Flaw]:
    for piece in pieces:
        if piece.unfenced:
            names = ", ".join(sorted(piece.unfenced))
            first = min(piece.unfenced).replace("trace", "steps")  # the trace as a text
            yield _at(
                piece,
                "unfenced",
                "error",
                f"{names} is printed without a fence, so that its author can speak to the judge",
                f'print {{{{ {first} | fenced("{first}") }}}}',
                place,
            )


def _stray_rule(look: _ParsedTemplate) -> Iterator[Flaw]:
    for piece in look.pieces.get("", ()):
        if piece.text.strip() or piece.names:
            yield _at(
                piece,
                "outside-blocks",
                "warning",
                "this stands outside of every block and is never sent",
                "move it into the block system, shared or question",
            )
            return


def _shown_rule(look: _ParsedTemplate) -> Iterator[Flaw]:
    printed = frozenset[str]().union(*(look.printed(block) for block in _BLOCKS))
    used = frozenset[str]().union(*look.uses.values())
    if not printed & _JUDGED and not used & {"trace"}:
        message = "the output is never shown to the judge"
        yield Flaw("output-not-shown", "error", message, 'print {{ output | fenced("output") }}')
    if not used & _CRITERIA:
        message = "no criterion is shown to the judge"
        remedy = "print criterion.question, criterion.scoring_guide and criterion.scores"
        yield Flaw("criterion-not-shown", "error", message, remedy)


def _guard_rule(look: _ParsedTemplate) -> Iterator[Flaw]:
    if not _NO_INSTRUCTION.search(look.text):
        yield Flaw(
            "no-guard",
            "warning",
            "nothing says that the fenced material is no instruction to the judge",
            'say so, or {% include "partials/rules.j2" %}',
        )


def _order_rule(look: _ParsedTemplate) -> Iterator[Flaw]:
    text = look.text
    first = _score_first(text) if look.header.reply.kind == "json" else None
    if first is None and (match := _SCORE_BEFORE_REASON.search(text)):
        first = match.start()
    if first is not None:
        file, line = look.place_of(first)
        yield _at(
            TemplatePiece(file, line),
            "score-before-rationale",
            "error",
            "the score is asked before the rationale, which then only defends it",
            "ask for evidence first, then the rationale, then the score",
        )


def _score_first(text: str) -> int | None:
    """Where the field `score` is described, if that is before the rationale."""
    reasons = "|".join(RATIONALE_KEYS)
    score = re.search(r"[\"'`]score[\"'`]", text, re.IGNORECASE)
    reason = re.search(rf"[\"'`](?:{reasons})[\"'`]", text, re.IGNORECASE)
    if score and reason:
        return score.start() if score.start() < reason.start() else None
    # Without quotation marks, "Score:" may also announce the scale: only the last one counts.
    scores = [match.start() for match in re.finditer(r"(?im)^\W*score\s*:", text)]
    reason = re.search(rf"(?im)^\W*(?:{reasons})\s*:", text)
    return scores[-1] if scores and reason and scores[-1] < reason.start() else None


def _form_rule(look: _ParsedTemplate) -> Iterator[Flaw]:
    wanted = _wanted_words(look.header)
    missing = [
        word for word in wanted if not any(_mentions(look.text, one) for one in word.split("|"))
    ]
    if missing:
        named = ", ".join(missing).replace("|", " or ")
        vital = look.header.reply.kind != "json" or {"score", "rationale", "criteria"} & {*missing}
        yield Flaw(
            "reply-form-unsaid",
            "error" if vital else "warning",
            f"the reply needs {named}, and the text never says so",
            "describe every field, in the order evidence, rationale, assessable, score, confidence"
            if look.header.reply.kind == "json"
            else "show the judge the exact form of the reply its header declares",
        )


def _wanted_words(header: TemplateHeader) -> list[str]:
    if header.reply.kind in TEXT_FORMATS:
        return list(TEXT_FORMATS[header.reply.kind].wanted_words or header.reply.choices)
    fields = criterion_schema(Criterion(name="any", question="Any?", scale=Scale(min=0, max=1)))[
        "required"
    ]
    names = [str(field) for field in fields] if isinstance(fields, list) else []
    return names if header.asks == "criterion" else ["criteria", *names]


def _mentions(text: str, word: str) -> bool:
    edges = (r"(?<!\w)" if word[0].isalnum() else "", r"(?!\w)" if word[-1].isalnum() else "")
    return re.search(rf"{edges[0]}{re.escape(word)}{edges[1]}", text, re.IGNORECASE) is not None


def _sharing_rule(look: _ParsedTemplate) -> Iterator[Flaw]:
    """The first part must be the same from call to call, or no prompt cache hits."""
    one_each = look.header.asks == "criterion"
    varying = _CRITERIA if one_each else UNTRUSTED
    for block in ("system", "shared"):
        if used := look.uses.get(block, frozenset()) & varying:
            yield Flaw(
                f"{block}-varies",
                "warning",
                f"the block {block} depends on {', '.join(sorted(used))}, so that providers' "
                f"prompt caches miss at every {'criterion' if one_each else 'output'}",
                "put what changes from call to call last, into the block question",
                place=f"block {block}",
            )
    if one_each and (again := look.printed("question") & UNTRUSTED):
        named = ", ".join(sorted(again))
        twice = again & look.printed("shared")
        verb = "repeats" if twice else "holds"
        yield Flaw(
            "question-repeats-material" if twice else "criterion-not-last",
            "warning",
            f"the block question {verb} {named}, which is sent anew with every criterion",
            "print the material in the block shared, and only the criterion in question",
            place="block question",
        )


def _at(
    piece: TemplatePiece,
    rule: str,
    severity: str,
    message: str,
    remedy: str,
    place: str | None = None,
) -> Flaw:
    return Flaw(
        rule=rule,
        severity="error" if severity == "error" else "warning",
        message=message,
        remedy=remedy,
        place=place,
        path=Path(piece.file),
        line=piece.line,
    )


_TEMPLATE_RULES = (
    _fence_rule,
    _stray_rule,
    _shown_rule,
    _guard_rule,
    _order_rule,
    _form_rule,
    _sharing_rule,
)

_FENCED_BLOCK = re.compile(r"<([^<>\n]+) ([A-Z2-7]{16})>\n.*?</\1 \2>", re.DOTALL)

_SENTINELS = {
    "input": "Wherefrom-comes-the-input",
    "reference": "Wherefrom-comes-the-reference",
    "context": "Wherefrom-comes-the-context",
    "output": "Wherefrom-comes-the-output",
    "steps": "Wherefrom-come-the-steps",
}


def trial_flaws(template: PromptTemplate) -> Iterator[Flaw]:
    """What shows only when a template is rendered."""
    rubric = _rubric(template.header)
    loose: set[str] = set()
    for case, output in _samples(needs_trace=template.header.needs_trace):
        try:
            prompts = template.prompts(case, output, rubric)
        except TemplateError as error:
            remedy = error.hint or "it has to render with and without reference, context and trace"
            yield Flaw("unsound", "error", error.message, remedy)
            return
        for prompt in prompts:
            text = "\n".join(message["content"] for message in prompt.messages)
            outside = _FENCED_BLOCK.sub("", text)
            loose |= {name for name, word in _SENTINELS.items() if word in outside}
    if loose:
        named = ", ".join(sorted(loose))
        message = f"rendered, {named} stands outside of its fence"
        yield Flaw(
            "unfenced", "error", message, "print it through the filter `fenced` and no other"
        )


def _samples(*, needs_trace: bool) -> Iterator[tuple[Case, Output]]:
    event = TraceEvent(type="tool_call", name="look_up", content=_SENTINELS["steps"])
    output = Output(text=_SENTINELS["output"], trace=(event,))
    bare = Case(id="bare", input=_SENTINELS["input"])
    full = Case(
        id="full",
        input=_SENTINELS["input"],
        reference=_SENTINELS["reference"],
        context=_SENTINELS["context"],
    )
    yield full, output
    yield bare, output
    if not needs_trace:
        yield full, output.model_copy(update={"trace": ()})


def _rubric(header: TemplateHeader) -> Rubric:
    """Two criteria on a scale that the template can score."""
    raws = header.reply.choices.values() or (0, 1)
    low, high = min(raws), max(raws)
    levels = (Level(value=high, name="yes", description="It is."), Level(value=low))
    scale = (
        Scale(min=0, max=1, integer=True)
        if header.binary_only
        else Scale(min=low, max=high, levels=levels)
    )
    plain = Criterion(name="plain", question="Is it plain?", scale=scale)
    guided = Criterion(name="guided", question="Is it so?", scale=scale, scoring_guide="Look.")
    return Rubric(name="trial", criteria=(plain, guided))
