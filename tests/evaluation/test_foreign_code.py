"""Code that a promptfoo configuration names: run where scripts are allowed, else marked."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk
from judgekit.exports import open_conversion_source, suite_losses
from judgekit.testing import ServedReply
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::judgekit.errors.NotImportedWarning")
NEEDS_NODE = pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js")

FILES = {
    "check.py": "def grade(output, context):\n    return {'pass': True, 'score': 0.5}\n",
    "make.py": "class Make:\n    @staticmethod\n    def prompt(context):\n"
    "        return 'a ' + context['vars']['q']\ndef prompt(context):\n"
    "    return [{'role': 'user', 'content': context['vars']['q']}]\n",
    "answer.py": "def call_api(prompt, options, context):\n"
    "    return {'output': {'said': prompt, 'hot': options['config']['hot']}, 'cost': 0.5}\n",
    "shout.py": "def get_transform(output, context):\n    return output['said'].upper()\n",
    "answer.cjs": "module.exports = class { constructor(o) { this.o = o; }\n"
    "  async callApi(prompt) { return { output: prompt + this.o.config.end }; } };\n",
    "check.cjs": "module.exports = (output, { vars }) => output === vars.q + '!';\n",
}


def run(folder: Path, *, allow_scripts: bool, **fields: Any) -> list[Any]:
    for name, text in FILES.items():
        (folder / name).write_text(text)
    path = folder / "promptfooconfig.json"
    path.write_text(json.dumps({"prompts": ["{{q}}"], "providers": ["echo"]} | fields))
    with jk.evaluate_sync(
        path, store=folder / "runs.db", cache=None, allow_scripts=allow_scripts
    ) as done:
        return list(done.concluded())


def test_without_permission_a_check_in_code_is_open(tmp_path: Path) -> None:
    checks = [{"type": "python", "value": "True"}, {"type": "contains", "value": "x"}]
    tests = [{"vars": {"q": "x"}, "assert": checks}]
    [outcome] = run(tmp_path, allow_scripts=False, tests=tests)
    assert [check.passed for check in outcome.result.checks] == [None, True]
    assert outcome.passed is None


def test_without_permission_no_function_answers(tmp_path: Path) -> None:
    tests = [{"vars": {"q": "x"}}]
    with pytest.raises(jk.SettingsError, match="scripts are not allowed"):
        run(tmp_path, allow_scripts=False, tests=tests, providers=["file://answer.py"])


def test_with_permission_prompt_provider_transform_and_checks_are_called(tmp_path: Path) -> None:
    checks = [
        {"type": "equals", "value": "HI"},
        {"type": "python", "value": "file://check.py:grade"},
        {"type": "assert-set", "threshold": 0.5, "assert": [
            {"type": "not-python", "value": "len(output) > 2"},
            {"type": "python", "value": "if context['vars']['q']:\n  return 0.25\nreturn 0"},
        ]},
    ]  # fmt: skip
    fields = {
        "prompts": ["file://make.py:prompt"],
        "providers": [{"id": "python:answer.py", "config": {"hot": True}}],
        "tests": [{"vars": {"q": "hi"}, "assert": checks}],
        "defaultTest": {"options": {"transform": "file://shout.py"}},
    }
    [outcome] = run(tmp_path, allow_scripts=True, **fields)
    result = outcome.result
    assert (result.output.text, result.output.usage.cost_usd) == ("HI", 0.5)
    assert [check.passed for check in result.checks] == [True, True, True]
    assert [part.value for part in result.checks[2].parts] == [None, 0.25]


@NEEDS_NODE
def test_classes_functions_and_lines_of_javascript_are_called(tmp_path: Path) -> None:
    checks = [
        {"type": "javascript", "value": "file://check.cjs"},
        {"type": "javascript", "value": "const n = output.length; n / 4", "threshold": 0.9},
        {"type": "javascript", "value": "({pass: true, score: 0.5})", "threshold": 0.9},
        {"type": "javascript", "value": "({score: 0.5})"},
        {"type": "python", "value": "{'pass': True, 'score': 0.5}", "threshold": 0.9},
    ]
    fields = {
        "providers": [{"id": "file://answer.cjs", "config": {"end": "!"}}],
        "tests": [{"vars": {"q": "hi"}, "assert": checks}],
    }
    [outcome] = run(tmp_path, allow_scripts=True, **fields)
    # As in promptfoo, the `pass` of an object counts, and for Python its threshold, too.
    assert [one.passed for one in outcome.result.checks] == [True, False, True, None, False]
    assert outcome.result.checks[1].value == 0.75


def test_a_program_gets_prompt_options_and_context_on_its_command_line(tmp_path: Path) -> None:
    (tmp_path / "chain.py").write_text("import sys, json\nprint(json.dumps(sys.argv[1:]), ' ')\n")
    steps = "JSON.parse(output)"
    fields = {
        "providers": [{"id": "exec:python3 chain.py 'a b'", "config": {"hot": 1}}],
        "tests": [{"vars": {"q": "'; exit"}, "options": {"transform": steps}}],
    }
    [outcome] = run(tmp_path, allow_scripts=True, **fields)
    own, prompt, options, context = outcome.result.output.data
    assert (own, prompt) == ("a b", "'; exit")
    assert json.loads(options)["config"] == {"hot": 1}
    assert json.loads(context)["vars"] == {"q": "'; exit"}


@pytest.mark.parametrize(
    ("line", "what"), [("sh -c 'echo oops >&2; exit 3'", "code 3: oops"), ("sh 'x", "No closing")]
)
def test_a_program_that_fails_is_an_error_of_its_answer(
    tmp_path: Path, line: str, what: str
) -> None:
    tests = [{"vars": {"q": "x"}}]
    [outcome] = run(tmp_path, allow_scripts=True, tests=tests, providers=[f"exec:{line}"])
    assert what in str(outcome.result.output.error)
    with pytest.raises(jk.SettingsError, match="runs code:exec:sh"):
        run(tmp_path, allow_scripts=False, tests=tests, providers=[f"exec:{line}"])


def test_a_variant_that_nothing_calls_is_refused_before_a_call(tmp_path: Path) -> None:
    fields: dict[str, Any] = {
        "providers": ["echo", "openai:image:x", *(f"acme:{n}" for n in range(5))],
        "tests": [{"vars": {"q": "x"}, "assert": [{"type": "equals", "value": "x"}]}],
    }
    with pytest.raises(jk.SettingsError, match="6 of 7 variants cannot be called") as error:
        run(tmp_path, allow_scripts=False, **fields)
    listed = error.value.message.splitlines()
    assert listed[1].startswith("  openai:image:x: promptfooconfig.json:1: the provider")
    assert len(listed) == 7
    assert str(error.value.hint).endswith("; or run the others: --variant echo")
    path, choice = tmp_path / "promptfooconfig.json", jk.Choice(variants=("echo",))
    with jk.evaluate_sync(path, store=tmp_path / "e.db", cache=None, choice=choice) as done:
        assert [one.passed for one in done.concluded()] == [True]
    rows = [jk.Output(case_id="test-1", variant="openai:image:x", text="x")]
    with jk.evaluate_sync(path, store=tmp_path / "o.db", cache=None, outputs=rows) as done:
        assert [(o.result.variant, o.passed) for o in done.concluded()] == [
            ("openai:image:x", True)
        ]


@NEEDS_NODE
@pytest.mark.parametrize(
    ("code", "answer"),
    [
        ("json.hit ? 'C ' + json.said : 'M ' + json.said;", "M hi"),
        ("(json, text) => {\n  // as a function\n  return json.said + text.length;\n}", "hi14"),
    ],
)
def test_code_reads_the_reply_of_an_endpoint(tmp_path: Path, code: str, answer: str) -> None:
    with OpenAILikeServer(ServedReply(body={"said": "hi"})) as server:
        config = {
            "url": f"{server.url}/chat/completions",
            "body": {"q": "{{prompt}}"},
            "transformResponse": code,
        }
        fields = {"providers": [{"id": "http", "config": config}], "tests": [{"vars": {"q": "x"}}]}
        with pytest.raises(jk.SettingsError, match="runs code in its transform, and scripts are"):
            run(tmp_path, allow_scripts=False, **fields)
        [outcome] = run(tmp_path, allow_scripts=True, **fields)
    assert outcome.result.output.text == answer


def test_a_suite_elsewhere_would_lose_the_code_that_it_names(tmp_path: Path) -> None:
    fields = {
        "prompts": ["file://make.py:prompt"], "providers": ["file://answer.cjs", "exec:sh x.sh"],
        "defaultTest": {"options": {"transform": "file://shout.py"}},
        "tests": [{"assert": [{"type": "python", "value": "file://check.py"}]}],
    }  # fmt: skip
    (tmp_path / "promptfooconfig.json").write_text(json.dumps(fields))
    source = open_conversion_source(tmp_path / "promptfooconfig.json")
    [lost] = suite_losses(tmp_path / "other", source)
    assert "the place of answer.cjs, check.py, exec:sh x.sh, make.py, shout.py: " in lost
    assert suite_losses(tmp_path, source) == ()


def test_a_part_of_the_cases_may_leave_a_judge_unused(tmp_path: Path) -> None:
    rubric = {"type": "llm-rubric", "value": "is kind", "provider": "echo"}
    tests = [{"vars": {"q": "x"}}, {"vars": {"q": "y"}, "assert": [rubric]}]
    fields = {"prompts": ["{{q}}"], "providers": ["echo"], "tests": tests}
    (tmp_path / "c.json").write_text(json.dumps(fields))
    with jk.evaluate_sync(
        tmp_path / "c.json", store=tmp_path / "c.db", cache=None, choice=jk.Choice(limit=1)
    ) as done:
        assert [outcome.result.case.id for outcome in done.concluded()] == ["test-1"]


def test_a_function_may_be_one_of_a_class(tmp_path: Path) -> None:
    tests = [{"vars": {"q": "x"}}]
    fields = {"prompts": ["file://make.py:Make.prompt"], "tests": tests}
    [outcome] = run(tmp_path, allow_scripts=True, **fields)
    assert outcome.result.output.text == "a x"
