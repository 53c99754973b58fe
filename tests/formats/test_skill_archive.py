from __future__ import annotations

import json
import random
import stat
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest

from judgekit.datasets import load_dataset
from judgekit.errors import DatasetError
from judgekit.formats import attachments
from judgekit.formats.attachments import MAX_FILE_BYTES, AttachmentError, skill_document, skill_name
from tests.formats import FOREIGN
from tests.formats.writing import errors_of, pack, skill_test, skill_tests, write

TEXT = json.dumps(
    skill_tests(skill_test(input={"prompt": "Q", "context": {"a": "fixtures/a.txt"}}))
)
SOUND: dict[str, Any] = {"SKILL.md": "x", "eval/tests.json": TEXT, "eval/fixtures/a.txt": "A"}


@pytest.mark.parametrize("prefix", ["", "greeter/"])
def test_a_zip_is_read_as_its_folder_would_be(tmp_path: Path, prefix: str) -> None:
    files: dict[str, str | bytes] = {
        prefix + str(path.relative_to(FOREIGN / "skill")): path.read_bytes()
        for path in (FOREIGN / "skill").rglob("*")
        if path.is_file()
    }
    zipped = load_dataset(pack(tmp_path / "skill.zip", files))
    assert zipped.cases == load_dataset(FOREIGN / "skill").cases
    assert zipped.name == (prefix.strip("/") or "skill")


def test_problems_in_a_zip_have_lines(tmp_path: Path) -> None:
    text = json.dumps(skill_tests(skill_test(expected={})), indent=1)
    path = pack(tmp_path / "a.zip", {"eval/tests.json": text})
    [problem] = errors_of(path)
    assert problem.path == str(path / "eval" / "tests.json")
    assert problem.line == next(n for n, s in enumerate(text.splitlines(), 1) if '"expected"' in s)


def test_a_test_file_in_the_root_and_evals_of_a_skill_are_found(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {"tests.json": TEXT.replace("fixtures", "f")})
    assert load_dataset(path).name == "a"
    write(tmp_path / "skill", json.loads((FOREIGN / "workflow.json").read_text()), "evals.json")
    assert load_dataset(tmp_path / "skill").name == "greeter.v2"


@pytest.mark.parametrize("name", ["folder", "empty.zip"])
def test_a_place_without_tests_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
    else:
        pack(path, {"readme.md": "x"})
    with pytest.raises(DatasetError, match=r"holds no `eval/tests.json`"):
        load_dataset(path)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    outside = write(tmp_path, skill_tests(skill_test()), "outside.json")
    (tmp_path / "skill" / "eval").mkdir(parents=True)
    (tmp_path / "skill" / "eval" / "tests.json").symlink_to(outside)
    with pytest.raises(DatasetError, match="leads out of the folder"):
        load_dataset(tmp_path / "skill")


@pytest.mark.parametrize(
    ("files", "what"),
    [
        ({"../x": "y"}, "leads out of its folder"),
        ({"/x": "y"}, "leads out of its folder"),
        ({"eval/fixtures/b.txt": "0" * (2 * 2**20)}, "unpacks to 2097152 bytes from"),
    ],
)
def test_a_zip_that_means_harm_is_refused(
    tmp_path: Path, files: dict[str, str | bytes], what: str
) -> None:
    path = pack(tmp_path / "a.zip", SOUND | files)
    with pytest.raises(DatasetError, match=what):
        load_dataset(path)


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", SOUND)
    link = zipfile.ZipInfo("eval/link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(DatasetError, match="is a link, which may lead anywhere"):
        load_dataset(path)


def test_an_encrypted_zip_is_refused(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {"eval/tests.json": TEXT})
    raw = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.index(mark) + at] |= 1
    path.write_bytes(raw)
    with pytest.raises(DatasetError, match="keys and passwords are not taken"):
        load_dataset(path)


def test_a_size_that_is_not_as_declared_is_found(tmp_path: Path) -> None:
    """What is read is counted; a file that unpacks to more than it declares is damaged."""
    path = pack(tmp_path / "a.zip", {"eval/tests.json": TEXT + " " * 100_000})
    raw = bytearray(path.read_bytes())
    raw[raw.index(b"PK\x01\x02") + 24 : raw.index(b"PK\x01\x02") + 28] = struct.pack("<I", 10)
    path.write_bytes(raw)
    with pytest.raises(DatasetError, match=r"is damaged|not JSON"):
        load_dataset(path)


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", SOUND)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("eval/tests.json", "{}")
    with pytest.raises(DatasetError, match="two files of the same name"):
        load_dataset(path)


def test_too_many_entries_are_refused_before_they_are_listed(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {f"{n}": "" for n in range(attachments.MAX_ENTRIES + 1)})
    with pytest.raises(DatasetError, match="holds 10001 files, more than 10000"):
        load_dataset(path)
    raw = bytearray(path.read_bytes())
    raw[-14:-10] = struct.pack("<HH", 1, 1)
    path.write_bytes(raw)
    with pytest.raises(DatasetError, match="more than 10000 files"):
        load_dataset(path)


def test_a_zip_of_the_wide_kind_is_refused(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", SOUND)
    raw = path.read_bytes()
    path.write_bytes(raw[:-22] + b"PK\x06\x07" + bytes(16) + raw[-22:])
    with pytest.raises(DatasetError, match="64-bit kind"):
        load_dataset(path)


def test_declared_sizes_are_added_up(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {f"{n}": "" for n in range(20)})
    raw = path.read_bytes()
    place = 0
    while (place := raw.find(b"PK\x01\x02", place)) >= 0:
        raw = raw[: place + 24] + struct.pack("<I", 60 * 2**20) + raw[place + 28 :]
        place += 46
    path.write_bytes(raw)
    with pytest.raises(DatasetError, match="unpacks to more than 1024 MiB"):
        load_dataset(path)


def test_a_zip_larger_than_any_skill_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with path.open("wb") as stream:
        stream.truncate(attachments.MAX_ZIP_BYTES + 1)
    with pytest.raises(DatasetError, match="larger than 256 MiB"):
        load_dataset(path)


@pytest.mark.parametrize(
    ("content", "what"),
    [(None, "no such file"), (b"no zip", "not a valid zip"), (b"", "not a valid zip")],
)
def test_what_is_no_zip_is_refused(tmp_path: Path, content: bytes | None, what: str) -> None:
    path = tmp_path / "a.zip"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DatasetError, match=what):
        load_dataset(path)


def test_a_damaged_fixture_is_an_error_of_its_case(tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(3000).hex()
    path = pack(tmp_path / "a.zip", SOUND | {"eval/fixtures/a.txt": noise})
    raw = bytearray(path.read_bytes())
    place = raw.index(b"eval/fixtures/a.txt") + 400
    raw[place : place + 40] = bytes(40)
    path.write_bytes(raw)
    [problem] = errors_of(path)
    assert (problem.case_id, "is damaged" in problem.message) == ("t1", True)


def test_a_fixture_a_zip_does_not_hold_is_an_error(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {"eval/tests.json": TEXT})
    [problem] = errors_of(path)
    assert "there is no file 'fixtures/a.txt'" in problem.message


@pytest.mark.parametrize("content", ["", " \n"])
def test_an_empty_test_file_in_a_zip_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(DatasetError, match="the file is empty"):
        load_dataset(pack(tmp_path / "a.zip", {"eval/tests.json": content}))


def test_a_mended_text_in_a_zip_is_noted(tmp_path: Path) -> None:
    text = TEXT.replace('"Q"', '"\\ud800"')
    document = skill_document(pack(tmp_path / "a.zip", {"eval/tests.json": text}))
    assert document.notes == ("text_repaired",)


def test_a_zip_that_is_gone_when_its_fixture_is_wanted_is_told(tmp_path: Path) -> None:
    place = attachments.ZipAttachments(tmp_path / "gone.zip")
    with pytest.raises(Exception, match="no such file"):
        place.read("a")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a/skill/eval/tests.json", "skill"),
        ("a/skill.zip/eval/tests.json", "skill"),
        ("a/skill/tests.json", "skill"),
        ("a/skill/mine.json", "mine"),
        ("/tests.json", "tests"),
    ],
)
def test_tests_are_called_as_their_skill(path: str, name: str) -> None:
    assert skill_name(Path(path)) == name


def test_what_unpacks_to_too_much_is_given_up_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("big", bytes(MAX_FILE_BYTES + 1))
    with (
        zipfile.ZipFile(path) as archive,
        pytest.raises(AttachmentError, match="unpacks to more than 64 MiB"),
    ):
        attachments.read_member(archive, "big")
