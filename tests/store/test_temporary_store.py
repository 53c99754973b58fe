"""Stores of calls that store nothing: used again, and deleted with the process that made them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from judgekit.store import temporary_store


def test_the_next_call_uses_the_store_again() -> None:
    with temporary_store() as first:
        pass
    with temporary_store() as second:
        assert second is first


def test_calls_at_the_same_time_have_stores_of_their_own() -> None:
    with temporary_store() as first, temporary_store() as second:
        assert second is not first


def test_a_store_whose_call_failed_is_deleted() -> None:
    def fail() -> Path:
        with temporary_store() as store:
            places.append(Path(store.location.name).parent)
            raise KeyError

    places: list[Path] = []
    with pytest.raises(KeyError):
        fail()
    assert not places[0].exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
def test_the_folder_is_deleted_by_its_own_process_at_the_end() -> None:
    program = """
import os, sys
from pathlib import Path
from judgekit.store import temporary_store
with temporary_store() as store:
    folder = Path(store.location.name).parent
child = os.fork()
if not child:
    with temporary_store() as own:
        assert own is not store
        print(Path(own.location.name).parent)
    sys.exit(0)
os.waitpid(child, 0)
assert folder.exists()
print(folder)
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    folders = {Path(line) for line in ran.stdout.split()}
    assert len(folders) == 2
    assert not any(folder.exists() for folder in folders)
