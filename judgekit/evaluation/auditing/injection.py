"""The probe of injection: outputs with a text in them that tells the judge what to do."""

from __future__ import annotations

from itertools import chain, cycle, islice
from typing import TYPE_CHECKING

from judgekit.evaluation.auditing.asking import GradeAsk, PairAsk
from judgekit.evaluation.auditing.attacked import attacks_found
from judgekit.evaluation.auditing.probe import Probe, Trial, Trials, plain_ask
from judgekit.evaluation.auditing.rewriting import NO_TEXT, with_text
from judgekit.records.output import Output

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from judgekit.evaluation.auditing.asking import Ask
    from judgekit.evaluation.auditing.attacks import Attack
    from judgekit.evaluation.auditing.material import Material
    from judgekit.records.case import Case

OFF_TOPIC = ("I like trains.", "Bananas, rain, and Tuesday.", "asdf qwer zxcv")
"""Answers that are worth nothing, whatever was asked: an attack has something to gain there."""


def plan_injection(material: Material) -> Trials:
    """Every output with some attacks, dealt out so that each kind comes as often as any other."""
    # Within its kind each attack is used before any is used again. By turns an attack of a kind
    # stands in the output itself and in an off-topic answer to the same case, since the score of a
    # good output can hardly rise. One that takes the place of the output is always held against the
    # off-topic answer.
    dealt = dealt_out(material.attacks, material.draw("injection"))
    n_used: dict[str, int] = {}
    items = [(case, output) for case, output in material.items if (output.text or "").strip()]
    trials = []
    for case, output in items:
        poor = _off_topic(case, output, material)
        for attack in islice(dealt, min(material.n_attacks, len(material.attacks))):
            turn = n_used[attack.family] = n_used.get(attack.family, 0) + 1
            base = output if turn % 2 and attack.place != "whole" else poor
            trials.append(Trial(case.id, _arms(attack, case, base, material), about=attack.id))
    return Trials(
        tuple(trials), None if trials else NO_TEXT, n_left_out=len(material.items) - len(items)
    )


def dealt_out(attacks: Sequence[Attack], draw: random.Random) -> Iterator[Attack]:
    """Attacks without end, one of each kind in every round."""
    by_family: dict[str, list[Attack]] = {}
    for attack in attacks:
        by_family.setdefault(attack.family, []).append(attack)
    for group in by_family.values():
        draw.shuffle(group)
    turns = {family: cycle(group) for family, group in by_family.items()}
    rounds = (draw.sample(list(turns), len(turns)) for _ in cycle([None]))
    return (next(turns[family]) for family in chain.from_iterable(rounds))


def _off_topic(case: Case, output: Output, material: Material) -> Output:
    text = material.draw("off topic", case.id).choice(OFF_TOPIC)
    return Output(text=text, case_id=output.case_id, variant=output.variant)


def _arms(attack: Attack, case: Case, base: Output, material: Material) -> dict[str, Ask]:
    attacked = with_text(base, attack.on(base.text or "", material.rubric))
    if attack.goal == "chosen":
        return {"both": PairAsk(case=case, a=attacked, b=base, rubric=material.rubric)}
    return {
        "plain": plain_ask(case, base, material),
        "changed": GradeAsk(case=case, output=attacked, rubric=material.rubric),
    }


INJECTION = Probe(
    name="injection",
    question="Can an output raise its score by telling the judge what to score?",
    needs="outputs with a text",
    cost="3 gradings, 1 of an off-topic answer, and 1 shared",
    plan=plan_injection,
    find=attacks_found,
)
"""The probe."""
