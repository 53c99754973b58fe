"""Writes the tables of `calibration/README.md`: published figures and ours, and what was read.

JUDGEKIT_DATA=DIR python -m tests.published.table
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.stats.correlations import correlation
from tests.published.comparing import all_figures
from tests.published.material import reference, rows_of
from tests.published.replaying import read_of, recorded_judges, verdicts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    for stem, judge, template in recorded_judges():
        ours = read_of(verdicts_of(stem, judge, template))
        pairs: list[tuple[float | None, float | None]] = []
        means: list[tuple[float | None, float | None, float | None]] = []
        for row in rows_of(stem):
            own = [
                (theirs, ours[key])
                for repeat, theirs in enumerate(row["judge_parsed"].get(judge, ()))
                if (key := _key(row, repeat)) in ours
            ]
            pairs += own
            sides = [_mean([pair[side] for pair in own]) for side in (0, 1)]
            means.append((row.get("human_mean"), sides[0], sides[1]))
        yield f"| {' | '.join([stem, judge, template, *_counted(pairs), *_related(means)])} |"


def _key(row: dict[str, Any], repeat: int) -> tuple[str, str, str, int]:
    return row["doc_id"], row["system_id"], row.get("criterion", "quality"), repeat


def _mean(values: list[float | None]) -> float | None:
    known = [one for one in values if one is not None]
    return sum(known) / len(known) if known else None


def _counted(pairs: list[tuple[float | None, float | None]]) -> list[str]:
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    counts = [
        len(pairs),
        sum(a == b for a, b in pairs),
        sum(a != b for a, b in both),
        sum(a is not None and b is None for a, b in pairs),
        sum(a is None and b is not None for a, b in pairs),
    ]
    return [f"{one:,}" for one in counts]


def _related(means: list[tuple[float | None, float | None, float | None]]) -> list[str]:
    human = [one[0] for one in means]
    if all(one is None for one in human):
        return ["–", "–"]
    found = [correlation([one[side] for one in means], human, "pearson") for side in (1, 2)]
    return [f"{one.value:.3f}" for one in found]


if __name__ == "__main__":
    README.write_text(with_tables(README.read_text(encoding="utf-8")), encoding="utf-8")
