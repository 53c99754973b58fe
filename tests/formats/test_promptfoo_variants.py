"""Prompts and providers of a promptfoo configuration as the variants of a suite."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.datasets import suite_from_path, validate_path
from judgekit.errors import DatasetError
from judgekit.formats import files_below, read_document
from judgekit.formats.promptfoo_syntax import UntranslatedError, as_jinja
from judgekit.records import Case, Rubric
from judgekit.targets import TargetPrompt
from tests.cli.commanding import runner
from tests.formats.writing import write

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.datasets import VariantSettings

pytestmark = pytest.mark.filterwarnings("ignore::judgekit.errors.NotImportedWarning")

TEST = {"vars": {"q": "Who?"}, "assert": [{"type": "contains", "value": "x"}]}


def variants(folder: Path, **fields: Any) -> dict[str, VariantSettings]:
    whole = {"prompts": ["Ask {{q}}"], "providers": ["openai:gpt-4.1-mini"], "tests": [TEST]}
    path = write(folder, whole | fields, "promptfooconfig.json")
    return {variant.id: variant for variant in suite_from_path(path).variants}


def left_out(folder: Path) -> list[str]:
    found = validate_path(folder / "promptfooconfig.json")
    return [problem.message for problem in found if problem.severity == "left_out"]


def messages(template: str, **case_input: Any) -> list[tuple[str, str]]:
    case = Case(id="a", input={"q": "Who?", **case_input})
    return [(one["role"], one["content"]) for one in TargetPrompt(template).messages(case)]


def test_each_prompt_of_each_provider_is_a_variant(tmp_path: Path) -> None:
    providers = [
        "openai:gpt-4.1-mini",
        {"id": "openai:gpt-4.1-mini", "label": "hot", "config": {"temperature": 1}},
        "openai:gpt-4.1-mini",
        {"anthropic:messages:claude": {"prompts": ["short"]}},
    ]
    prompts = ["Ask {{q}}", {"label": "short", "raw": "{{q}}"}]
    found = variants(tmp_path, prompts=prompts, providers=providers)
    assert list(found) == [
        "openai:gpt-4.1-mini prompt-1", "openai:gpt-4.1-mini short", "hot prompt-1", "hot short",
        "openai:gpt-4.1-mini prompt-1 2", "openai:gpt-4.1-mini short 2",
        "anthropic:messages:claude short",
    ]  # fmt: skip
    hot = found["hot short"]
    assert (hot.model, hot.parameters) == ("openai/gpt-4.1-mini", {"temperature": 1})
    assert messages(str(hot.prompt)) == [("user", "Who?")]


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai:chat:gpt-4o", "openai/gpt-4o"),
        ("openai:responses:gpt-5", "openai/gpt-5"),
        ("openai:completion:x", "text-completion-openai/x"),
        ("anthropic:messages:claude-4", "anthropic/claude-4"),
        ("azure:chat:deployed", "azure/deployed"),
        ("google:gemini-2.5-flash", "gemini/gemini-2.5-flash"),
        ("vertex:gemini-2.5-pro", "vertex_ai/gemini-2.5-pro"),
        ("bedrock:us.amazon.nova:0", "bedrock/us.amazon.nova:0"),
        ("bedrock:converse:nova", "bedrock/converse/nova"),
        ("ollama:chat:llama3:8b", "ollama_chat/llama3:8b"),
        ("ollama:llama3", "ollama/llama3"),
        ("togetherai:meta/x", "together_ai/meta/x"),
        ("huggingface:text-generation:a/b", "huggingface/a/b"),
        ("litellm:groq/x", "groq/x"),
        ("echo", "echo"),
    ],
)
def test_a_provider_is_a_model_under_its_name_here(
    tmp_path: Path, provider: str, model: str
) -> None:
    assert variants(tmp_path, providers=provider)[provider].model == model


@pytest.mark.parametrize(
    ("provider", "what"),
    [
        ("openai:image:dall-e-3", "no model is called so"),
        ("acme:x", "no model is called so"),
        ("openai:{{env.MODEL}}", "holds a template"),
        ("exec:python x.py", "is run only with --allow-scripts"),
        ("exec:python {{x}}.py", "holds a template"),
        ("file://x.rb", "code is never run"),
        ("file://no.yaml", "cannot be read"),
        ("file://x.py", "is run only with --allow-scripts"),
        ("wss://x/y", "no model is called so"),
        ({"id": "https://x.org/y", "config": {"method": "GET"}}, "its request is not read"),
        ({"config": {}, "label": "x"}, "a provider is a text or a mapping"),
    ],
)
def test_what_is_no_model_is_listed(tmp_path: Path, provider: object, what: str) -> None:
    variants(tmp_path, providers=["echo", provider])
    assert any(what in message for message in left_out(tmp_path))


@pytest.mark.parametrize(
    ("fields", "name", "prompt", "what"),
    [
        ({"providers": "openai:image:x"}, "openai:image:x", "Ask", "no model is called so here"),
        ({"providers": ["file://x.go"]}, "file://x.go", "Ask", "code is never run"),
        ({"providers": "file://no.yaml"}, "no.yaml", "Ask", "the providers cannot be read"),
        ({"providers": {"id": "https://x.org/{{q}}"}}, "https://x.org/{{q}}", "Ask", "its request"),
        ({"providers": []}, "no provider", "Ask", "no provider is named for the prompts"),
        ({"prompts": ["file://p.rb"]}, "openai:gpt-4.1-mini", None, "'file://p.rb' cannot be sent"),
        ({"prompts": ["{{ q | x }}"]}, "openai:gpt-4.1-mini", None, "the filter `x` cannot be"),
        ({"prompts": ["file://no.txt"]}, "openai:gpt-4.1-mini", None, "the prompt cannot be read"),
    ],
)
def test_what_cannot_be_called_is_a_variant_that_says_why(
    tmp_path: Path, fields: dict[str, Any], name: str, prompt: str | None, what: str
) -> None:
    found = variants(tmp_path, **fields)
    assert list(found) == [name]
    variant = found[name]
    assert (variant.kind, variant.prompt and str(variant.prompt)[:3]) == ("not_imported", prompt)
    assert re.match(r"promptfooconfig\.json:\d+: ", str(variant.not_imported))
    assert what in str(variant.not_imported)


def test_tests_choose_variants_by_provider_and_prompt(tmp_path: Path) -> None:
    prompts = [{"label": "a", "raw": "A {{q}}"}, {"label": "b:1", "raw": "B {{q}}"}]
    providers = [{"id": "openai:x", "label": "one"}, {"id": "openai:y", "prompts": ["b"]}]
    chosen = [
        {},
        {"providers": ["one"]},
        {"providers": ["openai:*"], "prompts": ["b"]},
        {"prompts": ["a"], "providers": ["openai:y"]},
    ]
    found = variants(
        tmp_path, prompts=prompts, providers=providers, tests=[TEST | c for c in chosen]
    )
    assert list(found) == ["one a", "one b:1", "openai:y b:1"]
    cases = suite_from_path(tmp_path / "promptfooconfig.json").cases or ()
    assert [case.variants for case in cases] == [
        None, ("one a", "one b:1"), ("one b:1", "openai:y b:1"), (),
    ]  # fmt: skip
    with pytest.raises(DatasetError, match="no provider is called 'on'") as error:
        variants(tmp_path, providers=providers[:1], tests=[TEST | {"providers": ["on"]}])
    assert "did you mean `one`" in str(error.value.hint)
    with pytest.raises(DatasetError, match="no prompt is called 'b'"):
        variants(tmp_path, prompts=prompts[:1], providers=providers)


def test_a_list_of_tests_has_no_variants_to_choose(tmp_path: Path) -> None:
    write(tmp_path, [TEST | {"providers": ["x"]}], "promptfooconfig.json")
    assert left_out(tmp_path) == ["`providers` is not imported: it has no counterpart here"]


def test_settings_of_a_model_are_parameters_and_the_others_are_listed(tmp_path: Path) -> None:
    (tmp_path / "tools.yaml").write_text("[{type: function}]")
    config = {
        "max_tokens": 5, "topP": 0.5, "stopSequences": ["."], "reasoning": {"effort": "low"},
        "generationConfig": {"maxOutputTokens": 7}, "apiBaseUrl": "http://h/v1", "apiKey": "s3",
        "tools": "file://tools.yaml", "cache": True,
    }  # fmt: skip
    [found] = variants(tmp_path, providers=[{"id": "openai:m", "config": config}]).values()
    assert found.parameters == {
        "max_tokens": 7, "top_p": 0.5, "stop": ["."], "reasoning_effort": "low",
        "tools": [{"type": "function"}],
    }  # fmt: skip
    assert found.api_base == "http://h/v1"
    assert [message.split("`")[1] for message in left_out(tmp_path)] == ["apiKey", "cache"]


def test_providers_and_the_grader_may_stand_in_a_file(tmp_path: Path) -> None:
    write(tmp_path, [{"id": "openai:a", "label": "A"}, "openai:b", "file://x.yaml"], "list.json")
    test = {"vars": {"q": "x"}, "assert": [{"type": "llm-rubric", "value": "is kind"}]}
    fields = {"providers": "file://list.json", "tests": [test]}
    default = {"options": {"provider": {"text": {"id": "openai:gpt-5"}}}}
    assert list(variants(tmp_path, **fields, defaultTest=default)) == ["A", "openai:b"]
    [judge] = suite_from_path(tmp_path / "promptfooconfig.json").judge
    assert judge.model == "openai/gpt-5"


def test_a_grader_of_its_own_is_a_judge_that_the_criterion_names(tmp_path: Path) -> None:
    def rubric(**more: object) -> dict[str, object]:
        return {"type": "llm-rubric", "value": "is kind", **more}

    warm = {"id": "openai:x", "config": {"temperature": 0.5, "apiKey": "s3", "tools": []}}
    tests = [
        {"options": {"provider": "openai:x"}, "assert": [
            rubric(), rubric(provider=warm), rubric(provider="acme:x")
        ]},
        {"assert": [rubric(provider="openai:x"), rubric()]},
    ]  # fmt: skip
    variants(tmp_path, tests=tests, defaultTest={"options": {"provider": warm}})
    suite = suite_from_path(tmp_path / "promptfooconfig.json")
    assert [(one.name, one.model, one.temperature) for one in suite.judge] == [
        (None, "openai/x", 0.5), ("openai:x", "openai/x", 0.0), ("openai:x 2", "openai/x", 0.5),
    ]  # fmt: skip
    rubrics = [case.rubric for case in suite.cases or () if isinstance(case.rubric, Rubric)]
    assert [[criterion.judge for criterion in one.criteria] for one in rubrics] == [
        ["openai:x", "openai:x 2", "openai:x"], ["openai:x", None],
    ]  # fmt: skip
    named = [
        "`tools` of a provider",
        "`apiKey` of a provider",
        "the grader 'acme:x' is not imported",
    ]
    assert all(any(what in message for message in left_out(tmp_path)) for what in named)


CHAT = [{"role": "system", "content": "Be {{q}}"}, {"role": "user", "content": "Hi"}]
LONG = [*CHAT, {"role": "assistant", "content": "Yes?"}, {"role": "user", "content": "{{q}}"}]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("p.txt", "One {{q}}\n---\nTwo\n", [[("user", "One Who?")], [("user", "Two")]]),
        ("p.md", "One\n---\n{{q}}", [[("user", "One\n---\nWho?")]]),
        ("p.j2", "{# no #}{% if q === 'Who?' %}{{ q | upper }}{% endif %}", [[("user", "WHO?")]]),
        ("p.json", json.dumps(CHAT), [[("system", "Be Who?"), ("user", "Hi")]]),
        ("p.yaml", "- role: user\n  content: '{{q}}'", [[("user", "Who?")]]),
        ("p.jsonl", json.dumps(CHAT[1:]) + "\n" + json.dumps(CHAT[1:]), [[("user", "Hi")]] * 2),
        ("p.csv", "prompt,label\nA {{q}},first\nB,\n", [[("user", "A Who?")], [("user", "B")]]),
        ("p.json", '[{"role": "user", "content": {{ q | dump }}}]', [[("user", "Who?")]]),
        ("p.json", json.dumps(LONG), [[("system", "Be Who?"), ("user", "Hi"),
                                       ("assistant", "Yes?"), ("user", "Who?")]]),
    ],
)  # fmt: skip
def test_a_file_of_prompts_is_read(
    tmp_path: Path, name: str, content: str, expected: list[Any]
) -> None:
    (tmp_path / name).write_text(content)
    found = variants(tmp_path, prompts=[f"file://{name}"]).values()
    assert [messages(str(variant.prompt)) for variant in found] == expected


@pytest.mark.parametrize(
    ("prompt", "what"),
    [
        ("{{ q | allcaps }}", "the filter `allcaps` cannot be translated"),
        ("{{ make(q) }}", "the function `make()`"),
        ("{{ q.toUpperCase() }}", "the method `toUpperCase()`"),
        ("{% include 'x' %}", "the tag `include`"),
        ("{{ env.KEY }}", "`env`: a prompt shows no environment variables"),
        ('[{% for m in h %}{"role": "user"}{% endfor %}]', "a chat whose JSON a template builds"),
        ("- role: x\n  {% if y %}", "a chat whose YAML"),
        ('[{"role": "user", "content": [{"type": "image"}]}]', "a part that is no text"),
        ('[{"role": "wizard", "content": "x"}]', "the role `wizard`"),
        ("file://p.txt", "cannot be read"),
        ("file://p.py", "code is never run"),
        ("file://p.py:make", "is run only with --allow-scripts"),
        ("langfuse://x", "nothing is fetched"),
        ("exec:./make.sh", "code is never run"),
        ("file://none*.txt", "no file matches"),
        (7, "a prompt is a text, not a number"),
    ],
)
def test_a_prompt_that_cannot_be_sent_is_listed(tmp_path: Path, prompt: object, what: str) -> None:
    variants(tmp_path, prompts=["{{q}}", prompt])
    assert any(what in message for message in left_out(tmp_path)), left_out(tmp_path)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("a\n  {% if x %}\n1\n{% endif %}\nb", "a\n  \n1\n\nb"),
        ("{% for n, v in o %}{{ n }}{{ v.items }},{% endfor %}", "k2,"),
        ("{{ l.length }}{{ l | join('-') }} {{ none_such }}.", "2a-b ."),
        ("{% set y = 3 %}{{ y }}{% raw %}{{y}}{% endraw %}", "3{{y}}"),
        ("{{ items }} {{ 'yes' if x is defined else 'no' }}", "I yes"),
        ("{{ o | dump(1) }}", '{\n "k": {\n  "items": 2\n }\n}'),
    ],
)
def test_a_template_prints_what_it_prints_in_nunjucks(template: str, expected: str) -> None:
    values = {"x": 1, "o": {"k": {"items": 2}}, "l": ["a", "b"], "items": "I"}
    text, _ = as_jinja(template, {"q", "x"})
    [(_, shown)] = messages(f"{text}\n", **values)
    assert shown == expected


def test_values_that_are_no_texts_are_printed_as_javascript_does(tmp_path: Path) -> None:
    values = {"b": True, "f": 1.0, "n": None, "l": [1, None, "x"], "o": {"k": False}, "t": "{{q}}"}
    prompt = "{{b}} {{f}} {{n}} {{l}} {{ o.k }} {{o.none}} {{t}} {% for x in l %}{{x}};{% endfor %}"
    tests = [{"vars": {"q": "Q"} | values}, {"vars": {"q": "Q"} | dict.fromkeys(values, "a")}]
    [variant] = variants(tmp_path, prompts=[prompt], tests=tests).values()
    [first, _] = suite_from_path(tmp_path / "promptfooconfig.json").cases or ()
    [message] = TargetPrompt(str(variant.prompt)).messages(first)
    assert message["content"] == "true 1  1,,x false  Q 1;;x;"
    assert "{{variables.t}}" in str(variant.prompt)


def test_a_test_of_an_undefined_filter_names_it() -> None:
    with pytest.raises(UntranslatedError, match="the filter `nope`"):
        as_jinja("{{ x | nope }}")


def test_a_variable_that_no_test_sets_is_told(tmp_path: Path) -> None:
    variants(tmp_path, prompts=["{{q}} {{other}}"])
    found = validate_path(tmp_path / "promptfooconfig.json")
    assert [problem.message for problem in found] == [
        "the prompt shows `other`, which no test sets"
    ]


def test_an_endpoint_is_sent_its_body_with_the_prompt(tmp_path: Path) -> None:
    config = {
        "url": "https://x.org/ask",
        "headers": {"Authorization": "Bearer {{env.KEY}}", "x-key": "s3"},
        "body": {"text": "Q: {{prompt}}", "who": "{{q}}"}, "transformResponse": "json.answer",
    }  # fmt: skip
    [found] = variants(tmp_path, providers=[{"id": "https", "config": config}]).values()
    assert found.http is not None
    assert found.http.headers == {"Authorization": "Bearer ${KEY}"}
    assert found.http.body == {"text": "Q: Ask {{variables.q}}", "who": "{{variables.q}}"}
    assert found.transform == ({"parse_json": True}, {"path": ["answer"]})
    assert [message.split("`")[1] for message in left_out(tmp_path)] == ["x-key"]


@pytest.mark.parametrize(
    ("value", "inputs"),
    [
        (["a", "b"], ["a", "b"]),
        (["a", 3], ["a", 3]),
        ([1, 2], [[1, 2]]),
        ("x\n", ["x"]),
        ("is {{q}}", ["is Who?"]),
        ("file://*.txt", ["one", "two"]),
        ("file://v.yaml", ['{"a": 1}']),
    ],
)
def test_a_variable_has_the_values_that_promptfoo_gives_it(
    tmp_path: Path, value: object, inputs: list[Any]
) -> None:
    (tmp_path / "1.txt").write_text(" one\n")
    (tmp_path / "2.txt").write_text("two")
    (tmp_path / "v.yaml").write_text("a: 1\n")
    variants(tmp_path, tests=[{"vars": {"v": value, "q": "Who?"}, "assert": [{"type": "is-json"}]}])
    cases = suite_from_path(tmp_path / "promptfooconfig.json").cases or ()
    assert [case.input["v"] for case in cases if isinstance(case.input, dict)] == inputs


def test_a_pattern_is_found_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    write(tmp_path / "in", [TEST], "tests-1.json")
    write(tmp_path / "in", {"prompts": ["{{q}}"], "providers": ["echo"], "tests": "tests*.json"})
    suite = suite_from_path("in/a.json")
    assert [case.input for case in suite.cases or ()] == [{"q": "Who?"}]


def test_files_outside_the_folder_are_read_below_a_root_alone(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("{{q}}")
    (tmp_path / "in").mkdir()

    def kinds(name: str) -> list[str]:
        return [one.kind for one in variants(tmp_path / "in", prompts=[name]).values()]

    assert kinds("file://../p.txt") == ["not_imported"]
    assert "leads out of its folder" in left_out(tmp_path / "in")[0]
    with files_below(tmp_path):
        assert kinds("file://../p.txt") == ["prompt"]
        assert kinds("file://../../p.txt") == ["not_imported"]


def test_merge_keys_fill_in_what_a_mapping_leaves_out(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc:\n  <<: [*a, {z: 4}]\n  '<<': 5\n")
    value = read_document(path).value
    assert isinstance(value, dict)
    assert (value["b"], value["c"]) == ({"x": 1, "y": 3}, {"<<": 5, "x": 1, "y": 2, "z": 4})


def test_a_configuration_runs_and_converts_to_a_suite_that_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    invoke = runner(capsys)
    monkeypatch.chdir(tmp_path)
    test = {"vars": {"q": "x"}, "assert": [{"type": "equals", "value": "ASK X"}]}
    fields: dict[str, Any] = {"prompts": ["Ask {{q}}"], "providers": ["echo"], "tests": [test]}
    default = {"options": {"transform": "output.toUpperCase()"}}
    write(tmp_path, {**fields, "defaultTest": default}, "promptfooconfig.json")
    assert "echo passed 1/1" in invoke("run", "promptfooconfig.json", "--strict").out
    # promptfoo has transformed the outputs of its results; the assertion's own steps remain.
    fields["tests"][0]["assert"] = [
        {"type": "equals", "value": "k", "transform": "JSON.parse(output).a.toLowerCase()"}
    ]
    write(tmp_path, {**fields, "defaultTest": default}, "promptfooconfig.json")
    made = {"success": True, "testIdx": 0, "vars": {"q": "x"}, "response": {"output": '{"a": "K"}'}}
    write(tmp_path, {"results": [{**made, "provider": "echo"}]}, "results.json")
    assert (
        "echo passed 1/1" in invoke("run", "promptfooconfig.json", "--outputs", "results.json").out
    )
    fields["tests"][0]["assert"] = [{"type": "equals", "value": "ASK X"}]
    write(tmp_path, {**fields, "defaultTest": default}, "promptfooconfig.json")
    assert invoke("convert", "promptfooconfig.json", "-o", "made").code == 0
    assert "echo passed 1/1" in invoke("run", "made/judgekit.yaml").out


def test_a_variant_that_is_not_called_is_planned_graded_and_converted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    invoke = runner(capsys)
    monkeypatch.chdir(tmp_path)
    test = {"vars": {"q": "x"}, "assert": [{"type": "equals", "value": "x"}]}
    fields = {"prompts": ["Draw {{q}}"], "providers": ["openai:image:y", "echo"], "tests": [test]}
    write(tmp_path, fields, "promptfooconfig.json")
    row = {"case_id": "test-1", "variant": "openai:image:y", "text": "x"}
    (tmp_path / "o.jsonl").write_text(json.dumps(row))
    planned = invoke("plan", "promptfooconfig.json").out
    assert "openai:image:y: 1 answer to be recorded elsewhere (--outputs FILE)" in planned
    refused = invoke("run", "promptfooconfig.json")
    assert (refused.code, "1 of 2 variants cannot be called" in refused.err) == (2, True)
    graded = invoke("run", "promptfooconfig.json", "--outputs", "o.jsonl")
    assert "openai:image:y passed 1/1" in graded.out
    invoke("convert", "promptfooconfig.json", "-o", "suite")
    [lost, called] = suite_from_path(tmp_path / "suite" / "judgekit.yaml").variants
    assert (lost.kind, lost.prompt, called.kind) == (
        "not_imported", "Draw {{variables.q}}", "prompt",
    )  # fmt: skip
    assert invoke("run", "suite/judgekit.yaml").code == 2
    assert "warning: the variant 'openai:image:y' cannot be" in invoke("validate", "suite").out


def test_a_case_is_answered_by_its_variants_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    invoke = runner(capsys)
    monkeypatch.chdir(tmp_path)
    tests = [
        {"vars": {"q": "x"}, "assert": [{"type": "equals", "value": "x"}]},
        {"vars": {"q": "y"}, "assert": [{"type": "equals", "value": "z"}], "providers": ["b"]},
    ]
    providers = [{"id": "echo", "label": "a"}, {"id": "echo", "label": "b"}]
    fields = {"prompts": ["{{q}}"], "providers": providers, "tests": tests}
    write(tmp_path, fields, "promptfooconfig.json")
    assert "2 cases by 2 variants: 3 answers" in invoke("plan", "promptfooconfig.json").out
    ran = invoke("run", "promptfooconfig.json")
    assert "a: 1 of 2 cases are for it" in ran.out
    assert "a passed 1/1; b passed 1/2" in ran.out
    assert "partial" not in ran.out
    assert "done 3 of 3" in ran.err
    compared = invoke("compare", "--scores", *(f"{run_id(ran.out)}::{v}" for v in "ab"))
    assert "1 case" in compared.out, compared
    nobody = invoke("run", "promptfooconfig.json", "--filter-case", "test-2", "--variant", "a")
    assert "is left to run" in nobody.err
    invoke("convert", "promptfooconfig.json", "-o", "suite")
    assert "a passed 1/1; b passed 1/2" in invoke("run", "suite/judgekit.yaml").out
    cases = tmp_path / "suite" / "cases.jsonl"
    cases.write_text(cases.read_text().replace('"variants": ["b"]', '"variants": ["c"]'))
    checked = invoke("validate", "suite")
    assert "case 'test-2': the suite has no variant 'c'" in checked.out


def run_id(report: str) -> str:
    found = re.search(r"^run +(\S+)", report, re.MULTILINE)
    assert found is not None
    return found[1]


def test_a_provider_of_a_test_is_a_variant_that_only_this_test_is_asked_of(tmp_path: Path) -> None:
    own = {"id": "openai:gpt-4.1", "config": {"temperature": 1}}
    prompts = [{"raw": "A {{q}}", "label": "a"}, {"raw": "B {{q}}", "label": "b"}]
    tests = [
        TEST,
        {**TEST, "provider": own},
        {**TEST, "provider": own, "prompts": ["b"], "providers": ["echo"]},
        {**TEST, "provider": "echo"},  # the same system as one of the configuration
    ]
    whole = {"prompts": prompts, "providers": ["echo"], "tests": tests}
    path = write(tmp_path, whole, "promptfooconfig.json")
    suite = suite_from_path(path)
    assert {one.id: one.parameters for one in suite.variants} == {
        "echo a": {}, "echo b": {},
        "openai:gpt-4.1 a": {"temperature": 1}, "openai:gpt-4.1 b": {"temperature": 1},
    }  # fmt: skip
    assert [case.variants for case in suite.cases or ()] == [
        ("echo a", "echo b"),
        ("openai:gpt-4.1 a", "openai:gpt-4.1 b"),
        ("openai:gpt-4.1 b",),
        ("echo a", "echo b"),
    ]
    assert not validate_path(path)
