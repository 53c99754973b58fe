"""Maps names to assertions, scorers and other plug-ins.

They are built in, brought by a test, or declared by other packages as entry points.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from judgekit.errors import InputError, UnknownNameError

BUILT_IN = "judgekit"
"""The source of built-in entries."""


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """A name and the object it stands for."""

    name: str
    target: object
    """The object, or where to import it from: `package.module:attribute`."""

    source: str = BUILT_IN
    """`judgekit`, or the package that declares it."""

    def load(self) -> object:
        """The object the name stands for; its module is imported on first use."""
        if not isinstance(self.target, str):
            return self.target
        module, _, attribute = self.target.partition(":")
        try:
            target: object = importlib.import_module(module)
            for part in attribute.split("."):
                target = getattr(target, part)
        except Exception as error:  # importing another package's module may raise anything
            raise InputError(
                f"{self.name!r} of {self.source} cannot be loaded from {self.target}: "
                f"{type(error).__name__}: {error}",
                hint=f"repair or reinstall {self.source}",
            ) from error
        return target


class Registry(Mapping[str, RegistryEntry]):
    """An unchanging mapping from names to entries; plug-ins' entries are read on first need.

    Args:
        kind: What the names stand for, as a noun ("assertion").
        entries: The entries known from the start.
        plugins: Gives the entries of other packages; called at most once, for a name that is not
            among `entries` or for all names.

    Raises:
        InputError: Two entries have one name.

    Example:
        >>> Registry("assertion", [RegistryEntry("acme.short", len)]).load("acme.short")("abc")
        3
    """

    def __init__(
        self,
        kind: str,
        entries: Iterable[RegistryEntry],
        *,
        plugins: Callable[[], Iterable[RegistryEntry]] | None = None,
    ) -> None:
        self.kind = kind
        self._known = _unique(kind, entries)
        self._plugins = plugins
        # Reading entry points opens the metadata of every installed package; most runs need none.
        self._all: dict[str, RegistryEntry] | None = self._known if plugins is None else None

    def find(self, name: str) -> RegistryEntry:
        """The entry of that name; for an unknown one the error suggests similar names."""
        entry = self._known.get(name) or self._everything().get(name)
        if entry is None:
            raise UnknownNameError(self.kind, name, self._everything())
        return entry

    def load(self, name: str) -> object:
        """The object a name stands for."""
        return self.find(name).load()

    def plus(self, *entries: RegistryEntry) -> Registry:
        """A registry with further entries."""
        known = (*self._known.values(), *entries)
        return Registry(self.kind, known, plugins=self._plugins)

    def __getitem__(self, name: str) -> RegistryEntry:
        entry = self._known.get(name)
        return self._everything()[name] if entry is None else entry

    def __iter__(self) -> Iterator[str]:
        return iter(self._everything())

    def __len__(self) -> int:
        return len(self._everything())

    def _everything(self) -> dict[str, RegistryEntry]:
        if self._all is None:
            others = () if self._plugins is None else self._plugins()
            self._all = _unique(self.kind, (*self._known.values(), *others))
        return self._all


def declared_entries(group: str) -> tuple[RegistryEntry, ...]:
    """The entries that installed packages declare under an entry-point group; none is imported."""
    # Sorted: the order of installation must not decide what a user sees.
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow to import

    found = []
    for point in entry_points(group=group):
        package = "an unnamed package" if point.dist is None else point.dist.name
        found.append(RegistryEntry(point.name, point.value, package))
    return tuple(sorted(found, key=lambda entry: (entry.name, entry.source)))


def _unique(kind: str, entries: Iterable[RegistryEntry]) -> dict[str, RegistryEntry]:
    named: dict[str, RegistryEntry] = {}
    for entry in entries:
        # Refused, not overridden: a package must not replace a built-in check unnoticed.
        other = named.setdefault(entry.name, entry)
        if other is not entry:
            raise InputError(
                f"two {kind}s are called {entry.name!r}: one of {other.source}, "
                f"one of {entry.source}",
                hint="rename one, or uninstall one of the packages",
            )
    return named
