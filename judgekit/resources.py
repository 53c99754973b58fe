"""Finds the files shipped with judgekit: templates, rubrics, scales and the demo data."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import lru_cache
from pathlib import Path

from judgekit.errors import JudgekitError, UnknownNameError

_PACKAGE = Path(__file__).resolve().parent


@lru_cache(maxsize=1)
def shipped_root() -> Path:
    """The folder that holds `prompts/` and `calibration/`."""
    # A wheel has them inside the package; a checkout has them beside it.
    for root in (_PACKAGE / "shipped", _PACKAGE.parent):
        if (root / "prompts" / "rubrics").is_dir():
            return root
    raise JudgekitError(
        f"the files shipped with judgekit are missing beside {_PACKAGE}",
        hint="install it again: pip install --force-reinstall judgekit-llm",
    )


def shipped_file(*parts: str) -> Path:
    """The path of a shipped file or folder."""
    return shipped_root().joinpath(*parts)


@lru_cache(maxsize=1)
def _scales() -> dict[str, dict[str, object]]:
    text = shipped_file("prompts", "rubrics", "scales.json").read_text(encoding="utf-8")
    scales: dict[str, dict[str, object]] = json.loads(text)
    return scales


def shipped_scale(name: str) -> dict[str, object]:
    """The shipped scale of that name, as the fields of a `Scale`."""
    scales = _scales()
    key = name.strip().lower().replace("-", "_").replace(" ", "_")
    if key not in scales:
        raise UnknownNameError("scale", name, scales)
    return deepcopy(scales[key])  # a caller may change its copy
