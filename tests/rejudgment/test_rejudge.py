from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import judgekit as jk
from judgekit.evaluation import Run
from judgekit.store import RunStore
from judgekit.testing import ScriptedModel
from tests.factories import make_judge, reply
from tests.rejudgment.test_runs import old_run

if TYPE_CHECKING:
    from pathlib import Path


def test_another_judge_on_the_same_outputs_says_what_changes(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "runs.db")
    run = Run(old_run(store), store, owns_store=True)
    with run, make_judge(ScriptedModel(reply(1)), max_reasks=0) as judge:
        found = jk.rejudge_sync(run, judge)
        assert (found.n, found.churn.value, found.same_rubric) == (2, 0.5, True)
        assert found.old_run_id == run.id
        assert store.run(str(found.run_id)).status == "complete"


def test_a_run_without_verdicts_cannot_be_held_against_new_ones(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "runs.db")
    run = Run(old_run(store, rubric=None), store, owns_store=True)
    refused = pytest.raises(jk.SettingsError, match="judged by rubrics of its cases")
    with run, make_judge(ScriptedModel(reply(1))) as judge, refused:
        jk.rejudge_sync(run, judge)
