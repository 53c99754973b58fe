"""What `log_run` uses of the client of W&B, which writes into the folder `WANDB_DIR`.

It takes the place of the client where that is not installed; `make trackers` installs it.
"""

from __future__ import annotations

import io
import json
import os
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterator


class Error(Exception):
    """Any error of the client."""


class _UsageError(Error):
    pass


class _AuthenticationError(Error):
    pass


class _CommError(Error):
    pass


errors = SimpleNamespace(
    UsageError=_UsageError, AuthenticationError=_AuthenticationError, CommError=_CommError
)


def Settings(**fields: Any) -> dict[str, Any]:  # noqa: N802 - as the client names it
    return fields


def Table(columns: list[str], data: list[list[Any]], *, allow_mixed_types: bool) -> Any:  # noqa: N802
    assert allow_mixed_types
    return {"columns": columns, "data": data}


class Artifact:
    """Files that belong together."""

    def __init__(self, name: str, *, type: str) -> None:  # noqa: A002 - as the client names it
        self.name, self.type, self.files = name, type, dict[str, str]()

    @contextmanager
    def new_file(self, name: str, *, encoding: str) -> Iterator[io.StringIO]:
        assert encoding == "utf-8"
        file = io.StringIO()
        yield file
        self.files[name] = file.getvalue()


class Run:
    """A run; `run.json` has everything that was logged of it."""

    def __init__(self, run_id: str, folder: Path) -> None:
        self.id, self.dir, self.url = run_id, str(folder / "files"), None
        self.offline, self.disabled = True, os.environ["WANDB_MODE"] == "disabled"
        self.tags: tuple[str, ...] = ()
        self.exit_code: int | None = None
        self.summary: dict[str, Any] = {}
        self.settings: dict[str, str] = {}
        self.artifact: Artifact | None = None
        self.config = SimpleNamespace(update=self._configure)

    def _configure(self, values: dict[str, str], *, allow_val_change: bool) -> None:
        assert allow_val_change
        self.settings |= values

    def log(self, values: dict[str, Any]) -> None:
        self.summary |= values

    def log_artifact(self, artifact: Artifact) -> None:
        self.artifact = artifact

    def finish(self, *, exit_code: int) -> None:
        assert self.artifact is not None
        whole = {"id": self.id, "tags": self.tags, "exit_code": exit_code, "config": self.settings}
        whole |= {"summary": self.summary, "files": self.artifact.files}
        (Path(self.dir).parent / "run.json").write_text(json.dumps(whole), "utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def init(
    *,
    project: str | None,
    id: str,  # noqa: A002 - as the client names it
    name: str,
    resume: str,
    reinit: str,
    settings: dict[str, Any],
) -> Run:
    assert (name, resume, reinit) == (id, "allow", "create_new")
    assert settings["disable_git"]
    mode = os.environ.get("WANDB_MODE")
    if mode is None:
        raise _UsageError("No API key configured. Use `wandb login` to log in.")
    if mode == "online":
        raise _CommError("Timed out: connection refused")
    folder = Path(os.environ["WANDB_DIR"]) / "wandb" / f"offline-run-{project}-{id}"
    folder.mkdir(parents=True, exist_ok=True)
    return Run(id, folder)
