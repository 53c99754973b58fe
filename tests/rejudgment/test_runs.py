from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import ModelError, NotComparableError, SettingsError, StoreError
from judgekit.evaluation import REJUDGMENT_KEY, Session, judging_of_run
from judgekit.records import RunPanel
from judgekit.rejudgment import compare_runs, new_rejudgment, rejudge_run
from judgekit.rejudgment.run import paired_verdicts
from judgekit.store import RunStore
from judgekit.testing import ScriptedModel
from tests.factories import make_case, make_criterion, make_judge, make_output, make_rubric, reply
from tests.store.observing import START, answer, begun, key, make_run, said

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from judgekit.models.request import ModelReply, ModelRequest
    from judgekit.records import RunInfo

LATER = START + timedelta(hours=1)
BAD = (said("accuracy", 0.0), said("clarity", 0.0))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    kept = RunStore(tmp_path / "runs.db")
    yield kept
    kept.close()


def old_run(store: RunStore, **fields: Any) -> RunInfo:
    """Three answers: one good, one bad, one that is an error."""
    error = make_output(None, error="it timed out")
    run = begun(
        store,
        answer(key("a"), said=(said("accuracy"), said("clarity"))),
        answer(key("b"), place=1, case=make_case(id="b"), said=BAD),
        answer(key("e"), place=2, case=make_case(id="e"), output=error, said=()),
        **{"n_cases": 3} | fields,
    )
    store.end(run.id, status="complete", at=START)
    return store.run(run.id)


def rejudged(
    store: RunStore,
    old: RunInfo,
    model: ScriptedModel,
    sitting: Session | None = None,
    **fields: Any,
) -> RunInfo:
    with make_judge(model, max_reasks=0) as judge:
        new = new_rejudgment(old, judge, now=START, token="0", **fields)
        return asyncio.run(rejudge_run(old, new, judge, store, sitting))


def test_the_outputs_are_judged_again_and_kept_as_a_run_of_their_own(store: RunStore) -> None:
    old, model = old_run(store), ScriptedModel(reply(3))
    new = rejudged(store, old, model)
    assert new.id == "20261122T093000Z-support-rejudged-0"
    assert (new.status, new.suite, new.n_cases) == ("complete", "support (rejudged)", 3)
    assert new.config[REJUDGMENT_KEY] == {"run": "run-1", "judges": list(old.panel.judges)}
    assert new.panel.judges[0].startswith("scripted pointwise/criterion@")
    assert len(model.requests) == 4  # two criteria of two outputs; the error is not judged
    before, after = list(store.results(old.id)), list(store.results(new.id))
    assert [one.output.text for one in after] == [one.output.text for one in before]
    assert [one.is_done for one in after] == [True, True, True]
    assert {j.value for one in after for j in one.judgments} == {0.5}


def test_an_old_run_stays_as_it_was(store: RunStore) -> None:
    old = old_run(store)
    before = list(store.results(old.id))
    rejudged(store, old, ScriptedModel(reply(3)))
    assert list(store.results(old.id)) == before
    assert store.run(old.id) == old


def test_what_both_judges_said_meets_answer_by_answer(store: RunStore) -> None:
    old = old_run(store)
    new = rejudged(store, old, ScriptedModel(reply(5)))
    found = list(paired_verdicts(old, new, store, Counter()))
    assert [(one.case_id, one.old.passed, one.new.passed) for one in found] == [
        ("a", True, True), ("b", False, True),
    ]  # fmt: skip


def test_a_rubric_that_asks_something_else_is_refused_before_anything_is_asked(
    store: RunStore,
) -> None:
    old = old_run(store)
    edited = make_rubric(make_criterion("accuracy", question="Is it true?"), "clarity")
    for rubric, words in (
        (make_rubric("tone", name="other"), "removed criteria: accuracy, clarity; added"),
        (edited, r"criterion 1 \(accuracy\) edited: its question"),
    ):
        refused = pytest.raises(NotComparableError, match=f"not only the judge.*{words}")
        with make_judge(ScriptedModel(reply(5))) as judge, refused as raised:
            new_rejudgment(old, judge, now=LATER, rubric=rubric)
        assert "judgekit export run-1 -o outputs.jsonl" in str(raised.value.hint)


def test_by_another_threshold_the_old_scores_are_passed_anew(store: RunStore) -> None:
    """Both judges give a 0: it passes only by the threshold that is used for both."""
    old = old_run(store)
    lenient = make_rubric("accuracy", "clarity", pass_threshold=0.0)
    with make_judge(ScriptedModel(reply(1)), max_reasks=0) as judge:
        new = new_rejudgment(old, judge, now=LATER, token="0", rubric=lenient)
        ended = asyncio.run(rejudge_run(old, new, judge, store))
    found = compare_runs(old, ended, store, calibration="")
    assert (found.old_pass_rate.value, found.new_pass_rate.value) == (1.0, 1.0)
    assert not found.same_rubric
    assert found.measured == (
        "apart from the judge both runs measured the same; run-1 is scored again by the rubric of "
        f"{new.id}: the pass threshold was 0.7, is 0"
    )


def test_nothing_but_the_judge_differs_from_the_run_that_is_judged_again(store: RunStore) -> None:
    old = old_run(store)
    new = rejudged(store, old, ScriptedModel(reply(1)))
    found = compare_runs(old, new, store, calibration="")
    assert found.same_rubric
    assert found.measured == "apart from the judge both runs measured the same"


def test_a_case_keeps_a_rubric_of_its_own(store: RunStore) -> None:
    own = make_case(id="a", rubric=make_rubric("tone"))
    run = begun(store, answer(key("a"), case=own, said=(said("tone"),)))
    model = ScriptedModel(reply(5))
    rejudged(store, store.run(run.id), model)
    assert {one.subject.criterion for one in model.requests} == {"tone"}


def test_a_case_that_no_judge_was_asked_about_is_not_judged_now(store: RunStore) -> None:
    exact = make_case(id="a", reference="x", evaluation={"strategy": "exact_match"})
    run = begun(store, answer(key("a"), case=exact, said=()))
    model = ScriptedModel(reply(5))
    new = rejudged(store, store.run(run.id), model)
    assert model.requests == []
    assert list(paired_verdicts(store.run(run.id), new, store, Counter())) == []


def test_a_run_that_only_assertions_judged_has_nothing_to_judge_again() -> None:
    with make_judge(ScriptedModel(reply(5))) as judge:
        for panel in (RunPanel(), RunPanel(judges=("heuristic",))):
            with pytest.raises(SettingsError, match="was judged by assertions only"):
                new_rejudgment(make_run(rubric=None, panel=panel), judge, now=START)
        with pytest.raises(SettingsError, match="was judged by assertions only"):
            new_rejudgment(make_run(panel=RunPanel()), judge, now=START)


def test_a_run_whose_cases_have_rubrics_of_their_own_says_how_to_judge_it_again() -> None:
    refused = pytest.raises(SettingsError, match="was judged by rubrics of its cases")
    with make_judge(ScriptedModel(reply(5))) as judge, refused as raised:
        new_rejudgment(make_run(rubric=None), judge, now=START)
    assert "judgekit export run-1 -o outputs.jsonl" in str(raised.value.hint)


def test_a_run_whose_criteria_name_their_judges_says_how_to_judge_it_again() -> None:
    rubric = make_rubric(make_criterion("safe", judge="strict"))
    refused = pytest.raises(SettingsError, match="does not have this name")
    with make_judge(ScriptedModel(reply(5))) as judge, refused as raised:
        new_rejudgment(make_run(rubric=rubric), judge, now=START)
    assert "(of a run: judgekit export) by a rubric without" in str(raised.value.hint)


def failing_on(case_id: str, kind: str) -> ScriptedModel:
    def say(request: ModelRequest) -> Any:
        if request.subject.case_id == case_id:
            return ModelError("no", kind=kind, provider="x")
        return reply(5)

    return ScriptedModel(say)


def test_a_judge_that_fails_leaves_the_run_incomplete_and_the_failure_kept(store: RunStore) -> None:
    old = old_run(store)
    new = rejudged(store, old, failing_on("b", "overloaded"))
    assert new.status == "incomplete"
    found = list(paired_verdicts(old, new, store, Counter()))
    assert [one.new.failures for one in found] == [(), ("overloaded", "overloaded")]


def test_a_key_that_is_refused_ends_it_at_once(store: RunStore) -> None:
    sitting = Session(in_flight=1)
    new = rejudged(store, old_run(store), failing_on("a", "auth"), sitting)
    assert (new.status, sitting.reason) == ("incomplete", "model")
    assert [one.case.id for one in store.results(new.id)] == ["a"]


def test_an_interrupt_finishes_what_was_begun_and_begins_nothing_more(store: RunStore) -> None:
    sitting = Session(in_flight=1)
    sitting.watch = lambda _: sitting.end("interrupted")
    new = rejudged(store, old_run(store), ScriptedModel(reply(5)), sitting)
    assert new.status == "interrupted"
    assert [one.case.id for one in store.results(new.id)] == ["a"]


def test_what_a_limit_withheld_is_not_kept_as_an_answer(store: RunStore) -> None:
    sitting = Session(in_flight=1)
    new = rejudged(store, old_run(store), failing_on("a", "budget"), sitting)
    (result,) = store.results(new.id)
    assert (new.status, result.is_done, result.failures) == ("stopped", False, ())


def test_a_question_that_waits_for_a_slot_is_not_asked_when_the_time_is_over(
    store: RunStore,
) -> None:
    sitting = Session(max_seconds=0.1)

    class Slow(ScriptedModel):
        async def complete(self, request: ModelRequest) -> ModelReply:
            await sitting.stop.wait()
            return await super().complete(request)

    old, model = old_run(store), Slow(reply(5))
    with make_judge(model, max_concurrency=1) as judge:
        new = new_rejudgment(old, judge, now=START)
        ended = asyncio.run(rejudge_run(old, new, judge, store, sitting))
    assert (ended.status, ended.reason) == ("stopped", "the time it may take is used up")
    assert len(model.requests) <= 1
    results = list(store.results(new.id))
    assert sum(len(one.judgments) for one in results) == len(model.requests)
    assert not any(one.failures or one.is_done for one in results if one.output.error is None)


def test_a_judge_whose_time_was_over_judges_a_later_run(store: RunStore) -> None:
    session = Session(max_seconds=0.1)

    class Slow(ScriptedModel):
        async def complete(self, request: ModelRequest) -> ModelReply:
            await session.stop.wait()
            return await super().complete(request)

    old = old_run(store)
    with make_judge(Slow(reply(5)), max_concurrency=1) as judge:
        first = new_rejudgment(old, judge, now=START)
        asyncio.run(rejudge_run(old, first, judge, store, session))
        second = new_rejudgment(old, judge, now=START, token="2")
        ended = asyncio.run(rejudge_run(old, second, judge, store, Session()))
    assert (session.reason, ended.status) == ("time", "complete")
    results = [one for one in store.results(second.id) if one.output.error is None]
    assert all(one.judgments and not one.failures for one in results)


def test_a_run_that_breaks_says_why(store: RunStore) -> None:
    old = old_run(store)
    with pytest.raises(StoreError, match="disk full"):
        rejudged(store, old, ScriptedModel(StoreError("disk full")))
    (newest,) = (run for run in store.runs() if run.id != old.id)
    assert (newest.status, newest.reason) == ("interrupted", "disk full")


def test_a_rejudged_run_can_be_judged_again(store: RunStore) -> None:
    first = rejudged(store, old_run(store), ScriptedModel(reply(5)))
    with make_judge(ScriptedModel(reply(1))) as judge:
        again = new_rejudgment(first, judge, now=START, token="1")
    assert again.config[REJUDGMENT_KEY] == {"run": first.id, "judges": list(first.panel.judges)}
    assert again.config_fingerprint != first.config_fingerprint


def write_template(folder: Path, words: str) -> Path:
    source = "{% block shared %}{{ output | fenced('output') }}{% endblock %}\n"
    source += f"{{% block question %}}{words} {{{{ criterion.question }}}}{{% endblock %}}\n"
    (folder / "mine.j2").write_text(f"{{# judgekit\nasks: criterion\nreply: json\n#}}\n{source}")
    return folder


@pytest.mark.parametrize("is_of_case", [True, False])
def test_an_edited_template_of_a_criterion_is_not_the_judge(
    store: RunStore, tmp_path: Path, *, is_of_case: bool
) -> None:
    rubric = make_rubric(make_criterion("tone", template="mine"), name="own")
    case = make_case(id="a", rubric=rubric if is_of_case else None)
    begun(
        store,
        answer(key("a"), case=case, said=(said("tone"),)),
        rubric=make_rubric("accuracy") if is_of_case else rubric,
    )
    cases = list(store.cases_of_run("run-1"))
    folders = [write_template(tmp_path, "Judge.")]
    with make_judge(ScriptedModel(reply(5)), template_folders=folders) as judge:
        old = new_rejudgment(store.run("run-1"), judge, cases=cases, now=LATER)
    asked = judging_of_run(old)
    assert asked is not None
    assert [*asked.templates] == ["mine" if is_of_case else "tone"]
    with make_judge(ScriptedModel(reply(5)), template_folders=folders) as judge:
        new_rejudgment(old, judge, cases=cases, now=LATER)
    write_template(tmp_path, "Judge harshly.")
    refused = pytest.raises(NotComparableError, match="another version of mine")
    with make_judge(ScriptedModel(reply(5)), template_folders=folders) as judge, refused as raised:
        new_rejudgment(old, judge, cases=cases, now=LATER)
    assert "restore the template" in str(raised.value.hint)
