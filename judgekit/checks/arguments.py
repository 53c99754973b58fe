"""Reads the parameters of one spec against the signature of what it names; finds every fault."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from judgekit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judgekit.checks.builtin import Synonym
    from judgekit.checks.seam import Declared

Place = tuple[str | int, ...]
"""Where a spec or one of its parameters stands: keys and list positions."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class SpecFault:
    """One thing wrong with a spec."""

    where: Place
    """The spec, or its parameter."""

    message: str
    """What is wrong: the place, the assertion's type and the parameter."""

    hint: str | None = None
    """How to mend it."""

    def __str__(self) -> str:
        """What and how, on one line."""
        return self.message if self.hint is None else f"{self.message}; {self.hint}"


def fault(
    where: Place, message: str, *, name: str | None = None, hint: str | None = None
) -> SpecFault:
    """A fault that says where it is."""
    last = max((n for n, part in enumerate(where) if isinstance(part, int)), default=len(where) - 1)
    called = "" if name is None else f" ({name})"
    return SpecFault(where, f"{written(where[: last + 1])}{called}: {message}", hint)


def read_arguments(
    said: Declared,
    settings: Mapping[str, object],
    *,
    where: Place,
    name: str | None = None,
    synonym: Synonym | None = None,
) -> tuple[dict[str, object], list[SpecFault]]:
    """The arguments a spec sets."""
    name = said.name if name is None else name
    renamed: Mapping[str, str] = {} if synonym is None else synonym.renamed
    fixed: Mapping[str, object] = {} if synonym is None else synonym.fixed
    arguments, faults = dict(fixed), []
    given = set(fixed)
    for key, value in settings.items():
        parameter = _parameter(key, said, renamed)
        if parameter is None or parameter in fixed:
            hint = _near(key, [p for p in said.parameters if p not in fixed])
            faults.append(fault((*where, key), f"takes no `{key}`", name=name, hint=hint))
        elif parameter in given:
            faults.append(fault((*where, key), f"sets `{parameter}` twice", name=name))
        else:
            given.add(parameter)
            try:
                arguments[parameter] = checked(said.parameters[parameter].adapter, value)
            except InputError as error:
                message = f"`{key}` {error.message}"
                faults.append(fault((*where, key), message, name=name, hint=error.hint))
    for parameter, about in said.parameters.items():
        if about.is_required and parameter not in given:
            wanted = next((key for key, own in renamed.items() if own == parameter), parameter)
            faults.append(fault(where, f"needs `{wanted}`{_camel(wanted)}", name=name))
    return arguments, faults


def checked(adapter: TypeAdapter[object], value: object) -> object:
    """A value, checked against a type hint; nothing is turned into another type."""
    try:
        return adapter.validate_python(value, strict=True)
    except ValidationError as error:
        raise InputError(_words(error)) from error
    except InputError as error:
        raise InputError(f"is unsound: {error.message}", hint=error.hint) from error
    except RecursionError as error:
        raise InputError("is nested too deeply") from error


def refuse_faults(faults: Sequence[SpecFault], *, of: str = "assertions") -> None:
    """Raise what is wrong, if anything is."""
    if len(faults) == 1:
        raise InputError(faults[0].message, hint=faults[0].hint)
    if faults:
        lines = "".join(f"\n  {one}" for one in faults)
        raise InputError(f"{len(faults)} faults in {of}:{lines}")


def written(where: Place) -> str:
    """A place as people write it."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where)
    return text.removeprefix(".")


def _parameter(key: str, said: Declared, renamed: Mapping[str, str]) -> str | None:
    """The parameter a key of a spec sets; `nodeId` sets `node_id`, or `node`."""
    own = _HUMP.sub("_", key).lower()
    for name in (renamed.get(key, key), own, own.removesuffix("_id")):
        if name in said.parameters:
            return name
    return None


def _camel(name: str) -> str:
    """The other spelling, which S1 files have."""
    first, *others = name.split("_")
    return f" (or `{first}{''.join(map(str.title, others))}`)" if others else ""


def _near(key: str, known: list[str]) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    return f"did you mean `{near[0]}`?" if near else f"it takes {', '.join(known) or 'nothing'}"


def _words(error: ValidationError) -> str:
    """What pydantic says of one value, in plain words."""
    details = error.errors(include_url=False)
    # Of what may be a text or a list, a list is told what is wrong with it as a list.
    detail = details[-1 if isinstance(details[0]["input"], dict | list) else 0]
    inner = "".join(f"[{part}]" for part in detail["loc"] if isinstance(part, int))
    what = detail["msg"].replace("Input should be", "must be").removeprefix("Value error, ")
    short = _short(detail["input"])
    return f"{inner + ' ' if inner else ''}{what}, not {short}"


def _short(value: object) -> str:
    try:
        shown = repr(value)
    except ValueError:  # Python writes no number of more than 4,300 digits
        return "a number of too many digits"
    except RecursionError:
        return "what is nested too deeply"
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
