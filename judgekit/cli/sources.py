"""Which files of outputs a command means, and the variant each of them belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from judgekit.errors import SettingsError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from judgekit.datasets.suite import Suite
    from judgekit.records.output import Output


@dataclass(frozen=True, slots=True)
class Source:
    """A file of outputs and the variant they belong to."""

    path: Path
    """The file."""

    variant: str | None
    """The variant wanted; outputs that name none belong to it."""

    stem: str | None = None
    """The variant of outputs that name none where none is wanted: one of several files."""

    def named(self, output: Output) -> Output:
        """An output, with the name of its file's variant where it says none itself."""
        if self.stem is None or output.variant is not None:
            return output
        return output.model_copy(update={"variant": self.stem})


def sources_of(options: Mapping[str, object], suite: Suite | None) -> tuple[Source, ...]:
    """The files of outputs that are meant: those named, else those of the suite's variants."""
    paths = cast("tuple[Path, ...]", options.get("outputs") or ())
    variant = cast("str | None", options.get("variant"))
    if paths:
        stems = _stems(paths) if variant is None and len(paths) > 1 else [None] * len(paths)
        return tuple(Source(path, variant, stem) for path, stem in zip(paths, stems, strict=True))
    found = () if suite is None else _recorded_variants(suite, variant)
    if not found and suite is not None and variant is not None:
        raise UnknownNameError(
            "variant", variant, [v.id for v in suite.variants if v.outputs is not None]
        )
    if not found:
        raise SettingsError(
            "no outputs are named",
            hint="give the files with the outputs, for example outputs.jsonl, or a suite that "
            "has variants with `outputs`",
        )
    return found


def _stems(paths: tuple[Path, ...]) -> list[str | None]:
    """A name for each file: its own without the suffix, with its folders where two are alike."""
    short = [path.stem for path in paths]
    return [*short] if len(set(short)) == len(short) else [str(p.with_suffix("")) for p in paths]


def _recorded_variants(suite: Suite, wanted: str | None) -> tuple[Source, ...]:
    """The suite's variants whose outputs are in files; grade makes no outputs of its own."""
    return tuple(
        Source(suite.resolve(variant.outputs), variant.id)
        for variant in suite.variants
        if variant.outputs is not None and wanted in {None, variant.id}
    )
