"""Results as runs of MLflow and of W&B, through the real clients where they are installed."""

from __future__ import annotations

import json
import math
import re
import sys
from contextlib import closing
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk
from judgekit.datasets import DEFAULT_STORE_FILE
from judgekit.errors import SettingsError
from judgekit.evaluation import VERSIONS_KEY, Run
from judgekit.exports.trackers import _metrics
from judgekit.records import Variant
from judgekit.store import RunStore
from judgekit.testing import ScriptedModel
from tests.cli.commanding import runner
from tests.factories import make_failure, make_output, make_rubric, reply
from tests.judge.comparing import fair_judge
from tests.store.observing import START, answer, begun, key, said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.commanding import Run as Command

mlflow = pytest.importorskip("mlflow")
SECRET = "hunter2-hunter2"


@pytest.fixture(autouse=True)
def tracking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder for MLflow; no telemetry, no wait for a server that is not there."""
    monkeypatch.chdir(tmp_path)
    for name in ("MLFLOW_EXPERIMENT_NAME", "MLFLOW_EXPERIMENT_ID", "WANDB_API_KEY", "WANDB_MODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"file:{tmp_path}/mlruns")
    return f"file:{tmp_path}/mlruns"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with closing(RunStore(tmp_path / DEFAULT_STORE_FILE)) as opened:
        yield opened


def a_run(store: RunStore, **fields: Any) -> Run:
    """Two variants and two cases: a failure of the judge, and a criterion with a hard name."""
    failure = make_failure("clarity", kind="timeout")
    begun(
        store,
        answer(key("a", "v1"), output=make_output(f"the key is {SECRET}")),
        answer(key("a", "gpt-4.1"), said=(said(value=0.5), failure)),
        answer(key("b", "v1"), place=1),
        **{"variants": [Variant(id="v1"), Variant(id="gpt-4.1")]} | fields,
    )
    store.end("run-1", status="complete", at=START)
    return Run(store.run("run-1"), store)


def only_run(experiment: str = "support") -> Any:
    client = mlflow.MlflowClient()
    found = client.get_experiment_by_name(experiment)
    (one,) = client.search_runs([found.experiment_id])
    return one


def artifact(run: Any, name: str) -> Any:
    folder = Path(run.info.artifact_uri.removeprefix("file://").removeprefix("file:"))
    return json.loads((folder / name).read_text("utf-8"))


def test_a_run_is_a_run_of_mlflow(store: RunStore) -> None:
    run = a_run(store)
    run_id = jk.log_run(run, "mlflow", project="support")
    logged = only_run()
    assert (logged.info.run_id, logged.info.run_name) == (run_id, "run-1")
    assert logged.info.status == "FINISHED"
    assert logged.data.tags["judgekit.run_id"] == "run-1"
    assert run.info.rubric is not None
    expected = {"suite": "support", "rubric": run.info.rubric.name, "judge": "openai/m"}
    expected |= {"template": "pointwise/default@1"}
    expected |= {"rubric_fingerprint": run.info.rubric.fingerprint}
    assert expected.items() <= logged.data.params.items()
    first, second = run.summary().variants
    assert logged.data.metrics["v1/pass_rate"] == first.pass_rate.value
    assert logged.data.metrics["v1/pass_rate_low"] == first.pass_rate.low
    assert logged.data.metrics["gpt_4_1/criteria/accuracy"] == second.criteria["accuracy"].value
    assert logged.data.metrics["gpt_4_1/n_failures"] == 1
    assert logged.data.metrics["gpt_4_1/failures/timeout"] == 1


def test_what_is_missing_is_no_metric(store: RunStore) -> None:
    jk.log_run(a_run(store), "mlflow", project="support")
    metrics = only_run().data.metrics
    # The judge failed on the only answer of this criterion, and so whether it passes is open.
    assert "gpt_4_1/criteria/clarity" not in metrics
    assert "gpt_4_1/pass_rate" not in metrics
    assert not any(math.isnan(value) for value in metrics.values())
    # No output has usage, which is not none used; the judge was asked.
    assert "v1/input_tokens" not in metrics
    assert "v1/judge_input_tokens" in metrics


def test_every_judgment_is_a_row_and_secrets_are_masked(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_API_KEY", SECRET)
    jk.log_run(a_run(store), "mlflow", project="support")
    logged = only_run()
    table = artifact(logged, "outputs.json")
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["data"]]
    found = [(row["case_id"], row["variant"], row["criterion"], row["value"]) for row in rows]
    assert found[:2] == [("a", "v1", "accuracy", 1.0), ("a", "v1", "clarity", 0.5)]
    assert ("a", "gpt-4.1", "clarity", None) in found
    assert rows[0]["output_text"] == "the key is [redacted]"
    assert {"rationale", "input", "passed", "failure_kind"} <= set(table["columns"])
    tables = json.loads(logged.data.tags["mlflow.loggedArtifacts"])
    assert tables == [{"path": "outputs.json", "type": "table"}]
    figures = artifact(logged, "results.json")
    assert [one["variant"] for one in figures["variants"]] == ["v1", "gpt-4.1"]
    assert SECRET not in json.dumps([table, figures])


def test_a_run_that_is_logged_again_is_updated(store: RunStore, tmp_path: Path) -> None:
    run_id = jk.log_run(a_run(store), "mlflow", project="support")
    client = mlflow.MlflowClient()
    client.log_metric(run_id, "latency", 3.0)
    client.set_tag(run_id, "owner", "ann")
    # The same run without a verdict: figures that were known are undefined now.
    failures = [make_failure(name, kind="timeout") for name in ("accuracy", "clarity")]
    with closing(RunStore(tmp_path / "other.db")) as other:
        begun(other, answer(key("a", "v1"), said=failures))
        run = Run(other.run("run-1"), other)
        assert jk.log_run(run, "mlflow", project="support") == run_id
    logged = only_run()
    assert (logged.info.status, logged.data.tags["judgekit.status"]) == ("KILLED", "running")
    assert math.isnan(logged.data.metrics["v1/pass_rate"])
    assert (logged.data.metrics["latency"], logged.data.tags["owner"]) == (3.0, "ann")


@pytest.mark.parametrize(
    ("status", "expected"),
    [("incomplete", "FAILED"), ("interrupted", "KILLED"), ("running", "KILLED"),
     ("stopped", "KILLED"), ("waiting", "KILLED")],
)  # fmt: skip
def test_an_unfinished_run_is_not_logged_as_finished(
    store: RunStore, status: Any, expected: str
) -> None:
    run = a_run(store)
    run.info = run.info.model_copy(update={"status": status})
    jk.log_run(run, "mlflow", project="support")
    logged = only_run()
    assert (logged.info.status, logged.data.tags["judgekit.status"]) == (expected, status)


RUBRIC = make_rubric()
WORTH = {"gold": 3.0, "silver": 2.0, "tin": 1.0}


def rows(text: str) -> list[dict[str, str]]:
    return [{"case_id": f"c{k}", "input": f"{k}?", "text": text} for k in range(6)]


def test_comparisons_rankings_and_calibrations_are_runs() -> None:
    settings: Any = {"rubric": RUBRIC, "judge": fair_judge(WORTH), "cache": None}
    compared = jk.compare_sync(rows("tin"), rows("gold"), **settings)
    ranked = jk.rank_sync({name: rows(name) for name in WORTH}, **settings)
    judge = ScriptedModel(lambda request: reply(1 if request.subject.case_id == "c1" else 5))
    graded = jk.grade_sync(rows("tin"), rubric=RUBRIC, judge=judge, cache=None)
    labels = [
        jk.Label(case_id=f"c{k}", criterion="accuracy", annotator="ann", raw=1 if k == 1 else 5)
        for k in range(6)
    ]
    calibrated = jk.calibrate(graded, labels)
    client = mlflow.MlflowClient()
    results = (compared, ranked, calibrated, graded)
    ids = [jk.log_run(one, "mlflow", project="support") for one in results]
    assert [jk.log_run(one, "mlflow", project="support") for one in results] == ids
    runs = [client.get_run(one) for one in ids]
    assert [one.info.status for one in runs] == ["FINISHED"] * 4
    assert runs[0].data.metrics["whole/rate"] == compared.win_rate.value
    assert runs[0].data.params.items() >= {"a": "a", "b": "b", "judge": "fair"}.items()
    assert runs[1].data.metrics["sides/gold/place"] == 1
    assert runs[2].data.metrics["criteria/accuracy/agreement/exact"] == 1
    assert runs[3].data.params["mode"] == "per_criterion"
    assert [len(artifact(one, "outputs.json")["data"]) for one in runs][::3] == [6, 6]


def test_metrics_have_names_that_both_tools_take(store: RunStore) -> None:
    names = ("a/b (c)", "a_b__c_", "..", "x" * 300, "x" * 299 + "y")
    variants = [Variant(id=name) for name in names]
    config = {VERSIONS_KEY: {name: {"fingerprint": f"of {name[-9:]}"} for name in names}}
    answers = (answer(key("a", name)) for name in names)
    run = begun(store, *answers, variants=variants, config=config)
    jk.log_run(Run(run, store), "mlflow", project="support")
    metrics, parameters = only_run().data.metrics, only_run().data.params
    # One for each variant: none takes the place of another.
    assert len([name for name in metrics if re.fullmatch(r"[\w/]{1,250}", name)]) == len(metrics)
    assert {"a_b__c_/pass_rate", "a_b__c_/pass_rate_2", "__/pass_rate"} <= metrics.keys()
    assert f"{'x' * 100}/pass_rate_2" in metrics
    found = [value for name, value in parameters.items() if re.search(r"/version(_\d)?$", name)]
    assert sorted(found) == sorted(f"of {name[-9:]}" for name in names)


def test_the_experiment_is_that_of_the_client(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "mine")
    jk.log_run(a_run(store), "mlflow")
    assert only_run("mine").info.run_name == "run-1"


def test_an_unknown_cost_is_no_cost_of_0() -> None:
    figures = {"money": {"judges_usd": 0.0, "n_unreported": 1, "is_complete": False}}
    assert [*_metrics(figures)] == [("money/n_unreported", 1.0)]


def test_a_tool_that_is_unknown_or_not_installed_is_an_error(
    store: RunStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match="cannot be logged to 'comet'"):
        jk.log_run(a_run(store), "comet")
    # A folder of the client's data beside the program is not the client.
    (tmp_path / "wandb").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "wandb", raising=False)
    with pytest.raises(SettingsError, match="needs wandb, which is not installed") as caught:
        jk.log_run(Run(store.run("run-1"), store), "wandb")
    assert caught.value.hint == 'pip install "judgekit-llm[wandb]"'


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Command:
    return runner(capsys)


def test_the_command_logs_a_stored_run(run: Command, store: RunStore) -> None:
    a_run(store)
    ran = run("export", "--to", "mlflow", "--project", "support")
    run_id = only_run().info.run_id
    expected = (0, "", f"logged run-1 to MLflow: {run_id}\n")
    assert (ran.code, ran.out, ran.err) == expected
    ran = run("export", "run-1", "--to", "mlflow", "--project", "support", "--json")
    assert ran.json == {"run": "run-1", "tool": "mlflow", "where": run_id}


def test_the_command_logs_a_stored_comparison(run: Command, store: RunStore) -> None:
    settings: Any = {"rubric": RUBRIC, "judge": fair_judge(WORTH), "cache": None}
    compared = jk.compare_sync(rows("tin"), rows("gold"), store=store, **settings)
    assert run("export", compared.info.id, "--to", "mlflow", "--project", "support").code == 0
    assert only_run().data.metrics["whole/rate"] == 0


@pytest.mark.parametrize(
    ("address", "code", "words"),
    [
        ("http://127.0.0.1:9", 3, "error: MLflow: API request to http://127.0.0.1:9"),
        ("ftp://nowhere", 2, "error: MLflow: "),
    ],
)
def test_a_server_that_fails_is_an_error_on_one_line(
    run: Command,
    store: RunStore,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    code: int,
    words: str,
) -> None:
    a_run(store)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    ran = run("export", "--to", "mlflow")
    assert (ran.code, ran.out) == (code, "")
    last, hint = ran.err.splitlines()[-2:]
    assert last.startswith(words)
    assert "MLFLOW_TRACKING_URI" in hint


@pytest.mark.parametrize(
    "arguments",
    [(), ("--to", "mlflow", "-o", "x.csv"), ("--to", "mlflow", "--failed"),
     ("-o", "x.csv", "--project", "p"), ("--to", "mlflow", "--rule", "average")],
)  # fmt: skip
def test_options_that_do_not_go_together_are_refused(
    run: Command, store: RunStore, arguments: tuple[str, ...]
) -> None:
    a_run(store)
    assert run("export", *arguments).code == 2


IS_REAL = find_spec("wandb") is not None


@pytest.fixture
def wandb_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the client of W&B writes, offline; without it an imitation does."""
    if not IS_REAL:
        monkeypatch.syspath_prepend(str(Path(__file__).parent / "imitation"))
        monkeypatch.delitem(sys.modules, "wandb", raising=False)
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    yield tmp_path
    if IS_REAL:
        import_module("wandb").teardown()  # it reads its settings once


def read_back(folder: str) -> Any:
    """What a folder of an offline run holds, the last value of everything."""
    if not IS_REAL:
        return json.loads((Path(folder) / "run.json").read_text("utf-8"))
    import_module("wandb").teardown()  # which ends the process that writes
    found: Any = {"summary": {}, "config": {}}
    for record in wandb_records(*Path(folder).glob("*.wandb")):
        if record.HasField("run"):
            found["id"] = record.run.run_id
            found["tags"] = list(record.run.tags) or found.get("tags", [])
        if record.HasField("config") or record.HasField("run"):
            config = record.config if record.HasField("config") else record.run.config
            found["config"] |= {one.key: json.loads(one.value_json) for one in config.update}
        for one in record.history.item:
            name = one.key or "/".join(one.nested_key)
            found["summary"][name] = json.loads(one.value_json)
        if record.HasField("exit"):
            found["exit_code"] = record.exit.exit_code
    (table,) = Path(folder).glob("files/media/table/*.json")
    found["summary"]["outputs"] = json.loads(table.read_text("utf-8"))
    return found


def wandb_records(path: Path) -> Iterator[Any]:
    """The records of the client's file: a log of LevelDB, in blocks of 32 KiB, after 7 bytes."""
    from wandb.proto import wandb_internal_pb2  # noqa: PLC0415 - where it is installed

    data, at, whole = path.read_bytes(), 7, b""
    while at + 7 <= len(data):
        if (left := 32768 - at % 32768) < 7:  # no room for a head
            at += left
            continue
        size, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        whole += data[at + 7 : at + 7 + size]
        at += 7 + size
        if kind in {1, 4}:  # a whole record, or the last part of one
            record = wandb_internal_pb2.Record()
            record.ParseFromString(whole)
            whole = b""
            yield record


def test_a_run_is_a_run_of_wandb(store: RunStore, wandb_folder: Path) -> None:
    run = a_run(store)
    where = jk.log_run(run, "wandb", project="support")
    assert Path(where).is_relative_to(wandb_folder)
    logged = read_back(where)
    assert (logged["id"], logged["exit_code"]) == ("run-1", 0)
    assert logged["tags"] == ["judgekit:complete"]
    assert logged["config"]["template"] == "pointwise/default@1"
    first, _ = run.summary().variants
    assert logged["summary"]["v1/pass_rate"] == first.pass_rate.value
    assert logged["summary"]["v1/pass_rate_high"] == first.pass_rate.high
    assert "gpt_4_1/pass_rate" not in logged["summary"]
    assert logged["summary"]["outputs"]["columns"][:3] == ["case_id", "variant", "criterion"]
    assert len(logged["summary"]["outputs"]["data"]) == 6


def test_an_unfinished_run_has_failed_in_wandb(store: RunStore, wandb_folder: Path) -> None:
    run = a_run(store)
    run.info = run.info.model_copy(update={"status": "interrupted"})
    logged = read_back(jk.log_run(run, "wandb"))
    assert wandb_folder.is_dir()
    assert (logged["exit_code"], logged["tags"]) == (1, ["judgekit:interrupted"])


def test_wandb_that_is_disabled_or_has_no_key_is_an_error(
    run: Command, store: RunStore, wandb_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_run(store)
    monkeypatch.setenv("WANDB_MODE", "disabled")
    ran = run("export", "--to", "wandb")
    assert (ran.code, "W&B is disabled" in ran.err) == (2, True)
    if IS_REAL:
        import_module("wandb").teardown()
    monkeypatch.delenv("WANDB_MODE")
    monkeypatch.setenv("HOME", str(wandb_folder))
    monkeypatch.setenv("NETRC", str(wandb_folder / "netrc"))
    ran = run("export", "--to", "wandb")
    assert (ran.code, "No API key configured" in ran.err) == (2, True)
