"""Who compares two outputs, and how they are shown: the options first, then the suite."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, cast

from judgekit.cli.setup import make_judge
from judgekit.datasets.loading import load_rubric
from judgekit.errors import SettingsError
from judgekit.judge.heuristic import HEURISTIC
from judgekit.judge.opening import own_templates
from judgekit.judge.pair_panel import PairPanel
from judgekit.prompts.templates import is_pair_template

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from judgekit.cli.comparing.side_names import Names
    from judgekit.cli.setup import Options
    from judgekit.datasets.suite import Suite
    from judgekit.records.rubric import Rubric

_FEWEST = 2


def check_judge(suite: Suite | None, options: Options) -> None:
    """Refuse a judge that cannot compare: one that counts assertions, a template for one output."""
    # The template of a suite's judge may be for one output: it grades with it, and compares with
    # the default.
    template = cast("str | None", options.get("template"))
    folders = [*cast("Iterable[Path]", options.get("template_folders") or ())]
    folders += [] if suite is None else own_templates(suite)
    if template is not None and not is_pair_template(template, folders):
        raise SettingsError(
            f"the template {template} is for one output, and two are compared",
            hint="name one for two, for example pairwise/criterion, or leave --template out",
        )
    own = [] if suite is None else [judge.model for judge in suite.judge]
    named = _named(options)
    if HEURISTIC in named or (not named and own == [HEURISTIC]):
        raise SettingsError(
            "the heuristic judge only counts assertions, and cannot compare",
            hint="name a judge: --judge openai/gpt-4.1-mini; or compare what runs have: --scores",
        )
    if suite is not None and not named and _takes_several(options):
        _check_panel(suite)


def open_judges(suite: Suite | None, options: Options) -> PairPanel:
    """Who compares: the judges that are named, else the suite's."""
    more = blind_arguments(suite, options)
    named = _named(options)
    own = () if suite is None or named or not _takes_several(options) else suite.judge
    if len(named) < _FEWEST and len(own) < _FEWEST:
        only = {**options, "judge_model": named[0] if named else None}
        return PairPanel([make_judge(only, suite, more)])
    more.setdefault("label_seed", options.get("judge_seed") or 0)
    if named:
        wanted = [(suite, {**options, "judge_model": name}) for name in named]
    else:
        one_each = [suite.model_copy(update={"judge": (one,)}) for one in own if suite is not None]
        wanted = [(alone, {**options, "judge_model": None}) for alone in one_each]
    with ExitStack() as opened:
        judges = [opened.enter_context(make_judge(each, of, more)) for of, each in wanted]
        panel = PairPanel(judges)
        opened.pop_all()  # the panel closes them
    return panel


def blind_arguments(suite: Suite | None, options: Options) -> dict[str, object]:
    """How outputs are shown to the judge: the command line first, then the suite."""
    own = {} if suite is None else suite.compare.model_dump(exclude_unset=True)
    settings = {"label_seed" if name == "seed" else name: value for name, value in own.items()}
    given = {name: options.get(name) for name in ("scrub", "draw_labels", "label_seed", "rule")}
    return {**settings, **{name: value for name, value in given.items() if value is not None}}


def judges_and_rubric(names: Names, options: Options) -> tuple[PairPanel, Rubric]:
    """Who compares outputs that are made first, and how."""
    named = cast("str | None", options.get("rubric"))
    source = named or (None if names.suite is None else names.suite.rubric_source)
    if source is None:
        raise SettingsError(
            "no rubric is named",
            hint="give --rubric FILE or a shipped one's name, for example --rubric helpfulness",
        )
    rubric = load_rubric(source)
    return open_judges(names.suite, options), rubric


def _takes_several(options: Options) -> bool:
    return isinstance(options.get("judge_model"), tuple)


def _named(options: Options) -> tuple[str, ...]:
    """The judges that are named: one, several, or none."""
    named = cast("str | tuple[str, ...] | None", options.get("judge_model"))
    return named if isinstance(named, tuple) else () if named is None else (named,)


def _check_panel(suite: Suite) -> None:
    """Refuse a suite's panel in which not every judge can have one vote."""
    hint = "name the judges that are to vote: --judge MODEL --judge OTHER"
    if strange := [judge.model for judge in suite.judge if judge.kind != "llm"]:
        raise SettingsError(
            f"the suite's judges include {strange[0]}, and only models compare", hint=hint
        )
    combine = "mean" if suite.panel is None else suite.panel.combine
    if combine in {"weighted", "cascade"}:
        raise SettingsError(
            f"the suite's judges are combined by `{combine}`, and in a comparison each has a vote "
            "that counts alike",
            hint=hint,
        )
