from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from judgekit.cli.demo import import_recording
from judgekit.datasets import load_rubric
from judgekit.models.cache import DiskCache, export_entries
from judgekit.resources import shipped_file
from tests.factories import reply

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.cli.bench import Bench

CRITERIA = [
    c.name for c in load_rubric(shipped_file("calibration", "demo", "rubric.yaml")).criteria
]
N_OUTPUTS = 36
N_REPLIES = len(CRITERIA) * N_OUTPUTS
N_QUESTIONS = len(CRITERIA) * (N_OUTPUTS - 1)
"""Two variants gave one answer alike: the same questions."""


def test_the_demo_grades_everything_without_a_key_and_pays_nothing(bench: Bench) -> None:
    ran = bench.run("demo")
    assert ran.code == 0
    for variant in ("smollm2-135m", "qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b"):
        assert variant in ran.out
    assert f"The first run took {N_REPLIES} calls, " in ran.out


def test_the_demo_shows_the_table_then_verdicts_beside_labels_then_the_other_jobs(
    bench: Bench,
) -> None:
    out = bench.run("demo").out
    parts = (
        "rightly passed", "wrongly passed", "Compare: ",
        "no decision: ", "Calibrate: ", "the example labels 46 %", "Cache: ",
    )  # fmt: skip
    places = [out.index("rate, 95 %"), *(out.index(part) for part in parts)]
    assert places == sorted(places)
    # The judge confirms a refund that the policy rules out, and the label says so.
    wrong = out[out.index("wrongly passed") : out.index("Compare: ")]
    assert "label: correct 1 of 5" in wrong
    assert "Not passed" not in out


def test_the_demo_says_who_judged_how_far_to_trust_it_and_what_to_do_next(bench: Bench) -> None:
    ran = bench.run("demo")
    assert "no key, no network" in ran.err
    assert f"graded on {len(CRITERIA)} criteria" in ran.err
    assert "51 % of 103 pairs" in ran.err
    assert "judgekit demo --judge openai/gpt-4.1-mini" in ran.err
    assert "judgekit init my-suite" in ran.err
    assert "Qwen2.5-Coder-1.5B" in ran.err


def test_every_judgment_of_the_demo_is_recorded(bench: Bench) -> None:
    ran = bench.run("demo", "--json")
    assert (ran.code, ran.err) == (0, "")
    verdicts = ran.json["verdicts"]
    assert len(verdicts) == N_OUTPUTS
    assert all(j["cached"] for verdict in verdicts for j in verdict["judgments"])
    spent = ran.json["summary"]["spent"]
    assert spent["n_replies"] == spent["n_cached"] >= N_REPLIES
    assert (spent["cost_usd"], spent["cost_unknown"]) == (0, False)


def test_the_demo_leaves_nothing_behind(bench: Bench) -> None:
    before = sorted(bench.folder.iterdir())
    bench.run("demo", "-q")
    assert sorted(bench.folder.iterdir()) == before


def test_a_suite_in_the_folder_does_not_become_the_demo(bench: Bench) -> None:
    bench.write("judgekit.yaml", "name: mine\nthis is: [no suite\n")
    assert bench.run("demo", "-q").code == 0


def test_the_demo_writes_a_page_of_its_cases(bench: Bench) -> None:
    assert bench.run("demo", "-o", "demo.html").code == 0
    page = (bench.folder / "demo.html").read_text(encoding="utf-8")
    assert "empty-average-bug" in page
    assert page.count('id="chunk-') == 1
    assert "Compare: which variant is better?" in page
    assert "Calibrate: how far can the judge be trusted?" in page


def test_the_quiet_demo_shows_only_the_table(bench: Bench) -> None:
    ran = bench.run("demo", "-q")
    assert ran.err == ""
    assert "demo: 12 cases; demo passes from 0.7" in ran.out
    assert "Not passed" not in ran.out


def test_the_verbose_demo_shows_every_reason(bench: Bench) -> None:
    ran = bench.run("demo", "-v", "-n", 2)
    assert ran.out.count(f"\n    {CRITERIA[0]} ") == 2
    assert "pass  " in ran.out or "fail  " in ran.out


def test_a_dry_run_of_the_demo_owns_everything(bench: Bench) -> None:
    found = bench.run("demo", "--dry-run", "--json").json
    assert (found["n_outputs"], found["n_owned"], found["n_calls"]) == (N_OUTPUTS, N_QUESTIONS, 0)


def test_a_real_judge_takes_its_place_with_one_flag_and_its_price_is_known(bench: Bench) -> None:
    ran = bench.run("demo", "--judge", "openai/gpt-4.1-mini", "--dry-run")
    assert ran.code == 0
    assert f"{N_QUESTIONS}, if no reply has to be retried" in ran.out
    assert " likely, $" in ran.out
    assert ran.err == ""


def test_another_judge_grades_the_same_outputs_anew(bench: Bench) -> None:
    (verdict,) = bench.run("demo", "--json", "-n", 1).json["verdicts"]
    rows = [{"case_id": verdict["case_id"], "criterion": c, "text": reply(1)} for c in CRITERIA]
    bench.write("replies.jsonl", *rows)
    options = ("demo", "--judge", "recorded:replies.jsonl", "-n", 1)
    ran, found = bench.run(*options), bench.run(*options, "--json").json
    assert ran.code == 0
    assert ran.err.startswith("Grading live with recorded:replies.jsonl; replies are cached in")
    assert {judgment["raw"] for judgment in found["verdicts"][0]["judgments"]} == {1}


def test_a_live_demo_without_weights_says_where_to_get_them(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGEKIT_LOCAL_GGUF", str(bench.folder / "nowhere.gguf"))
    ran = bench.run("demo", "--live")
    assert (ran.code, ran.out) == (2, "")
    assert "nowhere.gguf cannot be read" in ran.err


def test_a_recording_is_imported_whole(tmp_path: Path) -> None:
    import_recording(tmp_path / "cache")
    recording = shipped_file("calibration", "demo", "judge_replies.jsonl")
    with DiskCache(tmp_path / "cache", read_only=True) as cache:
        again = tmp_path / "again.jsonl"
        export_entries(cache, again, rejected=True)
    assert again.read_bytes() == recording.read_bytes()


def test_the_demo_imports_nothing_slow(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom judgekit.cli.main import main\n"
        "try:\n    main(['demo', '-q'])\nexcept SystemExit as stop:\n"
        "    slow = {'litellm', 'scipy.stats', 'pandas', 'xllamacpp'} & set(sys.modules)\n"
        "    sys.exit(stop.code or ' '.join(slow) or 0)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr.strip()) == (0, "")


def test_a_live_demo_says_what_a_smoke_model_is_worth(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGEKIT_LOCAL_GGUF", str(bench.folder / "nowhere.gguf"))
    ran = bench.run("demo", "--judge", "local/smollm2@b179c9523d0e")
    assert ran.code == 2
    assert "Its verdicts carry no information" in ran.err
