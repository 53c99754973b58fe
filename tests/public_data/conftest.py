"""Gives the commands on published sets one folder for all the workers of a test run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.public_data import door

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session", autouse=True)
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Where own files lie, and what commands said of them: pytest clears it away in time."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent  # the run's own, not the worker's
    shared = base / "published"
    shared.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(door, "folder", lambda: shared)
        yield
