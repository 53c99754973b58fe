"""Runs whose answers are scored, compared and evaluated by strategies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import SettingsError
from judgekit.evaluation import (
    ExecutionOptions,
    Session,
    conclude_result,
    prepare_run,
    summarize_run,
)
from judgekit.evaluation.runner import new_run
from judgekit.evaluation.schedule import require_same_run
from judgekit.models.cache import MemoryCache
from judgekit.records import EmbeddingUsage, Output, Usage
from judgekit.report.run import run_notes
from tests.evaluation.suites import NOW, Bench, Told, rows
from tests.factories import reply
from tests.models.embedding import embedded
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.evaluation import Outcome
    from judgekit.testing import ServedReply, ServedRequest

    MakeBench = Callable[..., Bench]

EMBEDDER = "openai/text-embedding-3-small"


def cases(small: Bench, *fields: dict[str, Any]) -> Bench:
    """The suite with these cases, called c0 and so on."""
    text = rows(*({"id": f"c{k}", "input": "?", **each} for k, each in enumerate(fields)))
    (small.path.parent / "cases.jsonl").write_text(text, encoding="utf-8")
    return small


def answers(small: Bench) -> list[Outcome]:
    """What the run's answers come to."""
    assert small.run is not None
    return [conclude_result(result, small.run) for result in small.results()]


def embedding(server: OpenAILikeServer, **fields: Any) -> dict[str, Any]:
    return {"type": "similarity", "method": "embedding", "model": EMBEDDER,
            "api_base": server.url, **fields}  # fmt: skip


PRICES = {EMBEDDER: {"input_usd": 1000, "output_usd": 0}}


async def test_every_answer_is_scored_and_the_means_are_shown(bench: MakeBench) -> None:
    scorers = ["latency", {"type": "tokens", "max_tokens": 100, "weight": 3}, "cost"]
    small = bench(n=2, judge=None, scorers=scorers)
    usage = Usage(input_tokens=10, output_tokens=10)
    made = Output(text="right", duration_ms=30_000, usage=usage)
    run = await small.sit(Told(lambda *_: made))
    first = answers(small)[0]
    assert [(s.name, s.value) for s in first.scores] == [
        ("latency", 0.5), ("tokens", 0.8), ("cost", None)
    ]  # fmt: skip
    assert first.overall == pytest.approx((0.5 + 3 * 0.8) / 4)
    summary = summarize_run(small.results(), run)
    found = summary.variants[0].scores
    assert list(found) == ["latency", "tokens", "cost", "overall"]
    assert found["tokens"].value == pytest.approx(0.8, abs=0.1)
    assert any("cost not measured, overall 0." in text for _, text in run_notes(summary))


async def test_the_judges_score_is_worked_out_of_the_verdict(bench: MakeBench) -> None:
    with OpenAILikeServer(lambda _: ok(reply(4))) as server:
        judge = {"model": "openai/m", "api_base": server.url, "max_retries": 0}
        scorers = [{"type": "judge", "name": "quality"}, "latency"]
        small = bench(n=1, judge=judge, rubric="rubric.yaml", scorers=scorers)
        await small.sit()
    (answer,) = answers(small)
    assert [score.name for score in answer.result.scores] == ["latency"]
    assert (answer.scores[0].name, answer.scores[0].value) == ("quality", 0.75)


async def test_without_a_verdict_the_judges_score_says_why(bench: MakeBench) -> None:
    small = bench(n=1, judge=None, scorers=["judge"])
    await small.sit()
    (score,) = answers(small)[0].scores
    assert (score.value, score.error) == (None, "no judge was called")
    assert answers(small)[0].overall is None


async def test_texts_are_compared_by_a_model_of_embeddings(bench: MakeBench) -> None:
    cache = MemoryCache()
    with OpenAILikeServer(embedded) as server:
        scorers = [embedding(server, name="meaning"), {"type": "similarity", "method": "lexical"}]
        small = bench({"cache": cache}, n=1, judge=None, assertions=None, scorers=scorers)
        similar = {"type": "similar", "value": "days", "threshold": 0.5}
        group = {"type": "any", "assertions": [similar]}
        own = {"reference": "refund in days", "assertions": [similar, group]}
        semantic = {"reference": "refund", "evaluation": {"strategy": "semantic_sim"}}
        await cases(small, own, semantic).sit(Told(lambda *_: "A refund within days"))
        assert server.n_requests == 4
    first, second = answers(small)
    assert [(s.name, s.method) for s in first.scores] == [
        ("meaning", f"semantic: {EMBEDDER}"), ("similarity", "lexical: token sort ratio")
    ]  # fmt: skip
    assert first.passed
    assert first.scores[0].value == pytest.approx(1.0)
    assert second.outcome is not None
    assert (second.outcome.strategy, second.passed) == ("semantic_sim", True)
    assert f"semantic: {EMBEDDER}" in second.outcome.feedback


async def test_an_answer_is_kept_when_its_vectors_cannot_be_had_now(bench: MakeBench) -> None:
    is_down = [True]

    def sometimes(seen: ServedRequest) -> str | ServedReply:
        return "401" if is_down[0] else embedded(seen)

    with OpenAILikeServer(sometimes) as server:
        small = bench(n=1, judge=None, scorers=[embedding(server)])
        cases(small, {"reference": "refund"})
        target, session = Told(), Session()
        run = await small.sit(target, session=session)
        assert (run.status, session.reason) == ("incomplete", "model")
        (result,) = small.results()
        assert (result.output.text, result.checks, result.is_done) == ("right", (), False)
        is_down[0] = False
        run = await small.sit(target)
        assert (run.status, len(target.asked)) == ("complete", 1)
    (result,) = small.results()
    assert [check.passed for check in result.checks] == [True]
    assert [score.name for score in result.scores] == ["similarity"]


async def test_money_for_embeddings_is_limited(bench: MakeBench) -> None:
    with OpenAILikeServer(embedded) as server:
        scorers = [embedding(server)]
        small = bench({"max_cost_usd": 0.5}, n=1, judge=None, scorers=scorers, prices=PRICES)
        session = Session()
        run = await cases(small, {"reference": "refund"}).sit(session=session)
        assert server.n_requests == 0
    assert (run.status, session.reason) == ("stopped", "budget")


async def test_what_vectors_cost_is_kept_with_what_compared_them(bench: MakeBench) -> None:
    with OpenAILikeServer(embedded) as server:
        small = bench(
            {"cache": MemoryCache()}, n=2, judge=None, scorers=[embedding(server)], prices=PRICES
        )
        similar = {"type": "similar", "value": "refund", "threshold": 0.1}
        await cases(small, {"reference": "refund", "assertions": [similar]}).sit(Told())
        assert server.n_requests == 2
    (result,) = small.results()
    asked = result.scores[0].asked
    assert asked == EmbeddingUsage(n_calls=2, input_tokens=14, cost_usd=0.014)
    assert [check.asked for check in result.checks] == [None, None]  # the scorer has it
    assert small.run is not None
    summary = summarize_run([result], small.run)
    money = summary.variants[0].money
    assert (money.checks_usd, money.is_complete) == (0.014, True)
    assert any(
        text.startswith("v1: $0.01") for label, text in run_notes(summary) if label == "cost"
    )


async def test_vectors_that_are_owned_cost_nothing_and_say_what_they_save(bench: MakeBench) -> None:
    cache = MemoryCache()
    with OpenAILikeServer(embedded) as server:
        for _ in range(2):
            small = bench(
                {"cache": cache}, n=1, judge=None, assertions=None, scorers=[embedding(server)],
                prices=PRICES,
            )  # fmt: skip
            await cases(small, {"reference": "refund"}).sit(Told())
        assert server.n_requests == 2
    (result,) = small.results()
    assert result.scores[0].asked == EmbeddingUsage(n_owned=2, cost_usd=0.0, saved_usd=0.014)
    assert small.run is not None
    assert summarize_run([result], small.run).variants[0].money.saved_usd == pytest.approx(0.014)


async def test_a_group_of_similar_assertions_has_what_its_members_asked(bench: MakeBench) -> None:
    similar = {"type": "similar", "value": "days", "threshold": 0.1}
    group = {"type": "any", "assertions": [similar]}
    with OpenAILikeServer(embedded) as server:
        small = bench(n=1, judge=None, assertions=[group], scorers=[embedding(server)])
        await small.sit(Told())  # no reference: the scorer compares nothing
    (result,) = small.results()
    assert result.scores[0].asked is None
    assert result.checks[0].asked == EmbeddingUsage(n_calls=2, input_tokens=14)


async def test_a_resumed_run_counts_what_earlier_sittings_paid_for_vectors(
    bench: MakeBench,
) -> None:
    is_down = [True]

    def first_alone(seen: ServedRequest) -> str | ServedReply:
        return "401" if is_down[0] and seen.body["input"] == "right" else embedded(seen)

    with OpenAILikeServer(first_alone) as server:
        small = bench(n=1, judge=None, scorers=[embedding(server)], prices=PRICES)
        cases(small, {"reference": "refund"})
        await small.sit(Told())
        (result,) = small.results()
        assert [score.error is None for score in result.scores] == [False]
        is_down[0] = False
        await small.sit(Told())
        (result,) = small.results()
        assert result.scores[0].asked == EmbeddingUsage(n_calls=2, input_tokens=14, cost_usd=0.014)
        assert server.n_requests == 4
        # 0.007 in the first sitting, for one text of two; without a cache both again then.
        assert small.run is not None
        small.asking = ExecutionOptions(cache=None, max_cost_usd=5)
        opened = small.open()
        prepare_run(opened, small.store, small.run, now=NOW)
        assert opened.budget is not None
        assert opened.budget.spent_usd == pytest.approx(0.021)
        await opened.aclose()


async def test_what_cannot_be_had_twice_is_paid_once_and_counted_each_time(
    bench: MakeBench,
) -> None:
    def reference_alone(seen: ServedRequest) -> str | ServedReply:
        return "401" if seen.body["input"] == "right" else embedded(seen)

    with OpenAILikeServer(reference_alone) as server:
        small = bench(n=1, judge=None, scorers=[embedding(server)], prices=PRICES)
        cases(small, {"reference": "refund"})
        for _ in range(2):
            run = await small.sit(Told())
    spent = small.store.spent_usd(run.id, is_owned=lambda *_: False)
    assert spent == pytest.approx(0.014)


@pytest.mark.parametrize(
    ("scorer", "what"),
    [
        ({"method": "embedding"}, "'similarity' needs a `model` of embeddings"),
        ({"model": "openai/e"}, "calls a model only with `method: embedding`"),
        ({"name": "overall"}, "no scorer may be called 'overall'"),
    ],
)
def test_a_similarity_that_cannot_be_measured_is_refused(
    bench: MakeBench, scorer: dict[str, Any], what: str
) -> None:
    with pytest.raises(SettingsError, match=what):
        bench(scorers=[{"type": "similarity", **scorer}]).open()


def test_the_suites_scorer_says_how_similarities_are_measured(bench: MakeBench) -> None:
    plans = bench(scorers=[{"type": "similarity"}]).open().plans
    assert plans.means.arguments() == {"method": "lexical"}
    assert bench().open().plans.means.arguments() == {"method": "best"}


def test_the_profile_and_the_scorers_belong_to_what_a_run_is(bench: MakeBench) -> None:
    begun = new_run(bench().open(), now=NOW)
    fresh = new_run(bench(scorers=["latency"]).open(), now=NOW)
    with pytest.raises(SettingsError, match="the profile or the scorers"):
        require_same_run(begun, fresh)


async def test_a_profile_decides_what_cases_leave_open(bench: MakeBench) -> None:
    small = bench(judge=None, assertions=None, profile="deterministic")
    pattern = {"type": "regex", "value": "^r"}
    cases(small, {"reference": "right"}, {"reference": "wrong"}, {"assertions": [pattern]})
    await small.sit(Told())
    found = [answer.outcome for answer in answers(small)]
    assert [(o.strategy, o.passed) for o in found if o is not None] == [
        ("exact_match", True), ("exact_match", False), ("regex_match", True)
    ]  # fmt: skip


async def test_a_judge_is_not_asked_about_a_case_with_another_strategy(bench: MakeBench) -> None:
    with OpenAILikeServer(lambda _: ok(reply(1))) as server:
        judge = {"model": "openai/m", "api_base": server.url, "max_retries": 0}
        small = bench(judge=judge, rubric="rubric.yaml")
        exact = {"reference": "right", "evaluation": {"strategy": "exact_match"}}
        run = await cases(small, exact, {}).sit(Told())
        assert (server.n_requests, run.status) == (2, "complete")
    first, second = answers(small)
    assert (first.verdict, first.passed, first.value) == (None, True, 1.0)
    assert (second.outcome, second.passed, second.value) == (None, False, 0.0)


async def test_an_assertion_of_the_suite_must_hold_beside_the_strategy(bench: MakeBench) -> None:
    small = bench(judge=None)
    exact = {"reference": "wrong", "evaluation": {"strategy": "exact_match"}}
    await cases(small, exact).sit(Told(lambda *_: "wrong"))
    (answer,) = answers(small)
    assert answer.outcome is not None
    assert (answer.outcome.passed, answer.passed, answer.value) == (True, False, 1.0)


async def test_a_script_decides_and_scores(bench: MakeBench) -> None:
    script = {"type": "custom.script", "script": "look.py", "name": "length"}
    small = bench({"allow_scripts": True}, judge=None, assertions=None, scorers=[script])
    (small.path.parent / "look.py").write_text(
        "def evaluate(output):\n    return 0.8\n", encoding="utf-8"
    )
    own = {"strategy": "custom", "script": "look.py", "threshold": 0.7}
    await cases(small, {"evaluation": own}).sit(Told())
    (answer,) = answers(small)
    assert (answer.passed, answer.value) == (True, 0.8)
    assert [(s.name, s.value) for s in answer.scores] == [("length", 0.8)]


async def test_a_case_may_have_more_time_than_the_suite_gives(bench: MakeBench) -> None:
    small = bench(judge=None, settings={"timeout_s": 0.01})
    own = {"evaluation": {"strategy": "exact_match", "timeout_s": 30}, "reference": "right"}

    class Slow(Told):
        async def answer(self, case: Any, *, repeat: int = 0) -> Output:
            for _ in range(300 if case.id == "c0" else 100_000):
                await super().answer(case, repeat=repeat)
            return Output(text="right")

    await cases(small, own, {}).sit(Slow())
    first, second = small.results()
    assert first.output.error is None
    assert second.output.error_kind == "timeout"
    assert "took longer than 0.01 s (settings.timeout_s)" in str(second.output.error)
