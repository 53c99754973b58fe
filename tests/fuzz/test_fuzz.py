"""The corpus, and a short run of the fuzzer; `python -m tests.fuzz` runs for hours."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgekit.errors import DatasetError
from tests.fuzz.fuzzer import fuzz, read
from tests.fuzz.readers import FOUND, READERS, BrokenLawError, Reader, law, seeds, seeds_of


@pytest.mark.parametrize("name", READERS)
def test_every_seed_is_read_or_refused_by_name(name: str, tmp_path: Path) -> None:
    reader = READERS[name]
    # Commands take longer: a few of their seeds will do.
    for seed in seeds_of(reader)[:: 12 if reader.weight == 1 else 1]:
        end, reason = read(reader, tmp_path / seed, seeds()[seed])
        assert reason is None, f"{seed}: {end}\n{reason}"


@pytest.mark.parametrize("name", READERS)
def test_what_once_broke_the_law_keeps_it(name: str, tmp_path: Path) -> None:
    for path in sorted((FOUND / name.replace(" ", "_")).glob("*")):
        end, reason = read(READERS[name], tmp_path / path.name, path.read_bytes())
        assert reason is None, f"{path.name}: {end}\n{reason}"


def test_mutated_inputs_keep_the_law(tmp_path: Path) -> None:
    tally = fuzz(tmp_path, seed=1, n_inputs=400)
    assert {name: reason for name, (_, _, reason) in tally.broken.items()} == {}
    # Neither all are read nor all refused: the mutations go deep enough to be worth it.
    assert tally.ends["read"] > 50
    assert tally.n_inputs - tally.ends["read"] > 50


def test_a_slow_reader_takes_no_time_from_the_others(tmp_path: Path) -> None:
    tally = fuzz(tmp_path, seed=1, seconds=0.5, names=("edit", "graders", "history"))
    assert tally.broken == {}
    assert min(tally.inputs["graders"], tally.inputs["history"]) > tally.inputs["edit"]


def _raises(error: Exception) -> Reader:
    def read_it(_: Path) -> None:
        raise error

    return Reader("made", read_it)


def test_the_law_is_broken_by_other_errors_and_by_unnamed_files(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("{}", "utf-8")
    assert law(_raises(DatasetError("no", path=path)), path) == "DatasetError"
    with pytest.raises(BrokenLawError, match="does not name the file"):
        law(_raises(DatasetError("no")), path)
    end, reason = read(_raises(KeyError("x")), path, b"{}")
    assert end.startswith("KeyError")
    assert "KeyError: 'x'" in str(reason)


def test_an_input_that_takes_too_long_breaks_the_law(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.fuzz.fuzzer.DEADLINE_S", 0.05)

    def for_ever(_: Path) -> None:
        while True:
            pass

    end, _ = read(Reader("slow", for_ever), tmp_path / "a.json", b"{}")
    assert end.startswith("TooLongError")
