"""The shortest way from a case to its verdict stays short: see `tests.call_path`."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.call_path import LIMITS


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
