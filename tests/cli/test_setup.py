from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from judgekit.cli.judge_options import GradingOptions
from judgekit.cli.setup import grade_setup
from judgekit.errors import SettingsError
from judgekit.resources import shipped_file
from tests.cli.bench import asked, output
from tests.factories import reply
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from tests.cli.bench import Bench

GOOD = ok(reply(5))


def suite(bench: Bench, judge: str, *, at: str = "suite", more: str = "") -> None:
    """A suite of two cases and two variants in a folder of its own."""
    cases = [{"id": case, "input": f"What is {case}?", "tags": [case]} for case in "ab"]
    bench.write(f"{at}/cases.jsonl", *cases)
    for variant in ("v1", "v2"):
        rows = [{"case_id": case, "text": f"answer {case} of {variant}"} for case in "ab"]
        bench.write(f"{at}/{variant}.jsonl", *rows)
    bench.write(
        f"{at}/judgekit.yaml",
        f"name: s\ndataset: cases.jsonl\nrubric: ../rubric.yaml\njudge: {judge}\n"
        "variants:\n  - {id: v1, outputs: v1.jsonl}\n  - {id: v2, outputs: v2.jsonl}\n",
        more,
    )


def test_a_suite_file_in_the_folder_says_everything(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAILikeServer(GOOD) as server:
        suite(bench, f"{{model: openai/m, api_base: '{server.url}'}}")
        monkeypatch.chdir(bench.folder / "suite")
        ran = bench.run("grade", "--json")
        assert server.n_requests == 8
    assert ran.code == 0
    assert [v["variant"] for v in ran.json["summary"]["variants"]] == ["v1", "v2"]


def test_a_suite_elsewhere_is_named_and_its_paths_are_its_own(bench: Bench) -> None:
    replies = [{"case_id": case, "text": reply(4)} for case in "ab"]
    bench.write("suite/replies.jsonl", *replies)
    suite(bench, "'recorded:replies.jsonl'")
    assert bench.run("grade", "-c", "suite/judgekit.yaml", "-q").code == 0


def test_a_suite_may_be_named_by_the_environment(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write("suite/replies.jsonl", *({"case_id": c, "text": reply(4)} for c in "ab"))
    suite(bench, "'recorded:replies.jsonl'")
    monkeypatch.setenv("JUDGEKIT_CONFIG", "suite/judgekit.yaml")
    assert bench.run("grade", "-q").code == 0


def test_cases_may_stand_in_the_suite_file(bench: Bench) -> None:
    bench.write("judgekit.yaml", "name: s\ncases: [{id: a, input: 'One?'}]\n")
    bench.write("outputs.jsonl", {"case_id": "a", "text": "answer a"})
    with OpenAILikeServer(GOOD) as server:
        assert bench.grade(server).code == 0
        assert "One?" in asked(server.requests[0])


def test_options_come_before_the_suite_file(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        suite(bench, "{model: openai/theirs, temperature: 0.9, max_tokens: 50, repeats: 2}")
        bench.ask(server, "grade", "-c", "suite/judgekit.yaml", "--repeats", 1, "-n", 1)
        bodies = [seen.body for seen in server.requests]
    assert len(bodies) == 2
    assert {(b["model"], b["temperature"], b["max_tokens"]) for b in bodies} == {("m", 0.9, 50)}


def test_the_environment_comes_before_the_suite_file_and_after_options(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAILikeServer(GOOD) as server:
        suite(bench, f"{{model: openai/theirs, api_base: '{server.url}', temperature: 0.9}}")
        monkeypatch.setenv("JUDGEKIT_TEMPERATURE", "0.5")
        monkeypatch.setenv("JUDGEKIT_REPEATS", "3")
        arguments = ("grade", "-c", "suite/judgekit.yaml", "-n", 1)
        bench.run(*arguments, "--repeats", 1)
        bodies = [seen.body for seen in server.requests]
    assert [(body["model"], body["temperature"]) for body in bodies] == [("theirs", 0.5)] * 2


def test_rubric_cases_and_a_cache_unused_may_be_named_by_the_environment(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write("asked.jsonl", {"id": "a", "input": "One of the environment?"})
    bench.write("outputs.jsonl", {"case_id": "a", "text": "x"})
    for name, value in (("RUBRIC", "rubric.yaml"), ("CASES", "asked.jsonl"), ("NO_CACHE", "1")):
        monkeypatch.setenv(f"JUDGEKIT_{name}", value)
    with OpenAILikeServer(GOOD) as server:
        assert bench.ask(server, "grade", "outputs.jsonl").code == 0
        assert "One of the environment?" in asked(server.requests[0])
    assert not (bench.folder / ".judgekit" / "cache").exists()


def test_a_judge_may_be_named_by_the_environment(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAILikeServer(GOOD) as server:
        monkeypatch.setenv("JUDGEKIT_JUDGE", "openai/m")
        monkeypatch.setenv("JUDGEKIT_API_BASE", server.url)
        ran = bench.run("grade", "outputs.jsonl", "--rubric", "rubric.yaml")
        assert server.n_requests == 8
    assert ran.code == 0


def test_a_setting_that_is_null_in_the_suite_is_left_to_the_provider(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        suite(bench, f"{{model: openai/m, api_base: '{server.url}', temperature: null}}")
        bench.run("grade", "-c", "suite/judgekit.yaml", "-n", 1)
        assert all("temperature" not in seen.body for seen in server.requests)


def test_another_judge_is_not_looked_for_at_the_suites_address(bench: Bench) -> None:
    suite(bench, "{model: openai/theirs, api_base: 'http://127.0.0.1:9/v1', max_tokens: 50}")
    config = bench.folder / "suite" / "judgekit.yaml"
    own = GradingOptions(config=config, no_cache=True)
    other = GradingOptions(config=config, no_cache=True, judge_model="other/m")
    assert grade_setup(own).judge.connection.api_base is not None
    assert grade_setup(other).judge.connection.api_base is None


def test_every_judge_of_a_panel_is_asked_or_the_one_that_is_named(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        own = f"api_base: '{server.url}', max_tokens: 50"
        panel = f"[{{model: openai/one, {own}}}, {{model: openai/two, {own}}}]"
        suite(bench, panel)
        options = ("grade", "-c", "suite/judgekit.yaml", "-n", 1)
        unnamed = bench.run(*options)
        named = bench.run(*options, "--judge", "openai/two")
        assert {seen.body["max_tokens"] for seen in server.requests} == {50}
        assert {seen.body["model"] for seen in server.requests} == {"one", "two"}
    assert (unnamed.code, named.code) == (0, 0)
    assert ("panel " in unnamed.out, "panel " in named.out) == (True, False)


def test_one_variant_of_a_suite_may_be_picked(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        suite(bench, f"{{model: openai/m, api_base: '{server.url}'}}")
        bench.run("grade", "-c", "suite/judgekit.yaml", "--variant", "v2")
        assert server.n_requests == 4
        assert all("of v2" in asked(seen) for seen in server.requests)


def test_a_variant_the_suite_does_not_have_is_refused_with_those_it_has(bench: Bench) -> None:
    suite(bench, "openai/m")
    ran = bench.run("grade", "-c", "suite/judgekit.yaml", "--variant", "v3")
    assert ran.code == 2
    assert "no variant is called 'v3'" in ran.err
    assert "known: v1, v2" in ran.err


def test_a_suite_without_recorded_outputs_has_nothing_to_grade(bench: Bench) -> None:
    bench.write("judgekit.yaml", "name: s\ncases: [{id: a, input: x}]\nrubric: helpfulness\n")
    ran = bench.run("grade", "--judge", "openai/m")
    assert ran.code == 2
    assert "no outputs are named" in ran.err


def test_an_unsound_suite_file_is_named_with_its_line(bench: Bench) -> None:
    suite(bench, "openai/m", more="variant: []\n")
    ran = bench.run("grade", "-c", "suite/judgekit.yaml")
    assert ran.code == 2
    assert "judgekit.yaml" in ran.err
    assert "variants" in ran.err


def test_templates_beside_the_suite_come_before_the_shipped(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        suite(bench, f"{{model: openai/m, api_base: '{server.url}'}}")
        bench.write("suite/prompts/partials/guard.j2", "Be as strict as a customs officer.\n")
        assert bench.run("grade", "-c", "suite/judgekit.yaml").code == 0
        assert all("customs officer" in asked(seen) for seen in server.requests)


def test_templates_of_a_folder_that_is_named_come_first(bench: Bench) -> None:
    bench.write("own/partials/guard.j2", "Be as strict as a customs officer.\n")
    with OpenAILikeServer(GOOD) as server:
        assert bench.grade(server, "--templates", "own").code == 0
        assert all("customs officer" in asked(seen) for seen in server.requests)


def test_answers_may_be_read_more_than_once(bench: Bench) -> None:
    options = GradingOptions(
        outputs=(bench.folder / "outputs.jsonl",),
        rubric="rubric.yaml",
        judge_model="openai/m",
        no_cache=True,
        sample=3,
        limit=2,
    )
    setup = grade_setup(options)
    first = [case.id for case, _ in setup.answers()]
    assert first == [case.id for case, _ in setup.answers()]
    assert len(first) == 2


def test_nothing_left_to_grade_is_an_error_and_no_empty_table(bench: Bench) -> None:
    bench.write("outputs.jsonl", output("a"))
    options = GradingOptions(
        outputs=(bench.folder / "outputs.jsonl",),
        rubric="rubric.yaml",
        judge_model="openai/m",
        no_cache=True,
        filter_tag=("x", "y"),
    )
    with pytest.raises(SettingsError, match="no case has the tag x or y"):
        grade_setup(options).check()


def test_a_template_of_the_suite_is_looked_for_beside_it(bench: Bench) -> None:
    shipped = shipped_file("prompts", "pointwise", "criterion.j2").read_text(encoding="utf-8")
    bench.write("suite/own/strict.j2", shipped.replace("strictly", "most pedantically"))
    with OpenAILikeServer(GOOD) as server:
        judge = f"{{model: openai/m, api_base: '{server.url}', template: own/strict.j2}}"
        suite(bench, judge)
        assert bench.run("grade", "-c", "suite/judgekit.yaml", "-q").code == 0
        assert all("most pedantically" in asked(seen) for seen in server.requests)


def test_a_template_of_the_suite_may_be_a_shipped_one(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        name = "pointwise/no_reference"
        suite(bench, f"{{model: openai/m, api_base: '{server.url}', template: {name}}}")
        ran = bench.run("grade", "-c", "suite/judgekit.yaml")
    assert ran.code == 0
    assert name in ran.out
