"""LLM-as-judge: grade outputs against a rubric, never pay twice, defend every number.

The public names are listed in `__init__.pyi`. Each is imported when it is first used, so that
`import judgekit` costs nothing.
(PYTEST_DONT_REWRITE: pytest knows this package as a plugin, and would warn where it was imported
before.)
"""

from lazy_loader import attach_stub

_lazy, _, _listed = attach_stub(__name__, __file__)
__all__ = sorted({*_listed, "__version__"} - {"stats"})  # noqa: PLE0605 - a list, which ruff does not see


def __getattr__(name: str) -> object:
    """A public name, imported from its module and remembered here."""
    if name == "__version__":
        # importlib.metadata costs more than the rest of the package's import.
        from importlib.metadata import version  # noqa: PLC0415

        value: object = version("judgekit-llm")
    elif name in _listed:
        value = _lazy(name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, for completion and `help`."""
    return list(__all__)
