"""`audit` and `audit_sync`, the entry points for Python, and the list of all probes by name.

Start reading here.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.bias_audit.attacks import AttackCorpus, read_attacks, shipped_corpus
from judgekit.bias_audit.consistency import (
    PARAPHRASE_PROBE,
    SCALE_PROBE,
    STABILITY_PROBE,
    shipped_paraphrases,
)
from judgekit.bias_audit.injection import INJECTION_PROBE
from judgekit.bias_audit.inputs import AuditInputs, AuditOptions, select_cases
from judgekit.bias_audit.order_effects import CRITERION_ORDER_PROBE, IDENTICAL_PROBE, POSITION_PROBE
from judgekit.bias_audit.perturbation import (
    AUTHORITY_PROBE,
    FORMATTING_PROBE,
    SELF_PREFERENCE_PROBE,
    VERBOSITY_PROBE,
    family_of,
)
from judgekit.bias_audit.plan import plan_audit
from judgekit.bias_audit.probe import ProbeRunner
from judgekit.bias_audit.session import run_audit
from judgekit.errors import InputError, UnknownNameError
from judgekit.judge import SyncRunner
from judgekit.models import RecordedModel

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from judgekit.bias_audit.probe import Probe
    from judgekit.bias_audit.results import Audit
    from judgekit.judge import Judge
    from judgekit.records import Case, Output, Rubric


async def audit(
    judge: Judge,
    answers: Iterable[tuple[Case, Output]],
    rubric: Rubric,
    *,
    options: AuditOptions | None = None,
    template_folders: Sequence[Path | str] = (),
) -> Audit:
    """Find out what moves a judge that should not: eleven probes on your own outputs.

    Each probe changes one thing that should not matter, asks the same judge again, and says what
    that did, with an interval. What the cache holds is not asked again.

    Args:
        judge: Who is audited; with a budget it stops when the money is used up.
        answers: Cases with their outputs; errors of the system under test are left out.
        rubric: How they are judged.
        options: The probes wanted, their sizes and margins; None takes the defaults.
        template_folders: Folders of own templates; they come before the shipped.

    Returns:
        What each probe found; one that could not be made is told as skipped, with the reason.

    Raises:
        InputError: When there is no output, a template does not fit, or a file of attacks is
            unsound.
        UnknownNameError: When there is no such probe.
        StoreError: When the cache cannot keep what was paid for.

    Example:
        >>> async def is_fair(judge, answers, rubric):  # doctest: +SKIP
        ...     found = await jk.audit(judge, answers, rubric)
        ...     return found.is_complete and not found.found_material
    """
    wanted = options or AuditOptions()
    usable = [(case, output) for case, output in answers if output.error is None]
    if not usable:
        raise InputError(
            "there is no output to audit the judge with",
            hint="errors of the system under test are not judged",
        )
    items = select_cases(usable, limit=None, sample=wanted.n_cases, seed=wanted.seed)
    material = build_audit_inputs(judge, items, rubric, wanted)
    bench = ProbeRunner(judge, tuple(Path(folder) for folder in template_folders))
    probes = select_probes(wanted.probes)
    plan = plan_audit(bench, material, probes, max_cost_usd=wanted.max_cost_usd)
    return await run_audit(bench, material, plan)


def audit_sync(
    judge: Judge,
    answers: Iterable[tuple[Case, Output]],
    rubric: Rubric,
    *,
    options: AuditOptions | None = None,
    template_folders: Sequence[Path | str] = (),
) -> Audit:
    """`audit`, for callers that are not asynchronous; works inside a running loop too.

    Args:
        judge: Who is audited.
        answers: Cases with their outputs.
        rubric: How they are judged.
        options: The probes wanted, their sizes and margins.
        template_folders: Folders of own templates.

    Returns:
        What each probe found.

    Raises:
        InputError: When there is no output, a template does not fit, or a file of attacks is
            unsound.
        UnknownNameError: When there is no such probe.
        StoreError: When the cache cannot keep what was paid for.
    """
    portal = SyncRunner()
    try:
        return portal.run(
            audit(judge, answers, rubric, options=options, template_folders=template_folders)
        )
    finally:
        portal.close()


def build_audit_inputs(
    judge: Judge, items: Sequence[tuple[Case, Output]], rubric: Rubric, options: AuditOptions
) -> AuditInputs:
    """What the probes of an audit may look at."""
    return AuditInputs(
        items=tuple(items),
        rubric=rubric,
        asks_all=judge.template.header.asks == "all",
        paraphrases=options.paraphrases or shipped_paraphrases(judge.template.name),
        family=options.family or family_of(judge.connection.name),
        is_recorded=isinstance(judge.connection.model, RecordedModel),
        seed=options.seed,
        n_askings=options.n_askings,
        attacks=_corpus(options).attacks,
        n_attacks=options.n_attacks,
        margins=options.margins,
        level=options.level,
    )


def _corpus(options: AuditOptions) -> AttackCorpus:
    named = options.attacks
    if named is None:
        return shipped_corpus()
    return named if isinstance(named, AttackCorpus) else read_attacks(Path(named))


PROBES = (
    SCALE_PROBE, STABILITY_PROBE, POSITION_PROBE, IDENTICAL_PROBE, VERBOSITY_PROBE, FORMATTING_PROBE, AUTHORITY_PROBE, SELF_PREFERENCE_PROBE,  # noqa: E501
    PARAPHRASE_PROBE, CRITERION_ORDER_PROBE, INJECTION_PROBE,
)  # fmt: skip
"""Every probe; those that share their questions with most others come first."""


def select_probes(names: Sequence[str] = (), probes: Sequence[Probe] = PROBES) -> tuple[Probe, ...]:
    """The probes of these names."""
    known = {probe.name for probe in probes}
    wanted = [name.strip().lower().replace("-", "_") for name in names if name.strip()]
    for name in wanted:
        if name not in known:
            raise UnknownNameError("probe", name, known)
    return tuple(probe for probe in probes if not wanted or probe.name in wanted)
