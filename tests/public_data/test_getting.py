from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import DownloadError, SettingsError, StoreError
from judgekit.public_data import data_folder, download_set, joined_files, load_catalog
from judgekit.public_data.sources import download_file, source_address
from tests.public_data.made import BIG, FILES, SMALL, mirrored, served, write_catalog
from tests.servers.files import FileServer

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.public_data import PublicDataset
    from tests.servers.files import Fault


@pytest.fixture
def made(tmp_path: Path) -> PublicDataset:
    return load_catalog(write_catalog(tmp_path / "catalog")).find("made")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


def files_in(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


def test_a_set_is_fetched_verified_and_written(made: PublicDataset, folder: Path) -> None:
    told: list[str] = []
    with FileServer(mirrored()) as server:
        got = download_set(made, folder, origin=server.url, on_file=told.append)
    assert (got.n_fetched, got.n_kept, sorted(told)) == (2, 0, sorted(FILES))
    (joined,) = got.joined
    assert joined_files("made", folder) == [joined]
    with gzip.open(joined, "rt", encoding="utf-8") as lines:
        (row,) = map(json.loads, lines)
    assert row["human"] == "A"
    assert row["judge_probability"]["small"] == {"A": 0.25, "B": 0.75}
    assert {path.name for path in got.own} == {
        "pairwise.cases.jsonl", "pairwise.outputs.jsonl", "pairwise.labels.jsonl",
        "pairwise.results.big.jsonl", "pairwise.results.small.jsonl", "pairwise.rubric.json",
    }  # fmt: skip


def test_what_is_there_and_verified_is_not_fetched_again(made: PublicDataset, folder: Path) -> None:
    with FileServer(mirrored()) as server:
        first = download_set(made, folder, origin=server.url)
        before = next(iter(first.joined)).read_bytes()
        again = download_set(made, folder, origin=server.url)
        assert (again.n_fetched, again.n_kept, len(server.asked)) == (0, 2, 2)
        assert next(iter(again.joined)).read_bytes() == before, "the same bytes each time"
        spoilt = next(folder.rglob("big.calibration.jsonl"))
        spoilt.write_bytes(b"x" * len(FILES[BIG]))
        mended = download_set(made, folder, origin=server.url)
    assert (mended.n_fetched, spoilt.read_bytes()) == (1, FILES[BIG])


def test_a_broken_download_goes_on_where_it_stopped(made: PublicDataset, folder: Path) -> None:
    with (
        FileServer(mirrored(), {served(SMALL): "cut"}) as server,
        pytest.raises(DownloadError, match=r"small\.calibration.* was cut off after"),
    ):
        download_set(made, folder, origin=server.url)
    assert not joined_files("made", folder), "rows are written when all files are there"
    with FileServer(mirrored()) as server:
        got = download_set(made, folder, origin=server.url)
    assert got.n_fetched + got.n_kept == 2
    assert f"/{served(SMALL)}" in server.asked


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        ("cut", r"was cut off after \d+ of \d+ bytes"),
        ("large", r"is larger than the \d+ bytes it should have"),
        ("slow", "nothing was received for too long"),
        ("elsewhere", "redirects to http://192.0.2.1/x, which is not https"),
        ("broken", "the connection broke"),
    ],
)
def test_a_fault_is_named_and_nothing_is_kept(
    made: PublicDataset, folder: Path, fault: Fault, problem: str
) -> None:
    (source,) = made.sources
    with (
        FileServer(mirrored(), {served(BIG): fault}) as server,
        pytest.raises(DownloadError, match=problem),
    ):
        download_file(
            source_address(server.url, source, BIG), folder / "x",
            pinned=source.files[BIG], stalled_s=0.2,
        )  # fmt: skip
    assert files_in(folder) == set()


def test_a_file_that_takes_too_long_in_all_is_given_up(made: PublicDataset, folder: Path) -> None:
    (source,) = made.sources
    with FileServer(mirrored()) as server, pytest.raises(DownloadError, match="took too long"):
        download_file(
            source_address(server.url, source, BIG), folder / "x",
            pinned=source.files[BIG], whole_s=-1.0,
        )  # fmt: skip
    assert files_in(folder) == set()


def test_another_file_than_the_pinned_one_is_named_and_not_kept(
    made: PublicDataset, folder: Path
) -> None:
    changed = {**mirrored(), served(BIG): FILES[BIG].replace(b"hi", b"ho")}
    with (
        FileServer(changed) as server,
        pytest.raises(DownloadError, match=r"big\.calibration\S* is not the file that was pinned"),
    ):
        download_set(made, folder, origin=server.url)
    assert "big.calibration.jsonl" not in files_in(folder)


def test_a_file_that_is_gone_is_named(made: PublicDataset, folder: Path) -> None:
    with (
        FileServer({}) as server,
        pytest.raises(DownloadError, match="the server answered 404 Not Found"),
    ):
        download_set(made, folder, origin=server.url)


def test_a_redirect_on_this_machine_is_followed(made: PublicDataset, folder: Path) -> None:
    with FileServer(mirrored(), {served(BIG): "moved"}) as server:
        assert download_set(made, folder, origin=server.url).n_fetched == 2


def test_nobody_there_is_told(made: PublicDataset, folder: Path) -> None:
    with FileServer({}) as server:
        gone = server.url
    with pytest.raises(DownloadError, match="could not be fetched"):
        download_set(made, folder, origin=gone)


@pytest.mark.parametrize("origin", ["http://files.invalid", "ftp://127.0.0.1", "file:///etc"])
def test_only_https_or_this_machine_is_asked(
    made: PublicDataset, folder: Path, origin: str
) -> None:
    with pytest.raises(SettingsError, match="neither https nor on this machine"):
        download_set(made, folder, origin=origin)


def test_a_folder_can_be_the_mirror(made: PublicDataset, folder: Path, tmp_path: Path) -> None:
    for name, body in mirrored().items():
        path = tmp_path / "mirror" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    assert download_set(made, folder, origin=str(tmp_path / "mirror")).n_fetched == 2
    with pytest.raises(DownloadError, match="No such file"):
        download_set(made, tmp_path / "other", origin=str(tmp_path / "nothing"))


def test_an_address_may_name_the_places_itself(made: PublicDataset) -> None:
    (source,) = made.sources
    address = source_address("https://x.invalid/{path}?at={commit}{x}", source, "a b.json")
    assert address == f"https://x.invalid/a%20b.json?at={source.commit}{{x}}"


def test_rows_that_came_from_elsewhere_are_never_replaced(
    made: PublicDataset, folder: Path
) -> None:
    theirs = folder / "made" / "pairwise.jsonl.gz"
    theirs.parent.mkdir(parents=True)
    theirs.write_bytes(b"theirs")
    with (
        FileServer(mirrored()) as server,
        pytest.raises(SettingsError, match="has rows that judgekit did not download"),
    ):
        download_set(made, folder, origin=server.url)
    assert server.asked == []
    assert files_in(folder) == {"pairwise.jsonl.gz"}
    assert theirs.read_bytes() == b"theirs"


def test_a_folder_that_cannot_be_written_is_told(made: PublicDataset, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write below"):
        download_set(made, tmp_path / "file", origin="https://files.invalid")


def test_the_folder_is_the_callers_then_the_variables_then_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGEKIT_DATA", "elsewhere")
    assert data_folder(tmp_path) == tmp_path
    assert str(data_folder()) == "elsewhere"
    monkeypatch.delenv("JUDGEKIT_DATA")
    assert data_folder().parts == (".judgekit", "data")
