from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import judgekit as jk
from judgekit.store import RunStore

NAMES = [name for name in jk.__all__ if name != "__version__"]
HEAVY = ("litellm", "scipy", "numpy", "pandas", "diskcache", "jinja2", "pydantic", "aiohttp",
         "yaml", "rich", "click", "tiktoken", "asyncio", "importlib.metadata")  # fmt: skip


def stubs() -> dict[str, str]:
    """The imports that type checkers see: name to module."""
    tree = ast.parse(Path(jk.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {
        alias.name: f"judgekit.{node.module}"
        for node in imports
        for alias in node.names
        if node.module is not None
    }


def test_type_checkers_and_python_see_the_same_names() -> None:
    assert sorted([*stubs(), "__version__"]) == sorted(jk.__all__)


def test_statistics_are_reached_from_the_package() -> None:
    module = importlib.import_module("judgekit.stats.intervals")
    assert jk.stats.intervals.proportion is module.proportion
    assert {path.stem for path in Path(module.__file__ or "").parent.glob("[a-z]*.py")} == {
        *dir(jk.stats)
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_is_what_its_home_holds(name: str) -> None:
    home = importlib.import_module(stubs()[name])
    assert getattr(jk, name) is getattr(home, name)


def test_dir_shows_the_public_names_sorted() -> None:
    assert dir(jk) == sorted(jk.__all__)


def test_every_error_class_is_public() -> None:
    errors: dict[str, Any] = vars(importlib.import_module("judgekit.errors"))
    assert {name for name, found in errors.items() if isinstance(found, type)} <= set(NAMES)


def test_the_version_is_that_of_the_distribution() -> None:
    assert jk.__version__ == version("judgekit-llm")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'judgekit' has no attribute 'Jugde'"):
        getattr(jk, "Jugde")  # noqa: B009 - a plain attribute would be an error to the type checker


def loaded_by(code: str) -> set[str]:
    """The heavy modules that some code loads, in a Python of its own."""
    shown = f"{code}\nimport sys\nprint(*(m for m in {HEAVY!r} if m in sys.modules))"
    ran = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    return set(ran.stdout.split())


def test_importing_judgekit_imports_nothing_heavy() -> None:
    assert loaded_by("import judgekit; dir(judgekit); judgekit.__all__") == set()


def test_grading_and_its_gate_import_no_arrays() -> None:
    """Imported only to compare, they would be a sixth of the time of grading from the cache."""
    loaded = loaded_by("import judgekit.cli.run, judgekit.evaluation.gate")
    assert loaded.isdisjoint({"numpy", "scipy", "litellm"})


def test_a_listing_of_runs_imports_no_arrays_and_no_judge(tmp_path: Path) -> None:
    """They were two thirds of its time."""
    store = tmp_path / "judgekit.db"
    RunStore(store).close()
    command = f"main(['show', '--json', '--store', {str(store)!r}])"
    loaded = loaded_by(
        f"from contextlib import suppress\nfrom judgekit.cli.main import main\n"
        f"with suppress(SystemExit): {command}"
    )
    assert loaded.isdisjoint({"numpy", "scipy", "litellm", "jinja2"})


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("Case", {"pydantic"}),
        ("JudgekitError", set()),
        ("Rubric", {"pydantic"}),
        ("ScriptedModel", {"pydantic"}),
    ],
)
def test_a_name_loads_only_what_it_needs(name: str, more: set[str]) -> None:
    asides = {"asyncio", "importlib.metadata", "pydantic"}
    assert loaded_by(f"import judgekit; judgekit.{name}") - asides == more - asides


def test_a_judge_loads_neither_a_transport_nor_statistics() -> None:
    found = loaded_by("import judgekit; judgekit.Judge('openai/m', cache=None)")
    assert not found & {"litellm", "scipy", "numpy", "pandas", "aiohttp", "rich", "click"}
