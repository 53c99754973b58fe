"""The canonical text of a JSON value and its fingerprint.

Cache keys, templates and runs are named by fingerprints.
"""

from __future__ import annotations

import hashlib
import json
import string
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any, NoReturn, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import BaseModel

# `json.dumps` makes an encoder for each call that sets an option.
_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
)


def canonical_json(value: object) -> str:
    """The one JSON text of a value: keys sorted, no spaces, ASCII, no NaN.

    Two values have the same text exactly when they are the same JSON value; `1` and `1.0`
    differ, and so do `true` and `1`. NaN and infinities are a ValueError.

    Example:
        >>> canonical_json({"b": 1, "a": [True, None]})
        '{"a":[true,null],"b":1}'
    """
    return _ENCODER.encode(value)


def canonical_part(value: object) -> str:
    """`canonical_json`, quicker for what requests are made of: texts, None, `Frozen` objects."""
    kind = type(value)
    if kind is str:
        return encode_basestring_ascii(cast("str", value))
    if kind is Frozen:
        return cast("Frozen", value).canonical
    return "null" if value is None else canonical_json(value)


class Frozen(dict[str, object]):
    """A JSON object that cannot be changed and knows its canonical text.

    Readers see a dict. Nested objects and lists cannot be changed either.
    """

    __slots__ = ("canonical",)

    def __init__(self, value: dict[str, object]) -> None:
        super().__init__(zip(value, map(_frozen, value.values()), strict=True))
        self.canonical = canonical_json(self)

    def __deepcopy__(self, memo: object) -> Frozen:
        return self

    def __copy__(self) -> Frozen:
        return self

    def _refuse(self, *_args: object, **_named: object) -> NoReturn:
        raise TypeError("this object is part of a cache key and cannot be changed; copy it")

    __setitem__ = __delitem__ = __ior__ = _refuse
    update = setdefault = pop = popitem = clear = _refuse


def thawed(value: object) -> object:
    """A copy in plain dicts and lists, which may be changed."""
    if isinstance(value, dict):
        return {name: thawed(item) for name, item in value.items()}
    return [thawed(item) for item in value] if isinstance(value, list | tuple) else value


class _FrozenList(list[object]):
    """A list inside a `Frozen` object."""

    __slots__ = ()

    def _refuse(self, *_args: object, **_named: object) -> NoReturn:
        raise TypeError("this list is part of a cache key and cannot be changed; copy it")

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = remove = pop = clear = sort = reverse = _refuse


def fingerprint(value: object) -> str:
    """SHA-256 of the canonical JSON of a value, as 64 lower-case hex digits."""
    return hashlib.sha256(canonical_json(value).encode("ascii")).hexdigest()


def text_fingerprint(text: str) -> str:
    """SHA-256 of a text's UTF-8 bytes, as 64 lower-case hex digits."""
    # Lone surrogates, which UTF-8 refuses, are encoded as they stand, so that any `str` has one.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def random_token() -> str:
    """Four letters and digits at random, which keep two ids of one second apart."""
    import secrets  # noqa: PLC0415 - most commands begin nothing that needs an id

    # Of four hexadecimal digits every 65,536th pair is equal; of these every 1,679,616th.
    letters = string.ascii_lowercase + string.digits
    return "".join(secrets.choice(letters) for _ in range(4))


def _frozen(value: object) -> object:
    if isinstance(value, dict):
        return Frozen(value)
    return _FrozenList(map(_frozen, value)) if isinstance(value, list | tuple) else value


def omit_at_default(*names: str) -> Any:
    """A serializer for the body of a record, which leaves out fields that were not set."""
    # Whatever was stored or fingerprinted before a field existed stays as it is.
    from pydantic import model_serializer  # noqa: PLC0415 - fingerprints alone do not need it

    defaults: dict[type, dict[str, object]] = {}

    def without_defaults(
        self: BaseModel, plain: Callable[[BaseModel], dict[str, object]]
    ) -> dict[str, object]:
        fields, cls = plain(self), type(self)
        if cls not in defaults:  # looked up once: each verdict of a run writes such a record
            known: dict[str, object] = {}
            for name in names:
                known[name] = cls.model_fields[name].get_default(call_default_factory=True)
            defaults[cls] = known
        for name, default in defaults[cls].items():
            if getattr(self, name) == default:
                fields.pop(name, None)
        return fields

    return model_serializer(mode="wrap")(without_defaults)
