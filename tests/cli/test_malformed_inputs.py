"""Every message about a malformed input names its file, and the line or the object it is about.

`§` in a text stands before what is wrong; the line it is in is the line that has to be named.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, NamedTuple

import pytest

from judgekit.resources import shipped_file
from tests.cli.commanding import runner

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.commanding import Ran

MARK = "§"

SUITE = """\
name: support
cases:
  - id: c1
    input: Hello?
rubric: rubric.yaml
judge: openai/any
variants:
  - id: a
    outputs: outputs.jsonl
"""
RUBRIC = """\
name: support
criteria:
  - name: polite
    question: Is it polite?
    scale: one_to_five
"""
CASES = '{"id": "c1", "input": "Hello?"}\n'
OUTPUTS = '{"case_id": "c1", "text": "Good day."}\n'
LABELS = '{"case_id": "c1", "criterion": "polite", "raw": 4, "annotator": "kim"}\n'

# The command that reads each kind of file; none of them may call a model.
COMMANDS = {
    "suite": ["run", "{}", "--dry-run"],
    "cases": ["grade", "outputs.jsonl", "--cases", "{}", "--rubric", "rubric.yaml",
              "--judge", "openai/any", "--dry-run", "--no-store"],
    "outputs": ["grade", "{}", "--cases", "cases.jsonl", "--rubric", "rubric.yaml",
                "--judge", "openai/any", "--dry-run", "--no-store"],
    "rubric": ["grade", "outputs.jsonl", "--cases", "cases.jsonl", "--rubric", "{}",
               "--judge", "openai/any", "--dry-run", "--no-store"],
    "labels": ["calibrate", "{}", "--outputs", "outputs.jsonl", "--cases", "cases.jsonl",
               "--rubric", "rubric.yaml", "--judge", "openai/any", "--dry-run"],
    "import": ["cache", "import", "{}"],
}  # fmt: skip


class Malformed(NamedTuple):
    """A file that is wrong in one place."""

    kind: str
    name: str
    content: str | bytes


def suite(old: str = "", new: str = "", more: str = "") -> Malformed:
    """The suite with something replaced, or added at its end."""
    assert old in SUITE
    return Malformed("suite", "suite.yaml", (SUITE.replace(old, new) if old else SUITE) + more)


def lines(kind: str, name: str, bad: str, good: str = "") -> Malformed:
    """A file of rows whose second one is wrong."""
    return Malformed(kind, name, f"{good}{MARK}{bad}\n")


def label(old: str, new: str) -> Malformed:
    """Two labels, the second with something replaced."""
    second = LABELS.replace("kim", "lee")
    assert old in second
    return lines("labels", "bad.jsonl", second.replace(old, new, 1).rstrip(), LABELS)


def rubric(old: str, new: str) -> Malformed:
    assert old in RUBRIC
    return Malformed("rubric", "bad.yaml", RUBRIC.replace(old, new))


SUITES = [
    suite("name: support", "name: support\n§name: again"),
    suite("judge: openai/any", "judge:\n  - {model: a/a, name: x}\n  - {model: b/b, §name: x}"),
    suite(
        "    input: Hello?", "    input: Hello?\n    §assertions: [{type: text.contains, valu: x}]"
    ),
    suite(more="§colour: red\n"),
    suite("name: support", "§nme: support"),
    suite("name: support", "§name: 7"),
    suite(
        "name: support",
        "§name: support\nname: again".replace("§", "", 1).replace("\nname", "\n§name"),
    ),
    suite("name: support", "name: support\n§status: asleep"),
    suite("cases:\n  - id", "x: [\ncases:\n  §- id"),
    suite("cases:", "§dataset: cases.jsonl\ncases:"),
    suite("cases:\n  - id: c1\n    input: Hello?\n", "§dataset: nowhere.jsonl\n"),
    suite("    input: Hello?", "    input: Hello?\n    §inptu: x"),
    suite("    input: Hello?", "    input: Hello?\n    §tags: 7"),
    suite("    input: Hello?", "    input: Hello?\n    §difficulty: [1]"),
    suite("  - id: c1\n", "  - id: c1\n    input: One\n  - §id: c1\n"),
    suite("  - id: c1", "  - §id: ''"),
    suite("rubric: rubric.yaml", "§rubric: nowhere.yaml"),
    suite("rubric: rubric.yaml", "§rubric: nothing_like_it"),
    suite("rubric: rubric.yaml", "§rubric: 5"),
    suite("rubric: rubric.yaml", "rubric: rubric.yaml\n§extra_rubrics: [nothing_like_it]"),
    suite("judge: openai/any", "judge:\n  model: openai/any\n  §temprature: 0"),
    suite("judge: openai/any", "judge:\n  model: openai/any\n  §repeats: 0"),
    suite("judge: openai/any", "judge:\n  model: openai/any\n  §template: nothing_like_it"),
    suite("judge: openai/any", "judge:\n  - openai/any\n  - §model: []"),
    suite("judge: openai/any", "judge: openai/any\n§panel: {combine: median}"),
    suite("judge: openai/any", "judge: [openai/any, openai/other]\npanel: {§combine: loudest}"),
    suite(
        "judge: openai/any",
        "judge:\n  - {model: openai/any, name: x}\n  - {model: openai/b, §name: x}",
    ),
    suite("    outputs: outputs.jsonl", "    §outputs: nowhere.jsonl"),
    suite("  - id: a", "  - §id: a\n    prompt: x {{ input }}"),
    suite("    outputs: outputs.jsonl", "    outputs: outputs.jsonl\n    §colour: red"),
    suite("  - id: a\n    outputs: outputs.jsonl\n", "  - §id: a\n"),
    suite(more="  - §id: a\n    outputs: outputs.jsonl\n"),
    suite("    outputs: outputs.jsonl", "    model: openai/x\n    §prompt: nowhere.j2"),
    suite("    outputs: outputs.jsonl", "    model: openai/x\n    §prompt: '{{ nope( }}'"),
    suite("    outputs: outputs.jsonl", "    §http: ftp://x"),
    suite("    outputs: outputs.jsonl", "    §python: nothing"),
    suite("    outputs: outputs.jsonl", "    command: [cat]\n    §timeout_s: -1"),
    suite("    outputs: outputs.jsonl", "    outputs: outputs.jsonl\n    §environment: {A: b}"),
    suite(more="assertions:\n  - type: §nope\n"),
    suite(more="assertions:\n  - type: text.contains\n    value: x\n  - §type: nope\n"),
    suite(more="assertions:\n  - §value: x\n"),
    suite(more="assertions:\n  - type: text.contains\n    §valu: x\n"),
    suite(more="assertions:\n  - type: text.regex\n    §pattern: '(a'\n"),
    suite(more="assertions:\n  - type: text.is_json\n    §schema: {type: 5}\n"),
    suite(more="assertions:\n  §- 5\n"),
    suite(more="assertions:\n  - type: all\n    assertions:\n      - §type: nope\n"),
    suite("    input: Hello?", "    input: Hello?\n    §assertions:\n      - type: nope"),
    suite(more="scorers:\n  - §nope\n"),
    suite(more="scorers:\n  - type: latency\n    §max: 5\n"),
    suite(more="scorers:\n  - type: latency\n    max_ms: 5\n    §weight: -1\n"),
    suite(more="scorers:\n  - latency\n  - §latency\n"),
    suite(more="gate:\n  §tier: best\n"),
    suite(more="gate:\n  §threshold: 70\n"),
    suite(more="gate:\n  threshold: 0.7\n  §tier: production\n"),
    suite(more="gate:\n  §max_dorp: 0.1\n"),
    suite(more="gate:\n  §alpha: 0\n"),
    suite(more="gate: §strict\n"),
    suite(more="settings:\n  §repeats: 0\n"),
    suite(more="settings:\n  §timeout: 5\n"),
    suite(more="settings:\n  §in_sequence: true\n  max_concurrency: 4\n"),
    suite(more="settings:\n  environment:\n    §a-b: x\n"),
    suite(more="notify:\n  §sound: loud\n"),
    suite(more="compare:\n  §rule: loudest\n"),
    suite(more="suites:\n  - name: s\n    §case_ids: [c1, c1]\n"),
    suite(more="context: §[8q]\n"),
    suite(more="§calibration: nowhere.json\n"),
    suite(more="prices:\n  openai/any:\n    §input_usd: -1\n    output_usd: 1\n"),
    suite(more="§version: [1]\n"),
    suite(more="§\tx: 1\n"),
    suite(more="x: §!!python/object:os.system y\n"),
    suite(more="x: §*nothing\n"),
    Malformed("suite", "list.yaml", "§- 1\n- 2\n"),
    Malformed("suite", "empty.yaml", b""),
    Malformed("suite", "scalar.yaml", "§hello\n"),
    Malformed("suite", "suite.json", '{\n  "name": "x",\n  §"cases": [,]\n}\n'),
    Malformed("suite", "suite.json", '{\n  "name": "x",\n  §"name": "y"\n}\n'),
    Malformed("suite", "binary.yaml", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"),
    Malformed("suite", "binary.yaml", b"\x00\x01\x02\x03" * 40),
]

RUBRICS = [
    # What is wrong only beside a judge: the template is looked up where the judge is made.
    rubric("- name: polite\n", "- §name: polite\n    template: nothing_like_it\n"),
    rubric("- name: polite\n", "- §name: polite\n    judge: somebody\n"),
    rubric("- name: polite\n", "- §name: polite\n    template: pointwise/yes_no\n"),
    rubric("name: support", "§nme: support"),
    rubric("name: support", "name: support\n§threshold: 5"),
    rubric("criteria:", "§criteria: 5\nx:"),
    rubric("  - name: polite\n", "  - §nam: polite\n"),
    rubric("    question: Is it polite?", "    §question: ''"),
    rubric("    scale: one_to_five", "    §scale: one_to_fife"),
    rubric("    scale: one_to_five", "    §scale: {min: 5, max: 1}"),
    rubric("    scale: one_to_five", "    scale: one_to_five\n    §weight: -1"),
    rubric("    scale: one_to_five", "    scale: one_to_five\n    §weight: heavy"),
    rubric(
        "    scale: one_to_five", "    scale: one_to_five\n  - §name: polite\n    question: Again?"
    ),
    rubric("    scale: one_to_five", "    scale: one_to_five\n    §needs: [luck]"),
    Malformed("rubric", "bad.yaml", "§- 1\n"),
    Malformed("rubric", "bad.yaml", b""),
    Malformed("rubric", "bad.yaml", "name: x\n§criteria: []\n"),
    Malformed("rubric", "bad.json", '{"name": "x",\n "criteria": §[}\n'),
    Malformed("rubric", "bad.yaml", b"\x7fELF\x02\x01\x01\x00" + bytes(64)),
]

ROWS = [
    lines("cases", "bad.jsonl", "{"),
    lines("cases", "bad.jsonl", "[1]", CASES),
    lines("cases", "bad.jsonl", '"text"', CASES),
    lines("cases", "bad.jsonl", '{"id": "c2", "input": NaN}', CASES),
    lines("cases", "bad.jsonl", '{"id": "c1", "input": "x"}', CASES),
    lines("cases", "bad.jsonl", '{"id": "c2", "id": "c3", "input": "x"}', CASES),
    lines("cases", "bad.jsonl", '{"id": ["c2"], "input": "x"}', CASES),
    lines("cases", "bad.jsonl", '{"id": "c2", "input": "x", "tags": 7}', CASES),
    lines("cases", "bad.jsonl", '{"id": "c2", "input": "x", "assertions": 5}', CASES),
    lines("cases", "bad.jsonl", "[" * 200 + "]" * 200, CASES),
    lines("cases", "bad.csv", "c2,x,y", "id,input\nc1,Hello?\n"),
    lines("cases", "bad.csv", "c1,x", "id,input\nc1,Hello?\n"),
    lines("cases", "bad.csv", 'c2,"x', "id,input\nc1,Hello?\n"),
    Malformed("cases", "bad.csv", "§id,id\nc1,Hello?\n"),
    Malformed("cases", "bad.jsonl", b""),
    Malformed("cases", "bad.json", '[{"id": "c1", "input": "x"},\n §{"id": "c1", "input": "y"}]'),
    Malformed("cases", "bad.json", '[{"id": "c1", "input": "x"},\n §5]'),
    Malformed("cases", "bad.json", '{"id": "c1",\n §"input": tru}'),
    Malformed("cases", "bad.yaml", "- id: c1\n  input: x\n- §id: c1\n  input: y\n"),
    Malformed("cases", "bad.yaml", "cases:\n  - id: c1\n    input: x\n    nope: [1\n§"),
    Malformed("cases", "bad.jsonl", CASES.encode() + b'{"id": "c2", "input": "\xff"}\n'),
    Malformed("cases", "bad.jsonl", CASES.encode() + b'{"id": "c2", "input": "\x00"}\n'),
    Malformed("cases", "bad.jsonl", CASES.encode("utf-16")),
    Malformed("cases", "bad.jsonl", b"PK\x03\x04\x14\x00\x00\x00\x08\x00" + bytes(64)),
    Malformed("cases", "bad.jsonl", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03" + bytes(64)),
    Malformed("cases", "bad.jsonl.gz", b"\x1f\x8b\x08\x00not a gzip file"),
    Malformed("cases", "bad.parquet", b"PAR1 and nothing else"),
    Malformed("cases", "bad.txt", b"hello\n"),
    lines("outputs", "bad.jsonl", "{"),
    lines("outputs", "bad.jsonl", '{"text": "no case"}', OUTPUTS),
    lines("outputs", "bad.jsonl", '{"case_id": "c1"}'),
    lines("outputs", "bad.jsonl", '{"case_id": "c1", "text": 5}'),
    lines("outputs", "bad.jsonl", '{"case_id": "c1", "text": "again"}', OUTPUTS),
    lines("outputs", "bad.jsonl", '{"case_id": "c1", "text": "x", "trace": [{"typ": "x"}]}'),
    lines("outputs", "bad.jsonl", '{"case_id": "c1", "text": "x", "trace": "x"}'),
    lines("outputs", "bad.jsonl", '{"case_id": "c1", "text": "x", "usage": {"input_tokens": -1}}'),
    lines("outputs", "bad.jsonl", '{"case_id": "c1", "text": "x", "duration_ms": "slow"}'),
    lines("outputs", "bad.csv", "c1", "case_id,text\n"),
    Malformed("outputs", "bad.jsonl", b""),
    Malformed("outputs", "bad.json", '[\n  §{"case_id": "c1",\n   "text": 5}]'),
    Malformed("outputs", "bad.jsonl", b"\x00\x00\x00\x18ftypmp42" + bytes(64)),
    lines("labels", "bad.jsonl", "{"),
    label('"criterion"', '"criteria"'),
    label('"polite"', '"rude"'),
    label("4", "9"),
    label("4", '"x"'),
    lines("labels", "bad.csv", "c1,polite,x,kim", "case_id,criterion,raw,annotator\n"),
    Malformed("labels", "bad.jsonl", b""),
    Malformed("labels", "bad.jsonl", b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(64)),
    lines("import", "bad.jsonl", "{"),
    lines("import", "bad.jsonl", "5"),
    lines("import", "bad.jsonl", '{"key": "x"}'),
    lines("import", "bad.jsonl", '{"key": 5, "value": {}}'),
    Malformed("import", "bad.jsonl", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"),
]  # fmt: skip

TABLE = [*SUITES, *RUBRICS, *ROWS]


def write_inputs(folder: Path) -> None:
    """Files that are valid."""
    for name, text in (("rubric.yaml", RUBRIC), ("cases.jsonl", CASES), ("outputs.jsonl", OUTPUTS)):
        (folder / name).write_text(text, encoding="utf-8")


def place_of(bad: Malformed) -> int | None:
    """The line that a message has to name; None for a file without lines."""
    if isinstance(bad.content, bytes):
        return None
    return bad.content[: bad.content.index(MARK)].count("\n") + 1


def read_malformed(bad: Malformed, folder: Path, run: Callable[..., Ran]) -> Ran:
    """What the command says that reads a malformed file."""
    content = bad.content
    if isinstance(content, str):
        content = content.replace(MARK, "", 1).encode()
    (folder / bad.name).write_bytes(content)
    return run(*[part.format(bad.name) for part in COMMANDS[bad.kind]])


@pytest.mark.parametrize(
    "bad", [pytest.param(bad, id=f"{bad.kind}-{n}") for n, bad in enumerate(TABLE)]
)
def test_a_message_names_the_file_and_the_line(
    bad: Malformed,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none is called")
    write_inputs(tmp_path)
    ran = read_malformed(bad, tmp_path, runner(capsys))
    line = place_of(bad)
    assert (ran.code, ran.out) == (2, "")
    assert (bad.name if line is None else f"{bad.name}:{line}: ") in ran.err, ran.err


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("audit", "outputs.jsonl"), 3),
        (("calibrate", "labels.jsonl", "--outputs", "outputs.jsonl", "--cases", "cases.jsonl"), 3),
        (("grade", "outputs.jsonl", "--no-store"), 3),
        # The field itself, because it needs no judge to say so.
        (("validate", "bad.yaml"), 4),
        (("validate", "suite.yaml"), 4),
    ],
)
def test_every_command_says_where_the_criterion_stands(
    arguments: tuple[str, ...],
    line: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    write_inputs(tmp_path)
    (tmp_path / "labels.jsonl").write_text(LABELS, "utf-8")
    bad = RUBRIC.replace("polite\n", "polite\n    template: nothing_like_it\n")
    (tmp_path / "bad.yaml").write_text(bad, "utf-8")
    (tmp_path / "suite.yaml").write_text(SUITE.replace("rubric.yaml", "bad.yaml"), "utf-8")
    if arguments[0] != "validate":
        arguments = (*arguments, "--rubric", "bad.yaml", "--judge", "openai/any")
    ran = runner(capsys)(*arguments)
    assert ran.code == 2
    assert f"bad.yaml:{line}: " in ran.out + ran.err
    message = " ".join((ran.out + ran.err).split())
    assert "criterion 'polite': no template is called 'nothing_like_it'" in message


def test_validate_knows_the_templates_around_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_inputs(tmp_path)
    path = tmp_path / "rubrics" / "own.yaml"
    path.parent.mkdir()
    path.write_text(RUBRIC.replace("polite\n", "polite\n    template: mine/own\n"), "utf-8")
    judge = "judge: {model: openai/any, template: mine/own}"
    own = SUITE.replace("rubric.yaml", "rubrics/own.yaml").replace("judge: openai/any", judge)
    (tmp_path / "suite.yaml").write_text(own, "utf-8")
    validate = runner(capsys)
    ran = validate("validate", "rubrics", "suite.yaml")
    assert (ran.code, ran.out.count("no template is called 'mine/own'")) == (2, 2)
    template = shipped_file("prompts", "pointwise", "criterion.j2").read_bytes()
    for folder in ("prompts", "elsewhere"):
        for other in ("prompts", "elsewhere"):
            shutil.rmtree(tmp_path / other, ignore_errors=True)
        (tmp_path / folder / "mine").mkdir(parents=True)
        (tmp_path / folder / "mine" / "own.j2").write_bytes(template)
        ran = validate("validate", "rubrics", "suite.yaml", "--templates", folder)
        assert (ran.code, ran.err) == (0, "")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "a binary file, not text"),
        (b"PK\x03\x04\x14\x00\x00\x00\x08\x00", "a binary file, not text"),
        (b"SQLite format 3\x00\x10\x00\x01\x01", "a binary file, not text"),
        (CASES.encode("utf-16"), "UTF-16"),
        (CASES.encode("utf-16-be"), "UTF-16"),
        (b'{"a": "\x00"}', "a NUL byte at byte 7"),
        (b'{"a": "\xff"}', "the byte 0xff, which is not UTF-8"),
    ],
)
def test_what_is_no_text_is_called_what_it_is(
    content: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cases.jsonl").write_bytes(content)
    ran = runner(capsys)("validate", tmp_path / "cases.jsonl")
    assert ran.code == 2
    assert message in " ".join(ran.out.split())
