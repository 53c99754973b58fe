"""The doors to auditing for Python: find out what moves a judge that should not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.errors import InputError
from judgekit.evaluation.auditing.asking import Bench
from judgekit.evaluation.auditing.attacks import Corpus, read_attacks, shipped_corpus
from judgekit.evaluation.auditing.audit import run_audit
from judgekit.evaluation.auditing.material import Material, chosen_cases
from judgekit.evaluation.auditing.options import AuditOptions
from judgekit.evaluation.auditing.paraphrase import shipped_paraphrases
from judgekit.evaluation.auditing.planning import plan_audit
from judgekit.evaluation.auditing.probes import chosen_probes
from judgekit.evaluation.auditing.self_preference import family_of
from judgekit.judge.portal import Portal
from judgekit.models.recorded import RecordedModel

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from judgekit.evaluation.auditing.figures import Audit
    from judgekit.judge.judge import Judge
    from judgekit.records.case import Case
    from judgekit.records.output import Output
    from judgekit.records.rubric import Rubric


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
    items = chosen_cases(usable, limit=None, sample=wanted.n_cases, seed=wanted.seed)
    material = material_of(judge, items, rubric, wanted)
    bench = Bench(judge, tuple(Path(folder) for folder in template_folders))
    probes = chosen_probes(wanted.probes)
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
    portal = Portal()
    try:
        return portal.run(
            audit(judge, answers, rubric, options=options, template_folders=template_folders)
        )
    finally:
        portal.close()


def material_of(
    judge: Judge, items: Sequence[tuple[Case, Output]], rubric: Rubric, options: AuditOptions
) -> Material:
    """What the probes of an audit may look at."""
    return Material(
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


def _corpus(options: AuditOptions) -> Corpus:
    named = options.attacks
    if named is None:
        return shipped_corpus()
    return named if isinstance(named, Corpus) else read_attacks(Path(named))
