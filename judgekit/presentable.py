"""What results have in common: an HTML form in notebooks, frames, and a report in a file.

A result knows its figures only. How they are shown is the work of `judgekit.api.presentation`, far
above; it is reached through the public name `judgekit.present`, which is loaded on first use, so
that no result imports what shows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import judgekit

if TYPE_CHECKING:
    from pathlib import Path


class NotebookResult:
    """Something that a notebook shows as HTML."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return judgekit.present(self).html()


class Presentable(NotebookResult):
    """A result with figures: a notebook shows it; it becomes a frame, mappings or a file."""

    __slots__ = ()

    def __repr__(self) -> str:
        return judgekit.present(self).line()

    def to_dicts(self) -> list[dict[str, object]]:
        """The result as rows of plain values: one for each output, pair, or row of its main table.

        Returns:
            Mappings with the same keys in each; what is missing is None.
        """
        return judgekit.present(self).rows()

    def to_frame(self, library: str | None = None) -> Any:
        """The rows of `to_dicts` as a data frame.

        Args:
            library: `pandas` or `polars`; None takes that of the data that were judged, else
                whichever is installed, pandas first.

        Returns:
            A `pandas.DataFrame` or a `polars.DataFrame`.

        Raises:
            SettingsError: When there is no such library, or none is installed.
        """
        return judgekit.present(self).frame(library)

    def report(self, path: Path | str) -> None:
        """Write the report of the result; a file that is there is replaced.

        Args:
            path: The file: a page (`.html`), Markdown (`.md`), or the figures (`.json`).

        Raises:
            SettingsError: When no report has such a suffix.
        """
        judgekit.present(self).write(path)
