from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.bench import asked, output, scores, values
from tests.factories import reply
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from tests.cli.bench import Bench

GOOD = ok(reply(5))
RUBRIC = ("--rubric", "rubric.yaml")
HOSTILE = "[red]x[/] [/] :warning: \x1b[31m\u202e"
SHOWN = r"[red]x[/] [/] :warning: \x1b[31m\u202e"


def test_outputs_are_graded_and_the_table_goes_to_stdout(bench: Bench) -> None:
    with OpenAILikeServer(scores(d=1)) as server:
        ran = bench.grade(server)
        assert server.n_requests == 8
    assert ran.code == 0
    assert "outputs: 4 cases; answers passes from 0.7" in ran.out
    assert "3/4" in ran.out
    assert "fail  d, outputs, 0.00" in ran.out
    assert "graded 4 of 4" in ran.err


def test_without_a_judge_nothing_is_graded_and_it_is_said_how_to_name_one(bench: Bench) -> None:
    ran = bench.run("grade", "outputs.jsonl", *RUBRIC)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: no judge is named\n  give --judge openai/")


def test_without_a_rubric_a_shipped_one_is_suggested(bench: Bench) -> None:
    ran = bench.run("grade", "outputs.jsonl", "--judge", "openai/m")
    assert (ran.code, ran.out) == (2, "")
    assert "no rubric is named" in ran.err
    assert "--rubric helpfulness" in ran.err


def test_without_outputs_it_is_said_how_to_name_them(bench: Bench) -> None:
    ran = bench.run("grade", *RUBRIC, "--judge", "openai/m")
    assert ran.code == 2
    assert "no outputs are named" in ran.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.jsonl"], "'nowhere.jsonl' does not exist"),
        (["outputs.jsonl", "--rubric", "helpfulnes"], "did you mean helpfulness?"),
        (["outputs.jsonl", "--rubric", "nowhere.yaml"], "nowhere.yaml"),
        (["outputs.jsonl", *RUBRIC, "--template", "pointwise/criterium"], "pointwise/criterion"),
        (["outputs.jsonl", *RUBRIC, "--mode", "both"], "per_criterion"),
        (["outputs.jsonl", *RUBRIC, "--repeats", "0"], "--repeats"),
        (["outputs.jsonl", *RUBRIC, "--refresh", "--frozen"], "contradict each other"),
        (["outputs.jsonl", *RUBRIC, "--no-cache", "--frozen"], "contradict each other"),
        (["outputs.jsonl", *RUBRIC, "--filter-tag", "refunds"], "no case has the tag refunds"),
        (["outputs.jsonl", *RUBRIC, "-o", "verdicts.xlsx"], ".parquet"),
        (["outputs.jsonl", *RUBRIC, "-o", "nowhere/verdicts.csv"], "no folder nowhere"),
        (
            ["outputs.jsonl", *RUBRIC, "-o", "outputs.jsonl"],
            "would overwrite outputs.jsonl, which this command reads",
        ),
    ],
)
def test_what_cannot_work_is_an_error_before_anything_is_asked(
    bench: Bench, arguments: list[str], words: str
) -> None:
    with OpenAILikeServer(GOOD) as server:
        ran = bench.ask(server, "grade", *arguments)
        assert server.n_requests == 0
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


def test_an_unsound_row_is_named_by_file_and_line_before_anything_is_asked(bench: Bench) -> None:
    bench.write("outputs.jsonl", output("a"), output("b"), '{"case_id": "c", "txet": "x"}\n')
    with OpenAILikeServer(GOOD) as server:
        ran = bench.grade(server)
        assert server.n_requests == 0
    assert (ran.code, ran.out) == (2, "")
    assert "outputs.jsonl:3: " in ran.err


def test_an_error_shows_foreign_text_without_running_it(bench: Bench) -> None:
    ran = bench.run("grade", "outputs.jsonl", "--judge", "openai/m", "--rubric", HOSTILE)
    assert ran.code == 2
    assert "\x1b" not in ran.err


def test_recorded_replies_judge_without_a_key(bench: Bench) -> None:
    rows = [{"case_id": case, "text": reply(4)} for case in "abcd"]
    bench.write("replies.jsonl", *rows)
    ran = bench.run("grade", "outputs.jsonl", *RUBRIC, "--judge", "recorded:replies.jsonl")
    assert ran.code == 0
    assert "4/4" in ran.out
    assert "$0 spent" in ran.out


def test_recorded_replies_that_nobody_asked_for_are_told_once(bench: Bench) -> None:
    rows = [{"case_id": case, "repeat": n, "text": reply(4)} for case in "abcd" for n in range(3)]
    bench.write("replies.jsonl", *rows)
    judge = ("--judge", "recorded:replies.jsonl")
    ran = bench.run("grade", "outputs.jsonl", *RUBRIC, *judge)
    assert ran.code == 0
    told = "replies.jsonl: 8 of 12 rows were not used: repeats 1, 2\n"
    assert ran.err.count(told) == ran.err.count("not used") == 1
    whole = bench.run("grade", "outputs.jsonl", *RUBRIC, *judge, "--repeats", "3")
    assert "not used" not in whole.err


def test_outputs_without_what_was_asked_are_graded_alone_and_that_is_said(bench: Bench) -> None:
    bench.write("outputs.jsonl", {"case_id": "a", "text": "x"}, output("b"))
    with OpenAILikeServer(GOOD) as server:
        ran = bench.grade(server)
        prompts = [json.dumps(request.body) for request in server.requests]
    assert ran.code == 0, ran.err
    assert "1 of 2 outputs without an input: the judge sees only the output" in ran.err
    assert "2/2" in ran.out
    assert not any("null\\n</input" in prompt for prompt in prompts)


def test_no_more_is_spent_than_allowed_and_the_cap_has_an_exit_code(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        ran = bench.run(
            *("grade", "outputs.jsonl", *RUBRIC, "--judge", "openai/gpt-4.1-mini"),
            *("--api-base", server.url, "--max-cost", "0.000001"),
        )
        assert server.n_requests == 0
    assert ran.code == 5, ran.err
    assert "the cost limit allows no further call" in ran.err
    assert "Resume with: the same command with --resume" in ran.err


def test_a_recording_with_a_gap_leaves_the_result_incomplete(bench: Bench) -> None:
    bench.write("replies.jsonl", *({"case_id": case, "text": reply(4)} for case in "abc"))
    ran = bench.run("grade", "outputs.jsonl", *RUBRIC, "--judge", "recorded:replies.jsonl")
    assert ran.code == 3
    assert "3/3 +1?" in ran.out
    assert "holds no reply for case 'd'" in ran.out


def test_json_is_all_there_is_on_stdout_and_nothing_is_undefined(bench: Bench) -> None:
    bench.write("outputs.jsonl", output("a"), output("b", text=None, error="timed out"))
    with OpenAILikeServer(GOOD) as server:
        ran = bench.grade(server, "--json")
    assert ran.code == 0
    assert ran.err == ""
    found = json.loads(ran.out, parse_constant=pytest.fail)
    assert found["summary"]["variants"][0]["n_errors"] == 1
    assert [verdict["passed"] for verdict in found["verdicts"]] == [True, None]


def test_json_has_null_where_a_figure_is_undefined(bench: Bench) -> None:
    bench.write("outputs.jsonl", output("b", text=None, error="timed out"))
    with OpenAILikeServer(GOOD) as server:
        (variant,) = bench.grade(server, "--json").json["summary"]["variants"]
        assert server.n_requests == 0
    assert variant["pass_rate"]["value"] is None


def test_outputs_that_are_errors_are_counted_apart_and_not_judged(bench: Bench) -> None:
    bench.write("outputs.jsonl", output("a"), output("b", text=None, error="timed out"))
    with OpenAILikeServer(GOOD) as server:
        ran = bench.grade(server)
        assert server.n_requests == 2
    assert ran.code == 0
    assert "1/1" in ran.out
    assert "outputs: 1 answer: recorded as an error" in ran.out


def test_quiet_says_only_the_table(bench: Bench) -> None:
    with OpenAILikeServer(scores(d=1)) as server:
        ran = bench.grade(server, "-q", "-o", "verdicts.csv")
    assert ran.err == ""
    assert "Not passed" not in ran.out
    assert "3/4" in ran.out


def test_verbose_says_every_verdict_with_every_reason(bench: Bench) -> None:
    with OpenAILikeServer(scores(d=1)) as server:
        ran = bench.grade(server, "-v")
    for case in "abc":
        assert f"pass  {case}" in ran.out
    assert ran.out.count("The policy is quoted.") == 8


def test_foreign_text_is_shown_and_never_run(bench: Bench) -> None:
    bench.write("outputs.jsonl", output("a", text=HOSTILE, variant=HOSTILE, case_id=HOSTILE))
    said = reply(1, rationale=HOSTILE, evidence=[HOSTILE])
    with OpenAILikeServer(ok(said)) as server:
        for options in ([], ["-v"], ["-q"]):
            ran = bench.grade(server, *options)
            assert ran.code == 0
            assert (SHOWN if options != ["-q"] else SHOWN[:23]) in ran.out
            assert "\x1b" not in ran.out + ran.err


def test_a_pass_rate_that_is_reached_passes(bench: Bench) -> None:
    with OpenAILikeServer(scores(d=1)) as server:
        assert bench.grade(server, "--fail-under", "0.75").code == 0


def test_a_pass_rate_below_the_one_wanted_fails_and_says_whose(bench: Bench) -> None:
    bench.write("outputs.jsonl", output("a", variant="v1"), output("d", variant="v2"))
    with OpenAILikeServer(scores(d=1)) as server:
        ran = bench.grade(server, "--fail-under", "0.76", "-q")
    assert ran.code == 1
    assert ran.err == "v2: pass rate 0 % [0, 79] is below --fail-under 0.76\n"


def test_a_pass_rate_of_nothing_judged_decides_nothing(bench: Bench) -> None:
    bench.write("outputs.jsonl", output("a", text=None, error="timed out"))
    with OpenAILikeServer(GOOD) as server:
        ran = bench.grade(server, "--fail-under", "0.5")
    assert ran.code == 3
    assert "nothing was decided: the only answer is an error of its variant" in ran.err


def test_a_failing_judge_outweighs_a_failing_rate(bench: Bench) -> None:
    with OpenAILikeServer("malformed") as server:
        assert bench.grade(server, "--fail-under", "1").code == 3


def test_only_the_first_so_many_are_graded(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        assert list(values(bench.grade(server, "-n", 2, "--json"))) == ["a", "b"]
        assert server.n_requests == 4


def test_a_sample_is_the_same_for_the_same_seed_and_in_file_order(bench: Bench) -> None:
    bench.write("outputs.jsonl", *(output(f"case-{n:02}") for n in range(30)))
    with OpenAILikeServer(GOOD) as server:

        def drawn(seed: int) -> list[str]:
            return list(values(bench.grade(server, "--sample", 5, "--seed", seed, "--json")))

        first, again, other = drawn(1), drawn(1), drawn(2)
    assert first == again == sorted(first)
    assert first != other
    assert len(first) == 5


def test_a_sample_of_more_than_there_are_is_all_of_them(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        assert len(values(bench.grade(server, "--sample", 9, "--json"))) == 4


def test_only_cases_with_a_wanted_tag_are_graded(bench: Bench) -> None:
    tags = {"a": ["easy"], "b": ["hard"], "c": [], "d": ["odd", "hard"]}
    cases = [{"id": case, "input": "?", "tags": tags[case]} for case in "abcd"]
    bench.write("cases.jsonl", *cases)
    wanted = ("--cases", "cases.jsonl", "--filter-tag", "hard", "--filter-tag", "easy")
    with OpenAILikeServer(GOOD) as server:
        assert sorted(values(bench.grade(server, *wanted, "--json"))) == ["a", "b", "d"]


def test_an_output_of_an_unknown_case_is_refused_with_near_names(bench: Bench) -> None:
    bench.write("cases.jsonl", *({"id": f"{case}{case}", "input": "?"} for case in "abcd"))
    with OpenAILikeServer(GOOD) as server:
        ran = bench.grade(server, "--cases", "cases.jsonl")
    assert ran.code == 2
    assert "no output belongs to a case: none has the id 'a' or that of another one" in ran.err
    assert "did you mean `aa`?" in ran.err
    assert "to grade the rows by inputs of their own: --cases outputs.jsonl" in ran.err


def test_outputs_that_are_named_as_cases_too_have_them_in_their_rows(bench: Bench) -> None:
    bench.write("other.jsonl", {"id": "z", "input": "?"})
    bench.write("judgekit.yaml", "name: s\ndataset: other.jsonl\nrubric: rubric.yaml\n")
    with OpenAILikeServer(GOOD) as server:
        assert bench.grade(server).code == 2
        ran = bench.grade(server, "--cases", "./outputs.jsonl", "--json")
    assert ran.code == 0, ran.err
    assert sorted(values(ran)) == ["a", "b", "c", "d"]
    bench.write("judgekit.yaml", "name: s\ndataset: x\nvariants: [{id: v, outputs: no.jsonl}]\n")
    lost = bench.run("grade", "--cases", "other.jsonl", "--rubric", "rubric.yaml", "--judge", "m/m")
    assert (lost.code, "no.jsonl: there is no such file" in lost.err) == (2, True)


def test_an_output_of_an_unknown_case_among_others_is_left_out_as_in_a_run(bench: Bench) -> None:
    bench.write("cases.jsonl", *({"id": case, "input": "?"} for case in "abx"))
    with OpenAILikeServer(GOOD) as server:
        ran = bench.grade(server, "--cases", "cases.jsonl", "--json")
    assert sorted(values(ran)) == ["a", "b"]
    assert "outputs: outputs for 2 ids that no case has are left out: c, d" in ran.err
    assert ran.json["unmatched_outputs"] == {"outputs": ["c", "d"]}


def test_a_dry_run_of_a_suite_with_a_panel_is_the_plan_of_a_run(bench: Bench) -> None:
    judges = [{"model": name} for name in ("openai/one", "openai/other")]
    suite = {"name": "s", "dataset": "cases.jsonl", "rubric": "helpfulness", "judge": judges}
    variants = [{"id": "v1", "outputs": "outputs.jsonl"}]
    bench.write("cases.jsonl", *({"id": case, "input": "?"} for case in "abcd"))
    (bench.folder / "judgekit.yaml").write_text(json.dumps(suite | {"variants": variants}))
    ran = bench.run("grade", "--dry-run", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert [one["model"] for one in ran.json["models"]] == ["openai/one", "openai/other"]
    assert not (bench.folder / ".judgekit" / "judgekit.db").exists()


def test_the_reference_of_a_case_reaches_the_judge_and_the_variant_does_not(bench: Bench) -> None:
    cases = ({"id": c, "input": "?", "reference": f"truly {c}"} for c in "abcd")
    bench.write("cases.jsonl", *cases)
    with OpenAILikeServer(GOOD) as server:
        ran = bench.grade(server, "--cases", "cases.jsonl", "--variant", "secret-name")
        assert all("truly " in asked(seen) for seen in server.requests)
        assert not any("secret-name" in asked(seen) for seen in server.requests)
    assert "secret-name" in ran.out


def test_a_dry_run_asks_nothing_and_says_what_it_would(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        ran = bench.grade(server, "--dry-run")
        assert server.n_requests == 0
    assert ran.code == 0
    assert "calls to make" in ran.out
    assert not (bench.folder / "verdicts.csv").exists()


@pytest.mark.parametrize(
    ("limit", "code", "words"),
    [
        (0.0001, 5, "--max-cost $0.00010 likely does not suffice"),
        (100, 0, "--max-cost $100 also suffices for the upper bound"),
    ],
)
def test_a_dry_run_says_whether_the_limit_suffices_at_the_list_price(
    bench: Bench, limit: float, code: int, words: str
) -> None:
    what = ("--rubric", "rubric.yaml", "--judge", "openai/gpt-4.1-mini", "--max-cost", limit)
    with OpenAILikeServer(GOOD) as server:
        ran = bench.run("grade", "outputs.jsonl", *what, "--api-base", server.url, "--dry-run")
        assert server.n_requests == 0
    assert ran.code == code
    assert words in " ".join(ran.out.split())
    assert "the price is its list price; this endpoint may charge another" in ran.err


def test_a_dry_run_with_a_limit_needs_a_price_as_the_grading_does(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        ran = bench.grade(server, "--dry-run", "--max-cost", 1)
        real = bench.grade(server, "--max-cost", 1)
        assert server.n_requests == 0
    assert (ran.code, real.code) == (2, 2)
    assert "so its cost cannot be limited" in ran.err


def test_repeats_are_asked_one_by_one_and_their_agreement_is_told(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        ran = bench.grade(server, "--repeats", 3, "-n", 1, "--json")
        assert server.n_requests == 6
    (verdict,) = ran.json["verdicts"]
    assert [judgment["repeat"] for judgment in verdict["judgments"]] == [0, 0, 1, 1, 2, 2]
    assert {judgment["repeat_confidence"] for judgment in verdict["judgments"]} == {1.0}


def test_joint_mode_asks_once_an_output_and_counts_one_reply(bench: Bench) -> None:
    both = json.dumps(
        {name: {"rationale": "Fine as it is.", "score": 4} for name in ("right", "short")}
    )
    with OpenAILikeServer(ok(both)) as server:
        ran = bench.grade(server, "--mode", "joint", "--json")
        assert server.n_requests == 4
    assert ran.code == 0
    assert ran.json["summary"]["spent"]["n_replies"] == 4
    assert set(values(ran).values()) == {0.75}


def test_settings_of_the_judge_are_sent(bench: Bench) -> None:
    options = ("--temperature", 0.5, "--judge-seed", 7, "--max-tokens", 300, "-n", 1)
    with OpenAILikeServer(GOOD) as server:
        bench.grade(server, *options)
        body = server.requests[0].body
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0.5, 7, 300)
