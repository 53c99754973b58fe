from __future__ import annotations

import asyncio
import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk
from judgekit.datasets import load_suite
from judgekit.errors import InputError, SettingsError, UnknownNameError
from judgekit.evaluation import RunSummary, choice_of_run
from judgekit.evaluation.comparability import compare_measures
from judgekit.evaluation.schedule import require_same_run
from judgekit.scoring import conclude
from tests.evaluation.suites import NOW, lay_suite
from tests.factories import make_judgment, make_rubric, reply
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from pathlib import Path


def run_of(folder: Path, **options: Any) -> jk.Run:
    return jk.evaluate_sync(
        folder / "judgekit.yaml", store=folder / "runs.db", cache=folder / "cache", **options
    )


def test_a_suite_file_is_run_and_summed_up(tmp_path: Path) -> None:
    lay_suite(tmp_path, n=5, texts={"c1": "wrong"})
    with run_of(tmp_path, notes="first") as run:
        summary = jk.summarize(run)
        assert (run.status, run.info.notes, run.id) == ("complete", "first", run.info.id)
        assert [result.case.id for result in run.results()] == ["c0", "c1", "c2", "c3", "c4"]
        assert [found.passed for found in run.concluded(case_id="c1")] == [False]
    assert isinstance(summary, RunSummary)
    assert summary.variants[0].pass_rate.value == 0.8
    assert sorted(summary.variants[0].tags) == ["t0", "t1"]


def test_a_run_is_held_to_the_gate_of_its_suite(tmp_path: Path) -> None:
    lay_suite(tmp_path, n=5, texts={"c1": "wrong"}, gate={"tier": "production"})
    with run_of(tmp_path) as run:
        gate = run.gate()
        assert gate is not None
        assert (gate.held, gate.tiers[0].variant) == ("inconclusive", "v1")
        assert run.gate(run.summary()) == gate


def test_a_run_of_a_suite_without_a_gate_has_none(tmp_path: Path) -> None:
    lay_suite(tmp_path)
    with run_of(tmp_path) as run:
        assert run.gate() is None


async def test_it_works_inside_a_running_loop(tmp_path: Path) -> None:
    lay_suite(tmp_path)
    with run_of(tmp_path) as run:
        assert run.status == "complete"


async def test_it_can_be_awaited(tmp_path: Path) -> None:
    path = lay_suite(tmp_path)
    with await jk.evaluate(load_suite(path), store=tmp_path / "runs.db", cache=None) as run:
        assert run.status == "complete"


def test_a_run_is_gone_on_with_by_its_id_or_as_the_latest(tmp_path: Path) -> None:
    lay_suite(tmp_path, n=9)
    with run_of(tmp_path, choice=jk.Choice(limit=3), session=jk.Session(in_flight=1)) as run:
        first = run.id
    for name in (first, first[:20], "latest"):
        with run_of(tmp_path, resume=name) as run:
            assert (run.id, run.info.n_cases, run.status) == (first, 3, "complete")


def test_a_run_that_is_not_there_cannot_be_gone_on_with(tmp_path: Path) -> None:
    lay_suite(tmp_path)
    with pytest.raises(UnknownNameError, match="no run is called 'nobody'"):
        run_of(tmp_path, resume="nobody")


def test_a_changed_suite_is_refused_and_says_what_changed(tmp_path: Path) -> None:
    lay_suite(tmp_path)
    run_of(tmp_path).close()
    lay_suite(tmp_path, assertions=[{"type": "contains", "value": "x"}])
    with pytest.raises(SettingsError, match="because the suite has changed since"):
        run_of(tmp_path, resume="latest")


def test_a_store_that_was_handed_in_stays_open(tmp_path: Path) -> None:
    lay_suite(tmp_path)
    store = jk.RunStore(tmp_path / "runs.db")
    with jk.evaluate_sync(tmp_path / "judgekit.yaml", store=store, cache=None) as run:
        pass
    assert store.run(run.id).status == "complete"
    with pytest.raises(InputError):
        jk.evaluate_sync(tmp_path / "nowhere.yaml", store=store)
    with pytest.raises(SettingsError):
        jk.evaluate_sync(tmp_path / "judgekit.yaml", store=store, cache=None, resume="latest",
                         choice=jk.Choice(limit=1))  # fmt: skip
    assert len(store.runs()) == 1
    store.close()


MODEL: dict[str, Any] = {"rubric": "rubric.yaml", "assertions": None, "n": 10}


def judged(server: OpenAILikeServer, folder: Path, **suite: Any) -> None:
    judge = {"model": "openai/m", "api_base": server.url, "max_tokens": 100, "max_retries": 0}
    prices = {"openai/m": {"input_usd": 100, "output_usd": 1000}}
    lay_suite(folder, judge=judge, prices=prices, **MODEL, **suite)


def paid_usd(server: OpenAILikeServer) -> float:
    """What the server was asked and answered, at the suite's prices."""
    sent = [len(str(seen.body["messages"])) for seen in server.requests]
    return sum(n // 4 * 1e-4 + len(reply(5)) // 4 * 1e-3 for n in sent)


def test_the_limit_of_money_is_never_crossed_by_all_sittings_together(tmp_path: Path) -> None:
    with OpenAILikeServer(ok(reply(5))) as server:
        judged(server, tmp_path)
        for limit in (0.5, 0.75, 1.0):
            options: dict[str, Any] = {"resume": "latest"} if limit > 0.5 else {}
            with run_of(tmp_path, max_cost_usd=limit, **options) as run:
                spent = jk.summarize(run).variants[0].money.total_usd
            assert (run.status, 0 < spent <= limit) == ("stopped", True)
            assert paid_usd(server) <= limit
        with run_of(tmp_path, max_cost_usd=50, resume="latest") as run:
            assert run.status == "complete"
        assert server.n_requests == 20


def test_an_owned_reply_costs_nothing_the_second_time(tmp_path: Path) -> None:
    with OpenAILikeServer(ok(reply(5))) as server:
        judged(server, tmp_path)
        run_of(tmp_path).close()
        with run_of(tmp_path) as run:
            money = jk.summarize(run).variants[0].money
        with run_of(tmp_path, resume="latest", max_cost_usd=0.001) as run:
            assert run.status == "complete"
        assert server.n_requests == 20
    assert (money.total_usd, money.saved_usd > 0) == (0.0, True)


def test_an_interrupt_leaves_the_store_to_others(tmp_path: Path) -> None:
    lay_suite(tmp_path, n=1)

    async def broken_off() -> None:
        task = asyncio.create_task(
            jk.evaluate(tmp_path / "judgekit.yaml", store=tmp_path / "runs.db", cache=None)
        )
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(broken_off())
    with sqlite3.connect(tmp_path / "runs.db") as file:
        file.execute("BEGIN EXCLUSIVE")
    file.close()


def test_verdicts_are_summed_up_with_their_rubric() -> None:
    rubric = make_rubric("accuracy")
    verdict = conclude(rubric, [make_judgment("accuracy", 1.0)], case_id="a")
    summary = jk.summarize([verdict], rubric)
    assert isinstance(summary, RunSummary)
    assert summary.variants[0].n_passed == 1
    with pytest.raises(InputError, match="verdicts are summed up with their rubric"):
        jk.summarize([verdict])  # type: ignore[call-overload]  # what a person may forget


def test_a_run_knows_its_own_rubric(tmp_path: Path) -> None:
    lay_suite(tmp_path)
    with run_of(tmp_path) as run, pytest.raises(InputError, match="a run knows its own rubric"):
        jk.summarize(run, make_rubric())  # type: ignore[call-overload]  # what a person may try


def test_a_run_that_says_nothing_of_its_choice_chose_everything() -> None:
    known: dict[str, Any] = {"id": "r", "suite": "s", "started_at": NOW}
    assert choice_of_run(jk.RunInfo(**known)) == jk.Choice()
    assert choice_of_run(None) == jk.Choice()
    chosen = jk.Choice(tags=("a",), sample=3, seed=4)
    run = jk.RunInfo(**known, config={"chosen": chosen.as_json()})
    assert choice_of_run(run) == chosen


_OWN = """\
{# judgekit
reply: score_line
#}
{% block shared %}{{ output }}{% endblock %}
{% block question %}{{ criterion.question }} MORE{% endblock %}
"""


def lay_own_template(folder: Path, more: str = "", *, by: str = "suite") -> None:
    """A suite whose one criterion has a template of its own, to which some text is added.

    The suite names its rubric, or its case does.
    """
    judge, rubric = {"model": "recorded:replies.jsonl"}, "own.yaml" if by == "suite" else None
    lay_suite(folder, n=1, judge=judge, rubric=rubric, assertions=[])
    if by == "case":
        case = json.dumps({"id": "c0", "input": "Question c0?", "rubric": "own.yaml"})
        (folder / "cases.jsonl").write_text(f"{case}\n", encoding="utf-8")
    criterion = "{name: good, question: Is it good?, scale: one_to_five, template: own}"
    (folder / "own.yaml").write_text(f"name: own\ncriteria: [{criterion}]\n", encoding="utf-8")
    said = json.dumps({"case_id": "c0", "text": "It is good. Score: 5"})
    (folder / "replies.jsonl").write_text(f"{said}\n", encoding="utf-8")
    (folder / "prompts").mkdir(exist_ok=True)
    (folder / "prompts" / "own.j2").write_text(_OWN.replace("MORE", more), encoding="utf-8")


@pytest.mark.parametrize(
    ("by", "words"), [("suite", "criterion good was"), ("case", "a criterion of a case was")]
)
def test_an_edited_template_of_a_criterion_is_another_measure(
    tmp_path: Path, by: str, words: str
) -> None:
    lay_own_template(tmp_path, by=by)
    with run_of(tmp_path) as run, run_of(tmp_path) as again:
        assert not compare_measures(run.info, again.info).changes
        lay_own_template(tmp_path, "Be strict.", by=by)
        with run_of(tmp_path) as edited:
            (change,) = compare_measures(run.info, edited.info).changes
            assert change.startswith(f"{words} asked with own@")
            with pytest.raises(SettingsError, match="the templates of its criteria"):
                require_same_run(run.info, edited.info)
            assert require_same_run(run.info, again.info) is run.info


def test_an_edited_script_is_another_measure(tmp_path: Path) -> None:
    check = {"type": "custom.script", "script": "check.py"}
    lay_suite(tmp_path, n=1, assertions=[check])
    script = tmp_path / "check.py"
    script.write_text("def evaluate(output):\n    return 'right' in output['text']\n", "utf-8")
    with run_of(tmp_path, allow_scripts=True) as run:
        with run_of(tmp_path, allow_scripts=True) as again:
            assert not compare_measures(run.info, again.info).changes
        script.write_text("def evaluate(output):\n    return True\n", "utf-8")
        with run_of(tmp_path, allow_scripts=True) as edited:
            changes = compare_measures(run.info, edited.info).changes
            with pytest.raises(SettingsError, match=r"begun: the script check\.py"):
                require_same_run(run.info, edited.info)
            assert require_same_run(run.info, again.info) is run.info
    assert changes == ("the script check.py was edited",)
