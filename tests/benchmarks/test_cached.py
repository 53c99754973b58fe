from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.cached import UNREACHABLE, Floor, Ours
from benchmarks.material import answers, one_criterion

if TYPE_CHECKING:
    from pathlib import Path


def test_the_floor_renders_a_prompt_of_judgekits_length(tmp_path: Path) -> None:
    # Two of another length are not compared, so that a changed template breaks the benchmark.
    work, rubric = list(answers(1)), one_criterion()
    floor = Floor(tmp_path, rubric, work)
    assert floor.n_characters == Ours(tmp_path, rubric, work, api_base=UNREACHABLE).n_characters
