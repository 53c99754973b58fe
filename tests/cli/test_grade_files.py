from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from judgekit.records import Verdict
from tests.cli.bench import output, scores, values
from tests.factories import reply
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from tests.cli.bench import Bench

GOOD = ok(reply(5))


def test_jsonl_holds_every_verdict_in_file_order(bench: Bench) -> None:
    with OpenAILikeServer(scores(b=2)) as server:
        ran = bench.grade(server, "-o", "verdicts.jsonl")
    lines = (bench.folder / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    verdicts = [Verdict.model_validate_json(line) for line in lines]
    assert [(v.case_id, v.value) for v in verdicts] == [
        ("a", 1.0),
        ("b", 0.25),
        ("c", 1.0),
        ("d", 1.0),
    ]
    assert "wrote 4 verdicts to verdicts.jsonl" in ran.err


def test_json_holds_open_verdicts_too(bench: Bench) -> None:
    with OpenAILikeServer("500") as server:
        ran = bench.grade(server, "-o", "verdicts.json", "--max-retries", 0)
    assert ran.code == 3
    whole = json.loads((bench.folder / "verdicts.json").read_text(encoding="utf-8"))
    assert [Verdict.model_validate(item).passed for item in whole] == [None] * 4


def test_csv_is_safe_to_open_in_a_spreadsheet(bench: Bench) -> None:
    said = reply(4, rationale='=HYPERLINK("http://x")')
    with OpenAILikeServer(ok(said)) as server:
        bench.grade(server, "-o", "verdicts.csv")
    with (bench.folder / "verdicts.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8
    assert {row["rationale"] for row in rows} == {'\'=HYPERLINK("http://x")'}
    assert {row["value"] for row in rows} == {"0.75"}


def test_parquet_can_be_read(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        bench.grade(server, "-o", "verdicts.parquet")
    table = pq.read_table(bench.folder / "verdicts.parquet")
    assert table.num_rows == 8
    assert set(table.column("criterion").to_pylist()) == {"right", "short"}


def test_json_on_stdout_and_a_file_go_together(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        ran = bench.grade(server, "--json", "-o", "verdicts.json")
    written = json.loads((bench.folder / "verdicts.json").read_text(encoding="utf-8"))
    assert ran.json["verdicts"] == written
    assert ran.err == "wrote 4 verdicts to verdicts.json\n"


def test_a_file_that_cannot_be_written_is_an_error_and_no_traceback(bench: Bench) -> None:
    with OpenAILikeServer(GOOD) as server:
        ran = bench.grade(server, "-o", "/proc/verdicts.csv")
        again = bench.grade(server, "-o", "verdicts.csv")
        assert server.n_requests == 8
    assert ran.code == 2
    assert "error: cannot write /proc/verdicts.csv" in ran.err
    assert again.code == 0


@pytest.mark.parametrize("name", ["outputs.csv", "outputs.json", "outputs.parquet"])
def test_outputs_may_be_tables_and_lists(bench: Bench, name: str) -> None:
    rows = [output(case) for case in "abcd"]
    path = bench.folder / name
    if name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif name.endswith(".json"):
        path.write_text(json.dumps(rows), encoding="utf-8")
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    with OpenAILikeServer(scores(c=1)) as server:
        ran = bench.ask(server, "grade", name, "--rubric", "rubric.yaml", "--json")
    assert values(ran) == {"a": 1.0, "b": 1.0, "c": 0.0, "d": 1.0}


def test_several_files_are_variants_named_after_them(bench: Bench) -> None:
    bench.write("runs/base.jsonl", output("a"), output("b"))
    bench.write("runs/new.jsonl", output("a", text="answer x"), output("b", variant="own"))
    files = ("runs/base.jsonl", "runs/new.jsonl")
    with OpenAILikeServer(scores(x=1)) as server:
        ran = bench.ask(server, "grade", *files, "--rubric", "rubric.yaml", "--json")
    variants = ran.json["summary"]["variants"]
    assert [(v["variant"], v["n"], v["n_passed"]) for v in variants] == [
        ("base", 2, 2),
        ("new", 1, 0),
        ("own", 1, 1),
    ]


def test_files_of_the_same_name_are_told_apart_by_their_folders(bench: Bench) -> None:
    files = ("base/out.jsonl", "new/out.jsonl")
    for file in files:
        bench.write(file, output("a"))
    with OpenAILikeServer(GOOD) as server:
        ran = bench.ask(server, "grade", *files, "--rubric", "rubric.yaml", "--json")
    variants = ran.json["summary"]["variants"]
    assert [v["variant"] for v in variants] == ["base/out", "new/out"]


def test_two_outputs_of_one_variant_in_two_files_are_refused(bench: Bench) -> None:
    bench.write("more.jsonl", output("a", variant="v1"), output("b", variant="v1"))
    bench.write("outputs.jsonl", output("b", variant="v1"))
    files = ("outputs.jsonl", "more.jsonl")
    with OpenAILikeServer(GOOD) as server:
        ran = bench.ask(server, "grade", *files, "--rubric", "rubric.yaml")
        assert server.n_requests == 0
    assert ran.code == 2
    assert "more.jsonl: case 'b': a second output of variant 'v1'" in ran.err
    assert "the first is in outputs.jsonl" in ran.err


def test_one_variant_of_several_in_a_file_may_be_picked(bench: Bench) -> None:
    rows = [output(case, variant=variant) for variant in ("v1", "v2") for case in "ab"]
    bench.write("outputs.jsonl", *rows)
    with OpenAILikeServer(GOOD) as server:
        ran = bench.grade(server, "--variant", "v2", "--json")
        assert server.n_requests == 4
    assert {verdict["variant"] for verdict in ran.json["verdicts"]} == {"v2"}


def test_a_variant_that_is_not_in_the_file_is_refused_with_those_that_are(bench: Bench) -> None:
    bench.write("outputs.jsonl", output("a", variant="v1"))
    with OpenAILikeServer(GOOD) as server:
        ran = bench.grade(server, "--variant", "v9")
    assert ran.code == 2
    assert "holds no outputs of 'v9'" in ran.err
    assert "it has outputs of v1" in ran.err


@pytest.mark.parametrize(
    "own", [{"repeat": 1}, {"repeat": "1"}, {}, {"repeat": 100}, {"repeat": 0}]
)
def test_outputs_with_a_repeat_of_their_own_are_repeats(bench: Bench, own: dict[str, Any]) -> None:
    """What is no number of a repeat says nothing of them: the case is there twice."""
    rows = [output("a", text="Yes.", repeat=0), output("a", text="No.", **own), output("b")]
    bench.write("outputs.jsonl", *rows)
    with OpenAILikeServer(GOOD) as server:
        ran = bench.grade(server, "--json")
    if own.get("repeat") not in {1, "1"}:
        assert (ran.code, server.n_requests) == (2, 0)
        assert "case 'a': a second output for the same case; the first is in line 1" in ran.err
        return
    assert server.n_requests == 6  # two criteria each
    # The case that has one output of two is not an error of the other.
    assert (ran.code, ran.json["summary"]["variants"][0]["n_errors"]) == (0, 0)
