"""A suite runs its variants at several sizes of the context; judges see the case as it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.store import RunStore
from tests.evaluation.suites import lay_suite, rows

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Run

# A third of the answers goes wrong once the context has more than about 5,000 tokens.
AGENT = """\
from pathlib import Path

def answer(case):
    n_tokens = len(case.context or "") / 4
    Path("called").touch()
    fails = n_tokens > 5000 and int(case.id[1:]) % 3
    return {"text": "wrong" if fails else "right", "usage": {"input_tokens": round(n_tokens)}}
"""
SIZES = [0, "2k", 4000, "8k", "16K"]


def lay_axis(folder: Path, n: int = 30, **suite: Any) -> None:
    known: dict[str, Any] = {"context": SIZES, "variants": [{"id": "v1", "python": "agent:answer"}]}
    lay_suite(folder, n, **(known | suite))
    (folder / "agent.py").write_text(AGENT, encoding="utf-8")


@pytest.mark.no_cover
def test_the_curve_of_a_run_has_its_cliff_and_its_safe_limit(run: Run, tmp_path: Path) -> None:
    lay_axis(tmp_path)
    assert run("run", "-q").code == 0
    found = run("explain", "--threshold", "0.8", "--json").json
    (curve,) = found["curves"]
    assert (curve["variant"], curve["by"]) == ("v1", "added_context_tokens")
    assert [one["low"] for one in curve["bins"]] == [0, 2000, 4000, 8000, 16000]
    assert [one["n_answers"] for one in curve["bins"]] == [30] * 5
    assert (curve["cliff_at"], curve["safe_limit"]) == (8000, 4000)
    assert all(one["value"]["low"] < one["value"]["high"] for one in curve["bins"])
    # Each size is a predictor, and no variant beside it.
    assert "variant" in found["left_out"]
    words = " ".join(run("explain", "--threshold", "0.8").out.split())
    assert "the score of v1 falls at about 8,000 added context tokens" in words
    assert "stays above 0.8 up to 4,000" in words


def test_judges_and_the_store_have_the_case_as_it_is(run: Run, tmp_path: Path) -> None:
    text = json.dumps({"score": 4, "rationale": "It is so."})
    replies = [{"case_id": f"c{k}", "text": text} for k in range(3)]
    (tmp_path / "judge.jsonl").write_text(rows(*replies), encoding="utf-8")
    judge = {"model": "recorded:judge.jsonl"}
    lay_axis(tmp_path, 3, context=["0", "1k"], judge=judge, rubric="rubric.yaml")
    assert run("run", "-q").code == 0
    store = RunStore(tmp_path / ".judgekit" / "judgekit.db")
    try:
        info = store.run("latest")
        results = list(store.results(info.id))
    finally:
        store.close()
    assert {(v.id, v.base_id, v.added_context_tokens) for v in info.variants} == {
        ("v1@0", "v1", 0),
        ("v1@1k", "v1", 1000),
    }
    assert {result.case.context for result in results} == {None}
    assert {r.output.usage.input_tokens > 500 for r in results if r.output.usage} == {False, True}
    # The judge was asked the same about equal outputs of both sizes.
    keys = {(r.case.id, j.criterion): set[str]() for r in results for j in r.judgments}
    for result in results:
        for judgment in result.judgments:
            keys[result.case.id, judgment.criterion].add(str(judgment.reply_key))
    assert {len(found) for found in keys.values()} == {1}


def test_strategies_at_several_sizes_are_compared_at_the_same_size(
    run: Run, tmp_path: Path
) -> None:
    variants = [{"id": name, "python": "agent:answer"} for name in ("v1", "v2")]
    lay_axis(tmp_path, 12, context=["0", "8k"], variants=variants)
    assert run("run", "-q").code == 0
    found = run("explain", "--json").json
    assert [curve["variant"] for curve in found["curves"]] == ["v1", "v2"]
    assert {(one["variant"], one["against"]) for one in found["variants"]} == {
        ("v1@8k", "v1@0"),
        ("v2@0", "v1@0"),
        ("v2@8k", "v1@8k"),
    }


def test_a_plan_counts_the_calls_and_their_tokens(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ask.j2").write_text("{{ context }}\n\n{{ input }}", encoding="utf-8")
    variant = {"id": "v1", "prompt": "ask.j2", "model": "openai/gpt-4.1-mini"}
    lay_axis(tmp_path, 4, context=["0", "2k", "8k"], variants=[variant])
    planned = run("plan", "--json").json
    sent = {one["name"]: one["likely"]["input_tokens"] for one in planned["models"]}
    calls = {one["name"]: one["likely"]["calls"] for one in planned["models"]}
    assert calls == {"v1@0": 4, "v1@2k": 4, "v1@8k": 4}
    assert 4 * 1980 < sent["v1@2k"] - sent["v1@0"] <= 4 * 2000
    assert 4 * 7980 < sent["v1@8k"] - sent["v1@0"] <= 4 * 8000


def test_what_the_sizes_cannot_change_is_refused(run: Run, tmp_path: Path) -> None:
    lay_axis(tmp_path, variants=[{"id": "v1", "outputs": "v1.jsonl"}])
    for command in ("run", "validate"):
        refused = run(command)
        words = " ".join((refused.err + refused.out).split())
        assert refused.code == 2
        assert "variant 'v1' is recorded: no context can be added to it any more" in words
        assert "judgekit explain --by input_tokens" in words
    (tmp_path / "ask.j2").write_text("{{ input }}", encoding="utf-8")
    lay_axis(tmp_path, variants=[{"id": "v1", "prompt": "ask.j2", "model": "openai/m"}])
    refused = run("run")
    assert (refused.code, "does not show the context of a case" in refused.err) == (2, True)


@pytest.mark.parametrize("command", ["run", "plan"])
def test_a_context_that_is_no_text_is_refused_before_any_call(
    run: Run, tmp_path: Path, command: str
) -> None:
    lay_axis(tmp_path)
    last = {"id": "c99", "input": "?", "context": {"title": "x"}}
    with (tmp_path / "cases.jsonl").open("a", encoding="utf-8") as file:
        file.write(rows(last))
    refused = run(command)
    assert (refused.code, "case 'c99': nothing can be added" in refused.err) == (2, True)
    assert not (tmp_path / "called").exists()


def test_recorded_outputs_are_graded_by_a_suite_with_sizes(run: Run, tmp_path: Path) -> None:
    lay_axis(tmp_path)
    graded = run("grade", "v1.jsonl", "-c", "judgekit.yaml", "-q", "--json")
    assert (graded.code, graded.json["variants"][0]["variant"]) == (0, "v1")


@pytest.mark.parametrize(
    ("context", "told"),
    [
        ([], "`context` must not be empty"),
        (["8x"], "a size is a number of tokens such as 8k or 8000, not '8x'"),
        ([1000, "1k"], "the size 1k is named twice"),
        ([-1], "`context` must be 0 or more, not -1"),
        ({"sizes": [0], "place": "top"}, "`context.place`"),
    ],
)
def test_a_wrong_size_is_named(run: Run, tmp_path: Path, context: Any, told: str) -> None:
    lay_axis(tmp_path, context=context)
    refused = run("run")
    assert refused.code == 2
    assert told in refused.err
