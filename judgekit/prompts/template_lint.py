"""Finds what in a template misleads judges or lets judged text out of its fence.

It reads the template as a tree, with what it includes, and renders it over made-up cases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from judgekit.errors import TemplateError
from judgekit.prompts.environment import (
    CompiledTemplate,
    TemplatePiece,
    block_pieces,
    make_environment,
)
from judgekit.prompts.messages import CRITERIA_NAMES, ITEM_NAMES, PairTemplate, PromptTemplate
from judgekit.prompts.parsing import RATIONALE_KEYS, TEXT_FORMATS
from judgekit.prompts.rubric_lint import Flaw
from judgekit.prompts.templates import TemplateHeader, find_template, is_pair_template
from judgekit.records import Case, Criterion, Level, Output, Rubric, Scale, TraceEvent

_SIDES = frozenset({"first", "second"})
_JUDGED = frozenset({"output", "steps", "trace"})
_BLOCKS = ("system", "shared", "question", "overall")
_PLACE = re.compile(r":(\d+): ")
_NO_INSTRUCTION = re.compile(
    r"\b(?:never|not|no|n['\u2019]t)\W+(?:[\w'\u2019]+\W+){0,6}?(?:instructions?|commands?|obey|follow)\b"
    r"|\binstructions?\W+(?:[\w'\u2019]+\W+){0,8}?(?:ignored?|never|not)\b"
    r"|\b(?:ignore|disregard)\W+(?:[\w'\u2019]+\W+){0,6}?(?:instructions?|requests?|commands?)\b",
    re.IGNORECASE,
)
_RARE_TIE = re.compile(
    r"\btie\b[^.\n]{0,40}\bonly\b|\bonly\b[^.\n]{0,40}\btie\b|\b(?:no|avoid) ties?\b", re.IGNORECASE
)
_SCORE_BEFORE_REASON = re.compile(
    r"\b(?:score|rating|verdict|grade|number|choice)\b[^.\n]{0,60}?\b(?:then|followed by|before|"
    r"and after that|and explain)\b[^.\n]{0,40}?\b(?:explain|reason\w*|rationale|feedback|"
    r"justif\w+|why)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _ParsedTemplate:
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

    @property
    def all_printed(self) -> frozenset[str]:
        return frozenset[str]().union(*map(self.printed, _BLOCKS))

    def place_of(self, offset: int) -> TemplatePiece:
        """The file and line of a place in `text`."""
        for piece in self.whole:
            if offset < len(piece.text):
                return replace(piece, line=piece.line + piece.text.count("\n", 0, offset))
            offset -= len(piece.text)
        return TemplatePiece(self.file, 1)


def lint_template(name: str, folders: Sequence[Path] = ()) -> list[Flaw]:
    """What in a template lets judged text in, confuses the judge, or costs more than necessary."""
    file_name, places = find_template(name, folders)
    is_pair = is_pair_template(name, folders)
    try:
        template = (PairTemplate if is_pair else PromptTemplate)(name, folders)
    except TemplateError as error:
        place = _PLACE.search(error.message)
        line = None if place is None else int(place[1])
        remedy = error.hint or "correct it; no request can be made with it"
        flaw = Flaw("unsound", "error", error.message, remedy, line=line)
        return [_located(flaw, file_name, places)]
    environment = make_environment(places)
    untrusted = ITEM_NAMES | _SIDES if is_pair else ITEM_NAMES
    parsed = _ParsedTemplate(
        header=template.header,
        file=file_name,
        pieces=block_pieces(environment, file_name, untrusted),
        uses=CompiledTemplate(environment, file_name).uses,
    )
    found = [flaw for rule in (_PAIR_RULES if is_pair else _RULES) for flaw in rule(parsed)]
    # What a rule found in the tree is not reported again for the rendered text.
    known = {flaw.rule for flaw in found}
    found += [flaw for flaw in _trial_flaws(template) if flaw.rule not in known]
    return [_located(flaw, file_name, places) for flaw in found]


def lint_partial(path: Path) -> list[Flaw]:
    """What in a partial lets judged text in; the rest shows in the templates that include it."""
    file_name, places = find_template(str(path))
    folders = (path.resolve().parent.parent, *places)
    environment = make_environment(folders)
    CompiledTemplate(environment, file_name)  # raises where it cannot be compiled
    pieces = block_pieces(environment, file_name, ITEM_NAMES)
    return [_located(flaw, file_name, folders) for flaw in _unfenced(pieces.get("", ()), None)]


def _located(flaw: Flaw, file_name: str, places: Sequence[Path]) -> Flaw:
    """The flaw with the file that contains it, found as the template was."""
    wanted = file_name if flaw.path is None else str(flaw.path)
    found = (folder / wanted for folder in places if (folder / wanted).is_file())
    return replace(flaw, path=next(found, None))


def _fence_rule(parsed: _ParsedTemplate) -> Iterator[Flaw]:
    for block, pieces in parsed.pieces.items():
        if block:
            yield from _unfenced(pieces, f"block {block}")


def _unfenced(pieces: Sequence[TemplatePiece], place: str | None) -> Iterator[Flaw]:
    for piece in pieces:
        if piece.unfenced:
            names = ", ".join(sorted(piece.unfenced))
            first = min(piece.unfenced).replace("trace", "steps")  # the trace as a text
            message = (
                f"{names} is printed without a fence, so that its author can speak to the judge"
            )
            remedy = f'print {{{{ {first} | fenced("{first}") }}}}'
            yield _at(piece, Flaw("unfenced", "error", message, remedy, place))


def _outside_rule(parsed: _ParsedTemplate) -> Iterator[Flaw]:
    for piece in parsed.pieces.get("", ()):
        if piece.text.strip("\ufeff \t\r\n") or piece.names:
            message = "this is outside every block and is never sent"
            remedy = "move it into the block system, shared or question"
            yield _at(piece, Flaw("outside-blocks", "warning", message, remedy))
            return


def _shown_rule(parsed: _ParsedTemplate) -> Iterator[Flaw]:
    used = frozenset[str]().union(*parsed.uses.values())
    if not parsed.all_printed & _JUDGED and not used & {"trace", "turns"}:
        message = "the output is never shown to the judge"
        yield Flaw("output-not-shown", "error", message, 'print {{ output | fenced("output") }}')
    if not used & CRITERIA_NAMES:
        message = "no criterion is shown to the judge"
        remedy = "print criterion.question, criterion.scoring_guide and criterion.scores"
        yield Flaw("criterion-not-shown", "error", message, remedy)


def _sides_rule(parsed: _ParsedTemplate) -> Iterator[Flaw]:
    """Both outputs must be shown to a judge that compares them."""
    for side in sorted(_SIDES - parsed.all_printed):
        message = f"the output shown {side} is never shown to the judge"
        remedy = f"print {{{{ {side} | fenced({side}_fence) }}}}"
        yield Flaw("output-not-shown", "error", message, remedy)


def _preference_rule(parsed: _ParsedTemplate) -> Iterator[Flaw]:
    """A judge that scores both outputs before it compares them ends in ties."""
    # The text formats are those of published judges, which are to be asked as they were.
    pair, fields = parsed.header.pair, parsed.header.reply_fields
    if pair is None or pair.kind != "json":
        return
    if not {"score_first", "score_second"}.isdisjoint(fields[: fields.index("preference")]):
        message = (
            "both outputs are scored before they are compared, which invites ties: a small judge "
            "ended 20 of 24 pairs so, and none when it compared first (docs/prompts.md)"
        )
        remedy = "ask for the preference before the scores, or for no scores, by `fields:`"
        yield Flaw("scores-before-preference", "warning", message, remedy)
    if "tie" in (pair.choices or {"tie"}) and not _RARE_TIE.search(parsed.text):
        message = "a tie may be chosen like any other answer"
        remedy = (
            "say that a tie is only for outputs between which no difference matters, or allow "
            "none: `choices: first=first second=second`"
        )
        yield Flaw("ties-invited", "warning", message, remedy)


def _guard_rule(parsed: _ParsedTemplate) -> Iterator[Flaw]:
    if not _NO_INSTRUCTION.search(parsed.text):
        message = "nothing says that the fenced material is no instruction to the judge"
        remedy = 'state it, or {% include "partials/guard.j2" %}'
        yield Flaw("no-guard", "warning", message, remedy)


def _order_rule(parsed: _ParsedTemplate) -> Iterator[Flaw]:
    text = parsed.text
    first = _score_first(text) if parsed.header.reply.kind == "json" else None
    if first is None and (match := _SCORE_BEFORE_REASON.search(text)):
        first = match.start()
    if first is not None:
        message = "the score is asked before the rationale, which then only defends it"
        remedy = "ask for evidence first, then the rationale, then the score"
        flaw = Flaw("score-before-rationale", "error", message, remedy)
        yield _at(parsed.place_of(first), flaw)


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


def _form_rule(parsed: _ParsedTemplate) -> Iterator[Flaw]:
    header = parsed.header
    form = header.pair or header.reply
    if header.pair or form.kind != "json":
        words = () if header.pair else TEXT_FORMATS[form.kind].wanted_words
        wanted = list(words or form.choices)
    else:
        wanted = list(header.reply_fields)
        wanted = wanted if header.asks == "criterion" else ["criteria", *wanted]
    missing = [
        word for word in wanted if not any(_mentions(parsed.text, one) for one in word.split("|"))
    ]
    if missing:
        named = ", ".join(missing).replace("|", " or ")
        vital = not {"score", "rationale", "criteria"}.isdisjoint(missing)
        message = f"the reply needs {named}, and the text never asks for it"
        remedy = f"describe every field, in the order {', '.join(header.reply_fields)}"
        if form.kind != "json":
            vital, remedy = True, "show the judge the exact form of the reply its header declares"
        yield Flaw("reply-form-unsaid", "error" if vital else "warning", message, remedy)


def _mentions(text: str, word: str) -> bool:
    edges = (r"(?<!\w)" if word[0].isalnum() else "", r"(?!\w)" if word[-1].isalnum() else "")
    return re.search(rf"{edges[0]}{re.escape(word)}{edges[1]}", text, re.IGNORECASE) is not None


def _sharing_rule(parsed: _ParsedTemplate) -> Iterator[Flaw]:
    """The first part must be the same from call to call, or no prompt cache hits."""
    one_each = parsed.header.asks == "criterion"
    varying = CRITERIA_NAMES if one_each else ITEM_NAMES
    for block in ("system", "shared"):
        if used := parsed.uses.get(block, frozenset()) & varying:
            message = (
                f"the block {block} depends on {', '.join(sorted(used))}, so that providers' "
                f"prompt caches miss at every {'criterion' if one_each else 'output'}"
            )
            remedy = "put what changes from call to call last, into the block question"
            yield Flaw(f"{block}-varies", "warning", message, remedy, place=f"block {block}")
    if one_each and (again := parsed.printed("question") & ITEM_NAMES):
        named = ", ".join(sorted(again))
        twice = again & parsed.printed("shared")
        verb = "repeats" if twice else "holds"
        message = f"the block question {verb} {named}, which is sent again with every criterion"
        remedy = "print the material in the block shared, and only the criterion in question"
        rule = "question-repeats-material" if twice else "criterion-not-last"
        yield Flaw(rule, "warning", message, remedy, place="block question")


def _at(piece: TemplatePiece, flaw: Flaw) -> Flaw:
    return replace(flaw, path=Path(piece.file), line=piece.line)


_PAIR_RULES = (_fence_rule, _outside_rule, _guard_rule, _sides_rule, _preference_rule, _form_rule)
_RULES = (
    _fence_rule, _outside_rule, _shown_rule, _guard_rule, _order_rule, _form_rule, _sharing_rule,
)  # fmt: skip
_FENCED_BLOCK = re.compile(r"<([^<>\n]+) ([A-Z2-7]{6,16})>\n.*?</\1 \2>", re.DOTALL)

# Words that no template contains, to find a case's texts in a rendered prompt.
_SENTINELS = {
    name: f"Wherefrom-comes-the-{name}"
    for name in ("input", "reference", "context", "output", "steps")
}


def _trial_flaws(template: PromptTemplate | PairTemplate) -> Iterator[Flaw]:
    rubric = _rubric(template.header)
    loose: set[str] = set()
    for case, output in _samples(needs_trace=template.header.needs_trace):
        try:
            if isinstance(template, PromptTemplate):
                prompts = template.prompts(case, output, rubric)
            else:
                text = output.text or ""
                prompts = template.prompts(case, text, text, rubric)
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
        message = f"rendered, {named} is outside its fence"
        remedy = "print it through the filter `fenced` and no other"
        yield Flaw("unfenced", "error", message, remedy)


def _samples(*, needs_trace: bool) -> Iterator[tuple[Case, Output]]:
    event = TraceEvent(type="tool_call", name="look_up", content=_SENTINELS["steps"])
    output = Output(text=_SENTINELS["output"], trace=(event,))
    bare = Case(id="bare", input=_SENTINELS["input"])
    beside = {name: _SENTINELS[name] for name in ("reference", "context")}
    full = bare.model_copy(update={"id": "full", **beside})
    yield full, output
    yield bare, output
    if not needs_trace:
        yield full, output.model_copy(update={"trace": ()})


def _rubric(header: TemplateHeader) -> Rubric:
    """Two criteria on a scale that the template can score."""
    raws = header.reply.choices.values() or (0, 1)
    low, high = min(raws), max(raws)
    levels = (Level(value=high, name="yes", description="It is."), Level(value=low))
    scale = Scale(min=low, max=high, levels=levels)
    if header.binary_only:
        scale = Scale(min=0, max=1, integer=True)
    plain = Criterion(name="plain", question="Is it plain?", scale=scale)
    guided = Criterion(name="guided", question="Is it so?", scale=scale, scoring_guide="Look.")
    return Rubric(name="trial", criteria=(plain, guided))
