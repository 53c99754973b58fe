"""Tells one version of a variant from the next: by its prompt, its settings or its outputs."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from judgekit.errors import DatasetError
from judgekit.fingerprint import fingerprint
from judgekit.judge.opening import own_templates
from judgekit.records.compared import VersionMark
from judgekit.targets.prompt import TargetPrompt

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from judgekit.datasets.suite import Suite
    from judgekit.datasets.suite_settings import VariantSettings
    from judgekit.evaluation.preparing.opening import OpenSuite
    from judgekit.records.record import JsonObject

_PACE = {"id", "tags", "timeout_s"}


def versions_of(opened: OpenSuite) -> JsonObject:
    """Which version of each chosen variant an opened suite has."""
    folders = (*opened.asking.template_folders, *own_templates(opened.suite))
    return {v.id: version_mark(v, opened.suite, folders).to_json() for v in opened.variants}


def version_mark(
    variant: VariantSettings, suite: Suite, template_folders: Sequence[Path] = ()
) -> VersionMark:
    """Which version of a variant a suite names now."""
    # A prompt counts with all it includes, its model and its parameters; recorded outputs count
    # with their file's content. Of a program, a function or an endpoint only what the suite says of
    # it is known.
    if variant.outputs is not None:
        return file_mark(suite.resolve(variant.outputs), name=variant.outputs)
    settings = variant.model_dump(mode="json", exclude=_PACE)
    prompt = variant.prompt if isinstance(variant.prompt, str) else None
    if prompt is None:
        return VersionMark(fingerprint=fingerprint(settings))
    folders = tuple(template_folders)
    own = TargetPrompt(prompt, folder=suite.folder, template_folders=folders).fingerprint
    return VersionMark(
        fingerprint=fingerprint([{**settings, "prompt": None}, own]),
        prompt_fingerprint=own,
        prompt=prompt,
        model=str(variant.model),
    )


def file_mark(path: Path, *, name: str | None = None) -> VersionMark:
    """Which version a file of recorded outputs is."""
    try:
        with path.open("rb") as file:
            digest = sha256(file.read()).hexdigest()
    except OSError as error:
        raise DatasetError(f"cannot be read: {error.strerror}", path=path) from error
    return VersionMark(fingerprint=digest, outputs=name or str(path))
