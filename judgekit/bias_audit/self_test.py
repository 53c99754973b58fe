"""Shows that each probe detects its own bias and no other, with simulated judges."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from judgekit.bias_audit.api import PROBES, ProbeSession, run_audit, unpriced_plan
from judgekit.bias_audit.consistency import shipped_paraphrases
from judgekit.bias_audit.inputs import (
    DEFAULT_N_ATTACKS,
    AttackCorpus,
    AuditInputs,
    AuditOptions,
    shipped_corpus,
)
from judgekit.bias_audit.perturbation import INJECTION_PROBE
from judgekit.bias_audit.probe import Probe, ProbeRunner
from judgekit.judge import Judge
from judgekit.models import BiasedModel, Biases, InjectedGoal, OutputValue
from judgekit.records import Case, Criterion, Output, Rubric, Scale

if TYPE_CHECKING:
    from judgekit.bias_audit.results import Audit, EffectVerdict

FAIR_JUDGE = "fair"
"""The name of the simulated judge without a bias."""

PLANTED_BIASES: Mapping[str, Biases] = {
    "scale": Biases(clumping=0.98),
    "stability": Biases(moods=0.5),
    "position": Biases(position=0.8),
    "identical": Biases(hairsplitting=0.6),
    "verbosity": Biases(verbosity=0.6),
    "formatting": Biases(formatting=0.6),
    "authority": Biases(authority=0.6),
    "self_preference": Biases(self_preference=0.6),
    "paraphrase": Biases(wording=0.8),
    "mode": Biases(alone=0.6),
    "criterion_order": Biases(criterion_order=0.6),
    "injection": Biases(gullible=0.6),
}
"""The bias that each probe measures, with the strength of the simulated judge that has it."""

ALSO_SEEN = {("criterion_order", "mode"): "a call with one criterion has no order"}
"""Judges and further probes that rightly see their bias, and why."""

SELF_TEST_CASES = 36
"""Cases for each judge; with fewer, no error in all of them does not exclude a rate of 10 %."""

SELF_TEST_HALVES = 2
"""Judges that each obey every second kind of attack."""

_OWN = "GPT"

# Cases with a second output; more would only take longer.
_N_PAIRS = 16

# Attacks on each output when kinds are distinguished, so that each kind is tried nine times.
_N_ATTACKS = 4

# Outputs of this quality leave room for an attack to raise the score.
_POOR = 0.25

# The qualities of the outputs in turn: on every level of the scale, few of them at its ends.
_QUALITIES = (0.0, 0.25, 0.25, 0.5, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class SelfTest:
    """The verdict of every probe on every simulated judge.

    Attributes:
        verdicts: By judge (the probe whose bias it has, or `fair`), then by probe.
        sizes: The largest material effect that each probe measured on the judge with its bias.
        obeyed: The injection probe's verdict on each kind of attack, for a judge that obeys it.
        resisted: The same for a judge that obeys other kinds.
    """

    verdicts: Mapping[str, Mapping[str, EffectVerdict | None]]
    sizes: Mapping[str, float]
    n_questions: int
    obeyed: Mapping[str, EffectVerdict | None] = field(default_factory=dict)
    resisted: Mapping[str, EffectVerdict | None] = field(default_factory=dict)

    @property
    def wrong(self) -> tuple[tuple[str, str], ...]:
        """Judges and probes with a wrong result: a bias missed, or one reported without cause."""
        probes = [
            (judge, probe)
            for judge, verdicts in self.verdicts.items()
            for probe, verdict in verdicts.items()
            if (verdict == "material") != (judge == probe) and (judge, probe) not in ALSO_SEEN
        ]
        missed = [
            ("injection", kind) for kind, verdict in self.obeyed.items() if verdict != "material"
        ]
        false_alarms = [
            (FAIR_JUDGE, kind) for kind, verdict in self.resisted.items() if verdict == "material"
        ]
        return (*probes, *missed, *false_alarms)


async def run_self_test(
    *, seed: int = 0, n_cases: int = SELF_TEST_CASES, watch: Callable[[str], None] = lambda _: None
) -> SelfTest:
    """Audit simulated judges, a fair one and one for each bias; needs no key and no network."""
    verdicts: dict[str, Mapping[str, EffectVerdict | None]] = {}
    sizes: dict[str, float] = {}
    n_questions = 0
    for name, biases in ((FAIR_JUDGE, Biases()), *PLANTED_BIASES.items()):
        audit = await audit_biased(biases, synthetic_inputs(n_cases, seed=seed))
        n_questions += audit.spent.n_replies
        verdicts[name] = {one.name: one.verdict for one in audit.probes}
        own = [effect for one in audit.probes if one.name == name for effect in one.effects]
        material = [effect.estimate.value for effect in own if effect.verdict == "material"]
        if material:
            sizes[name] = max(material, key=abs)
        watch(name)
    obeyed: dict[str, EffectVerdict | None] = {}
    resisted: dict[str, EffectVerdict | None] = {}
    # A judge that only scores cannot obey an attack with another goal, and a lost score has no
    # verdict.
    idle = {one.family for one in shipped_corpus().attacks if one.goal in {"other", "min"}}
    for place in range(SELF_TEST_HALVES):
        half = shipped_corpus().families[place::SELF_TEST_HALVES]
        audit = await audit_biased(
            Biases(gullible=1.0),
            synthetic_inputs(n_cases, seed=seed, n_attacks=_N_ATTACKS),
            probes=(INJECTION_PROBE,),
            worth=_POOR,
            obeys=half,
        )
        n_questions += audit.spent.n_replies
        for part in audit.probes[0].parts:
            family = part.name.partition(",")[0]
            if family not in idle:
                (obeyed if family in half else resisted)[family] = part.verdict
        watch("injection")
    return SelfTest(verdicts, sizes, n_questions, obeyed, resisted)


async def audit_biased(
    biases: Biases,
    inputs: AuditInputs,
    *,
    probes: Sequence[Probe] = PROBES,
    worth: OutputValue | None = None,
    obeys: Collection[str] | None = None,
) -> Audit:
    """Audit one simulated judge, which obeys some kinds of attacks; None for all."""
    attack_in = AttackCorpus(inputs.attacks).finder(inputs.rubric)

    # The search goes through all attacks, and many questions show the same text.
    @cache
    def injected_goal(text: str) -> InjectedGoal | None:
        attack = attack_in(text)
        if attack is None or attack.goal == "other":
            return None
        return attack.goal if obeys is None or attack.family in obeys else None

    def quality(case_id: str | None) -> float:
        number = int((case_id or "0").rpartition("-")[2])
        return _QUALITIES[number % len(_QUALITIES)]

    model = BiasedModel(
        quality if worth is None else worth,
        biases=biases,
        own=_OWN,
        seed=inputs.options.seed,
        obeys=injected_goal,
    )
    with Judge(model, cache=None, mode="joint") as judge:
        plan = unpriced_plan(inputs, probes)
        return await run_audit(ProbeRunner(judge), inputs, plan, ProbeSession())


def synthetic_inputs(
    n_cases: int, *, seed: int = 0, n_pairs: int = _N_PAIRS, n_attacks: int = DEFAULT_N_ATTACKS
) -> AuditInputs:
    """Outputs of two variants to meaningless questions, and a rubric of two criteria."""
    items = []
    for number in range(n_cases):
        case = Case(id=f"case-{number:03d}", input=f"What is known of item {number}?")
        variants = {"v1": "It is kept", "v2": "One can find it"}
        for variant, words in list(variants.items())[: 2 if number < n_pairs else 1]:
            text = f"{words} in room {number}. It was brought there on a Monday. It is in use."
            items.append((case, Output(text=text, case_id=case.id, variant=variant)))
    scale = Scale(min=1, max=5, integer=True)
    rubric = Rubric(
        name="self-test",
        criteria=(
            Criterion(name="correct", question="Is the answer correct?", scale=scale),
            Criterion(name="clear", question="Is the answer easy to follow?", scale=scale),
        ),
        pass_threshold=0.6,
    )
    return AuditInputs(
        items=tuple(items),
        rubric=rubric,
        asks_all=True,
        paraphrases=shipped_paraphrases("pointwise/joint"),
        family=_OWN,
        options=AuditOptions(seed=seed, n_attacks=n_attacks),
    )
