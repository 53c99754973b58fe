"""The doors to tuning for Python: choose by labels, and tell what unseen labels say of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.evaluation.auditing.asking import Bench
from judgekit.evaluation.tuning.choosing import run_tuning
from judgekit.evaluation.tuning.options import TuneOptions
from judgekit.evaluation.tuning.preparing import prepare
from judgekit.judge.portal import Portal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from judgekit.evaluation.tuning.figures import Tuning
    from judgekit.evaluation.tuning.preparing import Labels
    from judgekit.judge.judge import Judge
    from judgekit.records.case import Case
    from judgekit.records.output import Output
    from judgekit.records.rubric import Rubric


async def tune(
    judge: Judge,
    answers: Iterable[tuple[Case, Output]],
    labels: Labels,
    rubric: Rubric,
    *,
    candidates: Mapping[str, Rubric] | None = None,
    options: TuneOptions | None = None,
    template_folders: Sequence[Path | str] = (),
) -> Tuning:
    """Choose among wordings, anchors and examples by labels; tell what unseen labels say of it.

    Cases are split in two. What is tried is chosen on one part, an output never being shown as an
    example to itself; the other part is judged with the present rubric and with the chosen one
    only, and all figures are of that part.

    Args:
        judge: Who is tuned; with a budget it stops when the money is used up.
        answers: Cases with their outputs.
        labels: A file of labels, or labels: `case_id`, `raw`, `annotator`, and where needed
            `variant` and `criterion`.
        rubric: The present rubric.
        candidates: Other wordings of it, by name: the same criteria on the same scales.
        options: What is tried, the share that is held out, the error, the seed.
        template_folders: Folders of own templates; they come before the shipped.

    Returns:
        The decision with its figures, and the chosen rubric.

    Raises:
        InputError: When labels, candidates or settings are unsound.
        NotEnoughDataError: When there are too few labels; says how many are missing.
        StoreError: When the cache cannot keep what was paid for.

    Example:
        >>> async def better(judge, answers, rubric):  # doctest: +SKIP
        ...     how = jk.TuneOptions(few_shot=(0, 4), anchors=True)
        ...     found = await jk.tune(judge, answers, "labels.jsonl", rubric, options=how)
        ...     return found.tuned if found.decision == "better" else rubric
    """
    bout = prepare(
        Bench(judge, tuple(map(Path, template_folders))),
        answers,
        labels,
        rubric,
        others=candidates or {},
        options=options or TuneOptions(),
    )
    return await run_tuning(bout)


def tune_sync(
    judge: Judge,
    answers: Iterable[tuple[Case, Output]],
    labels: Labels,
    rubric: Rubric,
    *,
    candidates: Mapping[str, Rubric] | None = None,
    options: TuneOptions | None = None,
    template_folders: Sequence[Path | str] = (),
) -> Tuning:
    """`tune`, for callers that are not asynchronous; works inside a running loop too.

    Args:
        judge: Who is tuned.
        answers: Cases with their outputs.
        labels: A file of labels, or labels.
        rubric: The present rubric.
        candidates: Other wordings of it, by name.
        options: What is tried, the share that is held out, the error, the seed.
        template_folders: Folders of own templates.

    Returns:
        The decision with its figures, and the chosen rubric.

    Raises:
        InputError: When labels, candidates or settings are unsound.
        NotEnoughDataError: When there are too few labels; says how many are missing.
        StoreError: When the cache cannot keep what was paid for.
    """
    portal = Portal()
    try:
        return portal.run(
            tune(
                judge, answers, labels, rubric, candidates=candidates, options=options,
                template_folders=template_folders,
            )
        )  # fmt: skip
    finally:
        portal.close()
