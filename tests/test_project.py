"""What holds for the project as a whole, whatever is in its rooms."""

from __future__ import annotations

import ast
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

import judgekit
from judgekit.cli.main import COMMANDS, judgekit as front_door

ROOT = Path(__file__).parents[1]
LONGEST_FILE = 600
SOURCES = sorted(
    path
    for folder in ("judgekit", "tests", "benchmarks")
    for path in (ROOT / folder).rglob("*.py")
    if "__pycache__" not in path.parts
)
SLOW = ("litellm", "scipy", "numpy", "diskcache", "pandas", "pyarrow", "tiktoken", "xllamacpp")
"""What costs more to import than most commands take."""

FORBIDDEN = {
    "a folder of one machine": re.compile(r"(?<![\w.])/(?:home|Users)/[a-z]\w*/"),
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY|\bsk-(?:proj-)?[A-Za-z0-9]{32,}"),
    "work that is not finished": re.compile(r"\b(?:TODO|FIXME|XXX)\b(?!.*#\d)"),
}
"""What no tracked file may say, by what it would be."""

MAY_SPEAK_OF_IT = {".ci/run", "tests/test_project.py", "pyproject.toml"}
"""Files that name it in order to find it."""


def tracked() -> list[Path]:
    """The files under version control; those on disk where there is none, as in an sdist."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        return SOURCES
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def modules() -> list[str]:
    """Every module of the package, by its dotted name."""
    package = [path.relative_to(ROOT) for path in SOURCES if path.is_relative_to(ROOT / "judgekit")]
    names = [".".join(path.with_suffix("").parts) for path in package]
    return [name.removesuffix(".__init__") for name in names if not name.endswith("__main__")]


def loaded_by(code: str) -> set[str]:
    """The top-level modules that a piece of code loads in an interpreter of its own."""
    show = "\nprint(*sorted({name.partition('.')[0] for name in __import__('sys').modules}))"
    ran = subprocess.run(
        [sys.executable, "-c", code + show], capture_output=True, text=True, check=True
    )
    return set(ran.stdout.splitlines()[-1].split())


def test_no_file_is_longer_than_a_reader_can_hold() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    long = [f"{p.relative_to(ROOT)}: {n}" for p, n in lengths.items() if n > LONGEST_FILE]
    assert long == []


def test_every_module_opens_with_what_it_decides_or_holds() -> None:
    package = [path for path in SOURCES if path.is_relative_to(ROOT / "judgekit")]
    silent = [p for p in package if not ast.get_docstring(ast.parse(p.read_text(encoding="utf-8")))]
    assert silent == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    empty = {"utils", "util", "helpers", "helper", "common", "manager", "base", "misc"}
    assert [name for name in modules() if empty & set(name.split("."))] == []


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_tracked_file_holds(what: str) -> None:
    found = []
    for path in tracked():
        name = str(path.relative_to(ROOT))
        if name in MAY_SPEAK_OF_IT or path.suffix in {".png", ".parquet", ".gz"}:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        found += [f"{name}: {match[0]}" for match in FORBIDDEN[what].finditer(text)]
    assert found == []


def test_the_public_names_are_sorted_and_all_that_is_visible() -> None:
    assert judgekit.__all__ == sorted(judgekit.__all__)
    assert dir(judgekit) == judgekit.__all__
    for name in judgekit.__all__:
        assert getattr(judgekit, name) is not None


def test_a_name_that_is_not_public_is_not_there() -> None:
    with pytest.raises(AttributeError, match="attribute 'grade_everything'"):
        _ = judgekit.grade_everything  # type: ignore[attr-defined]  # that is what is tested


def test_the_sorted_imports_for_type_checkers_are_the_public_names() -> None:
    tree = ast.parse((ROOT / "judgekit" / "__init__.pyi").read_text(encoding="utf-8"))
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert imported == set(judgekit.__all__) - {"__version__"} | {"stats"}


def test_every_name_a_module_lists_is_there_and_sorted() -> None:
    for module in map(importlib.import_module, modules()):
        listed = getattr(module, "__all__", [])
        assert list(listed) == sorted(listed), module
        assert [name for name in listed if not hasattr(module, name)] == [], module


def test_importing_judgekit_loads_nothing_slow() -> None:
    loaded = loaded_by("import judgekit")
    assert loaded.isdisjoint({*SLOW, "jinja2", "yaml", "aiohttp", "rich", "click", "pydantic"})


def test_a_judge_that_was_not_asked_yet_loads_nothing_slow() -> None:
    slow = {*SLOW, "rich", "click"} - {"diskcache"}
    code = "import judgekit as jk\njk.Judge('openai/m', cache=None)\njk.load_rubric('helpfulness')"
    assert loaded_by(code).isdisjoint(slow)


def test_the_help_loads_nothing_but_the_names_of_commands() -> None:
    code = (
        "from judgekit.cli.main import main\ntry:\n    main(['--help'])\nexcept SystemExit: pass\n"
    )
    slow = {*SLOW, "jinja2", "yaml", "aiohttp", "rich", "pydantic", "starlette", "uvicorn"}
    assert loaded_by(code).isdisjoint(slow)


def test_only_serving_loads_the_server() -> None:
    code = (
        "from judgekit.cli.main import main\n"
        "try:\n    main(['view', '--store', 'none.db'])\nexcept SystemExit: pass\n"
    )
    assert loaded_by(code).isdisjoint({"starlette", "uvicorn", "jinja2"})


def test_the_floors_never_import_what_has_a_home_elsewhere_at_the_top() -> None:
    late = {"litellm", "tiktoken", "pyarrow", "xllamacpp", "rich"}
    for name in modules():
        tree = ast.parse(Path(importlib.import_module(name).__file__ or "").read_text("utf-8"))
        top = {imported.partition(".")[0] for node in tree.body for imported in _imported(node)}
        # Each of these but rich is imported in functions only; rich also where all is printing,
        # by a module that is imported when something is printed.
        known = {"rich"} if name == "judgekit.report.terminal" else set()
        assert top & late <= known, name


def _imported(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def commands(group: click.Group, name: str = "judgekit") -> list[tuple[str, click.Command]]:
    """Every command below a group, by what is typed."""
    found: list[tuple[str, click.Command]] = []
    context = click.Context(group)
    for part in group.list_commands(context):
        command = group.get_command(context, part)
        assert command is not None
        below = commands(command, f"{name} {part}") if isinstance(command, click.Group) else []
        found += below or [(f"{name} {part}", command)]
    return found


def test_every_command_of_the_table_exists() -> None:
    assert {name.split()[1] for name, _ in commands(front_door)} == set(COMMANDS)


@pytest.mark.parametrize(("name", "command"), commands(front_door))
def test_every_command_says_what_it_does_and_speaks_json(name: str, command: click.Command) -> None:
    assert len(command.help or "") > 20, name
    options = {option for parameter in command.params for option in parameter.opts}
    assert "--json" in options or name == "judgekit cache path"
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.opts}"


FLAGS = {
    "-o": "--output",
    "-j": "--max-concurrency",
    "-c": "--config",
    "-n": "--limit",
    "-q": "--quiet",
    "-v": "--verbose",
}


@pytest.mark.parametrize(("name", "command"), commands(front_door))
def test_a_short_flag_means_the_same_everywhere(name: str, command: click.Command) -> None:
    for parameter in command.params:
        for short in set(parameter.opts) & set(FLAGS):
            assert FLAGS[short] in parameter.opts, name


HELP = """
import os, sys
import judgekit.evaluation.session, judgekit.store.runs, rich.table, scipy.special
from judgekit.cli.main import COMMANDS, main
for name in COMMANDS:
    if os.fork() == 0:
        try:
            main([name, "--help"])
        except SystemExit as ended:
            sys.stdout.flush()
            os._exit(ended.code)
    if os.wait()[1]:
        sys.exit(f"judgekit {name} --help failed")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_every_command_has_help_where_no_other_was_loaded_before() -> None:
    ran = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.count("Usage: ") == len(COMMANDS)


def test_the_readme_is_read_in_one_go() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
