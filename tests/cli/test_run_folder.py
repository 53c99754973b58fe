from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.testing import ServedReply
from tests.evaluation.suites import RIGHT, lay_suite, rows
from tests.factories import reply
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Run

RUBRIC = {
    "name": "r",
    "criteria": [{"name": "right", "question": "Is it right?", "scale": "binary"}],
}
REFUND: dict[str, Any] = {"input": "?", "assertions": [RIGHT]}


def lay_datasets(folder: Path, **cases: dict[str, Any]) -> Path:
    """A folder with a dataset of one case for each name, and outputs that say `right`."""
    data = folder / "data"
    data.mkdir()
    for name, fields in cases.items():
        (data / f"{name}.jsonl").write_text(rows({"id": name, **fields}), encoding="utf-8")
    outputs = rows(*({"case_id": name, "text": "right"} for name in cases))
    (folder / "v1.jsonl").write_text(outputs, encoding="utf-8")
    return data


def test_every_dataset_of_a_folder_is_run_in_turn(run: Run, tmp_path: Path) -> None:
    data = lay_datasets(tmp_path, a=REFUND, b=REFUND)
    ran = run("run", data, "--outputs", "v1.jsonl")
    assert ran.code == 0, ran.err
    assert f"dataset 1 of 2: {data / 'a.jsonl'}" in ran.err
    assert ran.out.count("v1 passed 1/1") == 2
    found = {run("show", f"latest:{name}", "--json").json["run"]["suite"] for name in ("a", "b")}
    assert found == {"a", "b"}


def test_the_exit_code_is_the_worst_and_no_dataset_keeps_another_from_it(
    run: Run, tmp_path: Path
) -> None:
    unsound = {"input": "?", "assertions": [{"type": "contians"}]}
    data = lay_datasets(tmp_path, a=unsound, b={**REFUND, "assertions": [{"type": "is-json"}]})
    ran = run("run", data, "--outputs", "v1.jsonl", "--fail-under", "0.5")
    assert ran.code == 2
    assert "(contians): no assertion is called so" in ran.err
    assert "0/1" in ran.out
    assert "below --fail-under" in ran.err


def test_a_dataset_that_is_stopped_ends_it_and_says_what_was_not_begun(
    run: Run, tmp_path: Path
) -> None:
    data = lay_datasets(tmp_path, a={**REFUND, "assertions": [{"type": "is-json"}]}, b=REFUND)
    ran = run("run", data, "--outputs", "v1.jsonl", "--fail-fast")
    assert ran.code == 1
    assert f"not started: {data / 'b.jsonl'}" in ran.err


def test_a_stopped_dataset_of_a_folder_that_config_names_is_resumed_by_the_command_shown(
    run: Run, tmp_path: Path
) -> None:
    data = lay_datasets(tmp_path, a={**REFUND, "assertions": [{"type": "is-json"}]}, b=REFUND)
    (data / "a.jsonl").write_text(
        rows(*({"id": name, **REFUND, "assertions": [{"type": "is-json"}]} for name in "ac")),
        encoding="utf-8",
    )
    answers = 'print(\'{"text": "no"}\')'
    (tmp_path / "agent.py").write_text(answers, encoding="utf-8")
    agent = ("--target-command", f"{sys.executable} agent.py")
    ran = run("run", "--config", data, *agent, "--max-time", "0.000001", "-j", "1")
    command = ran.err.partition("Resume with: ")[2].splitlines()[0]
    assert "--config" not in command
    resumed = run(*shlex.split(command)[1:], "--json")
    assert (resumed.code, resumed.json["run"]["suite"]) == (0, "a"), resumed.err


def test_money_is_for_all_datasets_together(run: Run, tmp_path: Path) -> None:
    data = lay_datasets(tmp_path, a=REFUND, b=REFUND)
    body = {"text": "right", "usage": {"input_tokens": 1, "cost_usd": 0.6}}
    with OpenAILikeServer(ServedReply(body=body)) as server:
        ran = run("run", data, "--target-http", server.url, "--max-cost", "0.6")
        assert server.n_requests == 1
    assert ran.code == 5, ran.err
    assert "not started" in ran.err


@pytest.mark.parametrize("given", [["--resume"], ["-o", "all.jsonl"]])
def test_what_is_for_one_dataset_is_refused_for_several(
    run: Run, tmp_path: Path, given: list[str]
) -> None:
    data = lay_datasets(tmp_path, a=REFUND, b=REFUND)
    ran = run("run", data, "--outputs", "v1.jsonl", *given)
    assert ran.code == 2
    assert "is for one dataset, and there are 2" in ran.err
    assert "name one: a.jsonl, b.jsonl" in ran.err


def test_several_datasets_can_be_planned_in_turn(run: Run, tmp_path: Path) -> None:
    data = lay_datasets(tmp_path, a=REFUND, b=REFUND)
    ran = run("run", data, "--outputs", "v1.jsonl", "--dry-run", "--json")
    assert (ran.code, ran.out.count('"n_answers": 1')) == (0, 4), ran.out
    ran = run("plan", data, "--outputs", "v1.jsonl")
    assert ran.code == 2
    assert "holds 2 datasets, among them a.jsonl" in ran.err


def test_a_folder_may_hold_one_dataset_or_a_suite(run: Run, tmp_path: Path) -> None:
    data = lay_datasets(tmp_path, a=REFUND)
    assert run("run", data, "--outputs", "v1.jsonl", "--json").json["run"]["suite"] == "a"
    lay_suite(data, n=1)
    assert run("run", data, "--json").json["run"]["suite"] == "small"


def test_suites_of_a_folder_are_run_and_the_datasets_they_are_not_about(
    run: Run, tmp_path: Path
) -> None:
    data = lay_datasets(tmp_path, other=REFUND)
    lay_suite(data, n=1).rename(data / "greet.yaml")
    (data / "unsound.yaml").write_text("dataset: gone.jsonl\nvariants: 3\n", encoding="utf-8")
    ran = run("run", data)
    assert ran.code == 2
    assert f"dataset 1 of 3: {data / 'greet.yaml'}" in ran.err
    assert f"dataset 2 of 3: {data / 'unsound.yaml'}" in ran.err
    assert f"dataset 3 of 3: {data / 'other.jsonl'}" in ran.err
    assert "--target-command" in ran.err, "a dataset alone says what it may be run with"
    assert run("show", "latest", "--json").json["run"]["suite"] == "small"


def test_files_that_the_command_line_names_are_found_where_it_was_typed(
    run: Run, tmp_path: Path
) -> None:
    suite = lay_suite(tmp_path / "there", n=1, judge=None, rubric="rubric.yaml")
    replies = rows({"case_id": "c0", "text": '{"rationale": "It is right.", "score": 5}'})
    (tmp_path / "replies.jsonl").write_text(replies, encoding="utf-8")
    ran = run("run", suite, "--judge", "recorded:replies.jsonl")
    assert ran.code == 0, ran.err
    (tmp_path / "replies.jsonl").rename(suite.parent / "replies.jsonl")
    ran = run("run", suite, "--judge", "recorded:replies.jsonl")
    assert ran.code == 0, "what is not here is looked for beside the suite"
    assert run("run", suite, "--judge", "recorded:no.jsonl", "--template", "no.j2").code == 2


def test_a_folder_with_nothing_to_run_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ran = run("run", "empty")
    assert ran.code == 2
    assert "empty holds neither a suite nor a dataset" in ran.err


@pytest.mark.parametrize(
    ("given", "what"),
    [
        (["--target-command", "a", "--target-python", "m:f"], "they set one variant"),
        (["--target-command", "'"], "--target-command cannot be read"),
        (["--target-command", " "], "--target-command is empty"),
        ([], "the suite has no variants"),
    ],
)
def test_a_variant_that_cannot_be_run_is_refused(
    run: Run, tmp_path: Path, given: list[str], what: str
) -> None:
    data = lay_datasets(tmp_path, a=REFUND)
    ran = run("run", data, *given)
    assert ran.code == 2
    assert what in ran.err


def test_a_suite_with_variants_takes_no_other(run: Run, tmp_path: Path) -> None:
    lay_suite(tmp_path, n=1)
    ran = run("run", "--outputs", "v1.jsonl")
    assert ran.code == 2
    assert "--outputs is for a suite without variants, and 'small' has some" in ran.err


def test_the_given_variant_may_be_named(run: Run, tmp_path: Path) -> None:
    data = lay_datasets(tmp_path, a=REFUND)
    ran = run("run", data, "--outputs", "v1.jsonl", "--variant", "mine", "--json")
    assert ran.json["variants"][0]["variant"] == "mine"


def test_a_suite_maps_the_columns_of_its_dataset(run: Run, tmp_path: Path) -> None:
    (tmp_path / "sheet.csv").write_text(
        "key,asked,rubric,evaluation\n"
        'a,What?,,"{""strategy"": ""regex_match""}"\n'
        'b,Why?,helpfulness,"{""strategy"": ""regex_match""}"\n',
        encoding="utf-8",
    )
    suite = {
        "name": "sheet",
        "dataset": "sheet.csv",
        "columns": {"key": "id", "asked": "input"},
        "variants": [{"id": "v1", "outputs": "v1.jsonl"}],
    }
    (tmp_path / "judgekit.yaml").write_text(json.dumps(suite), encoding="utf-8")
    lay_datasets(tmp_path, a={}, b={})
    ran = run("run")
    assert ran.code == 2
    assert "case 'b': the strategy regex_match needs an assertion `regex`" in ran.err
    ran = run("validate", "judgekit.yaml")
    assert (ran.code, "no problems found" in ran.out) == (0, True), ran.out
    (tmp_path / "sheet.csv").write_text("key,wanted\na,What?\n", encoding="utf-8")
    ran = run("validate", "judgekit.yaml")
    assert ran.code == 2
    assert "there is no column 'asked'" in ran.out


def test_a_broken_file_is_an_error_of_the_folders_run(run: Run, tmp_path: Path) -> None:
    data = lay_datasets(tmp_path, a=REFUND)
    (data / "broken.json").write_text('{"id": "x", "workflowName"', encoding="utf-8")
    (data / "other.json").write_text('{"hello": 1}', encoding="utf-8")
    (data / "other.zip").write_bytes(b"PK")
    ran = run("run", data, "--outputs", "v1.jsonl")
    assert ran.code == 2
    assert "v1 passed 1/1" in ran.out
    assert "broken.json:1: not JSON" in ran.err
    assert "other" not in ran.err


def test_outputs_that_a_run_would_drop_are_refused(run: Run, tmp_path: Path) -> None:
    lay_suite(tmp_path, n=1)
    outputs = rows(*({"case_id": "c0", "text": "right", "repeat": k} for k in range(3)))
    (tmp_path / "v1.jsonl").write_text(outputs, encoding="utf-8")
    ran = run("run", "--json")
    assert ran.code == 2
    assert "holds 3 outputs of 'v1' for this case, and the run takes 1" in ran.err
    assert "settings: {repeats: 3}" in ran.err
    lay_suite(tmp_path, n=1, settings={"repeats": 3})
    (tmp_path / "v1.jsonl").write_text(outputs, encoding="utf-8")
    assert run("run", "--json").json["variants"][0]["n_passed"] == 3


def test_assertions_of_the_cases_are_a_heuristic_judge_too(run: Run, tmp_path: Path) -> None:
    data = lay_datasets(tmp_path, a=REFUND)
    suite = {"name": "s", "dataset": "data/a.jsonl", "judge": "heuristic",
             "variants": [{"id": "v1", "outputs": "v1.jsonl"}]}  # fmt: skip
    (data.parent / "judgekit.json").write_text(json.dumps(suite), encoding="utf-8")
    assert run("run", "judgekit.json", "--json").json["variants"][0]["n_passed"] == 1


WHERE: list[dict[str, Any]] = [
    {"id": "a", "metadata": {"priority": "high", "author": "Ada"}, "stratum": "simple"},
    {"id": "b", "metadata": {"priority": "high", "author": "Bob"}, "stratum": "complex"},
    {"id": "c", "metadata": {"priority": "low", "author": "Ada"}},
    {"id": "d"},
]


@pytest.mark.parametrize(
    ("wanted", "n"),
    [
        (["priority=high"], 2),
        (["priority=high", "priority=low"], 3),
        (["priority=high", "author=Ada"], 1),
        (["stratum=complex"], 1),
        (["author=Ada", "stratum=complex"], None),
        (["priority"], None),
    ],
)
def test_cases_are_chosen_by_their_fields(
    run: Run, tmp_path: Path, wanted: list[str], n: int | None
) -> None:
    cases = [{**REFUND, **fields} for fields in WHERE]
    (tmp_path / "cases.jsonl").write_text(rows(*cases), encoding="utf-8")
    outputs = rows(*({"case_id": str(case["id"]), "text": "right"} for case in cases))
    (tmp_path / "v1.jsonl").write_text(outputs, encoding="utf-8")
    options = [part for one in wanted for part in ("--where", one)]
    ran = run("run", "cases.jsonl", "--outputs", "v1.jsonl", *options, "--json")
    assert ran.code == (2 if n is None else 0)
    if n is None:
        assert "(4 filtered" in ran.err or "'priority' is not FIELD=VALUE" in ran.err
    else:
        assert ran.json["run"]["n_cases"] == n
        assert ran.json["run"]["config"]["chosen"] == {"where": wanted}


def test_configurations_are_listed_and_compared(run: Run, tmp_path: Path) -> None:
    path = lay_suite(tmp_path, n=2)
    first = run("run", path, "--json").json["run"]["id"]
    run("run", path, "--json")
    suite = json.loads(path.read_text(encoding="utf-8"))
    changed = {**suite, "settings": {"fail_fast": True}, "tags": ["nightly"]}
    path.write_text(json.dumps(changed), encoding="utf-8")
    last = run("run", path, "--json").json["run"]["id"]
    listed = run("show", "--configs", "--json").json
    assert [(one["runs"], one["changed"]) for one in listed][1:] == [
        ("1", "settings.fail_fast, tags")
    ]
    assert listed[0]["runs"] == "2"
    assert listed[1]["last run"] == last
    assert run("show", first, last, "--configs", "--json").json == [
        {"setting": "settings.fail_fast", "then": "false", "now": "true"},
        {"setting": "tags", "then": "[]", "now": '["nightly"]'},
    ]
    for refused, what in (
        ((first, "--configs"), "with a second run"),
        (("--configs", "--figures"), "--figures does not apply to --configs"),
    ):
        ran = run("show", *refused)
        assert (ran.code, what in ran.err) == (2, True)


def test_an_edited_template_of_the_judge_is_another_configuration(run: Run, tmp_path: Path) -> None:
    judge, ids = {"model": "recorded:replies.jsonl", "template": "own"}, []
    path = lay_suite(tmp_path, n=1, judge=judge, rubric="rubric.yaml", assertions=None)
    (tmp_path / "rubric.yaml").write_text(json.dumps(RUBRIC), encoding="utf-8")
    replies = rows({"case_id": "c0", "text": reply(1)})
    (tmp_path / "replies.jsonl").write_text(replies, encoding="utf-8")
    (tmp_path / "prompts").mkdir()
    for words in ("Question:", "Strictly:"):
        (tmp_path / "prompts" / "own.j2").write_text(
            "{% block shared %}{{ output | fenced('output') }}{% endblock %}"
            f"{{% block question %}}{words} {{{{ criterion.question }}}}{{% endblock %}}"
        )
        ran = run("run", path, "--json")
        assert ran.code == 0, (ran.out, ran.err)
        ids.append(ran.json["run"]["id"])
    (changed,) = run("show", *ids, "--configs", "--json").json
    assert changed["setting"] == "templates.judges"
    assert changed["then"].startswith('["own@')
    assert changed["then"] != changed["now"]


def test_what_differs_between_two_runs_is_named_down_to_the_judge_and_the_cases(
    run: Run, tmp_path: Path
) -> None:
    cases = [{**REFUND, "id": f"q{n}"} for n in range(4)]
    outputs = rows(*({"case_id": str(case["id"]), "text": "right"} for case in cases))
    (tmp_path / "v1.jsonl").write_text(outputs, encoding="utf-8")
    replies = rows(*({"case_id": f"q{n}", "text": reply(1)} for n in range(4)))
    (tmp_path / "replies.jsonl").write_text(replies, encoding="utf-8")
    (tmp_path / "rubric.yaml").write_text(json.dumps(RUBRIC), encoding="utf-8")
    ids = []
    for first, temperature in ((0, 0.0), (1, 0.7)):
        (tmp_path / "cases.jsonl").write_text(rows(*cases[first : first + 3]), encoding="utf-8")
        suite = {
            "name": "s",
            "dataset": "cases.jsonl",
            "rubric": "rubric.yaml",
            "judge": {"model": "recorded:replies.jsonl", "temperature": temperature},
            "variants": [{"id": "v1", "outputs": "v1.jsonl"}],
        }
        (tmp_path / "judgekit.yaml").write_text(json.dumps(suite), encoding="utf-8")
        ids.append(run("run", "--json").json["run"]["id"])
    assert run("show", *ids, "--configs", "--json").json == [
        {"setting": "judge.1.temperature", "then": "0.0", "now": "0.7"},
        {"setting": "cases: 1 added, 1 removed", "then": "3", "now": "3"},
    ]
