"""JSON texts and JSON Schemas, strictly; the parts with schemas are run by the worker process."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonschema.protocols import Validator

_OPENING = re.compile(r"[\[{]")
_SHOWN = 5
_WANTED = 200
"""How many characters of a fault are shown."""

_DECODED_MAX = 2_000
"""How many places of a text are tried for a JSON value that begins there."""


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def read_json(text: str) -> object:
    """The value of a JSON text."""
    return _DECODER.decode(text)


def schema_faults(schema: object, text: str) -> list[str]:
    """What a JSON text violates in a schema."""
    return _faults(_validator(json.dumps(schema)), read_json(text))


def contained_json(text: str, schema: object) -> tuple[bool, list[str]]:
    """Whether a text contains a JSON object or list that satisfies a schema."""
    first: list[str] | None = None
    for value in _values(text):
        faults = [] if schema is None else _faults(_validator(json.dumps(schema)), value)
        if not faults:
            return True, []
        first = first or faults
    return False, first or ["there is no object and no list"]


def unsound_schema(schema: object) -> str | None:
    """Why a schema cannot be used."""
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415 - slow to import

    if not isinstance(schema, dict | bool):
        return "a schema is a mapping or a truth value"
    foreign = _foreign_references(schema)
    if foreign:
        return f"it refers to {foreign}, which it does not hold; nothing is fetched"
    try:
        _validator(json.dumps(schema)).check_schema(schema)
    except SchemaError as error:
        return f"{_place(list(error.absolute_path))}{error.message}"[:_WANTED]
    return _dangling_reference(schema)


@lru_cache(maxsize=256)
def _validator(schema: str) -> Validator:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - slow to import
    from jsonschema.validators import validator_for  # noqa: PLC0415 - slow to import
    from referencing import Registry  # noqa: PLC0415 - slow to import

    value = json.loads(schema)
    kind = validator_for(value, default=Draft202012Validator)
    return kind(value, registry=Registry())  # an empty registry fetches nothing


def _faults(validator: Validator, value: object) -> list[str]:
    from referencing.exceptions import Unresolvable  # noqa: PLC0415 - slow to import

    faults = []
    try:
        for error in validator.iter_errors(value):
            faults.append(f"{_place(list(error.absolute_path))}{error.message}"[:_WANTED])
            if len(faults) == _SHOWN:
                break
    except Unresolvable as error:
        raise LookupError(f"the schema refers to {error.ref}, which it does not hold") from error
    return faults


def _place(path: list[str | int]) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return f"{text.removeprefix('.')}: " if text else ""


def _values(text: str) -> Iterator[object]:
    """The objects and lists in a text, the outermost of each place."""
    at = 0
    for _ in range(_DECODED_MAX):
        found = _OPENING.search(text, at)
        if found is None:
            return
        try:
            value, at = _DECODER.raw_decode(text, found.start())
        except ValueError:
            at = found.start() + 1
        else:
            yield value
    raise OverflowError(f"more than {_DECODED_MAX} places of the text may begin a JSON value")


def _foreign_references(schema: object) -> str | None:
    """The first reference to another document, unless the schema holds that itself."""
    ids, references = _identities(schema)
    documents = [(reference, reference.partition("#")[0]) for reference in references]
    return next((r for r, document in documents if document and not _is_held(document, ids)), None)


def _dangling_reference(schema: dict[str, object] | bool) -> str | None:  # noqa: FBT001 - a schema
    """What is wrong with the first reference to a place that is not there."""
    from referencing import Registry, Resource  # noqa: PLC0415 - slow to import
    from referencing.exceptions import Unresolvable  # noqa: PLC0415 - slow to import
    from referencing.jsonschema import DRAFT202012  # noqa: PLC0415 - slow to import

    ids, references = _identities(schema)
    if len(ids - {""}) > 1 or not isinstance(schema, dict):
        return None  # what a reference is relative to depends on where it stands
    resource = Resource.from_contents(schema, default_specification=DRAFT202012)
    resolver = Registry().with_resource("", resource).resolver()
    for reference in references:
        try:
            if reference.startswith("#"):
                resolver.lookup(reference)
        except Unresolvable:
            return f"it refers to {reference}, which it does not hold"
    return None


def _identities(schema: object) -> tuple[set[str], list[str]]:
    """Every identity a schema gives to a part of itself, and every reference in it."""
    ids: set[str] = set()
    references: list[str] = []
    left = [schema]
    while left:
        here = left.pop()
        if isinstance(here, dict):
            left += here.values()
            ids.add(str(here.get("$id", "")))
            references += [here[k] for k in ("$ref", "$dynamicRef") if isinstance(here.get(k), str)]
        elif isinstance(here, list):
            left += here
    return ids, references


def _is_held(document: str, ids: set[str]) -> bool:
    ends = {identity.rpartition("/")[2] for identity in ids}
    is_standard = document.startswith("https://json-schema.org/draft")
    return document in ids or document.rpartition("/")[2] in ends - {""} or is_standard
