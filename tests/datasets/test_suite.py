from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.datasets import Suite, load_suite
from judgekit.errors import JudgekitError, SettingsError
from judgekit.formats import dump_yaml
from tests.datasets.file_schemas import suite_schema

if TYPE_CHECKING:
    from pathlib import Path

SUITE = """\
name: support-replies
dataset: cases.jsonl
rubric: rubrics/support.yaml
judge: {model: openai/gpt-4.1-mini, mode: per_criterion, repeats: 1}
variants:
  - {id: v1, outputs: outputs/v1.jsonl}
  - {id: v2, prompt: prompts/reply_v2.j2, model: openai/gpt-4.1-nano}
  - {id: v3, command: [python, agent.py], timeout_s: 30}
  - {id: v4, python: "my_agent:answer"}
  - {id: v5, http: https://localhost/answer}
assertions: [{type: behavior.no_errors}]
gate: {tier: production, max_drop: 0.10, require_calibration: false}
"""
PANEL = """\
name: s
dataset: c.jsonl
rubric: skill
assertions: [{type: behavior.no_errors}]
judge: [openai/a, {model: openai/b, weight: 2}, heuristic, human]
panel: {combine: weighted}
prices: {openai/b: {input_usd: 0.4, output_usd: 1.6}}
settings: {repeats: 2, retry_failed: 1, environment: {MODE: test}, setup: [make, data]}
suites: [{name: smoke, case_ids: [a, b], in_sequence: true}]
tags: [nightly]
"""


def put(folder: Path, text: str, name: str = "judgekit.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_suite_keeps_its_paths_and_resolves_them_beside_its_file(tmp_path: Path) -> None:
    suite = load_suite(put(tmp_path, SUITE))
    assert (suite.dataset, suite.folder) == ("cases.jsonl", tmp_path)
    assert suite.dataset_path == tmp_path / "cases.jsonl"
    assert suite.rubric_source == tmp_path / "rubrics" / "support.yaml"
    assert suite.resolve("/abs/x").as_posix() == "/abs/x"
    assert [variant.kind for variant in suite.variants] == [
        "outputs", "prompt", "command", "python", "http"
    ]  # fmt: skip


def test_a_shipped_rubric_stays_a_name(tmp_path: Path) -> None:
    suite = load_suite(put(tmp_path, SUITE.replace("rubrics/support.yaml", "helpfulness")))
    assert suite.rubric_source == "helpfulness"


@pytest.mark.parametrize(
    ("judge", "models"),
    [
        ("openai/a", ["openai/a"]),
        ("{model: a}", ["a"]),
        ("[openai/a, {model: b, repeats: 3}]", ["openai/a", "b"]),
    ],
)
def test_a_judge_may_be_a_name_a_mapping_or_a_panel(
    tmp_path: Path, judge: str, models: list[str]
) -> None:
    text = f"name: s\ndataset: c.jsonl\nrubric: skill\njudge: {judge}"
    suite = load_suite(put(tmp_path, text))
    assert [settings.model for settings in suite.judge] == models


def test_inline_cases_take_the_common_names(tmp_path: Path) -> None:
    suite = load_suite(put(tmp_path, "name: s\ncases: [{id: 1, prompt: Q, expected: R}]"))
    assert suite.cases is not None
    assert (suite.cases[0].id, suite.cases[0].reference) == ("1", "R")
    assert (suite.dataset_path, suite.rubric_source) == (None, None)


@pytest.mark.parametrize("text", [SUITE, PANEL])
def test_a_suite_dumped_is_loaded_again(tmp_path: Path, text: str) -> None:
    suite = load_suite(put(tmp_path, text))
    assert load_suite(put(tmp_path, dump_yaml(suite.to_json()), "b.yaml")) == suite
    assert load_suite(put(tmp_path, json.dumps(suite.to_json()), "b.json")) == suite


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("dataset: cases.jsonl", "", "needs `dataset` or `cases`, one of the two"),
        ("dataset: cases.jsonl", "datset: x", r":2: .*`datset` is not known; did you mean `data"),
        (SUITE, "name: s\ncases: [{id: a, input: 1}]\njudge: openai/m", "a judge needs a `rubric`"),
        ("model: openai/gpt-4.1-mini,", "", r":4: the field `judge.model` is missing"),
        ("repeats: 1", "repeats: 0", r":4: `judge.repeats` must be 1 or more, not 0"),
        ("repeats: 1", "repeats: 1.5", r":4: `judge.repeats` must be a whole number, not 1.5"),
        ("mode: per_criterion", "mode: both", r":4: .*must be 'per_criterion' or 'joint'"),
        ("repeats: 1", "api_key: sk", r":4: .*keys come from the environment"),
        ("id: v2", "id: v1", "two variants are called v1"),
        ("model: openai/gpt-4.1-nano", "tags: [x]", r":7: .*`prompt` and `model` go together"),
        (", outputs: outputs/v1.jsonl", "", r":6: .*this one has none of them"),
        ('python: "my', 'outputs: x, python: "my', "this one has outputs and python"),
        ("my_agent:answer", "my_agent", r":9: `variants\[3\].python` is not of the right form"),
        ("timeout_s: 30", "timeout_s: 0", r":8: .*must be more than 0"),
        ("[python, agent.py]", "python agent.py", r":8: .*must be a list, .*write it as a list"),
        ("https://localhost", "ftp://localhost", r":10: .*is not of the right form"),
        ("type: behavior", "kind: behavior", r"`assertions\[0\]` needs a `type`"),
        ("tier: production", "tier: prod", r":12: `gate.tier` must be 'production'"),
        ("max_drop: 0.10", "max_drop: 10", r":12: `gate.max_drop` must be 1 or less, not 10"),
        ("dataset: cases.jsonl", "repeats: 3", "did you mean `judge.repeats` or `settings.rep"),
        ("dataset: cases.jsonl", "timeout: 3", "did you mean `judge.timeout_s` or `variants.t"),
        ("tier: production", "rubric: r", r":12: .*did you mean `rubric` at the top level"),
        ("dataset: cases.jsonl", "prices: {m: {input: 1, output_usd: 1}}", "mean `input_usd`"),
        ("dataset: cases.jsonl", "judges: []", "did you mean `judge`\\?"),
        ("dataset: cases.jsonl", "foo: 1", "known: assertions, .*suites, tags, variants, version$"),
        (SUITE, "- a", "a suite is a mapping of fields, not a list"),
        (SUITE, "name: s\ncases: []", r":2: `cases` must not be empty"),
        (SUITE, "name: s\ncases: 3", r":2: `cases` must be a list, not 3"),
        (SUITE, "name: s\ncases: a.jsonl", r":2: `cases` must be a list.*file of cases by `data"),
        (SUITE, "name: s\ngate:\n\ttier: x", r":3: not YAML: .*\n  indent with spaces"),
        (SUITE, "name: s\ndataset: a\nvariants: a.jsonl", r":3: .*write `- {id: v1, outputs: "),
        (SUITE, "name: s\ndataset: a\nrubric: {name: r}", r":3: .*name the file of a rubric"),
        ("dataset: cases.jsonl", "context: [20000000]", "must be 10000000 or less"),
        ("tier: production", "threshold: 70", r":12: `threshold` is 70, .*70 % is 0.7"),
        (SUITE, "name: s\ncases: [7]", r":2: a case is a mapping of fields, not a number"),
        (SUITE, "name: s\ncases:\n- id: a\n- {id: b, input: 1}", r":3: .*`input` is missing"),
        (SUITE, "name: s\ncases: [{id: a, input: 1}, {id: a, input: 1}]", "first in case 1"),
        (SUITE, "a: [", "not YAML"),
        (SUITE, "name: s\ndataset: d\nrubric: r\njudge: 3", r":4: `judge` must be a list, not 3"),
    ],
)  # fmt: skip
def test_an_unsound_suite_names_line_field_and_remedy(
    tmp_path: Path, old: str, new: str, what: str
) -> None:
    with pytest.raises(SettingsError, match=what):
        load_suite(put(tmp_path, SUITE.replace(old, new)))


def test_a_suite_says_how_it_is_run_and_what_its_models_cost(tmp_path: Path) -> None:
    suite = load_suite(put(tmp_path, PANEL))
    assert [judge.kind for judge in suite.judge] == ["llm", "llm", "heuristic", "human"]
    assert [judge.weight for judge in suite.judge] == [1, 2, 1, 1]
    assert (suite.settings.repeats, suite.settings.setup) == (2, ("make", "data"))
    assert suite.suites[0].case_ids == ("a", "b")
    assert suite.prices["openai/b"].output_usd == 1.6
    assert suite.tags == ("nightly",)


def test_a_judge_takes_the_arguments_the_file_gives_and_no_more(tmp_path: Path) -> None:
    text = PANEL.replace("weight: 2", "weight: 2, seed: 3, temperature: null")
    suite = load_suite(put(tmp_path, text))
    assert suite.judge[1].overrides() == {"seed": 3, "temperature": None}


def test_assertions_alone_can_judge_without_a_rubric(tmp_path: Path) -> None:
    text = "name: s\ndataset: c\njudge: heuristic\nassertions: [{type: behavior.no_errors}]"
    assert load_suite(put(tmp_path, text)).rubric_source is None


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("panel: {combine: weighted}", "", r"the `weight` of a judge needs `panel: {combine: wei"),
        ("combine: weighted", "combine: cascade", r"`escalate_below` go together"),
        ("combine: weighted", "combine: mean, escalate_below: 0.5", "go together"),
        ("[openai/a, {model: openai/b, weight: 2}, heuristic, human]", "openai/a", "needs two"),
        ("weight: 2", "weight: -1", r"`judge\[1\].weight` must be 0"),
        ("weight: 2", "weight: 2, mode: both", r"must be 'per_criterion' or 'joint'"),
        ("heuristic, human", "{model: human, seed: 1}", "judge `human` takes no `seed`"),
        ("assertions: [{type: behavior.no_errors}]", "", "`heuristic` needs `assertions`"),
        ("[openai/a, {model: openai/b, weight: 2}, heuristic, human]",
         "[{model: a, weight: 0}, {model: b, weight: 0}]", "a `weight` above 0"),
        ("input_usd: 0.4, ", "", r"`prices.openai/b.input_usd` is missing"),
        ("repeats: 2", "repeats: 0", r"`settings.repeats` must be 1 or more"),
        ("repeats: 2", "in_sequence: true, max_concurrency: 4", "contradict each other"),
        ("MODE: test", "2MODE: test", r"settings.environment"),
        ("case_ids: [a, b]", "case_ids: [a, a]", "the group smoke names the case a twice"),
        ("case_ids: [a, b], in_sequence: true}", "case_ids: [a]}, {name: smoke, case_ids: [b]}",
         "two suites are called smoke"),
        ("[make, data]", "make data", r"settings.setup.*must be a list"),
    ],
)  # fmt: skip
def test_settings_that_contradict_each_other_are_refused(
    tmp_path: Path, old: str, new: str, what: str
) -> None:
    assert old in PANEL
    with pytest.raises(SettingsError, match=what):
        load_suite(put(tmp_path, PANEL.replace(old, new)))


def test_the_schema_describes_every_field_and_allows_short_forms() -> None:
    schema = suite_schema()
    properties = schema["properties"]
    assert isinstance(properties, dict)
    assert list(properties) == list(Suite.model_fields)
    assert all("description" in field for field in properties.values())  # type: ignore[operator]  # mappings
    assert {"type": "string"} in properties["judge"]["anyOf"]  # type: ignore[index,call-overload,operator]  # mappings


NAMES = st.sampled_from([*Suite.model_fields, "id", "outputs", "model", "http", "type", "input"])
TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)


@settings(max_examples=60)
@given(value=TREES)
def test_any_structure_is_a_suite_or_a_clean_error(
    tmp_path_factory: pytest.TempPathFactory, value: object
) -> None:
    path = put(tmp_path_factory.getbasetemp(), json.dumps(value), "fuzz.json")
    try:
        assert isinstance(load_suite(path), Suite)
    except JudgekitError as error:
        assert "fuzz.json" in str(error)  # noqa: PT017 - both ends are right; this checks one


def test_a_scorer_may_be_a_name_or_a_mapping(tmp_path: Path) -> None:
    text = "name: s\ndataset: c\nscorers: [latency, {type: tokens, max_tokens: 9, weight: 2}]"
    suite = load_suite(put(tmp_path, text))
    assert suite.scorers == (
        {"type": "latency"}, {"type": "tokens", "max_tokens": 9, "weight": 2}
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ("scorers: [{max_ms: 3}]", r"`scorers\[0\]` needs a `type`"),
        ("scorers: latency", "`scorers` must be a list"),
        ("scorers: [latency, {type: latency, max_ms: 3}]", "two scorers are called latency"),
        ("scorers: [{type: latency, weight: -1}]", r"`scorers\[0\]\.weight` must be a number"),
        ("scorers: [{type: latency, weight: yes}]", r"`scorers\[0\]\.weight` must be a number"),
        ("profile: funny", "`profile` must be 'deterministic'"),
        ("columns: {a: ''}", "columns"),
    ],
)
def test_scorers_profile_and_columns_are_checked(tmp_path: Path, fields: str, what: str) -> None:
    with pytest.raises(SettingsError, match=what):
        load_suite(put(tmp_path, f"name: s\ndataset: c\n{fields}"))


def test_columns_need_a_dataset(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="`columns` are those of a `dataset`"):
        load_suite(put(tmp_path, "name: s\ncases: [{id: a, input: 1}]\ncolumns: {a: id}"))


def test_a_judge_needs_no_rubric_where_a_case_or_the_profile_has_one(tmp_path: Path) -> None:
    for fields in ("cases: [{id: a, input: 1, rubric: helpfulness}]", "dataset: c",
                   "cases: [{id: a, input: 1}]\nprofile: creative"):  # fmt: skip
        assert load_suite(put(tmp_path, f"name: s\njudge: openai/m\n{fields}")).rubric is None


def test_a_suite_made_in_python_refuses_cases_with_one_id() -> None:
    cases = [{"id": "a", "input": 1}, {"id": "b", "input": 2}, {"id": "a", "input": 3}]
    with pytest.raises(ValueError, match="two cases have the id a: rename one"):
        Suite.model_validate({"name": "s", "cases": cases})
