from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import DatasetError, InputError, SettingsError, UnknownNameError
from judgekit.evaluation import Choice, ExecutionOptions, open_suite
from judgekit.evaluation.check_runner import (
    CheckResults,
    CheckRunner,
    are_inline_checks,
    is_small_output,
)
from judgekit.models.cache import MemoryCache
from judgekit.records import Output, Rubric, Usage
from tests.evaluation.suites import RIGHT, lay_suite
from tests.factories import make_case

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.evaluation import OpenSuite


def opened(folder: Path, asking: ExecutionOptions | None = None, **suite: Any) -> OpenSuite:
    return open_suite(lay_suite(folder, **suite), Choice(), asking or ExecutionOptions(cache=None))


PAID = Output(text="a", usage=Usage(cost_usd=0.5))


async def test_everything_a_suite_names_is_opened(tmp_path: Path) -> None:
    suite = opened(tmp_path, ExecutionOptions(cache=tmp_path / "cache"), n=3)
    assert [variant.id for variant in suite.variants] == ["v1"]
    assert suite.cases.tally().n_chosen == 3
    assert suite.rubric is not None
    assert suite.rubric.name == "assertions"
    assert suite.owns_cache
    await suite.aclose()


async def test_a_cache_that_was_handed_in_stays_open(tmp_path: Path) -> None:
    suite = opened(tmp_path, ExecutionOptions(cache=MemoryCache()))
    assert not suite.owns_cache
    await suite.aclose()


def test_only_chosen_variants_are_opened(tmp_path: Path) -> None:
    variants = [{"id": name, "outputs": "v1.jsonl"} for name in ("v1", "v2")]
    path = lay_suite(tmp_path, variants=variants)
    suite = open_suite(path, Choice(variants=("v2",)), ExecutionOptions(cache=None))
    assert list(suite.targets) == ["v2"]
    with pytest.raises(UnknownNameError, match="no variant is called 'v3'"):
        open_suite(path, Choice(variants=("v3",)), ExecutionOptions(cache=None))


def test_a_variant_that_cannot_be_opened_is_named_by_its_own_line(tmp_path: Path) -> None:
    path = lay_suite(tmp_path)
    path.write_text(
        "name: small\ndataset: cases.jsonl\nvariants:\n"
        "  - id: v1\n    outputs: v1.jsonl\n  - id: v10\n    outputs: missing.jsonl\n",
        encoding="utf-8",
    )
    with pytest.raises(DatasetError, match=r"judgekit\.yaml:7: .*missing\.jsonl"):
        open_suite(path, Choice(), ExecutionOptions(cache=None))


def test_a_suite_without_variants_has_nothing_to_run(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no variants, so that there is nothing to run"):
        opened(tmp_path, variants=[])


def test_an_unsound_assertion_is_found_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\(contians\): no assertion is called so"):
        opened(tmp_path, assertions=[{"type": "contians", "value": 1}])


def test_what_cannot_be_opened_leaves_no_cache_open(tmp_path: Path) -> None:
    variants = [{"id": "v1", "outputs": "nowhere.jsonl"}]
    with pytest.raises(InputError, match=r"nowhere\.jsonl"):
        opened(tmp_path, ExecutionOptions(cache=tmp_path / "cache"), variants=variants)
    with pytest.raises(InputError, match=r"nowhere\.jsonl"):
        opened(tmp_path, ExecutionOptions(cache=MemoryCache()), variants=variants)


def test_a_case_is_run_with_the_rubric_it_names_in_full(tmp_path: Path) -> None:
    suite = opened(tmp_path)
    plain, named = make_case(), make_case(rubric="rubric.yaml")
    assert suite.plans.as_run(plain) is plain
    as_run = suite.plans.as_run(named)
    assert isinstance(as_run.rubric, Rubric)
    assert suite.plans.rubric_of(as_run) is suite.plans.as_run(named).rubric
    assert suite.plans.rubric_of(plain) is suite.plans.rubric_of(named) is suite.rubric


def test_a_shipped_rubric_may_be_named_by_a_case(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="no rubric is called 'nowhere'"):
        opened(tmp_path).plans.as_run(make_case(rubric="nowhere"))


def test_an_output_without_assertions_has_no_results(tmp_path: Path) -> None:
    suite = opened(tmp_path, judge=None, assertions=None)
    assert CheckRunner(suite.plans).found(make_case(), PAID) == CheckResults()


def test_only_what_a_program_spent_by_itself_is_counted(tmp_path: Path) -> None:
    variants = [{"id": "v1", "outputs": "v1.jsonl"}, {"id": "v2", "python": "agent:answer"}]
    (tmp_path / "agent.py").write_text("def answer(case): ...", encoding="utf-8")
    suite = opened(tmp_path, ExecutionOptions(cache=None, max_cost_usd=0.9), variants=variants)
    assert not suite.count_own_spending("v1", PAID)
    assert not suite.count_own_spending("v2", Output(text="a"))
    assert not suite.count_own_spending("v2", PAID)
    assert suite.count_own_spending("v2", PAID)
    assert (suite.is_free("v1", PAID), suite.is_free("v2", PAID)) == (True, False)


def test_the_models_of_judges_and_prompts_have_the_suites_prices(tmp_path: Path) -> None:
    (tmp_path / "ask.j2").write_text("{{ input }}", encoding="utf-8")
    variants = [{"id": "p", "prompt": "ask.j2", "model": "openai/mine"}]
    with pytest.raises(SettingsError, match="what openai/mine charges is not known"):
        opened(tmp_path, ExecutionOptions(cache=None, max_cost_usd=1), variants=variants)
    prices = {"openai/mine": {"input_usd": 1, "output_usd": 2}}
    suite = opened(
        tmp_path, ExecutionOptions(cache=None, max_cost_usd=1), variants=variants, prices=prices
    )
    assert list(suite.prompts) == ["p"]


def test_assertions_that_look_through_a_text_once_are_quick() -> None:
    assert are_inline_checks([])
    assert are_inline_checks(
        [RIGHT, {"type": "metric.latency_ms.max", "value": 1}, {"type": "tokens"}]
    )
    assert not are_inline_checks([RIGHT, {"type": "regex", "value": "x"}])
    assert not are_inline_checks([{"type": "all", "value": [RIGHT]}])
    assert not are_inline_checks([{"type": 3}])


def test_an_output_of_an_ordinary_size_is_small() -> None:
    assert is_small_output(Output(text="x" * 1000))
    assert not is_small_output(Output(text="x" * 30_000))
    assert not is_small_output(Output(text="x", data={"a": 1}))
