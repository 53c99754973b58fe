"""Grades the outputs of calibrate and rejudge: a run of recorded outputs that is not stored."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from judgekit.cli.run_job import prepared_run, results_in_order, run_with_progress, stored_verdicts
from judgekit.cli.suite_setup import RunSetup, read_recorded
from judgekit.evaluation import Graded, Session, open_recorded
from judgekit.store import RunStore

if TYPE_CHECKING:
    from judgekit.cli.options import TalkOptions
    from judgekit.cli.setup import GradeSetup


def grade_all(
    setup: GradeSetup, options: TalkOptions, *, verb: tuple[str, str] = ("grading", "graded")
) -> tuple[list[Graded], bool]:
    """Grade everything, in order, and report whether Ctrl-C ended it early."""
    # A store of its own: labels and verdicts are compared with these judgments now, and a run that
    # stayed in the user's store would be the latest there.
    with TemporaryDirectory(prefix="judgekit-run-") as folder:
        recorded, variants = read_recorded(setup, is_suite=False)
        store = RunStore(Path(folder, "judgekit.db"))
        try:
            run = RunSetup(
                open_recorded(setup.judge, setup.rubric, recorded, variants),
                store,
                Session(in_flight=max(4, setup.judge.connection.max_concurrency)),
                resumed=None,
                notes=None,
                is_grading=True,
                verb=verb,
            )
            prepared_run(run, resumes=False)
            ended = asyncio.run(run_with_progress(run, options))
            results = results_in_order(run, ended) or []
            verdicts = stored_verdicts(run, ended, results)
        finally:
            store.close()
    graded = [
        Graded(result.case, result.output.model_copy(update={"variant": verdict.variant}), verdict)
        for result, verdict in zip(results, verdicts, strict=True)
    ]
    return graded, run.session.reason == "interrupted"
