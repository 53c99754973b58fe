from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import judgekit
from judgekit.errors import TemplateError
from judgekit.prompts import CompiledTemplate, make_environment
from tests.factories import attacks

if TYPE_CHECKING:
    from collections.abc import Callable

Render = Any
ESCAPES = [
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ output.__class__.__base__ }}",
    "{{ output|attr('__class__') }}",
    "{{ ('{0.__class__.__init__.__globals__}').format(output) }}",
    "{{ ('%s{0.__class__}' % '').format_map({'0': output}) }}",
    "{{ [output]|map(attribute='__class__')|list|first }}",
    "{{ self.__init__.__globals__['__builtins__'] }}",
    "{{ fenced.__globals__ }}",
    "{{ range.__globals__ }}",
    "{% set f = output.format %}{{ f.__self__.__class__ }}",
    "{{ (output|string).__init__.__globals__ }}",
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ lipsum.__globals__['os'].popen('id').read() }}",
    "{{ joiner.__init__.__globals__ }}",
    "{{ namespace.__init__.__globals__ }}",
    "{{ dict.__base__ }}",
    "{{ items.append(1) }}",
    "{{ items.clear() }}",
    "{{ mapping.update({'a': 2}) }}",
    "{{ mapping.__setitem__('a', 2) }}",
]


@pytest.fixture
def render(tmp_path: Path) -> Callable[..., str]:
    """Renders the block of a template that is made of one text."""

    def made(body: str, **data: Any) -> str:
        source = "{% block shared %}" + body + "{% endblock %}"
        (tmp_path / "t.j2").write_text(source, encoding="utf-8")
        template = CompiledTemplate(make_environment([tmp_path]), "t.j2")
        return template.render("shared", data)

    return made


@pytest.mark.parametrize("escape", ESCAPES)
def test_an_escape_from_the_sandbox_is_refused(render: Render, escape: str) -> None:
    data: dict[str, Any] = {"output": "text", "items": [1], "mapping": {"a": 1}}
    with pytest.raises(TemplateError, match=r"template t\.j2"):
        render(escape, **data)
    assert (data["items"], data["mapping"]) == ([1], {"a": 1})


@pytest.mark.parametrize("name", ["lipsum", "cycler", "joiner", "namespace", "dict", "config"])
def test_no_global_is_there(render: Render, name: str) -> None:
    with pytest.raises(TemplateError, match=f"'{name}' is undefined"):
        render("{{ " + name + " }}")


@pytest.mark.parametrize(
    "name", ["attr", "pprint", "xmlattr", "tojson", "urlize", "safe", "center"]
)
def test_a_filter_that_is_not_on_the_list_is_not_there(render: Render, name: str) -> None:
    with pytest.raises(TemplateError, match=f"No filter named '{name}'"):
        render("{{ output|" + name + " }}", output="x")


def test_a_template_may_count_a_little(render: Render) -> None:
    assert render("{% for n in range(1, 4) %}{{ n }}{% endfor %}") == "123"
    assert render("{{ range(1000)|length }}") == "1000"


@pytest.mark.parametrize("bounds", ["1001", "10**12", "0, 10**9, 2"])
def test_a_template_may_not_count_for_ever(render: Render, bounds: str) -> None:
    with pytest.raises(TemplateError, match="may count to 1000 at most"):
        render("{{ range(" + bounds + ") }}")


TEMPLATE_CODE = [r for r in attacks() if r["family"] == "template_injection"]


@pytest.mark.parametrize("record", TEMPLATE_CODE, ids=lambda record: record["id"])
def test_template_code_in_a_judged_text_comes_through_byte_for_byte(
    render: Render, record: dict[str, str]
) -> None:
    assert render("{{ output }}|", output=record["text"]) == record["text"] + "|"
    assert record["text"] in render('{{ output | fenced("output") }}', output=record["text"])


def test_a_missing_variable_is_an_error_that_lists_those_there_are(render: Render) -> None:
    with pytest.raises(TemplateError, match=r"'outputs' is undefined\n.*: input, output"):
        render("{{ outputs }}", output="x", input="y")


@pytest.mark.parametrize("body", ["{{ 1 / 0 }}", "{{ output + 1 }}", "{{ output | int('x') + [] }}",
    "{{ '{5}'.format(output) }}", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
])  # fmt: skip
def test_what_a_template_computes_wrongly_is_a_template_error(render: Render, body: str) -> None:
    with pytest.raises(TemplateError, match="block 'shared'"):
        render(body, output="x")


def test_a_syntax_error_says_where_it_is(render: Render) -> None:
    with pytest.raises(TemplateError, match=r"template t\.j2:2: "):
        render("one\n{% if %}")


def test_compact_json_keeps_letters_as_they_are(render: Render) -> None:
    assert render("{{ name | compact_json }}", name='ä "b"') == '"ä \\"b\\""'


def compiled(folder: Path, **files: str) -> CompiledTemplate:
    for name, text in files.items():
        (folder / f"{name}.j2").write_text(text, encoding="utf-8")
    return CompiledTemplate(make_environment([folder]), "t.j2")


def test_the_names_of_a_block_are_those_of_all_it_includes(tmp_path: Path) -> None:
    template = compiled(
        tmp_path,
        t='{% block a %}{% include "p.j2" %}{% endblock %}{% block b %}{{ x }}{% endblock %}',
        p='{{ y }}{% include "q.j2" %}',
        q="{{ z }}",
    )
    assert template.uses["a"] == {"y", "z"}
    assert template.uses["b"] == {"x"}
    assert set(template.sources) == {"t.j2", "p.j2", "q.j2"}


def test_a_macro_that_sees_the_context_counts_what_it_names(tmp_path: Path) -> None:
    template = compiled(
        tmp_path,
        t='{% block a %}{% from "m.j2" import show with context %}{{ show() }}{% endblock %}',
        m="{% macro show() %}{{ output }}{% endmacro %}",
    )
    assert "output" in template.uses["a"]
    assert template.render("a", {"output": "x"}) == "x"


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"t": '{% include "p.j2" %}'}, r"no template file p\.j2, included by t\.j2"),
        ({"t": '{% include "t.j2" %}'}, r"includes t\.j2, which includes itself"),
        ({"t": '{% include "p.j2" %}', "p": '{% include "t.j2" %}'}, "which includes itself"),
        ({"t": "{% include name %}"}, r"t\.j2:1: the name of an included file must be a plain"),
        ({"t": '{% include ["a.j2", "b.j2"] %}'}, "must be a plain text"),
        ({"t": '{% extends "p.j2" %}', "p": ""}, "uses extends"),
        ({"t": '{% include "p.j2" %}', "p": "\n{% if %}"}, r"template p\.j2:2"),
        ({"t": '{% include "../secret.j2" %}'}, r"no template file \.\./secret\.j2"),
        ({}, r"no template file t\.j2"),
    ],
)
def test_an_unsound_set_of_files_is_refused(
    tmp_path: Path, files: dict[str, str], problem: str
) -> None:
    (tmp_path / "secret.j2").write_text("secret", encoding="utf-8")
    folder = tmp_path / "own"
    folder.mkdir()
    with pytest.raises(TemplateError, match=problem):
        compiled(folder, **files)


def test_a_template_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.j2").write_bytes(b"\xff\xfe{{ x }}")
    with pytest.raises(TemplateError, match=r"t\.j2 is not UTF-8"):
        CompiledTemplate(make_environment([tmp_path]), "t.j2")


def test_no_text_is_ever_compiled_as_a_template() -> None:
    package = Path(judgekit.__file__).parent
    sources = [path.read_text(encoding="utf-8") for path in package.rglob("*.py")]
    doors = {"from_string", "compile_expression", "NativeEnvironment"}
    trees = [ast.parse(source) for source in sources if any(door in source for door in doors)]
    nodes = (node for tree in trees for node in ast.walk(tree))
    assert not doors & {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    assert len(sources) > 100


def test_a_name_set_in_an_included_file_stays_there(tmp_path: Path) -> None:
    template = compiled(
        tmp_path,
        t='{% block a %}{% set x = 1 %}{% include "p.j2" %}, {{ x }}{% endblock %}',
        p="{{ x }}{% set x = 2 %}, {{ x }}",
    )
    assert template.render("a", {}) == "1, 2, 1"


def test_an_included_file_sees_the_loop_it_stands_in(tmp_path: Path) -> None:
    template = compiled(
        tmp_path,
        t='{% block a %}{% for n in [1, 2] %}{% include "p.j2" %}{% endfor %}{% endblock %}',
        p='{{ n }}{% include "q.j2" %}',
        q="{{ end }}",
    )
    assert template.render("a", {"end": ";"}) == "1;2;"


def test_a_file_included_without_context_sees_no_variable(tmp_path: Path) -> None:
    template = compiled(
        tmp_path, t='{% block a %}{% include "p.j2" without context %}{% endblock %}', p="{{ x }}"
    )
    with pytest.raises(TemplateError, match="'x' is undefined"):
        template.render("a", {"x": "1"})


def test_the_blocks_of_an_included_file_are_its_own(tmp_path: Path) -> None:
    template = compiled(
        tmp_path,
        t='{% block a %}{% include "p.j2" %}{% endblock %}',
        p="{% block b %}{{ x }}{% endblock %}",
    )
    assert template.blocks == ("a",)
    assert template.render("a", {"x": "1"}) == "1"


def test_a_fence_of_what_a_case_does_not_have_says_so(render: Render) -> None:
    with pytest.raises(TemplateError, match=r"fenced\('reference'\) has no text: print it inside"):
        render('{{ reference | fenced("reference") }}', reference=None)
