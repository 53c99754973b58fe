"""The probe of the wording: the same question, in templates that say it in other words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.evaluation.auditing.asking import GradeAsk
from judgekit.evaluation.auditing.effects import share, shift
from judgekit.evaluation.auditing.probe import (
    Findings,
    Heard,
    Probe,
    Trial,
    Trials,
    excess_change,
    plain_ask,
    verdict_changes,
)
from judgekit.prompts.templates import template_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.evaluation.auditing.material import Material

_SHIPPED = "paraphrases/"
_NONE = (
    "the judge's template has no paraphrases (name your own with --paraphrase FILE.j2); "
    "pointwise/criterion, joint and no_reference have"
)


def shipped_paraphrases(template: str) -> tuple[str, ...]:
    """The shipped templates that say the same as a shipped one in other words."""
    folder, _, own = template.rpartition("/")
    wanted = f"{_SHIPPED}{own}_"
    if folder != "pointwise":
        return ()
    return tuple(name for name in template_names() if name.startswith(wanted))


def plan_paraphrase(material: Material) -> Trials:
    """Every output with every paraphrase, and once more with the judge's own template."""
    if not material.paraphrases:
        return Trials(skipped=_NONE)
    return Trials(
        tuple(
            Trial(
                case.id,
                {
                    "plain": plain_ask(case, output, material),
                    "again": plain_ask(case, output, material, asking=1),
                    "changed": GradeAsk(
                        case=case, output=output, rubric=material.rubric, template=template
                    ),
                },
                about=template,
            )
            for case, output in material.items
            for template in material.paraphrases
        )
    )


def find_paraphrase(heard: Sequence[Heard], material: Material) -> Findings:
    """How far other words move the scores, beyond what asking the same again does."""
    cases = [one.trial.case_id for one in heard]
    again, other = excess_change(heard, "changed")
    moved = shift(
        "scores moved by other words",
        again,
        other,
        cases=cases,
        margin=material.margins.value,
        harm="up",
        level=material.level,
    )
    flips = share(
        "verdict changes with the words",
        verdict_changes(heard, "changed"),
        cases=cases,
        margin=material.margins.share,
        decides=False,
        level=material.level,
    )
    return Findings((moved, flips), {"templates": ", ".join(material.paraphrases)})


PARAPHRASE = Probe(
    name="paraphrase",
    question="Does the wording of its instructions change the score?",
    needs="a template with paraphrases: a shipped one, or your own",
    cost="1 grading a paraphrase and 2 (shared)",
    plan=plan_paraphrase,
    find=find_paraphrase,
)
"""The probe."""
