"""Reads files of labels, those of labelling packets included, for every command that takes them."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from judgekit.calibration import ResolvedLabels, resolve_labels
from judgekit.cli import console
from judgekit.datasets import read_labels
from judgekit.store import RunStore

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def read_label_files(paths: Iterable[Path], store: str) -> ResolvedLabels:
    """The labels of files; items of packets are replaced by what they stand for in the store."""
    labels = [one for path in paths for one in read_labels(path, note=console.note)]
    with ExitStack() as stack:
        return resolve_labels(
            labels, lambda: stack.enter_context(closing(RunStore(store, create=False)))
        )
