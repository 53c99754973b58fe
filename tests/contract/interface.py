"""Describes what a public object offers, in words that no move of a module changes."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

import judgekit as jk

_MODULE = re.compile(r"\b(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_])")
_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_KEYWORD = inspect.Parameter.KEYWORD_ONLY
_FUNCTION = re.compile(r"<function (?:[\w<>]+\.)*([\w<>]+)(?: at 0x[0-9a-f]+)?>")


def described(value: object) -> Any:
    """A class, a function, or the type of another public value."""
    if inspect.isclass(value):
        return _class(value)
    return signature(value) if callable(value) else type(value).__name__


def signature(function: Any) -> str:
    """The signature of a function: annotations as its source spells them, without modules."""
    known = inspect.signature(function)
    parameters = [_shown(parameter) for parameter in known.parameters.values()]
    kinds = [parameter.kind for parameter in known.parameters.values()]
    if _KEYWORD in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        parameters.insert(kinds.index(_KEYWORD), "*")
    return f"({', '.join(parameters)}) -> {_spelt(known.return_annotation)}"


def _shown(parameter: inspect.Parameter) -> str:
    """A parameter with its type and its default."""
    star = "*" * (parameter.kind in _MANY) + "*" * (parameter.kind is _MANY[1])
    text = star + parameter.name
    if parameter.annotation is not inspect.Parameter.empty:
        text += f": {_spelt(parameter.annotation)}"
    if parameter.default is not inspect.Parameter.empty:
        text += " = " + _FUNCTION.sub(r"<\1>", repr(parameter.default))
    return text


def _spelt(annotation: Any) -> str:
    """An annotation as its source spells it, in one line and without modules."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return _MODULE.sub("", " ".join(text.strip('"').split()))


def _class(cls: type) -> dict[str, Any]:
    """A class: its bases, its constructor or its fields, its public methods and properties."""
    bases = [base for base in cls.__mro__[1:-1] if base.__name__ in jk.__all__ or not _ours(base)]
    shown: dict[str, Any] = {"bases": [base.__name__ for base in bases]}
    fields: dict[str, Any] = getattr(cls, "model_fields", {})
    if fields:
        shown["fields"] = {name: _field(cls, name, field) for name, field in fields.items()}
        return shown | {"members": _members(cls, set(fields))}
    names = (
        {field.name for field in dataclasses.fields(cls)}
        if dataclasses.is_dataclass(cls)
        else set()
    )
    return shown | {"constructor": signature(cls), "members": _members(cls, names)}


def _field(cls: type, name: str, field: Any) -> str:
    """The type of a record's field as its source spells it, and what stands there by default."""
    spelt = next(vars(base)["__annotations__"][name] for base in cls.__mro__
                 if name in vars(base).get("__annotations__", {}))  # fmt: skip
    kind = _spelt(spelt)
    if field.is_required():
        return f"{kind}, required"
    made = field.default_factory() if field.default_factory else field.default
    return f"{kind} = {made!r}"


def _members(cls: type, fields: set[str]) -> dict[str, str]:
    """The public methods and properties that judgekit's own classes give it."""
    members: dict[str, str] = {}
    for name in dir(cls):
        home = next((base for base in cls.__mro__ if name in vars(base)), object)
        if not name.startswith(("_", "model_")) and name not in fields and _ours(home):
            members[name] = _member(vars(home)[name])
    return members


def _member(value: Any) -> str:
    if isinstance(value, classmethod | staticmethod):
        return f"{type(value).__name__} {signature(value.__func__)}"
    if isinstance(value, property) or type(value).__name__ == "cached_property":
        return "property"
    is_async = inspect.iscoroutinefunction(value) or inspect.isasyncgenfunction(value)
    return ("async " if is_async else "") + signature(value) if callable(value) else "value"


def _ours(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == "judgekit"
