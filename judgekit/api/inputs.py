"""What `grade`, `compare` and `rank` are called with: data, a rubric, a judge."""

from __future__ import annotations

from contextlib import asynccontextmanager, closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from judgekit.datasets import (
    DEFAULT_CACHE_FOLDER,
    iter_case_outputs,
    load_dataset,
    load_rubric,
    read_answers,
)
from judgekit.errors import InputError, SettingsError
from judgekit.judge import Judge, Panel
from judgekit.models import Budget
from judgekit.records import Rubric
from judgekit.store import RunStore

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import ExitStack

    from judgekit.datasets import CaseData, CaseOutput
    from judgekit.models.cache import ReplyCache
    from judgekit.models.request import Model

    JudgeSource = Judge | Panel | Model | str
    CacheSource = ReplyCache | Path | str | None


def read_data(data: object, cases: CaseData | None, name: str) -> list[CaseOutput]:
    """Outputs with their cases; those of a file without a variant are named after the file."""
    dataset = None if cases is None else load_dataset(cases, unique=True)
    if isinstance(data, Path | str):
        own, rows = Path(data).stem, iter_case_outputs(data, dataset, needs_input=False)
        return [
            (case, output.model_copy(update={"variant": output.variant or own}))
            for case, output in rows
        ]
    known = None if dataset is None else {case.id: case for case in dataset.cases}
    found = list(read_answers(data, name, known))
    if not found:
        raise InputError(f"{name}: there are no outputs", hint="pass one output or more")
    return found


def rubric_of(source: Rubric | Path | str) -> Rubric:
    """A rubric, or the one of that file or name."""
    return source if isinstance(source, Rubric) else load_rubric(source)


@asynccontextmanager
async def opened_panel(
    judge: JudgeSource,
    *,
    cache: CacheSource = DEFAULT_CACHE_FOLDER,
    frozen: bool = False,
    max_cost_usd: float | None = None,
) -> AsyncIterator[Panel]:
    """The judges that are meant; those that are opened here are closed at the end."""
    if isinstance(judge, Judge | Panel):
        # A judge has settings of its own; others beside it would be ignored silently.
        if frozen or max_cost_usd is not None or cache != DEFAULT_CACHE_FOLDER:
            raise SettingsError(
                "`cache`, `frozen` and `max_cost_usd` are settings of the judge, and it exists",
                hint="set them there: jk.Judge(model, cache=…, frozen=…, budget=…)",
            )
        # It is the caller's: other calls may be using its connections at this moment.
        yield Panel.of(judge)
        return
    budget = None if max_cost_usd is None else Budget(max_cost_usd)
    async with Judge(judge, cache=cache, frozen=frozen, budget=budget) as opened:
        yield Panel.of(opened)


def open_store(store: RunStore | Path | str | None, stack: ExitStack) -> RunStore:
    """The store of a run; without one a file that is deleted at the end."""
    if isinstance(store, RunStore):
        return store
    if store is not None:
        return stack.enter_context(closing(RunStore(store)))
    folder = stack.enter_context(TemporaryDirectory(prefix="judgekit-run-"))
    return stack.enter_context(closing(RunStore(Path(folder, "judgekit.db"), durable=False)))
