"""What all results share: their fields hold Python's own numbers, whatever the input was."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from dataclasses import Field

_OWN = (float, int, str, bool, type(None))


class Result:
    """The base of every result: numpy's numbers become Python's as it is made.

    An input of numpy numbers so gives the same result as one of Python's, which prints, compares
    and turns into JSON alike.
    """

    __slots__ = ()

    __dataclass_fields__: ClassVar[dict[str, Field[object]]]

    def __post_init__(self) -> None:
        """Turn numpy's numbers into Python's, in tuples too."""
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            own = plain(value)
            if own is not value:
                object.__setattr__(self, name, own)


def plain(value: object) -> object:
    """A value with numpy's numbers and texts replaced by Python's own.

    Args:
        value: Anything; tuples are looked into, all else is left as it is.

    Returns:
        The same object where nothing had to be replaced.
    """
    kind = type(value)
    if kind in _OWN:
        return value
    if kind is tuple and isinstance(value, tuple):
        found = tuple(map(plain, value))
        same = all(new is old for new, old in zip(found, value, strict=True))
        return value if same else found
    if kind.__module__ == "numpy" and kind.__name__ != "ndarray" and hasattr(value, "item"):
        return value.item()
    return value
