"""`audit` and `audit_sync`, and the list of all probes by name. Start reading here."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.bias_audit.attacks import AttackCorpus, read_attacks, shipped_corpus
from judgekit.bias_audit.consistency import (
    CRITERION_ORDER_PROBE,
    IDENTICAL_PROBE,
    PARAPHRASE_PROBE,
    POSITION_PROBE,
    SCALE_PROBE,
    STABILITY_PROBE,
    shipped_paraphrases,
)
from judgekit.bias_audit.injection import INJECTION_PROBE
from judgekit.bias_audit.inputs import AuditInputs, AuditOptions, select_cases
from judgekit.bias_audit.perturbation import (
    AUTHORITY_PROBE,
    FORMATTING_PROBE,
    SELF_PREFERENCE_PROBE,
    VERBOSITY_PROBE,
    family_of,
)
from judgekit.bias_audit.probe import ProbeRunner
from judgekit.bias_audit.session import plan_audit, run_audit
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
    """Probe a judge for known biases with eleven probes on your own outputs.

    Each probe changes one thing that should not matter, repeats the question, and reports the
    effect with an interval. Cached replies are reused.

    Args:
        judge: The judge to audit; with a budget the audit stops when it is spent.
        answers: Cases with their outputs; outputs that record an error are excluded.
        rubric: The rubric to judge by.
        options: Probes, sizes and margins; None takes the defaults.
        template_folders: Folders of your own templates; they take precedence over the shipped one.

    Returns:
        The result of each probe; a probe that cannot run is reported as skipped, with the reason.

    Raises:
        InputError: When there is no output, a template does not fit, or a file of attacks is
            invalid.
        UnknownNameError: When there is no such probe.
        StoreError: When the cache cannot store a reply that was paid for.

    Example:
        >>> async def is_fair(judge, answers, rubric):  # doctest: +SKIP
        ...     result = await jk.audit(judge, answers, rubric)
        ...     return result.is_complete and not result.found_material
    """
    wanted = options or AuditOptions()
    usable = [(case, output) for case, output in answers if output.error is None]
    if not usable:
        raise InputError(
            "there is no output to audit the judge with",
            hint="errors of the system under test are not judged",
        )
    items = select_cases(usable, limit=None, sample=wanted.n_cases, seed=wanted.seed)
    inputs = build_audit_inputs(judge, items, rubric, wanted)
    runner = ProbeRunner(judge, tuple(Path(folder) for folder in template_folders))
    probes = select_probes(wanted.probes)
    plan = plan_audit(runner, inputs, probes, max_cost_usd=wanted.max_cost_usd)
    return await run_audit(runner, inputs, plan)


def audit_sync(
    judge: Judge,
    answers: Iterable[tuple[Case, Output]],
    rubric: Rubric,
    *,
    options: AuditOptions | None = None,
    template_folders: Sequence[Path | str] = (),
) -> Audit:
    """`audit` for synchronous callers; works inside a running event loop too.

    Args:
        judge: The judge to audit.
        answers: Cases with their outputs.
        rubric: The rubric to judge by.
        options: Probes, sizes and margins.
        template_folders: Folders of your own templates.

    Returns:
        The result of each probe.

    Raises:
        InputError: When there is no output, a template does not fit, or a file of attacks is
            invalid.
        UnknownNameError: When there is no such probe.
        StoreError: When the cache cannot store a reply that was paid for.
    """
    with closing(SyncRunner()) as runner:
        return runner.run(
            audit(judge, answers, rubric, options=options, template_folders=template_folders)
        )


def build_audit_inputs(
    judge: Judge, items: Sequence[tuple[Case, Output]], rubric: Rubric, options: AuditOptions
) -> AuditInputs:
    """The inputs of an audit's probes."""
    corpus = options.attacks
    if not isinstance(corpus, AttackCorpus):
        corpus = shipped_corpus() if corpus is None else read_attacks(Path(corpus))
    return AuditInputs(
        items=tuple(items),
        rubric=rubric,
        asks_all=judge.template.header.asks == "all",
        paraphrases=options.paraphrases or shipped_paraphrases(judge.template.name),
        family=options.family or family_of(judge.connection.name),
        is_recorded=isinstance(judge.connection.model, RecordedModel),
        attacks=corpus.attacks,
        options=options,
    )


PROBES = (
    SCALE_PROBE, STABILITY_PROBE, POSITION_PROBE, IDENTICAL_PROBE, VERBOSITY_PROBE, FORMATTING_PROBE, AUTHORITY_PROBE, SELF_PREFERENCE_PROBE,  # noqa: E501
    PARAPHRASE_PROBE, CRITERION_ORDER_PROBE, INJECTION_PROBE,
)  # fmt: skip
"""Every probe. Those that share most questions come first, because a budget skips the last ones."""


def select_probes(names: Sequence[str] = (), probes: Sequence[Probe] = PROBES) -> tuple[Probe, ...]:
    """The probes of these names, or all."""
    known = {probe.name for probe in probes}
    wanted = [name.strip().lower().replace("-", "_") for name in names if name.strip()]
    for name in wanted:
        if name not in known:
            raise UnknownNameError("probe", name, known)
    return tuple(probe for probe in probes if not wanted or probe.name in wanted)
