"""Finds the files that come with judgekit: templates, rubrics, scales and the demo's data."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import lru_cache
from pathlib import Path

from judgekit.errors import JudgekitError, UnknownNameError

_PACKAGE = Path(__file__).resolve().parent


@lru_cache(maxsize=1)
def shipped_root() -> Path:
    """The folder that holds `prompts/` and `calibration/`.

    Returns:
        A folder inside the installed package, or the checkout's own in an editable install.

    Raises:
        JudgekitError: When neither is there, that is, when the installation is incomplete.
    """
    for root in (_PACKAGE / "shipped", _PACKAGE.parent):
        if (root / "prompts" / "rubrics").is_dir():
            return root
    raise JudgekitError(
        f"the files shipped with judgekit are missing beside {_PACKAGE}",
        hint="install it again: pip install --force-reinstall judgekit-llm",
    )


def shipped_file(*parts: str) -> Path:
    """The path of a shipped file or folder.

    Args:
        parts: Its path below the shipped root, for example `("prompts", "rubrics")`.

    Returns:
        The path; whether it exists is not checked.
    """
    return shipped_root().joinpath(*parts)


@lru_cache(maxsize=1)
def _scales() -> dict[str, dict[str, object]]:
    text = shipped_file("prompts", "rubrics", "scales.json").read_text(encoding="utf-8")
    scales: dict[str, dict[str, object]] = json.loads(text)
    return scales


def shipped_scale(name: str) -> dict[str, object]:
    """The shipped scale of that name, as the fields of a `Scale`.

    Args:
        name: `five_level`, `one_to_five`, `one_to_ten`, `binary` or `unit`; hyphens and spaces
            count as underscores.

    Returns:
        A new mapping.

    Raises:
        UnknownNameError: When no scale is called so; lists the near ones.
    """
    scales = _scales()
    key = name.strip().lower().replace("-", "_").replace(" ", "_")
    if key not in scales:
        raise UnknownNameError("scale", name, scales)
    return deepcopy(scales[key])
