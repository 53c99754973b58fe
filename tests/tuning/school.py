"""Cases with a known quality, people who label them, and a judge who hears the wording."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

from judgekit.bias_audit import ProbeRunner
from judgekit.datasets import locate_labels
from judgekit.tuning import TuneOptions, prepare_tuning
from judgekit.tuning.inputs import join_labelled_outputs
from tests.factories import make_case, make_criterion, make_judge, make_output, make_rubric, reply

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from judgekit.models.request import ModelRequest
    from judgekit.records import Case, Output, Rubric
    from judgekit.testing import ScriptedModel
    from judgekit.testing.fake_models import ScriptedAnswer
    from judgekit.tuning import TuningSetup
    from judgekit.tuning.inputs import LabelledOutputs

RUBRIC = make_rubric()
"""One criterion, `accuracy`, from 1 to 5."""

STRICT = make_rubric(make_criterion(question="Is it accurate to the letter?"))
"""The same in other words."""

_MARK = re.compile(r"quality q(\d)q")
_SHOWN = re.compile(r"<output (\w+)>\n(.*?)\n</output \1>", re.DOTALL)


def quality(k: int) -> int:
    """What people give case k: 1 to 5 in turn."""
    return k % 5 + 1


def answers(n: int = 30) -> list[tuple[Case, Output]]:
    """Cases `c0`, `c1`, …, each with an output that tells its quality."""
    return [
        (
            make_case(id=f"c{k}", input=f"Question [{k}]?"),
            make_output(f"Answer [{k}], quality q{quality(k)}q."),
        )
        for k in range(n)
    ]


def labels(n: int = 30, criterion: str | None = None, **fields: Any) -> list[dict[str, Any]]:
    """What Ada says of them."""
    known = {"annotator": "Ada"} | ({} if criterion is None else {"criterion": criterion})
    return [{"case_id": f"c{k}", "raw": quality(k), **known, **fields} for k in range(n)]


def material(
    n: int = 30, rubric: Rubric = RUBRIC, rows: Sequence[dict[str, Any]] = (), **options: Any
) -> LabelledOutputs:
    """Labelled outputs."""
    placed = locate_labels(rows or labels(n))
    return join_labelled_outputs(answers(n), placed, rubric, TuneOptions(**options))


def text_of(request: ModelRequest) -> str:
    """All that was said to the judge."""
    return "\n".join(message["content"] for message in request.messages)


def heard(wrong_by: Callable[[str], int]) -> Callable[[ModelRequest], ScriptedAnswer]:
    """A judge who is off by as much as the prompt makes it, up or down by the output's text."""

    def say(request: ModelRequest) -> ScriptedAnswer:
        text = text_of(request)
        found = _SHOWN.search(text)
        mark = None if found is None else _MARK.search(found[2])
        assert found is not None
        assert mark is not None
        spread = wrong_by(text)
        up = hashlib.sha256(found[2].encode()).digest()[0] % 2 == 1
        score = int(mark[1]) + (spread if up else -spread)
        return reply(min(5, max(1, score)))

    return say


def bout(
    model: ScriptedModel,
    *,
    n: int = 30,
    rows: Sequence[dict[str, Any]] = (),
    others: Mapping[str, Rubric] | None = None,
    rubric: Rubric = RUBRIC,
    judge: Mapping[str, Any] | None = None,
    **options: Any,
) -> TuningSetup:
    """Everything a tuning needs, with a scripted judge."""
    return prepare_tuning(
        ProbeRunner(make_judge(model, **(judge or {}))),
        answers(n),
        list(rows) or labels(n),
        rubric,
        others=others or {},
        options=TuneOptions(**options),
    )
