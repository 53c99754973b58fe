"""Names the optional packages with the extra that installs each; looks for what a skill needs."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from judgekit.errors import SettingsError

# The module to import, and the extra it comes with, as pyproject.toml lists them.
EXTRAS = {
    "backports.zstd": "zstd", "mlflow": "mlflow", "nltk": "meteor", "psycopg": "postgres",
    "pyarrow": "parquet", "ray": "ray", "redis": "redis", "sacrebleu": "text", "sqlglot": "sql",
    "starlette": "view", "uvicorn": "view", "wandb": "wandb", "wordllama": "semantic",
    "xllamacpp": "local",
}  # fmt: skip


def is_installed(package: str) -> bool:
    """Whether an optional package can be imported; it is not imported."""
    try:
        # A folder of data is a package without a file: the client of W&B writes into `wandb`.
        return getattr(find_spec(package), "origin", None) is not None
    except ModuleNotFoundError:  # what a package of that name would be in
        return False


def install_hint(package: str) -> str:
    """The command that installs an optional package."""
    # Quoted, because zsh takes square brackets for a pattern.
    return f'pip install "judgekit-llm[{EXTRAS[package]}]"'


def require_package(package: str, what: str) -> None:
    """Refuse, before any work is done, what an optional package is missing for."""
    if not is_installed(package):
        raise SettingsError(
            f"{what} needs {package}, which is not installed", hint=install_hint(package)
        )


# The name before a version, an extra or a condition: `pandas>=2`, `left-pad@1.3`, `@scope/name`.
_NAME = re.compile(r"@?[\w./-]*")


def missing_dependencies(names: Iterable[str], folder: Path) -> list[str]:
    """Which programs, Python packages and node modules of a folder are not there."""

    def is_there(name: str) -> bool:
        # Versions are not compared: programs have no common way to ask for theirs.
        if shutil.which(name) is not None or (folder / "node_modules" / name).is_dir():
            return True
        from importlib import metadata  # noqa: PLC0415 - of 40 modules, and no help needs them

        return any(metadata.distributions(name=name))

    found = {name: _NAME.match(name.strip()) for name in names}
    return [name for name, bare in found.items() if not (bare and bare[0] and is_there(bare[0]))]
