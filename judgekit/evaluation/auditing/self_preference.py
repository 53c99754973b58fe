"""The probe of self-preference: the same answer, said to be by the judge's family or another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from judgekit.evaluation.auditing.asking import GradeAsk
from judgekit.evaluation.auditing.effects import shift
from judgekit.evaluation.auditing.probe import Findings, Heard, Probe, Trial, Trials
from judgekit.evaluation.auditing.rewriting import NO_TEXT, with_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.evaluation.auditing.material import Material

FAMILIES = {
    "GPT": "GPT, a model made by OpenAI",
    "Claude": "Claude, a model made by Anthropic",
    "Gemini": "Gemini, a model made by Google",
    "Llama": "Llama, a model made by Meta",
    "Mistral": "Mistral, a model made by Mistral AI",
    "Qwen": "Qwen, a model made by Alibaba",
    "DeepSeek": "DeepSeek, a model made by DeepSeek",
    "Grok": "Grok, a model made by xAI",
}
"""Families of models, and how a text would say that one of them wrote it."""

_NAMES = {
    "GPT": r"gpt|o[134](?:-|$)",
    "Claude": "claude",
    "Gemini": "gemini|gemma",
    "Llama": "llama",
    "Mistral": "mi[sx]tral|ministral|magistral",
    "Qwen": "qwen|qwq",
    "DeepSeek": "deepseek",
    "Grok": "grok",
}
_UNKNOWN = "the judge's family of models is not known from its name (say it with --own-family)"


def family_of(model: str) -> str | None:
    """The family of models a judge belongs to."""
    name = model.rpartition("/")[2]
    return next(
        (family for family, known in _NAMES.items() if re.match(known, name, re.IGNORECASE)), None
    )


def attributed(text: str, family: str) -> str:
    """A text that says who wrote it."""
    return f"{text}\n\n(This answer was written by {FAMILIES.get(family, family)}.)"


def plan_self_preference(material: Material) -> Trials:
    """Every output once as the judge's family's and once as another's, drawn for each."""
    own = material.family
    if own is None:
        return Trials(skipped=_UNKNOWN)
    trials = []
    for case, output in material.items:
        if not (output.text or "").strip():
            continue
        others = [name for name in FAMILIES if name.casefold() != own.casefold()]
        other = material.draw("self_preference", case.id, output.variant).choice(others)
        arms = {
            arm: GradeAsk(
                case=case,
                output=with_text(output, attributed(output.text or "", family)),
                rubric=material.rubric,
            )
            for arm, family in (("other", other), ("own", own))
        }
        trials.append(Trial(case.id, arms, about=other))
    return Trials(
        tuple(trials), None if trials else NO_TEXT, n_left_out=len(material.items) - len(trials)
    )


def find_self_preference(heard: Sequence[Heard], material: Material) -> Findings:
    """How much higher an answer scores as the judge's own family's."""
    effect = shift(
        f"score as {material.family}'s own",
        [one.value("other") for one in heard],
        [one.value("own") for one in heard],
        cases=[one.trial.case_id for one in heard],
        margin=material.margins.value,
        harm="up",
        level=material.level,
        best=1.0,
    )
    return Findings((effect,), {"own family": str(material.family)})


SELF_PREFERENCE = Probe(
    name="self_preference",
    question="Does it reward an answer said to be by its own family of models?",
    needs="outputs with a text; a judge whose family is known",
    cost="2 gradings",
    plan=plan_self_preference,
    find=find_self_preference,
)
"""The probe."""
