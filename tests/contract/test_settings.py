"""Settings from the environment: `JUDGEKIT_*` stands for an option that is not given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contract.material import laboratory
from tests.contract.terminal import judgekit
from tests.contract.warming import PAID, warm_cache

if TYPE_CHECKING:
    from pathlib import Path

PLAN = ("plan", "outputs/a.jsonl", "--cases", "cases.jsonl", "--json")


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """The laboratory's files in a folder."""
    for name, text in laboratory().items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "value", "field", "planned"),
    [
        ("JUDGE", PAID, "model", PAID),
        ("TEMPLATE", "pointwise/score_only", "template", "pointwise/score_only"),
        ("MODE", "joint", "n_questions", 12),
        ("REPEATS", "3", "n_questions", 72),
    ],
)
def test_a_variable_decides_what_is_asked(
    name: str, value: str, field: str, planned: object, lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"JUDGEKIT_{name}", value)
    found = judgekit(*PLAN, folder=lab).json[field]
    assert (found.partition("@")[0] if isinstance(found, str) else found) == planned


def test_an_option_goes_before_a_variable(lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGEKIT_REPEATS", "3")
    assert judgekit(*PLAN, "--repeats", "2", folder=lab).json["n_questions"] == 48


def test_variables_name_the_cache_and_the_store(lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warm_cache(lab)
    (lab / ".judgekit" / "cache").rename(lab / "mine")
    monkeypatch.setenv("JUDGEKIT_CACHE_DIR", "mine")
    monkeypatch.setenv("JUDGEKIT_STORE", "mine.db")
    monkeypatch.setenv("JUDGEKIT_JUDGE", PAID)
    monkeypatch.setenv("JUDGEKIT_FROZEN", "1")
    assert judgekit("run", "--variant", "a", "-q", folder=lab).code == 0
    assert (lab / "mine.db").exists()
    assert judgekit("run", "--variant", "c", "-q", folder=lab).code == 6


@pytest.mark.parametrize("value", ["lots", "0"])
def test_an_unsound_variable_is_an_error_that_names_it(
    value: str, lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGEKIT_REPEATS", value)
    ran = judgekit(*PLAN, folder=lab)
    assert ran.code == 2
    assert "JUDGEKIT_REPEATS" in ran.err or "--repeats" in ran.err
