"""The structure keeps the limits of `tests.structure` and `tests.call_path`."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.call_path import LIMITS as CALL_LIMITS
from tests.structure import LIMITS, ROOT, figures, measure


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
    assert int(found[1]) <= CALL_LIMITS["cold_functions"], call_path
    assert int(found[2]) <= CALL_LIMITS["cold_modules"], call_path


def test_a_cache_hit_needs_six_functions(call_path: str) -> None:
    found = re.search(r"^cache hit: (\d+) functions", call_path, re.MULTILINE)
    assert found, call_path
    assert int(found[1]) <= CALL_LIMITS["hit_functions"], call_path


def test_the_package_keeps_its_limits() -> None:
    found = figures()
    comments = "comments per 100 code lines"
    broken = {name for name in found if name != comments and found[name] > LIMITS[name]}
    assert broken == set(), measure()
    assert found[comments] >= LIMITS[comments]


def test_no_module_is_named_with_a_bare_participle() -> None:
    ending = re.compile(r"(?:ing|ed|told|kept|given|known|held)$")
    # `paired` is the name of a statistics module that users import; the others are nouns.
    nouns = {
        "encoding", "error_mapping", "finding", "grading", "labelling", "loading", "missing",
        "paired", "pairing", "pricing", "ranking", "tuning",
    }  # fmt: skip
    names = {path.stem for path in (ROOT / "judgekit").rglob("*.py")}
    assert {name for name in names if ending.search(name)} - nouns == set()
