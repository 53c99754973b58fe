"""The trials of a probe that shows the same answer in another dress: its score, its preference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.evaluation.auditing.asking import GradeAsk, PairAsk
from judgekit.evaluation.auditing.effects import shift
from judgekit.evaluation.auditing.probe import Findings, Heard, Trial, Trials

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

    from judgekit.evaluation.auditing.effects import Harm
    from judgekit.evaluation.auditing.material import Material
    from judgekit.records.output import Output

    Rewrite = Callable[[str, random.Random], tuple[str, str] | None]

NO_TEXT = "no output has a text that can be rewritten so"
"""Why a probe that rewrites outputs is skipped."""


def rewritten(material: Material, probe: str, rewrite: Rewrite) -> Trials:
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
        plain, dressed = (with_text(output, text) for text in both)
        asks = [GradeAsk(case=case, output=one, rubric=material.rubric) for one in (plain, dressed)]
        pair = PairAsk(case=case, a=dressed, b=plain, rubric=material.rubric)
        trials.append(Trial(case.id, {"plain": asks[0], "changed": asks[1], "both": pair}))
    return Trials(
        tuple(trials), None if trials else NO_TEXT, n_left_out=len(material.items) - len(trials)
    )


def rewriting_found(
    heard: Sequence[Heard], material: Material, attribute: str, harm: Harm
) -> Findings:
    """What a rewriting does to the score and to a choice between the two texts."""
    cases = [one.trial.case_id for one in heard]
    preferred = [one.preferred("both") for one in heard]
    score = shift(
        f"score with {attribute}",
        [one.value("plain") for one in heard],
        [one.value("changed") for one in heard],
        cases=cases,
        margin=material.margins.value,
        harm=harm,
        level=material.level,
        best=1.0 if harm == "up" else None,
    )
    choice = shift(
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
    return Findings(
        (score, choice),
        {"now passes": sides.count((False, True)), "now fails": sides.count((True, False))},
    )


def with_text(output: Output, text: str) -> Output:
    """The same output with another text."""
    return output if text == output.text else output.model_copy(update={"text": text})
