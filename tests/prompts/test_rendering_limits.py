"""Templates that are not shipped are rendered in a worker process, within limits."""

from __future__ import annotations

import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import TemplateError
from judgekit.prompts import (
    CompiledTemplate,
    PairTemplate,
    PromptTemplate,
    TemplateLimitError,
    lint_template,
    make_environment,
    pair_template_names,
    template_names,
)
from judgekit.prompts.environment import render_in_worker
from judgekit.resources import shipped_file
from judgekit.subprocess.worker_pool import _idle_workers
from judgekit.targets.prompt import TargetPrompt
from tests.factories import make_case, make_output, make_rubric

if TYPE_CHECKING:
    from pathlib import Path

LOOP = "{% for _ in range(999) %}" * 3 + "{% endfor %}" * 3
LATE = r"template t\d\.j2(, block 'shared')?: it took longer than 5 s and was stopped"
BLOCKS = "{%% block shared %%}%s{%% endblock %%}{%% block question %%}?{%% endblock %%}"

# Two lone surrogates are no character, and an escape of JSON would make them one.
TEXTS = ["plain", "é\u2028\x00\x1b", "\ud800", "\ud83d\ude00", "😀", "a\r\nb\n", "{{ x }}"]


def compiled(folder: Path, body: str, **options: bool) -> CompiledTemplate:
    (folder / "t.j2").write_text(BLOCKS % body, encoding="utf-8")
    return CompiledTemplate(make_environment([folder]), "t.j2", **options)


def failure(folder: Path, number: int, body: str) -> str:
    (folder / f"t{number}.j2").write_text(BLOCKS % body, encoding="utf-8")
    with pytest.raises(TemplateLimitError) as raised:
        CompiledTemplate(make_environment([folder]), f"t{number}.j2").render(
            "shared", {"output": "x"}
        )
    return raised.value.message


@pytest.mark.parametrize(
    "body",
    ["{{ 'a' * 10 ** 10 }}", "{{ [output] * 10 ** 10 }}", "{{ 'ab'.replace('b', 'b' * 9 ** 11) }}"],
)
def test_a_template_may_not_take_all_memory(tmp_path: Path, body: str) -> None:
    with pytest.raises(TemplateLimitError, match=r"template t\.j2.*(of memory|process died)"):
        compiled(tmp_path, body).render("shared", {"output": "x"})


def test_a_template_may_not_take_all_time(tmp_path: Path) -> None:
    # Jinja computes the second as it compiles it, and files that include one another twice make
    # the third one as long as all of them.
    for number in range(25):
        text = '{% include "' + str(number + 1) + '.j2" %}'
        (tmp_path / f"{number}.j2").write_text(text * 2, encoding="utf-8")
    (tmp_path / "25.j2").write_text("{{ output }}", encoding="utf-8")
    bodies = [LOOP, "{{ 10 ** (10 ** 10) }}", "{% include '0.j2' %}"]
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(partial(failure, tmp_path), range(3), bodies))
    assert all(re.search(LATE, each) for each in found), found
    assert compiled(tmp_path, "{{ output }}").render("shared", {"output": "x"}) == "x"


def test_a_text_that_nobody_could_send_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match=r"t\.j2 makes a text of over 50,000,000 characters"):
        compiled(tmp_path, "{{ output * 60000000 }}").render("shared", {"output": "x"})


@pytest.mark.parametrize("body", ["{{ " + "(" * 5000, "{{ 1" + " + 1" * 20_000 + " }}"])
def test_a_template_that_is_nested_too_deeply_is_refused(tmp_path: Path, body: str) -> None:
    with pytest.raises(TemplateError, match=r"template t\.j2 is nested too deeply"):
        compiled(tmp_path, body)


def test_macros_that_use_one_another_twice_are_not_followed_for_ever(tmp_path: Path) -> None:
    macros = "{% macro m0(x) %}{{ x }}{% endmacro %}" + "".join(
        f"{{% macro m{n}(x) %}}{{{{ m{n - 1}(x) }}}}{{{{ m{n - 1}(x) }}}}{{% endmacro %}}"
        for n in range(1, 40)
    )
    body = macros + "{% if false %}{{ m39(output) }}{% endif %}"
    compiled(tmp_path, body)
    with pytest.raises(TemplateError, match=r"template t\.j2 has more than 10000 parts"):
        lint_template("t", [tmp_path])


def test_a_judge_or_a_prompt_that_takes_too_much_is_refused_before_a_case_is_read(
    tmp_path: Path,
) -> None:
    body = "{{ 'a' * 10 ** 10 }}"
    (tmp_path / "t.j2").write_text(BLOCKS % body, encoding="utf-8")
    with pytest.raises(TemplateLimitError, match="of memory"):
        PromptTemplate("t", [tmp_path])
    with pytest.raises(TemplateLimitError, match=r"template prompt: .* of memory"):
        TargetPrompt(body)


def test_a_rendering_is_the_same_here_and_in_the_worker(tmp_path: Path) -> None:
    """Every shipped template, as it is and as a copy of one's own with another comment."""
    own = tmp_path / "prompts"
    shutil.copytree(shipped_file("prompts"), own)
    for path in own.rglob("*.j2"):
        path.write_text(path.read_text(encoding="utf-8") + "{# own #}", encoding="utf-8")
    rubric = make_rubric()
    for text in TEXTS:
        case = make_case(input=text, reference=text, context={"é": [text, 0.1, None]})
        output = make_output(text=text)
        for name in template_names():
            shipped, copy = PromptTemplate(name), PromptTemplate(name, [own])
            if shipped.header.needs_trace or shipped.header.binary_only:
                continue
            if shipped.header.reply.choices:
                continue
            assert shipped.prompts(case, output, rubric) == [
                prompt._replace(header=shipped.header)
                for prompt in copy.prompts(case, output, rubric)
            ]
        for name in pair_template_names():
            pair, other = PairTemplate(name), PairTemplate(name, [own])
            asked = [each.prompts(case, text, "b", rubric) for each in (pair, other)]
            assert [p.messages for p in asked[0]] == [p.messages for p in asked[1]]


def test_a_prompt_prints_objects_as_json_in_the_worker_too() -> None:
    case = make_case(input={"variables": {"é": [1, 0.5, None, "\ud83d\ude00"]}, "n": True})
    (message,) = TargetPrompt("{{ input }}|{{ input.n }}|{{ case.tags }}\n").messages(case)
    assert message["content"] == (
        '{\n  "variables": {\n    "é": [\n      1,\n      0.5,\n      null,\n      "\ud83d\ude00"\n'
        '    ]\n  },\n  "n": true\n}|True|[]'
    )


def test_an_error_in_the_worker_is_the_error_of_the_template(tmp_path: Path) -> None:
    template = compiled(tmp_path, "{{ nothing }}")
    with pytest.raises(TemplateError, match=r"t\.j2, block 'shared': 'nothing' is und") as raised:
        template.render("shared", {"output": "x"})
    assert not isinstance(raised.value, TemplateLimitError)
    assert raised.value.hint == "variables there are: output"
    with pytest.raises(TemplateError, match="the data are too deep"):
        template.render("shared", {"output": nested(100_000)})


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


def test_shipped_templates_need_no_worker(tmp_path: Path) -> None:
    idle = _idle_workers(os.getpid())
    while idle:
        idle.pop().end()
    PromptTemplate("pointwise/criterion").prompts(make_case(), make_output(), make_rubric())
    assert idle == []
    compiled(tmp_path, "{{ output }}").render("shared", {"output": "x"})
    assert len(idle) == 1


def test_what_the_worker_does() -> None:
    sources = [["t.j2", BLOCKS % "{{ output }}"]]
    assert render_in_worker("t.j2", sources, "shared", {"output": "x"}, False) == ("x", None, None)
    assert render_in_worker("t.j2", sources, None, None, False) == ("", None, None)
    failed = render_in_worker("t.j2", sources, "shared", {}, False)
    assert failed[1:] == (
        "template t.j2, block 'shared': 'output' is undefined",
        "variables there are: ",
    )
