"""A folder with a small suite and a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.store import RunStore
from tests.evaluation.suites import Bench, lay_suite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Callable[..., Bench]]:
    """Makes the bench of a suite: its fields are the suite's, but for `n`, `texts` and `asking`."""
    stores: list[RunStore] = []

    def make(asking: dict[str, Any] | None = None, **suite: Any) -> Bench:
        path = lay_suite(tmp_path / f"suite{len(stores)}", **suite)
        stores.append(RunStore(path.parent / "runs.db"))
        return Bench(path, stores[-1], **(asking or {}))

    yield make
    for store in stores:
        store.close()
