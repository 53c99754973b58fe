"""The shortest way from a case to its verdict stays short: see `tests.call_path`."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.call_path import LIMITS
from tests.structure import ROOT, Structure, measure


@pytest.fixture(scope="module")
def call_path() -> str:
    # In a process of its own: what other tests have cached would not be called here.
    ran = subprocess.run(
        [sys.executable, "-m", "tests.call_path"], capture_output=True, text=True, check=True
    )
    return ran.stdout


def test_a_judgment_that_is_not_cached_needs_few_functions_and_modules(call_path: str) -> None:
    found = re.search(r"^cold: (\d+) functions in (\d+) modules$", call_path, re.MULTILINE)
    assert found, call_path
    assert int(found[1]) <= LIMITS["cold_functions"], call_path
    assert int(found[2]) <= LIMITS["cold_modules"], call_path


def test_a_cache_hit_needs_six_functions(call_path: str) -> None:
    found = re.search(r"^cache hit: (\d+) functions", call_path, re.MULTILINE)
    assert found, call_path
    assert int(found[1]) <= LIMITS["hit_functions"], call_path


@pytest.fixture(scope="module")
def structure() -> Structure:
    return measure()


def test_the_package_stays_in_one_readers_reach(structure: Structure) -> None:
    assert structure.n_files <= 350
    assert structure.longest_files[0][0] <= 600, structure.longest_files


def test_no_public_name_is_defined_in_two_modules(structure: Structure) -> None:
    assert structure.defined_twice == {}


def test_no_module_is_named_with_a_bare_participle() -> None:
    ending = re.compile(r"(?:ing|ed|told|kept|given|known|held)$")
    # `paired` is the name of a statistics module that users import; the others are nouns.
    nouns = {
        "encoding", "error_mapping", "grading", "loading", "missing", "paired", "pairing",
        "pricing", "ranking", "tuning",
    }  # fmt: skip
    names = {path.stem for path in (ROOT / "judgekit").rglob("*.py")}
    assert {name for name in names if ending.search(name)} - nouns == set()
