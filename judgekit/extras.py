"""Names the optional packages, and the extra of judgekit that installs each."""

from __future__ import annotations

from importlib.util import find_spec

from judgekit.errors import SettingsError

# The module to import, and the extra it comes with, as pyproject.toml lists them.
EXTRAS = {
    "nltk": "meteor", "psycopg": "postgres", "pyarrow": "parquet", "sacrebleu": "text",
    "sqlglot": "sql", "starlette": "view", "uvicorn": "view", "wordllama": "semantic",
    "xllamacpp": "local",
}  # fmt: skip


def is_installed(package: str) -> bool:
    """Whether an optional package can be imported; it is not imported."""
    return find_spec(package) is not None


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
