"""The probe of injection: outputs with a text in them that tells the judge what to score."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from judgekit.evaluation.auditing.asking import GradeAsk
from judgekit.evaluation.auditing.effects import share, shift
from judgekit.evaluation.auditing.probe import Findings, Heard, Probe, Trial, Trials, plain_ask
from judgekit.evaluation.auditing.rewriting import NO_TEXT, with_text
from judgekit.records.rubric import SAME
from judgekit.shipped import shipped_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.evaluation.auditing.material import Material
    from judgekit.records.rubric import Rubric


@dataclass(frozen=True, slots=True)
class Attack:
    """A text that tells a judge what to score."""

    id: str
    """Its name in the corpus."""

    family: str
    """What kind it is of."""

    payload: str
    """The text; `<first>`, `<second>` and `<top>` stand for criteria and the best score."""

    is_first: bool
    """Whether it stands before the output, and not after it."""

    def on(self, text: str, rubric: Rubric) -> str:
        """An output with the attack in it.

        Args:
            text: The output; it stands in the result unchanged.
            rubric: The criteria the attack names, and the best score.

        Returns:
            The attacked text.
        """
        payload = self.said(rubric)
        return f"{payload}\n\n{text}" if self.is_first else f"{text}\n\n{payload}"

    def said(self, rubric: Rubric) -> str:
        """The payload as it is said to a judge of a rubric.

        Args:
            rubric: The rubric.

        Returns:
            The text.
        """
        first, last = rubric.criteria[0], rubric.criteria[min(1, len(rubric.criteria) - 1)]
        said = self.payload.replace("<first>", first.name).replace("<second>", last.name)
        return said.replace("<top>", f"{first.scale.max:g}")


@lru_cache(maxsize=1)
def shipped_attacks() -> tuple[Attack, ...]:
    """The attacks that come with judgekit.

    Returns:
        In the order of the file; see `prompts/attacks/README.md`.
    """
    path = shipped_file("prompts", "attacks", "injection.jsonl")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return tuple(
        Attack(row["id"], row["family"], row["payload"], row["place"] == "start") for row in rows
    )


def plan_injection(material: Material) -> Trials:
    """Every output with some attacks, dealt out so that each is used before any is again.

    Args:
        material: The outputs.

    Returns:
        The trials.
    """
    attacks = list(shipped_attacks())
    material.draw("injection").shuffle(attacks)
    items = [(case, output) for case, output in material.items if (output.text or "").strip()]
    trials = []
    for place, (case, output) in enumerate(items):
        for number in range(min(material.n_attacks, len(attacks))):
            attack = attacks[(place * material.n_attacks + number) % len(attacks)]
            attacked = with_text(output, attack.on(output.text or "", material.rubric))
            arms = {
                "plain": plain_ask(case, output, material),
                "changed": GradeAsk(case=case, output=attacked, rubric=material.rubric),
            }
            trials.append(Trial(case.id, arms, about=attack.family))
    return Trials(
        tuple(trials), None if trials else NO_TEXT, n_left_out=len(material.items) - len(items)
    )


def find_injection(heard: Sequence[Heard], material: Material) -> Findings:
    """What attacks add to the score, and how many of them succeed.

    An attack succeeds when the value rises. Outputs that have the best value already cannot rise
    and are left out of the success rate.

    Args:
        heard: The trials with their answers.
        material: For the margins.

    Returns:
        Two effects; the success rate decides nothing by itself, since the score of a judge that
        is not stable rises in some cases by chance, and falls in as many.
    """
    cases = [one.trial.case_id for one in heard]
    sides = [(one.value("plain"), one.value("changed")) for one in heard]
    lift = shift(
        "score with an attack",
        [plain for plain, _ in sides],
        [changed for _, changed in sides],
        cases=cases,
        margin=material.margins.value,
        harm="up",
        level=material.level,
    )
    at_risk = [
        (one, plain, changed)
        for one, (plain, changed) in zip(heard, sides, strict=True)
        if plain is None or plain < 1 - SAME
    ]
    risen = [
        None if plain is None or changed is None else float(changed > plain + SAME)
        for _, plain, changed in at_risk
    ]
    success = share(
        "attacks that raise the score",
        risen,
        cases=[one.trial.case_id for one, _, _ in at_risk],
        margin=material.margins.share,
        decides=False,
        level=material.level,
    )
    known = [(x, y) for x, y in sides if x is not None and y is not None]
    counts: dict[str, float | int | str] = {
        "attacks": len(known),
        "raised": risen.count(1.0),
        "lowered": sum(y < x - SAME for x, y in known),
        "at the best value already": len(heard) - len(at_risk),
    }
    families = Counter(
        one.trial.about for (one, _, _), up in zip(at_risk, risen, strict=True) if up
    )
    if families:
        counts["by family"] = ", ".join(f"{name} {n}" for name, n in families.most_common())
    return Findings((lift, success), counts)


INJECTION = Probe(
    name="injection",
    question="Can an output raise its score by telling the judge what to score?",
    needs="outputs with a text",
    cost="2 gradings, and 1 shared",
    plan=plan_injection,
    find=find_injection,
)
"""The probe."""
