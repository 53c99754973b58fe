from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from judgekit.errors import DatasetError, UnknownNameError
from judgekit.public_data import load_catalog
from judgekit.public_data.converters import CONVERTERS
from tests.public_data.made import COMMIT, REPOSITORY, write_catalog

if TYPE_CHECKING:
    from pathlib import Path


def test_the_shipped_catalog_says_of_every_set_whose_it_is_and_pins_every_file() -> None:
    catalog = load_catalog()
    assert catalog.address.startswith("https://")
    assert len(catalog.sets) == len({one.name for one in catalog.sets}) == 9
    for one in catalog.sets:
        assert one.n_files > 0 < one.n_bytes
        assert one.converter in CONVERTERS


def test_an_unknown_set_is_told_with_the_near_names() -> None:
    with pytest.raises(UnknownNameError, match="did you mean llmbar"):
        load_catalog().find("llmbra")


def test_a_set_takes_its_files_from_the_listing_beside_the_catalog(tmp_path: Path) -> None:
    (made,) = load_catalog(write_catalog(tmp_path)).sets
    (source,) = made.sources
    assert (source.repository, source.commit, made.n_files) == (REPOSITORY, COMMIT, 2)


@pytest.mark.parametrize(
    ("listing", "problem"),
    [
        ("{", "is no listing of files"),
        ('{"someone/pairs": {"../../etc/passwd": {}}}', "no path in a repository"),
        ('{"someone/pairs": {"/etc/passwd": {}}}', "no path in a repository"),
        ('{"someone/pairs": {"a": {"bytes": 1, "sha256": "x"}}}', "is no catalog"),
        ('{"other/pairs": {}}', "is no catalog"),
    ],
)
def test_an_unsound_listing_is_refused(tmp_path: Path, listing: str, problem: str) -> None:
    with pytest.raises(DatasetError, match=problem):
        load_catalog(write_catalog(tmp_path, listing=listing))


def test_a_branch_in_place_of_a_commit_is_refused(tmp_path: Path) -> None:
    path = write_catalog(tmp_path, source=f"{{repository: {REPOSITORY}, commit: main}}")
    with pytest.raises(DatasetError, match="commit"):
        load_catalog(path)


def test_a_file_without_sets_is_no_catalog(tmp_path: Path) -> None:
    path = tmp_path / "catalog.yaml"
    path.write_text("from: x\n")
    with pytest.raises(DatasetError, match="has no `sets:`"):
        load_catalog(path)
