"""The door to running suites from Python: `evaluate` and `evaluate_sync`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.datasets.suite_opening import suite_from
from judgekit.errors import SettingsError
from judgekit.evaluation.preparing.asking import Asking, refreshed
from judgekit.evaluation.preparing.calibrated import calibration_of, is_met
from judgekit.evaluation.preparing.opening import open_suite
from judgekit.evaluation.run import Run
from judgekit.evaluation.running.resuming import begun_run, chosen_before, next_run
from judgekit.evaluation.running.runner import Session, run_suite
from judgekit.judge.portal import Portal
from judgekit.store.runs import RunStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.datasets.suite import Suite
    from judgekit.evaluation.preparing.asking import Choice
    from judgekit.evaluation.preparing.opening import OpenSuite
    from judgekit.models.cache.interface import ReplyCache
    from judgekit.records.run import RunInfo

DEFAULT_STORE = ".judgekit/judgekit.db"
"""Where runs are kept when nothing says otherwise."""

DEFAULT_CACHE = ".judgekit/cache"
"""Where replies are kept when nothing says otherwise."""


async def evaluate(
    suite: Suite | Path | str,
    *,
    store: RunStore | Path | str = DEFAULT_STORE,
    cache: ReplyCache | Path | str | None = DEFAULT_CACHE,
    choice: Choice | None = None,
    resume: str | None = None,
    session: Session | None = None,
    max_cost_usd: float | None = None,
    frozen: bool = False,
    refresh: bool = False,
    allow_scripts: bool = False,
    template_folders: Sequence[Path] = (),
    notes: str | None = None,
) -> Run:
    """Run a suite from cases to a stored run.

    Args:
        suite: The suite, or its file.
        store: The store, the path of its SQLite file, or a database URL.
        cache: Folder of the reply cache of judges and prompts, a cache, or None for none.
        choice: Which part of the suite is run; None for all of it, or with `resume` for what the
            run chose when it was begun.
        resume: The run to go on with: its id, the beginning of it, or `latest` for the last of
            this suite. What is kept of it is not asked again.
        session: How this sitting goes: time limit, fail fast, progress, stopping, retrying what
            failed; each call needs its own.
        max_cost_usd: The money the run may cost, in US dollars, earlier sittings of it included;
            None for no limit.
        frozen: Whether a reply that is not owned is an error.
        refresh: Whether owned replies are asked anew.
        allow_scripts: Whether the suite's setup and teardown programs may be run.
        template_folders: Folders of templates that come before the suite's own.
        notes: Whatever should be remembered with a new run.

    Returns:
        The run; read it, sum it up with `summarize`, close it after use.

    Raises:
        InputError: When a file, a name or a setting is unsound, the run to go on with is of a
            suite that has changed since, or the gate requires a calibration and none holds.
        StoreError: When the store cannot be used, or the run is running in another process.

    Example:
        >>> import judgekit as jk
        >>> async def passed() -> float:
        ...     with await jk.evaluate("judgekit.yaml", max_cost_usd=2.0) as run:
        ...         return jk.summarize(run).variants[0].pass_rate.value
    """
    sitting = session or Session()
    asking = Asking(
        cache=Path(cache) if isinstance(cache, str) else cache,
        template_folders=tuple(template_folders),
        frozen=frozen,
        refresh=refreshed(refresh=refresh, retry_errors=sitting.retry_errors, frozen=frozen),
        max_cost_usd=max_cost_usd,
        allow_scripts=allow_scripts,
    )
    loaded = suite_from(suite) if isinstance(suite, Path | str) else suite
    kept = store if isinstance(store, RunStore) else RunStore(store)
    owns = kept is not store
    try:
        begun = begun_run(kept, resume, loaded)
        opened = open_suite(loaded, choice or chosen_before(begun), asking)
        try:
            ended = await _run(opened, kept, begun, sitting, notes)
        finally:
            await opened.aclose()
    except BaseException:
        if owns:
            kept.close()
        raise
    return Run(ended, kept, owns_store=owns)


def evaluate_sync(
    suite: Suite | Path | str,
    *,
    store: RunStore | Path | str = DEFAULT_STORE,
    cache: ReplyCache | Path | str | None = DEFAULT_CACHE,
    choice: Choice | None = None,
    resume: str | None = None,
    session: Session | None = None,
    max_cost_usd: float | None = None,
    frozen: bool = False,
    refresh: bool = False,
    allow_scripts: bool = False,
    template_folders: Sequence[Path] = (),
    notes: str | None = None,
) -> Run:
    """`evaluate`, for callers that are not asynchronous; works inside a running loop too.

    Args:
        suite: The suite, or its file.
        store: The store, the path of its SQLite file, or a database URL.
        cache: Folder of the reply cache, a cache, or None for none.
        choice: Which part of the suite is run.
        resume: The run to go on with.
        session: How this sitting goes.
        max_cost_usd: The money the run may cost, in US dollars.
        frozen: Whether a reply that is not owned is an error.
        refresh: Whether owned replies are asked anew.
        allow_scripts: Whether the suite's setup and teardown programs may be run.
        template_folders: Folders of templates that come before the suite's own.
        notes: Whatever should be remembered with a new run.

    Returns:
        The run.

    Raises:
        InputError: When a file, a name or a setting is unsound.
        StoreError: When the store cannot be used.
    """
    portal = Portal()
    try:
        return portal.run(
            evaluate(
                suite,
                store=store,
                cache=cache,
                choice=choice,
                resume=resume,
                session=session,
                max_cost_usd=max_cost_usd,
                frozen=frozen,
                refresh=refresh,
                allow_scripts=allow_scripts,
                template_folders=template_folders,
                notes=notes,
            )
        )
    finally:
        portal.close()


async def _run(
    opened: OpenSuite, store: RunStore, begun: RunInfo | None, session: Session, notes: str | None
) -> RunInfo:
    run = next_run(opened, store, begun, now=session.now(), notes=notes)
    if not is_met(opened.suite.gate, run):
        raise SettingsError(
            f"the suite requires a calibration: {calibration_of(run).words}",
            hint="make one with `judgekit calibrate LABELS --write-map`, and name it in the suite",
        )
    return await run_suite(opened, store, run, session, resumed=begun is not None)
