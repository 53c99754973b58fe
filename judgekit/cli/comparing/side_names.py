"""What arguments of `judgekit compare` and `rank` name: files, variants, templates, stored runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from judgekit.cli.setup import SUITE_FILE
from judgekit.datasets.loading import load_suite
from judgekit.datasets.variants import expand_variants
from judgekit.errors import SettingsError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judgekit.cli.setup import Options
    from judgekit.datasets.suite import Suite
    from judgekit.datasets.suite_settings import VariantSettings

Kind = Literal["files", "generated", "runs"]
"""Where the outputs come from: files; they are made first; stored runs."""

OF = "::"
"""What stands between a file or run and its variant."""

_BOTH = 2


@dataclass(frozen=True, slots=True)
class Names:
    """The arguments, and what is known of the suite they may speak of."""

    given: tuple[str, ...]
    """The arguments, two or more."""

    suite: Suite | None
    """The suite, where there is one."""

    variants: Mapping[str, VariantSettings]
    """Its variants by name."""

    @property
    def kind(self) -> Kind | None:
        """Where the outputs come from; None where one of the names is none of these."""
        kinds = [self._kind_of(name) for name in self.given]
        if None in kinds:
            return "runs" if set(kinds) == {None} else None
        return "generated" if "generated" in kinds else "files"

    def _kind_of(self, name: str) -> Kind | None:
        if is_file(name):
            return "generated" if is_template(name) else "files"
        if name not in self.variants:
            return None
        return "files" if self.variants[name].outputs is not None else "generated"


def named_sides(names: Sequence[str], options: Options) -> Names:
    """Read the suite that the arguments may speak of."""
    given = tuple(names)
    if twice := next((name for name in given if given.count(name) > 1), None):
        both = f"both sides are {twice}" if len(given) == _BOTH else f"{twice} is named twice"
        raise SettingsError(both, hint="name different sides")
    suite = suite_of(options)
    variants = () if suite is None else expand_variants(suite)
    return Names(given, suite, {variant.id: variant for variant in variants})


def suite_of(options: Options) -> Suite | None:
    """The suite file that is named, or the one that lies here."""
    config = cast("Path | None", options.get("config"))
    if config is None and Path(SUITE_FILE).is_file():
        config = Path(SUITE_FILE)
    return None if config is None else load_suite(config)


def split_name(name: str) -> tuple[str, str | None]:
    """A file or run, and the variant of it that is meant."""
    if Path(name).exists():
        return name, None
    whole, of, variant = name.rpartition(OF)
    return (whole, variant) if of and whole and variant else (name, None)


def is_file(name: str) -> bool:
    """Whether an argument names a file, with or without a variant."""
    return Path(split_name(name)[0]).is_file()


def is_template(name: str) -> bool:
    """Whether an argument names a prompt template's file."""
    return split_name(name)[0].endswith(".j2")


def unknown_side(names: Names) -> UnknownNameError:
    """The error for a name that is neither a file nor a variant, beside one that is."""
    strange = [name for name in names.given if name not in names.variants and not is_file(name)]
    return UnknownNameError("outputs file, template or variant", strange[0], list(names.variants))
