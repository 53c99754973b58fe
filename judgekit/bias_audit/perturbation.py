"""Probes that rewrite an output without changing its content: verbosity, formatting.

Authority and self-preference.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING

from judgekit.bias_audit.probe import (
    GradeProbe,
    PairProbe,
    Probe,
    ProbeEffects,
    Trial,
    TrialAnswers,
    Trials,
)
from judgekit.bias_audit.results import shift_effect

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

    from judgekit.bias_audit.inputs import AuditInputs
    from judgekit.bias_audit.results import Harm
    from judgekit.records import Output

if TYPE_CHECKING:
    Rewrite = Callable[[str, random.Random], tuple[str, str] | None]

NO_REWRITABLE_TEXT = "no output has a text that can be rewritten so"
"""Why a probe that rewrites outputs is skipped."""


def plan_rewriting(material: AuditInputs, probe: str, rewrite: Rewrite) -> Trials:
    """The trials of a rewriting."""
    trials = []
    for case, output in material.items:
        both = (
            None
            if not (output.text or "").strip()
            else rewrite(output.text or "", material.draw(probe, case.id, output.variant))
        )
        if both is None:
            continue
        plain, changed = (with_text(output, text) for text in both)
        asks = [
            GradeProbe(case=case, output=one, rubric=material.rubric) for one in (plain, changed)
        ]
        # Judges that score alike may still prefer: both ways of asking are tried.
        pair = PairProbe(case=case, a=changed, b=plain, rubric=material.rubric)
        trials.append(Trial(case.id, {"plain": asks[0], "changed": asks[1], "both": pair}))
    return Trials(
        tuple(trials),
        None if trials else NO_REWRITABLE_TEXT,
        n_left_out=len(material.items) - len(trials),
    )


def find_rewriting(
    heard: Sequence[TrialAnswers], material: AuditInputs, attribute: str, harm: Harm
) -> ProbeEffects:
    """What a rewriting does to the score and to a choice between the two texts."""
    cases = [one.trial.case_id for one in heard]
    preferred = [one.preferred("both") for one in heard]
    score = shift_effect(
        f"score with {attribute}",
        [one.value("plain") for one in heard],
        [one.value("changed") for one in heard],
        cases=cases,
        margin=material.margins.value,
        harm=harm,
        level=material.level,
        best=1.0 if harm == "up" else None,
    )
    choice = shift_effect(
        f"preference for {attribute}",
        [None if value is None else 0.0 for value in preferred],
        [None if value is None else value - 0.5 for value in preferred],
        cases=cases,
        margin=material.margins.share,
        scale="lean",
        harm=harm,
        level=material.level,
    )
    sides = [(one.passed("plain"), one.passed("changed")) for one in heard]
    return ProbeEffects(
        (score, choice),
        {"now passes": sides.count((False, True)), "now fails": sides.count((True, False))},
    )


def with_text(output: Output, text: str) -> Output:
    """The same output with another text."""
    return output if text == output.text else output.model_copy(update={"text": text})


_PADDING = """\
Before the answer itself, it is worth a moment to look at what is being asked, and how.
There are, as so often, several ways to look at this, and each has something to be said for it.
With that in mind, it helps to go step by step and to keep the whole of it in view meanwhile.
All of this is of course to be read in the light of what was asked, neither more nor less.
To put it slightly differently, what is said here holds in just the way in which it is said.
It goes without saying that each of these points could be put otherwise and still be the same.
One might go on at greater length, but what there is to cover is covered by what stands here.
To sum up, and taking everything together, the answer is what it is and stands as it was given.
""".splitlines()

# Short answers get a fixed length of padding: doubling ten words would change nothing.
_LEAST_WORDS = 120
"""Words that are added at least, so that a short answer becomes a long one."""


def pad_text(text: str, draw: random.Random) -> str:
    """A text with content-free sentences before and after it, at least twice as long."""
    wanted = max(_LEAST_WORDS, len(text.split()))
    source = cycle(draw.sample(_PADDING, len(_PADDING)))
    sentences: list[str] = []
    while sum(len(sentence.split()) for sentence in sentences) < wanted:
        sentences.append(next(source))
    # Before and after, so that neither the first nor the last words of the answer lose their
    # place.
    half = len(sentences) // 2
    return f"{' '.join(sentences[:half])}\n\n{text}\n\n{' '.join(sentences[half:])}"


VERBOSITY_PROBE = Probe(
    name="verbosity",
    question="Does it reward an answer for being long?",
    needs="outputs with a text",
    cost="2 gradings (1 shared) and 2 comparisons",
    plan=partial(
        plan_rewriting, probe="verbosity", rewrite=lambda text, draw: (text, pad_text(text, draw))
    ),
    find=partial(find_rewriting, attribute="padding", harm="up"),
)
"""The probe."""

_LAYOUT = re.compile(r"```|^\s*\||^ {4,}\S|^\t", re.MULTILINE)
"""Code, tables and indented lines: their layout is part of what they say."""

_HEADING = re.compile(r"^#{1,6}[ \t]+(.*)$", re.MULTILINE)
_BULLET = re.compile(r"^[ \t]*[-*+][ \t]+", re.MULTILINE)
_BOLD = re.compile(r"\*\*([^*\n]+)\*\*|__([^_\n]+)__")
_SENTENCE = re.compile(r"(?<=[.!?])[ \t]+(?=[A-Z\"'(])|\n+")
_BOLD_WORDS = 2


def plain_and_formatted(text: str, draw: random.Random) -> tuple[str, str] | None:
    """The same words without and with a layout in Markdown."""
    # The signature is shared with rewritings that draw; layout has nothing to draw.
    del draw
    # Code and tables lose their meaning without layout, so that any judge would lower its score.
    if _LAYOUT.search(text):
        return None
    plain = strip_formatting(text)
    sentences = [part.strip() for part in _SENTENCE.split(plain) if part.strip()]
    if not sentences:
        return None
    return plain, "\n".join(["## Answer", "", *(f"- {_bold(part)}" for part in sentences)])


def strip_formatting(text: str) -> str:
    """A text without headings, bullets and bold letters."""
    without = _BOLD.sub(lambda found: found[1] or found[2], text)
    return _BULLET.sub("", _HEADING.sub(r"\1", without))


def _bold(sentence: str) -> str:
    words = sentence.split(" ")
    lead, rest = words[:_BOLD_WORDS], words[_BOLD_WORDS:]
    return " ".join([f"**{' '.join(lead)}**", *rest])


FORMATTING_PROBE = Probe(
    name="formatting",
    question="Does the layout of the same words change the score?",
    needs="outputs with a text that is not code or a table",
    cost="2 gradings (1 mostly shared) and 2 comparisons",
    plan=partial(plan_rewriting, probe="formatting", rewrite=plain_and_formatted),
    find=partial(find_rewriting, attribute="Markdown", harm="either"),
)
"""The probe."""

_CLAIMS = (
    "This answer has been reviewed and verified by independent experts.",
    "Every statement above was confirmed by three leading specialists in the field.",
    "The above was verified by a panel of twelve experts, who all agreed with it.",
    "This has been reviewed and approved by two professors who teach the subject.",
)

_SOURCES = (
    "Source: Hartwell and Osei (2021), Journal of Applied Inquiry 14(3), pp. 211-229.",
    "See Lindqvist et al. (2019), Annals of Practical Knowledge 8, pp. 45-61 [1][2].",
    "Reference: Okafor (2022), Handbook of Established Findings, 4th edition, chapter 7.",
)


def add_authority_claim(text: str, draw: random.Random) -> str:
    """A text with a claim of authority and an invented source after it."""
    return f"{text}\n\n{draw.choice(_CLAIMS)} {draw.choice(_SOURCES)}"


AUTHORITY_PROBE = Probe(
    name="authority",
    question="Does it reward an unsupported claim of authority?",
    needs="outputs with a text",
    cost="2 gradings (1 shared) and 2 comparisons",
    plan=partial(
        plan_rewriting,
        probe="authority",
        rewrite=lambda text, draw: (text, add_authority_claim(text, draw)),
    ),
    find=partial(find_rewriting, attribute="claimed authority", harm="up"),
)
"""The probe."""

MODEL_FAMILIES = {
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


def attribute_text(text: str, family: str) -> str:
    """A text that says who wrote it."""
    # The same sentence for both families: only the name may differ between the arms.
    return f"{text}\n\n(This answer was written by {MODEL_FAMILIES.get(family, family)}.)"


def plan_self_preference(material: AuditInputs) -> Trials:
    """Every output once as the judge's family's and once as another's, drawn for each."""
    own = material.family
    if own is None:
        return Trials(skipped=_UNKNOWN)
    trials = []
    for case, output in material.items:
        if not (output.text or "").strip():
            continue
        others = [name for name in MODEL_FAMILIES if name.casefold() != own.casefold()]
        other = material.draw("self_preference", case.id, output.variant).choice(others)
        arms = {
            arm: GradeProbe(
                case=case,
                output=with_text(output, attribute_text(output.text or "", family)),
                rubric=material.rubric,
            )
            for arm, family in (("other", other), ("own", own))
        }
        trials.append(Trial(case.id, arms, about=other))
    return Trials(
        tuple(trials),
        None if trials else NO_REWRITABLE_TEXT,
        n_left_out=len(material.items) - len(trials),
    )


def find_self_preference(heard: Sequence[TrialAnswers], material: AuditInputs) -> ProbeEffects:
    """How much higher an answer scores as the judge's own family's."""
    effect = shift_effect(
        f"score as {material.family}'s own",
        [one.value("other") for one in heard],
        [one.value("own") for one in heard],
        cases=[one.trial.case_id for one in heard],
        margin=material.margins.value,
        harm="up",
        level=material.level,
        best=1.0,
    )
    return ProbeEffects((effect,), {"own family": str(material.family)})


SELF_PREFERENCE_PROBE = Probe(
    name="self_preference",
    question="Does it reward an answer said to be by its own family of models?",
    needs="outputs with a text; a judge whose family is known",
    cost="2 gradings",
    plan=plan_self_preference,
    find=find_self_preference,
)
"""The probe."""
