"""From what a suite says of a judge to the judge: its recordings, templates and cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from judgekit.judge.judge import Judge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from judgekit.datasets.suite import Suite
    from judgekit.datasets.suite_settings import JudgeSettings
    from judgekit.models.budget import Budget
    from judgekit.models.cache.interface import ReplyCache
    from judgekit.models.caching import Refresh
    from judgekit.models.pricing import PriceTable


def open_judge(
    settings: JudgeSettings,
    suite: Suite | None,
    *,
    cache: Path | ReplyCache | None,
    template_folders: Sequence[Path] = (),
    given: Mapping[str, object] | None = None,
    frozen: bool = False,
    refresh: Refresh = False,
    prices: PriceTable | None = None,
    budget: Budget | None = None,
) -> Judge:
    """A judge as a suite describes it."""
    arguments = settings.arguments()
    template = arguments.get("template")
    if suite is not None and isinstance(template, str):
        beside = suite.resolve(template)
        arguments["template"] = str(beside) if beside.is_file() else template
    folders = [*template_folders, *(own_templates(suite) if suite is not None else ())]
    return Judge(
        settings.model if suite is None else beside_suite(suite, settings.model),
        cache=cache,
        template_folders=folders,
        frozen=frozen,
        refresh=refresh,
        prices=prices,
        budget=budget,
        **cast("dict[str, object]", {**arguments, **(given or {})}),  # type: ignore[arg-type]  # checked by JudgeSettings
    )


def own_templates(suite: Suite) -> list[Path]:
    """The suite's own templates: a `prompts/` folder beside its file."""
    folder = suite.resolve("prompts")
    return [folder] if folder.is_dir() else []


def beside_suite(suite: Suite, model: str) -> str:
    """A model's name; recorded replies named in a suite lie beside it."""
    kind, colon, path = model.partition(":")
    return f"{kind}:{suite.resolve(path)}" if kind == "recorded" and colon else model
