"""Everything the pages in `docs/` show is true: files load, commands run, outputs are as shown.

A page is one story in a folder of its own, told from its first block to its last:

- a block after a line that ends in `` `name`: `` is that file;
- `sh` and `python` blocks are run, and a `text` block after one is what it prints, but for white
  space; `…` is for what differs each time, and alone on a line for any lines;
- `python` blocks share their names, as the cells of a notebook do;
- other YAML, TOML and JSON blocks are read, YAML as a part of a suite or as a rubric;
- what follows `<!-- not run: why -->`, or `<!-- needs: program -->` where that is not installed,
  is only parsed;
- a model of `openai/` is a judge by rule on this machine (`tests.servers.judging`), and its key
  is set; `pytest` runs in a process of its own, and `cd` and `export` do what they do in a shell.
"""

from __future__ import annotations

import gc
import io
import json
import re
import runpy
import shlex
import subprocess
import sys
import threading
import tomllib
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import yaml

from judgekit.assertions import (
    assertion_registry,
    check_specs,
    compares_variants,
    evaluate_assertions,
    score_output,
    scorer_registry,
)
from judgekit.cli.main import COMMANDS
from judgekit.datasets import load_rubric, load_suite
from judgekit.formats import document_kind
from judgekit.records import Output
from tests.cli.commanding import runner
from tests.servers.judging import judging
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.cli.commanding import Ran

DOCS = Path(__file__).parents[1] / "docs"
PAGES = ["../README.md", *sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))]
ADDRESS = "http://localhost:8000"
"""Where the pages say that a server is."""

_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"`([\w./-]+\.\w+)`:\s*\Z")
_NOT_RUN = re.compile(r"<!-- not run: .+ -->\s*\Z")
_NEEDS = re.compile(r"<!-- needs: (\w+) -->\s*\Z")
_INSTALL = "pip install "
_RESPONSE = json.dumps({"text": "Yes, within 30 days."}).encode()


class Block(NamedTuple):
    """One block of a page."""

    line: int
    language: str
    text: str
    file: str | None
    is_run: bool


class _Answers(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(_RESPONSE)))
        self.end_headers()
        self.wfile.write(_RESPONSE)

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of an endpoint that answers every case."""
    served = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    thread = threading.Thread(target=served.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{served.server_port}"
    served.shutdown()
    thread.join()
    served.server_close()


@dataclass
class Story:
    """A page on its way through its folder."""

    folder: Path
    run: Callable[..., Ran]
    address: str
    monkeypatch: pytest.MonkeyPatch
    said: str | None = None
    # What the Python blocks define; a reader runs them in one session, as in a notebook.
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})

    def tell(self, block: Block) -> None:
        if block.file is not None:
            self.write(block.file, block.text)
        elif not block.is_run:
            self.said = None
            _parse(block)
        elif block.language == "sh":
            self.said = "".join(map(self.command, _commands(block.text)))
        elif block.language == "python":
            self.said = self.python(block.text)
        elif block.language == "text":
            assert self.said is None or _is_as_shown(self.said, block.text), self.said
        else:
            _parse(block)

    def write(self, name: str, text: str) -> None:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace(ADDRESS, self.address), encoding="utf-8")
        if path.suffix == ".yaml":
            kind = document_kind(yaml.safe_load(text))
            if kind == "suite":
                load_suite(path)
            elif kind == "rubric":
                load_rubric(path)

    def python(self, text: str) -> str:
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(text, "docs", "exec"), self.names)  # noqa: S102 - our own pages
        return printed.getvalue()

    def command(self, line: str) -> str:
        words, _, remark = line.partition("  # exit ")
        if words.startswith(_INSTALL):
            return self.install(words.removeprefix(_INSTALL))
        program, *arguments = shlex.split(words)
        if program == "cd":
            self.monkeypatch.chdir(arguments[0])
            return ""
        if program == "export":
            name, _, value = arguments[0].partition("=")
            if not name.startswith("OPENAI_"):  # the key of the judge by rule stays
                self.monkeypatch.setenv(name, value)
            return ""
        if program == "pytest":
            return self.pytest(arguments, code=int(remark or 0))
        assert program == "judgekit", line
        ran = self.run(*arguments)
        assert ran.code == int(remark or 0), f"{line}\n{ran.out}{ran.err}"
        progress = re.compile(r"^done \d+ of .*\n", re.MULTILINE)
        return ran.out + progress.sub("", ran.err)

    def pytest(self, arguments: list[str], *, code: int) -> str:
        """Run the tests of the page, with no settings but those that it shows."""
        ran = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:randomly", *arguments],
            check=False,
            capture_output=True,
            text=True,
        )
        assert ran.returncode == code, ran.stdout + ran.stderr
        return ran.stdout

    def install(self, package: str) -> str:
        """Install a package of the page, without a network."""
        place = self.folder / "installed"
        options = ["--quiet", "--offline", "--no-deps", "--no-build-isolation"]
        uv = Path(sys.executable).with_name("uv")
        where = ["--python", sys.executable, "--target", str(place)]
        subprocess.run([uv, "pip", "install", *options, *where, package], check=True)
        self.monkeypatch.syspath_prepend(place)
        _forget_packages()
        return ""


@pytest.fixture(scope="module")
def judge_server() -> Iterator[str]:
    """The address of a judge by rule that speaks OpenAI's protocol."""
    with OpenAILikeServer(judging) as served:
        yield served.url


@pytest.fixture
def story(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    server: str,
    judge_server: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Story]:
    """An empty folder to tell a page in; what it installs is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.setenv("OPENAI_API_BASE", judge_server)
    known = set(sys.modules)
    told = Story(tmp_path, runner(capsys), server, monkeypatch)
    yield told
    # A judge that a page leaves open writes its cache's counts when it is collected: now, while
    # the folder is still there.
    told.names.clear()
    gc.collect()
    _forget_packages()
    for name in set(sys.modules) - known:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def _forget_packages() -> None:
    """Which packages bring assertions and scorers is looked up once, and has changed."""
    assertion_registry.cache_clear()
    scorer_registry.cache_clear()


@pytest.mark.no_cover
@pytest.mark.parametrize("page", PAGES)
def test_everything_a_page_shows_is_true(page: str, story: Story) -> None:
    for block in _blocks((DOCS / page).read_text(encoding="utf-8")):
        try:
            story.tell(block)
        except BaseException as error:
            error.add_note(f"docs/{page}:{block.line}")
            raise


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("tutorials/")])
def test_a_tutorial_explains_the_figures_that_it_shows(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    shown = "".join(m.group() for m in _FENCE.finditer(text))
    explained = re.findall(r"[-+]?\d[\d.]*(?: %)?[a-z ]* \[[-+\d][^\]]*\]", _FENCE.sub("", text))
    assert [figure for figure in explained if figure not in shown] == []


@pytest.mark.parametrize("page", PAGES)
def test_links_of_a_page_lead_somewhere(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    for name, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", text):
        target = ((DOCS / page).parent / name).resolve() if name else DOCS / page
        assert target.is_file(), name
        if anchor:
            assert anchor in _anchors(target), f"{name}#{anchor}"


def test_the_reference_is_what_the_registry_says() -> None:
    script = runpy.run_path(str(DOCS / "reference.py"))
    for path, text in script["written"]().items():
        assert path.read_text(encoding="utf-8") == text, "run python docs/reference.py"
    assert script["listed_names"]() == _built_in(assertion_registry())


def test_the_api_reference_is_what_the_docstrings_say() -> None:
    pages = runpy.run_path(str(DOCS / "api_reference.py"))["written"]()
    assert {*pages} == {*(DOCS / "reference").glob("*.md")}
    for path, text in pages.items():
        assert path.read_text(encoding="utf-8") == text, "run python docs/api_reference.py"


@pytest.mark.no_cover
def test_the_pictures_are_those_that_their_script_draws() -> None:
    drawn = runpy.run_path(str(DOCS / "pictures.py"))["written"]()
    assert {path.name for path in (DOCS / "pictures").iterdir()} == {path.name for path in drawn}
    for path, text in drawn.items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run python docs/pictures.py"


def test_every_picture_is_shown_with_a_description() -> None:
    pages = "".join((DOCS / page).read_text(encoding="utf-8") for page in PAGES)
    shown = dict(re.findall(r"!\[([^\]]+)\]\((?:\.\./)*pictures/([\w.]+)\)", pages))
    assert set(shown.values()) == {path.name for path in (DOCS / "pictures").iterdir()}


def test_every_example_of_the_reference_holds() -> None:
    for spec, output in _examples("assertions"):
        found = evaluate_assertions(output, [spec])[0]
        is_decided = not compares_variants(spec["type"])  # a run does
        assert found.passed is (is_decided or None), f"{spec}: {found.message}"
    names = {spec["type"] for spec, _ in _examples("assertions")}
    assert names == _built_in(assertion_registry())


def test_every_scorer_of_the_reference_measures() -> None:
    for spec, output in _examples("scorers"):
        assert score_output(output, [spec]).overall is not None, spec
    assert {spec["type"] for spec, _ in _examples("scorers")} == _built_in(scorer_registry())


def _blocks(text: str) -> Iterator[Block]:
    for found in _FENCE.finditer(text):
        before = text[: found.start()].rstrip("\n")
        indent, language, inside = found.groups()
        body = re.sub(rf"^{indent}", "", inside, flags=re.MULTILINE)
        named = _FILE.search(before.rpartition("\n")[2])
        yield Block(
            line=text.count("\n", 0, found.start()) + 1,
            language=language,
            text=body,
            file=None if named is None or language in {"sh", "text"} else named[1],
            is_run=_is_run(before),
        )


def _is_run(before: str) -> bool:
    needs = _NEEDS.search(before)
    return _NOT_RUN.search(before) is None and (needs is None or which(needs[1]) is not None)


def _commands(text: str) -> list[str]:
    joined = text.replace("\\\n", " ")
    return [line for line in joined.splitlines() if line.strip() and not line.startswith("#")]


def _is_as_shown(said: str, shown: str) -> bool:
    lines = _plain_lines(shown)
    parts = ["(?:.*\n)*" if line == "…" else f"{_with_gaps(line)}\n" for line in lines]
    actual = "".join(f"{line}\n" for line in _plain_lines(said))
    return re.fullmatch("".join(parts), actual) is not None


def _plain_lines(text: str) -> list[str]:
    """Lines without what depends on the width of a table."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return [re.sub("─+", "─", line) for line in lines if line]


def _with_gaps(line: str) -> str:
    return ".*".join(re.escape(part) for part in line.split("…"))


def _parse(block: Block) -> None:
    """Read a block that is no file and is not run."""
    if block.language == "yaml":
        _read_part(yaml.safe_load(block.text))
    elif block.language == "json":
        json.loads(block.text)
    elif block.language == "toml":
        tomllib.loads(block.text)
    elif block.language == "python":
        compile(block.text, "docs", "exec")
    elif block.language == "sh":
        for line in _commands(block.text):
            words = shlex.split(line, comments=True)
            assert words[0] != "judgekit" or words[1] in COMMANDS, line


def _read_part(fields: dict[str, Any]) -> None:
    """A part of a suite, with what else a suite needs, or a rubric."""
    path = Path("part.yaml")
    if "criteria" in fields:
        path.write_text(yaml.safe_dump(fields), encoding="utf-8")
        load_rubric(path)
        return
    whole: dict[str, Any] = {"name": "part", "rubric": "helpfulness", **fields}
    if "dataset" not in whole:
        whole.setdefault("cases", [{"id": "a", "input": "b"}])
    path.write_text(yaml.safe_dump(whole), encoding="utf-8")
    check_specs(load_suite(path).assertions)


def _anchors(page: Path) -> set[str]:
    """The names GitHub gives to headings."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def _examples(kind: str) -> Iterator[tuple[dict[str, Any], Output]]:
    whole = yaml.safe_load((DOCS / "assertion_examples.yaml").read_text(encoding="utf-8"))
    for each in whole[kind]:
        default = {"text": "Yes, within 30 days."}
        yield each["spec"], Output.model_validate(each.get("output", default))


def _built_in(registry: Any) -> set[str]:
    # `not_imported` is written by importers, and never holds: there is no example of it to give.
    names = {name for name, entry in registry.items() if entry.source == "judgekit"}
    return names - {"not_imported"}
