"""Which part of a suite is run, and how it asks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgekit.models.cache.interface import ReplyCache
    from judgekit.models.caching import Refresh
    from judgekit.records.record import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which part of a suite is run; belongs to what a run is."""

    variants: tuple[str, ...] = ()
    """Only these variants; empty for all."""

    tags: tuple[str, ...] = ()
    """Only cases with one of these tags."""

    case_ids: tuple[str, ...] = ()
    """Only these cases."""

    name_pattern: str | None = None
    """Only cases whose name or id matches this regular expression."""

    sample: int | None = None
    """So many cases, drawn at random."""

    seed: int = 0
    """Seed of the drawing."""

    limit: int | None = None
    """Only the first so many cases."""

    def as_json(self) -> JsonObject:
        """What is chosen, without what is left at its default.

        Returns:
            A JSON object.
        """
        whole: JsonObject = {
            "variants": list(self.variants),
            "tags": list(self.tags),
            "case_ids": list(self.case_ids),
            "name_pattern": self.name_pattern,
            "sample": self.sample,
            "seed": self.seed if self.sample is not None else None,
            "limit": self.limit,
        }
        return {name: value for name, value in whole.items() if value not in (None, [])}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How a run asks; does not belong to what it is."""

    cache: Path | ReplyCache | None = Path(".judgekit/cache")
    """Folder of the reply cache, a cache, or None for none."""

    template_folders: tuple[Path, ...] = ()
    """Folders of templates that come before the suite's own."""

    frozen: bool = False
    """Whether a reply that is not owned is an error."""

    refresh: Refresh = False
    """Whether owned replies are asked anew; `unreadable`: those that a judge gave and nobody can
    read."""

    max_cost_usd: float | None = None
    """The money that may be spent, in US dollars; None for no limit."""

    allow_scripts: bool = False
    """Whether programs that the suite names may be run beside its variants."""


def refreshed(*, refresh: bool, retry_errors: bool, frozen: bool) -> Refresh:
    """What is asked anew although it is owned."""
    return refresh or ("unreadable" if retry_errors and not frozen else False)
