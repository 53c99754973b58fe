"""Renders a template over made-up cases and looks whether judged text leaves its fences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from judgekit.errors import TemplateError
from judgekit.prompts.linting.flaws import Flaw
from judgekit.records.case import Case
from judgekit.records.output import Output, TraceEvent
from judgekit.records.rubric import Criterion, Level, Rubric, Scale

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.prompts.rendering import PromptTemplate
    from judgekit.prompts.templates import TemplateHeader

_FENCED = re.compile(r"<([^<>\n]+) ([A-Z2-7]{16})>\n.*?</\1 \2>", re.DOTALL)
_WORDS = {
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
            outside = _FENCED.sub("", text)
            loose |= {name for name, word in _WORDS.items() if word in outside}
    if loose:
        named = ", ".join(sorted(loose))
        message = f"rendered, {named} stands outside of its fence"
        yield Flaw(
            "unfenced", "error", message, "print it through the filter `fenced` and no other"
        )


def _samples(*, needs_trace: bool) -> Iterator[tuple[Case, Output]]:
    event = TraceEvent(type="tool_call", name="look_up", content=_WORDS["steps"])
    output = Output(text=_WORDS["output"], trace=(event,))
    bare = Case(id="bare", input=_WORDS["input"])
    full = Case(
        id="full",
        input=_WORDS["input"],
        reference=_WORDS["reference"],
        context=_WORDS["context"],
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
