"""`judgekit cache explain`: why requests are not owned, or what is near a reply that is."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from judgekit.cli import console as streams
from judgekit.cli.caching.cache_folder import opened
from judgekit.cli.caching.cache_misses import find_misses
from judgekit.cli.options import cache_dir_option, input_options, json_option, judge_options
from judgekit.cli.setup import grade_setup
from judgekit.errors import SettingsError
from judgekit.models.cache.explain import explain as explain_request
from judgekit.models.cache.upkeep import find_key
from judgekit.models.recorded import RecordedModel
from judgekit.report import cache_tables, view

if TYPE_CHECKING:
    from rich.console import Console

    from judgekit.cli.caching.cache_misses import Misses, MissGroup
    from judgekit.cli.setup import Options
    from judgekit.models.cache.explain import Explanation
    from judgekit.models.cache.interface import ReplyCache
    from judgekit.models.request import ModelRequest

_KEY = re.compile(r"[0-9a-f]{4,64}")
_MOST_GROUPS = 20
_SHOWN_CASES = 3


@click.command()
@input_options
@judge_options
@cache_dir_option
@json_option
def explain(*, cache_dir: Path, as_json: bool, **options: object) -> None:
    """Say why a grading would have to ask: which part differs from the nearest reply owned."""
    # Takes the same OUTPUTS and options as `judgekit grade` and asks nothing; requests that are
    # missing for one reason are told together. Or give a KEY, or its first digits, from `judgekit
    # cache ls`, to see the reply that is nearest to it.
    outputs = cast("tuple[Path, ...]", options["outputs"])
    key = _key_of(outputs)
    if key is not None:
        with opened(cache_dir) as cache:
            _explain_key(cache, find_key(cache, key), as_json=as_json)
        return
    requests, asks_all = _requests({**options, "no_cache": True})
    with opened(cache_dir) as cache:
        found = find_misses(cache, requests, asks_all=asks_all)
    if as_json:
        streams.print_json(_misses_json(found))
    else:
        _print_misses(streams.stdout(), found)


def _may_be_a_key(command: click.Command) -> None:
    """Let OUTPUTS be the key of an entry, which is no path that exists."""
    for parameter in command.params:
        if parameter.name == "outputs":
            parameter.type = click.Path(path_type=Path)
            parameter.metavar = "[OUTPUTS|KEY]..."


_may_be_a_key(explain)


def _key_of(outputs: tuple[Path, ...]) -> str | None:
    missing = [path for path in outputs if not path.exists()]
    if not missing:
        return None
    if len(outputs) == 1 and _KEY.fullmatch(str(outputs[0])):
        return str(outputs[0])
    raise SettingsError(
        f"there is no file {missing[0]}", hint="name a file with outputs, or a key of 4 digits up"
    )


def _requests(options: Options) -> tuple[list[ModelRequest], bool]:
    setup = grade_setup(options)
    with setup.judge as judge:
        if isinstance(judge.connection.model, RecordedModel):
            raise SettingsError(
                "recorded replies are read from their file, not from the cache",
                hint="name the model that was asked with --judge",
            )
        requests = [
            request
            for case, output in setup.answers()
            for request in judge.requests(case, output, setup.rubric)
        ]
        return requests, judge.template.header.asks == "all"


def _explain_key(cache: ReplyCache, key: str, *, as_json: bool) -> None:
    found = explain_request(cache, key)
    if as_json:
        streams.print_json(asdict(found))
        return
    console = streams.stdout()
    state = "is owned" if found.is_hit else "is not served"
    asked = cache_tables.asked_about(cache.request_parts(key))
    console.print(f"{key[:12]} {state}: {asked}", markup=False, soft_wrap=True)
    if found.n_rejected:
        rejected = view.count(found.n_rejected, "reply", "replies")
        console.print(f"  {rejected} kept for the record only", markup=False)
    if found.nearest is None:
        console.print("  there is no other entry to compare it with", markup=False)
        return
    console.print(
        f"  nearest of {found.n_compared:,}: {found.nearest[:12]}, which differs in", markup=False
    )
    cache_tables.print_differences(console, found.differences)


def _print_misses(console: Console, found: Misses) -> None:
    console.print(
        f"{found.n_owned:,} of {view.count(found.n_requests, 'request')} owned",
        markup=False,
        style="bold",
    )
    if found.n_rejected:
        console.print(
            f"{view.count(found.n_rejected, 'request')} asked before, but the reply was cut short "
            "or filtered and is never served",
            markup=False,
        )
    for group in found.groups[:_MOST_GROUPS]:
        _print_group(console, group)
    if len(found.groups) > _MOST_GROUPS:
        console.print(f"… and {len(found.groups) - _MOST_GROUPS} more reasons", markup=False)
    if found.n_not_compared:
        console.print(
            f"{view.count(found.n_not_compared, 'more request')} not owned and not compared; "
            "narrow them down with --limit or --filter-tag",
            markup=False,
        )


def _print_group(console: Console, group: MissGroup) -> None:
    n = len(group.requests)
    parts = ", ".join(group.parts)
    differ = f"{'differs' if n == 1 else 'differ'} in {parts}" if parts else "not owned"
    console.print(
        f"{view.printable(group.title)}: {view.count(n, 'request')} {view.printable(differ)}",
        markup=False,
        soft_wrap=True,
    )
    cases = group.cases
    more = f" and {len(cases) - _SHOWN_CASES:,} more" if len(cases) > _SHOWN_CASES else ""
    named = view.printable(", ".join(cases[:_SHOWN_CASES]))
    noun = "case" if len(cases) == 1 else "cases"
    console.print(f"  {noun} {named}{more}", markup=False, style="dim", soft_wrap=True)
    cache_tables.print_differences(console, group.example.differences)


def _misses_json(found: Misses) -> dict[str, object]:
    return {
        "n_requests": found.n_requests,
        "n_owned": found.n_owned,
        "n_rejected": found.n_rejected,
        "n_not_compared": found.n_not_compared,
        "groups": [_group_json(group) for group in found.groups],
    }


def _group_json(group: MissGroup) -> dict[str, object]:
    example: Explanation = group.example
    return {
        "title": group.title,
        "n_requests": len(group.requests),
        "cases": group.cases,
        "criteria": sorted({r.subject.criterion for r in group.requests if r.subject.criterion}),
        "parts": group.parts,
        "example": {
            "key": example.key,
            "nearest": example.nearest,
            "differences": [asdict(difference) for difference in example.differences],
        },
    }
