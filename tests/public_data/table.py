"""Writes the tables of `calibration/README.md`: published figures and ours, and what was read.

JUDGEKIT_DATA=DIR python -m tests.public_data.table
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.public_data.by_command import template_of
from tests.public_data.comparing import all_figures
from tests.public_data.material import judges_of, reference, rows_of, sets_below
from tests.public_data.places import at
from tests.public_data.replaying import read_by, recorded_judges, said_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.public_data.replaying import Read

README = Path(__file__).parents[2] / "calibration" / "README.md"
_BEGIN, _END = "<!-- {} begins -->", "<!-- {} ends -->"
_BASIS = {"stored_copy": "stored copy", "recalled": "from memory", "repository": "repository"}


def with_tables(text: str) -> str:
    """A README with both tables as the data make them now."""
    for name, lines in (("published", _published()), ("readings", _readings())):
        begin, end = _BEGIN.format(name), _END.format(name)
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = "\n".join([f"{before}{begin}", "", *lines, "", f"{end}{after}"])
    return text


def _published() -> Iterator[str]:
    sources: dict[str, int] = {}
    yield "| set | judge | figure | published | ours | n | where |"
    yield "| --- | --- | --- | ---: | ---: | ---: | --- |"
    for key, figure in reference().items():
        if "published" in figure and not key.startswith("llmbar_"):
            place, *middle, name = key.split("/")
            n_source = sources.setdefault(_source(figure), len(sources) + 2)
            where = f"[{n_source}] {_BASIS[figure['published_basis']]}"
            cells = [place, "/".join(middle), name, *_both(key, figure), str(figure["n"]), where]
            yield f"| {' | '.join(cells)} |"
    yield from _llmbar()
    yield ""
    mine = [one for key, one in reference().items() if key.startswith("llmbar_")]
    first = next(_source(one) for one in mine if "published" in one)
    yield f"[1] {first}\n"
    for source, n_source in sources.items():
        yield f"[{n_source}] {source}\n"


def _source(figure: dict[str, Any]) -> str:
    """Where a figure was printed, without remarks on how it was found."""
    return str(figure["published_source"]).partition(";")[0]


def _both(key: str, figure: dict[str, Any]) -> tuple[str, str]:
    ours, theirs = all_figures()[key]["value"], figure["published"]
    if isinstance(theirs, list):
        return " / ".join(f"{one:g}" for one in theirs), " / ".join(f"{one:g}" for one in ours)
    digits = len(f"{theirs}".partition(".")[2])
    differs = abs(ours - theirs) > 0.5 * 10**-digits + 1e-9
    shown = f"{ours:.{min(digits + 1 if differs else digits, 8)}f}"
    if float(shown) == 0:
        shown = shown.removeprefix("-")
    return f"{theirs}", f"**{shown}**" if differs else shown


def _llmbar() -> Iterator[str]:
    by_judge: dict[str, list[float]] = {}
    for key, figure in reference().items():
        place, *middle, _ = key.split("/")
        if place.startswith("llmbar_") and "published" in figure:
            gap = abs(all_figures()[key]["value"] - figure["published"])
            by_judge.setdefault("/".join(middle), []).append(gap)
    for judge, gaps in sorted(by_judge.items()):
        what = f"{len(gaps)} figures of 5 subsets"
        cells = ["llmbar", judge, what, "as printed", f"within {max(gaps):.0e}", "419"]
        yield f"| {' | '.join(cells)} | [1] repository |"


def _readings() -> Iterator[str]:
    yield "| set | judge | template | replies | alike | read otherwise | only they | only we | r theirs | r ours |"  # noqa: E501 - one row
    yield "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    judges = [*recorded_judges()]
    for stem in sets_below("prometheus_rubric"):
        rows = rows_of(f"prometheus_rubric/{stem}")
        judges += [("prometheus_rubric", stem, judge) for judge in judges_of(rows)]
    for name, stem, judge in judges:
        template = template_of(name, judge).partition("/")[2]
        counts = _counted(read_by(name, stem, judge))
        cells = [f"{name}/{stem}", judge, template, *counts, *_related(name, stem, judge)]
        yield f"| {' | '.join(cells)} |"


def _counted(read: list[Read]) -> list[str]:
    both = [one for one in read if None not in (one.theirs, one.ours)]
    counts = [
        len(read),
        sum(one.theirs == one.ours for one in read),
        sum(one.theirs != one.ours for one in both),
        sum(one.theirs is not None and one.ours is None for one in read),
        sum(one.theirs is None and one.ours is not None for one in read),
    ]
    return [f"{one:,}" for one in counts]


def _related(name: str, stem: str, judge: str) -> list[str]:
    """How scores correlate with the people's mean, by their reading and by ours."""
    if not stem.startswith("pointwise"):
        return ["–", "–"]
    said = said_of(name, stem, judge)
    found = [at(one, "pooled.agreement.pearson.value") for one in (said.settled, said.told.report)]
    return [f"{one:.3f}" for one in found]


if __name__ == "__main__":
    README.write_text(with_tables(README.read_text(encoding="utf-8")), encoding="utf-8")
