from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import DatasetError, SettingsError, StoreError, UnknownNameError
from judgekit.evaluation import Choice
from judgekit.evaluation.runner import new_run
from judgekit.evaluation.schedule import require_same_run
from tests.evaluation.suites import NOW, Bench

if TYPE_CHECKING:
    from collections.abc import Callable

    MakeBench = Callable[..., Bench]


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"assertions": [{"type": "contains", "value": "other"}]}, "the rubric; the assertions"),
        ({"variants": [{"id": "v9", "outputs": "v1.jsonl"}]}, "the variants or their prompts"),
        ({"settings": {"repeats": 2}}, "the settings"),
        ({"n": 5}, "the cases, their order or what is chosen of them"),
        ({"suites": [{"name": "g", "case_ids": ["c0"]}]}, "the groups of cases"),
    ],
)
def test_a_suite_that_has_changed_cannot_be_gone_on_with(
    bench: MakeBench, changed: dict[str, Any], word: str
) -> None:
    begun = new_run(bench().open(), now=NOW)
    fresh = new_run(bench(**changed).open(), now=NOW)
    with pytest.raises(SettingsError, match=f"changed since it was begun: .*{word}"):
        require_same_run(begun, fresh)


def test_pace_names_and_descriptions_are_no_part_of_what_a_run_is(bench: MakeBench) -> None:
    begun = new_run(bench().open(), now=NOW)
    settings = {"max_concurrency": 2, "timeout_s": 9, "fail_fast": True}
    fresh = new_run(bench(settings=settings, description="x", tags=["y"]).open(), now=NOW)
    assert require_same_run(begun, fresh) is begun


def test_the_content_of_a_prompt_is_part_of_what_a_run_is(bench: MakeBench) -> None:
    prints = []
    for text in ("Say {{ input }}", "Tell {{ input }}"):
        variants = [{"id": "p", "prompt": "ask.j2", "model": "openai/m"}]
        small = bench(variants=variants)
        (small.path.parent / "ask.j2").write_text(text, encoding="utf-8")
        prints.append(new_run(small.open(), now=NOW).config_fingerprint)
    assert len(set(prints)) == 2


def test_an_unsound_case_is_found_before_anything_is_asked(bench: MakeBench) -> None:
    small = bench()
    cases = small.path.parent / "cases.jsonl"
    cases.write_text(cases.read_text(encoding="utf-8") + '{"id": "c0", "input": 1}\n', "utf-8")
    with pytest.raises(DatasetError, match="c0"):
        new_run(small.open(), now=NOW)


def test_a_case_that_no_store_can_hold_is_found_before_anything_is_asked(bench: MakeBench) -> None:
    small = bench()
    (small.path.parent / "cases.jsonl").write_text(
        '{"id": "%s", "input": 1}\n' % ("x" * 600), encoding="utf-8"
    )
    with pytest.raises(StoreError, match=r"case id .* has 600 characters"):
        new_run(small.open(), now=NOW)


def test_filters_that_leave_nothing_say_what_was_left_out(bench: MakeBench) -> None:
    small = bench()
    small.choice = Choice(tags=("none",))
    with pytest.raises(SettingsError, match=r"no case of 'cases' is left to run \(4 filtered"):
        new_run(small.open(), now=NOW)


def test_a_group_of_unknown_cases_is_refused(bench: MakeBench) -> None:
    small = bench(suites=[{"name": "g", "case_ids": ["c0", "nobody"]}])
    with pytest.raises(UnknownNameError, match="case of the group 'g' is called 'nobody'"):
        new_run(small.open(), now=NOW)


def test_a_case_with_tries_of_its_own_cannot_be_repeated(bench: MakeBench) -> None:
    small = bench(n=1, settings={"repeats": 2})
    (small.path.parent / "cases.jsonl").write_text(
        '{"id": "c0", "input": 1, "evaluation": {"strategy": "exact_match", "retries": 1}}\n',
        encoding="utf-8",
    )
    with pytest.raises(SettingsError, match=r"'c0' is to be retried .* and every case is to be"):
        new_run(small.open(), now=NOW)
