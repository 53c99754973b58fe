"""Logs results as runs of MLflow and of Weights & Biases, through the clients of both."""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import redirect_stdout
from datetime import UTC, datetime
from itertools import chain, count
from math import isfinite, nan
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from judgekit import api, evaluation, models, prompts, records, report, scoring
from judgekit.errors import JudgekitError, SettingsError, StoreError
from judgekit.extras import require_package
from judgekit.fingerprint import fingerprint

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from judgekit.records import ComparisonInfo, RunInfo

TRACKERS = MappingProxyType({"mlflow": "MLflow", "wandb": "Weights & Biases"})
"""The tools that runs are logged to, by the package of their client."""

# What is no setting, or may change: MLflow refuses another value of a parameter.
_NOT_PARAMETERS = {
    "id", "started_at", "finished_at", "status", "reason", "n_pairs", "notes", "folder",
}  # fmt: skip
# Figures of parts of the cases would be hundreds of metrics; the JSON has them.
_ENDS = {"", "_low", "_high"}
_TOKENS = ("input_tokens", "output_tokens")
_NOT_METRICS = {"tags", "strata", "pooled", "options", "trust", "budget"}
# MLflow has at most 250 characters, and W&B sorts and filters only by letters, digits and `_`.
_LONGEST_NAME, _LONGEST_PART = 250, 100
_AT_ONCE = 100  # as many parameters as MLflow takes in one request
_FIRST_COLUMNS = ("case_id", "variant", "criterion", "raw", "value", "rationale", "confidence")
_TABLE, _FIGURES = "outputs.json", "results.json"
_MLFLOW_STATUS = {"complete": "FINISHED", "decided": "FINISHED", "incomplete": "FAILED"}
_CLIENT_SETTINGS = {
    "mlflow": "check MLFLOW_TRACKING_URI; local files need the whole client: pip install mlflow",
    "wandb": "log in with `wandb login`, or set WANDB_MODE=offline",
}
_LONGEST_MESSAGE = 300
_TABLES_TAG = "mlflow.loggedArtifacts"  # MLflow shows the files it names as tables


class _TrackedRun(NamedTuple):
    id: str
    status: str
    parameters: dict[str, str]
    metrics: dict[str, float]
    table: dict[str, list[Any]]
    figures: dict[str, Any]
    started_at: datetime | None = None
    finished_at: datetime | None = None


def log_run(result: object, tool: str, *, project: str | None = None) -> str:
    """Log a result as a run of MLflow or of Weights & Biases.

    The run is named by the id of the result. It has the settings as parameters, the figures with
    the ends of their intervals as metrics, a table with a row for each judgment, and the figures as
    JSON. An undefined figure is no metric. A result that is logged again updates its run.

    Args:
        result: What `grade`, `compare`, `rank`, `evaluate` or `calibrate` returned.
        tool: `mlflow` or `wandb`. Its client reads its own settings, such as `MLFLOW_TRACKING_URI`
            or `WANDB_MODE`.
        project: The project, or MLflow's experiment, which is created if it does not exist; None
            takes the one the client is configured with.

    Returns:
        The id of the run of MLflow; the address of the run of W&B, or its folder if it is offline.

    Raises:
        SettingsError: When the tool is unknown, its client is not installed or refuses the run.
        StoreError: When the server fails or cannot be reached.
    """
    if tool not in TRACKERS:
        known = " or ".join(TRACKERS)
        raise SettingsError(f"a run cannot be logged to {tool!r}", hint=f"use {known}")
    require_package(tool, f"logging to {TRACKERS[tool]}")
    run = _tracked_run(result)
    return _log_to_mlflow(run, project) if tool == "mlflow" else _log_to_wandb(run, project)


def _tracked_run(result: object) -> _TrackedRun:
    info: RunInfo | ComparisonInfo | None = None
    if isinstance(result, api.GradingResults):
        info = result.run
    elif isinstance(result, api.ComparisonResults | evaluation.Run):
        info = result.info
    secrets = models.secret_forms()
    presented = api.present(result)
    figures = _clean(report.document_data(presented.document()), secrets)
    figures.get("run", {}).pop("folder", None)  # a path of this machine
    rows = _clean(_rows(result, presented), secrets)
    # Columns that nothing is in are left out.
    columns = list(dict.fromkeys(k for row in rows for k, v in row.items() if v is not None))
    content = (
        _clean(_parameters(figures, info), secrets),
        _named(_metrics(figures.get("variants", figures))),
        {"columns": columns, "data": [[row.get(name) for name in columns] for row in rows]},
        figures,
    )
    if info is None:  # a ranking or a calibration; one with other figures is another run
        run_id = f"{type(result).__name__}-{fingerprint(figures)[:16]}"
        return _TrackedRun(run_id, "complete", *content)
    return _TrackedRun(info.id, info.status, *content, info.started_at, info.finished_at)


def _clean(value: Any, secrets: Collection[str]) -> Any:
    """JSON without the values of secrets, and without numbers that JSON does not have."""
    if isinstance(value, dict):
        return {name: _clean(inner, secrets) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(inner, secrets) for inner in value]
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, models.REDACTED)
        return records.words_text(value)
    return None if isinstance(value, float) and not isfinite(value) else value


def _parameters(
    figures: Mapping[str, Any], info: RunInfo | ComparisonInfo | None
) -> dict[str, str]:
    """The settings of a run; of a result that has none, what its figures say in words."""
    found: dict[Any, Any] = {k: v for k, v in figures.items() if isinstance(v, str | list)}
    if info is not None:
        found = {k: v for k, v in info.to_json().items() if k not in _NOT_PARAMETERS}
        if isinstance(info, records.RunInfo):
            panel = evaluation.judging_of_run(info)
            judges = () if panel is None else panel.judges
            modes = {True: "joint", False: "per_criterion"}
            found["mode"] = [modes[one.asks_all] for one in judges if one.asks_all is not None]
            for variant in info.variants:
                version = evaluation.variant_version_in(info, variant.id)
                found[variant.id, "version"] = version and version.fingerprint
        else:
            names = [one.judge for one in info.panel] or [info.judge]
            known = map(scoring.portable_judge_name, names)
            judges = tuple(records.CalibratedJudge(judge=name) for name in known)
            found |= {"a": info.a.label, "b": info.b.label}
        found |= {"judge": [one.model for one in judges]}
        found |= {"template": [one.template for one in judges]}
        if (rubric := info.rubric) is not None:
            found |= {"rubric": rubric.name, "rubric_version": rubric.version}
            found |= {"rubric_fingerprint": rubric.fingerprint}
    texts = {
        name: ", ".join(dict.fromkeys(v)) if isinstance(v, list) else str(v)
        for name, v in found.items()
        if isinstance(v, str | int | float) or (isinstance(v, list) and set(map(type, v)) == {str})
    }
    named = ((k if isinstance(k, str) else _name(*k), text) for k, text in texts.items() if text)
    return _named(named)


def _rows(result: object, presented: api.Presentation) -> list[dict[str, Any]]:
    """A row for each judgment and failure; for each pair or side where nothing else was judged."""
    if isinstance(result, api.GradingResults):
        outcomes: Iterable[evaluation.Outcome] = result.outcomes
    elif isinstance(result, evaluation.Run):
        outcomes = result.concluded()
    else:
        return presented.rows()
    return [
        dict.fromkeys(_FIRST_COLUMNS)
        | row
        | {"input": prompts.to_text(one.result.case.input), "passed": one.passed}
        for one in outcomes
        for row in report.case_result_rows(one.result)
    ]


def _metrics(value: Any, *path: str) -> Iterator[tuple[str, float]]:
    """Every number with its name; of an estimate also the ends of its interval."""
    if isinstance(value, list):  # of variants, or of ranked sides
        items = [one for one in value if isinstance(one, dict)]
        value = {one.get("variant") or one.get("name") or "": one for one in items}
    if isinstance(value, dict):
        for name, inner in _measured(value, is_top=len(path) < 2).items():  # noqa: PLR2004
            own = (*path[:-1], f"{path[-1]}{name}") if name in _ENDS else (*path, name)
            yield from _metrics(inner, *own)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield _name(*path), float(value)


def _measured(value: dict[str, Any], *, is_top: bool) -> dict[str, Any]:
    if value.keys() >= {"value", "low", "high"}:
        return {"": value["value"], "_low": value["low"], "_high": value["high"]}
    # An unknown price is no price of 0, and would make the sum too small.
    if value.get("cost_unknown") is True or value.get("is_complete") is False:
        return {name: inner for name, inner in value.items() if not name.endswith("_usd")}
    own = {name: v for name, v in value.items() if name and not (is_top and name in _NOT_METRICS)}
    if not any(own.get(name) for name in _TOKENS):  # no answer reported any, which is not 0
        own = {name: v for name, v in own.items() if name not in _TOKENS}
    return own | ({"n_failures": sum(own["failures"].values())} if "failures" in own else {})


def _name(*path: str) -> str:
    return "/".join(re.sub(r"\W", "_", part)[:_LONGEST_PART] or "_" for part in path)


def _named(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Metrics or parameters by names of which none is too long, or the same as another."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        others = (f"{name[: _LONGEST_NAME - 10]}_{n}" for n in count(2))
        names = chain([name[:_LONGEST_NAME]], others)
        found[next(one for one in names if one not in found)] = value
    return found


def _undefined(earlier: Iterable[str], metrics: Mapping[str, float]) -> dict[str, float]:
    """Metrics that were logged before and are undefined now; those of others stay as they are."""
    own = {name.partition("/")[0] for name in metrics}
    return {n: nan for n in earlier if n not in metrics and n.partition("/")[0] in own}


def _log_to_mlflow(run: _TrackedRun, project: str | None) -> str:
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    from mlflow.exceptions import MlflowException  # noqa: PLC0415 - takes seconds

    try:
        # The client prints addresses to stdout, where the results of a command stand.
        with redirect_stdout(sys.stderr):
            return _write_to_mlflow(run, project)
    except ImportError as error:  # a store of files, which the small client has no code for
        raise _tracker_error("mlflow", error, is_refused=True) from error
    except MlflowException as error:
        is_refused = 400 <= error.get_http_status_code() < 500  # noqa: PLR2004
        raise _tracker_error("mlflow", error, is_refused=is_refused) from error


def _write_to_mlflow(run: _TrackedRun, project: str | None) -> str:
    from mlflow import MlflowClient, entities  # noqa: PLC0415 - takes seconds

    client = MlflowClient()
    experiment = os.environ.get("MLFLOW_EXPERIMENT_ID", "0")
    if name := project or os.environ.get("MLFLOW_EXPERIMENT_NAME"):
        known = client.get_experiment_by_name(name)
        experiment = client.create_experiment(name) if known is None else known.experiment_id
    tag = "judgekit.run_id"
    found = client.search_runs([experiment], f"tags.`{tag}` = '{run.id}'")
    started, finished = map(_milliseconds, (run.started_at, run.finished_at))
    logged = found[0] if found else client.create_run(experiment, started, {tag: run.id}, run.id)
    run_id: str = logged.info.run_id
    # Before everything is there it is no finished run, also where it was one before.
    client.update_run(run_id, status="RUNNING")
    now = _milliseconds(datetime.now(UTC))
    values = run.metrics | _undefined(logged.data.metrics, run.metrics)
    metrics = [entities.Metric(name, value, now, 0) for name, value in values.items()]
    parameters = [entities.Param(name, text) for name, text in run.parameters.items()]
    for start in range(0, max(len(metrics), len(parameters)), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        client.log_batch(run_id, metrics=metrics[part], params=parameters[part])
    client.log_dict(run_id, run.table, _TABLE)
    client.log_dict(run_id, run.figures, _FIGURES)
    tables = json.loads(logged.data.tags.get(_TABLES_TAG, "[]"))
    own = {"path": _TABLE, "type": "table"}
    tables = [*(one for one in tables if one != own), own]
    client.set_tag(run_id, _TABLES_TAG, json.dumps(tables))
    client.set_tag(run_id, "judgekit.status", run.status)
    client.set_terminated(run_id, _MLFLOW_STATUS.get(run.status, "KILLED"), finished)
    return run_id


def _milliseconds(at: datetime | None) -> int | None:
    return None if at is None else int(at.timestamp() * 1000)


def _log_to_wandb(run: _TrackedRun, project: str | None) -> str:
    os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
    import wandb  # noqa: PLC0415 - takes a second

    # Of this process nothing is logged: neither its output nor its folder, command or load.
    settings = wandb.Settings(
        silent=True, console="off", disable_git=True, save_code=False, disable_job_creation=True,
        x_disable_meta=True, x_disable_stats=True, x_save_requirements=False,
    )  # fmt: skip
    # The same id again continues the run; one that the user has open is another.
    identity = {"project": project, "id": run.id, "name": run.id, "resume": "allow"}
    try:
        with wandb.init(**identity, reinit="create_new", settings=settings) as opened:
            if opened.disabled:
                raise SettingsError("W&B is disabled", hint="set WANDB_MODE to online or offline")
            settled = {**run.parameters, "status": run.status}
            opened.config.update(settled, allow_val_change=True)
            others = [tag for tag in opened.tags or () if not tag.startswith("judgekit:")]
            opened.tags = (*others, f"judgekit:{run.status}")
            known = {name: opened.summary[name] for name in opened.summary.keys()}  # noqa: SIM118
            earlier = [name for name, value in known.items() if isinstance(value, int | float)]
            table = wandb.Table(**run.table, allow_mixed_types=True)
            opened.log({**run.metrics, **_undefined(earlier, run.metrics), "outputs": table})
            artifact = wandb.Artifact(f"results-{run.id}", type="results")
            with artifact.new_file(_FIGURES, encoding="utf-8") as file:
                json.dump(run.figures, file, ensure_ascii=False)
            opened.log_artifact(artifact)
            # What has an exit code other than 0 is shown as failed.
            opened.finish(exit_code=int(_MLFLOW_STATUS.get(run.status) != "FINISHED"))
            return str(Path(opened.dir).parent if opened.offline else opened.url)
    except wandb.Error as error:
        is_refused = isinstance(error, wandb.errors.UsageError | wandb.errors.AuthenticationError)
        raise _tracker_error("wandb", error, is_refused=is_refused) from error


def _tracker_error(tool: str, error: Exception, *, is_refused: bool) -> JudgekitError:
    """The error of a client on one line, without keys."""
    words = models.redact(" ".join(str(error).split()))
    text, hint = f"{TRACKERS[tool]}: {words[:_LONGEST_MESSAGE]}", _CLIENT_SETTINGS[tool]
    if is_refused:
        return SettingsError(text, hint=hint)
    return StoreError(text, hint=hint, is_incomplete=True)
