"""Shows the figures of strata and tags, and names the strata that have too few cases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from judgekit.report import numbers
from judgekit.report.document import (
    Cell,
    Column,
    Details,
    Section,
    Table,
    mean_cell,
    not_empty,
    rate_cell,
)

if TYPE_CHECKING:
    from judgekit.evaluation import GroupFigures, StratumNeed, VariantFigures
    from judgekit.report.document import Block, T

    VariantGroups = Mapping[str, GroupFigures]

_FEWEST_CASES = 10
# A longer table would push the conclusion out of a terminal: tags are then shown with -v.
_MOST_ROWS = 30
_LONGEST_NAME = 26
_TITLE = "By segment"


def segment_block(
    strata: Mapping[str, T],
    tags: Mapping[str, T],
    as_table: Callable[[Mapping[str, T], str], Table],
    *,
    size: Callable[[T], int],
    n_cases: int,
    note: str = "",
) -> Block:
    """The same figures for each stratum and tag, with a note about the strata."""
    segments = {f"stratum {name}": figures for name, figures in strata.items()}
    segments |= {f"tag {name}": figures for name, figures in tags.items()}
    notes = (note,) if note else ()
    return fold_segments(segments, as_table, size=size, n_all=n_cases, notes=notes)


def fold_segments(
    segments: Mapping[str, T],
    as_table: Callable[[Mapping[str, T], str], Table],
    *,
    size: Callable[[T], int],
    n_all: int,
    noun: str = "case",
    title: str = _TITLE,
    notes: tuple[str, ...] = (),
) -> Block:
    """A table of the segments with enough cases; the others are folded below it."""
    segments = _each_once(segments, as_table, size)
    # Of a few cases the interval covers nearly everything, and such rows hide the others.
    large = {name: one for name, one in segments.items() if size(one) >= _FEWEST_CASES}
    if len(as_table(large, "").rows) > _MOST_ROWS:
        large = {name: one for name, one in large.items() if not name.startswith("tag ")}
    others = {name: one for name, one in segments.items() if name not in large}
    first, rest = as_table(large, title), as_table(others, "")
    first = replace(first, notes=(*first.notes, *notes))
    if not others:
        return first
    if n_all < _FEWEST_CASES:  # no segment has enough, which goes without saying
        return Details(title, (replace(rest, notes=first.notes),))
    are_small = all(size(one) < _FEWEST_CASES for one in others.values())
    words = numbers.format_count(len(others), "segment" if are_small else "further segment")
    words += f" with fewer than {_FEWEST_CASES} {noun}s" if are_small else ""
    hint = f"{words} {'is' if len(others) == 1 else 'are'} not shown; -v shows all"
    rest = replace(rest, notes=() if large else first.notes)
    blocks = not_empty([replace(first, title=""), Details(words, (rest,), hint=hint)])
    return Section(title, blocks)


def _each_once(
    segments: Mapping[str, T],
    as_table: Callable[[Mapping[str, T], str], Table],
    size: Callable[[T], int],
) -> dict[str, T]:
    """The segments; a stratum and a tag that have the same figures are one, under both names."""
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for name, one in segments.items():
        # Of a few cases, other cases may well have the same figures.
        key = name if size(one) < _FEWEST_CASES else ""
        # What is undefined is not equal to itself, but it is written alike.
        alike[key + repr([row[1:] for row in as_table({name: one}, "").rows])].append(name)
    labels = {name: name for name in segments}
    for first, *others in alike.values():
        if len({name.partition(" ")[0] for name in (first, *others)}) == len(others) + 1:
            labels[first] = ", ".join((first, *others))
            labels = {name: label for name, label in labels.items() if name not in others}
    return {label: segments[name] for name, label in labels.items()}


def variant_segments(variants: Sequence[VariantFigures], note: str = "") -> Block:
    """The pass rate and the value of each variant by stratum and tag."""

    def by_name(groups: Mapping[str, Mapping[str, GroupFigures]]) -> dict[str, VariantGroups]:
        names = dict.fromkeys(name for group in groups.values() for name in group)
        return {
            name: {variant: group[name] for variant, group in groups.items() if name in group}
            for name in names
        }

    return segment_block(
        by_name({one.variant: one.strata for one in variants}),
        by_name({one.variant: one.tags for one in variants}),
        _variant_table,
        size=lambda groups: max(one.n_cases for one in groups.values()),
        n_cases=max((one.n_cases for one in variants), default=0),
        note=note,
    )


def name_column(segments: Iterable[str]) -> Column:
    """The column of the segments' names."""
    # In a narrow terminal columns that may be left out go before a short name is wrapped.
    is_short = all(len(name) <= _LONGEST_NAME for name in segments)
    return Column("", "id" if is_short else "text", max_width=_LONGEST_NAME)


def _variant_table(segments: Mapping[str, VariantGroups], title: str) -> Table:
    has_many = len({variant for groups in segments.values() for variant in groups}) > 1
    rows: list[tuple[str | Cell, ...]] = []
    for name, groups in segments.items():
        for number, (variant, one) in enumerate(groups.items()):
            rows.append((
                "" if number else name,
                *((variant or numbers.DASH,) if has_many else ()),
                f"{one.n_cases:,}",
                format_pass_count(one),
                rate_cell(one.pass_rate),
                replace(mean_cell(one.value), short=None),
            ))  # fmt: skip
    columns = (
        name_column(segments),
        *((Column("variant", "text", max_width=_LONGEST_NAME),) if has_many else ()),
        Column("cases"),
        Column("passed", may_drop=True),
        *map(Column, ("rate, 95 %", "value, 95 %")),
    )
    return Table(columns, tuple(rows), title)


def format_pass_count(group: GroupFigures) -> str:
    """How many passed of how many that were decided: `7/12`, or `7/11 +1?` with one undecided."""
    undecided = f" +{group.n_undecided}?" if group.n_undecided else ""
    return f"{group.n_passed}/{group.n_passed + group.n_failed}{undecided}"


def stratum_note(needs: Iterable[StratumNeed]) -> str:
    """Which strata have no case or too few; empty where all have enough."""
    short = [one for one in needs if one.stratum is not None and one.n_missing]
    few = [one for one in short if one.n_cases]
    empty = [one.stratum for one in short if one.stratum is not None and not one.n_cases]
    parts = []
    if few and (least := few[0].least) is not None:
        counts = (f"{one.stratum} {one.n_cases:,} of about {one.n_needed:,}" for one in few)
        about = f"to decide about {few[0].tier or 'the threshold'} ({least:g})"
        parts.append(f"too few cases {about}: {', '.join(counts)}")
    elif few:
        counts = (f"{one.stratum} {one.n_cases:,}" for one in few)
        parts.append(f"fewer than {few[0].n_needed} cases: {', '.join(counts)}")
    parts += [f"no case: {', '.join(empty)}"] if empty else []
    return "; ".join(parts)
