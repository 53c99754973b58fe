"""The judges, rubrics and cases of one pytest process, each made once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from judgekit.datasets.loading import load_dataset, load_rubric
from judgekit.errors import SettingsError, UnknownNameError
from judgekit.judge.judge import Judge
from judgekit.models.budget import Budget
from judgekit.records.rubric import Rubric

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from judgekit.pytest_plugin.settings import Settings
    from judgekit.records.case import Case

_MOST_JUDGES = 16
_MOST_WAITING = 32


class Bench:
    """Makes each judge, rubric and file of cases once, and closes the judges at the end."""

    def __init__(self, limit_usd: float | None = None) -> None:
        self._budget = None if limit_usd is None else Budget(limit_usd)
        self._judges: list[tuple[Mapping[str, object], Judge]] = []
        self._rubrics: dict[str, Rubric] = {}
        self._cases: dict[str, dict[str, Case]] = {}
        self._threads: ThreadPoolExecutor | None = None

    def judge(self, settings: Settings) -> Judge:
        """The judge of some settings; tests with the same settings share it."""
        if settings.model is None:
            raise SettingsError(
                "no judge is named",
                hint="give --judgekit-judge openai/gpt-4.1-mini (or recorded:FILE, local, …), "
                "judgekit_judge in the ini file, JUDGEKIT_JUDGE, or @pytest.mark.judge(model=…)",
            )
        wanted = {"model": settings.model, **settings.arguments}
        for place, (made_of, judge) in enumerate(self._judges):
            if made_of == wanted:
                self._judges.append(self._judges.pop(place))
                return judge
        arguments: dict[str, Any] = {"budget": self._budget, **settings.arguments}
        judge = Judge(settings.model, **arguments)
        self._judges.append((wanted, judge))
        if len(self._judges) > _MOST_JUDGES:  # each holds a thread and the cache's file open
            self._judges.pop(0)[1].close()
        return judge

    def rubric(self, source: str | Path | Rubric | None, threshold: float | None = None) -> Rubric:
        """A rubric, read once."""
        if source is None:
            raise SettingsError(
                "no rubric is named",
                hint="give --judgekit-rubric FILE or a shipped one's name (helpfulness, …), "
                "judgekit_rubric in the ini file, JUDGEKIT_RUBRIC, @pytest.mark.judge(rubric=…), "
                "or rubric=… in the call",
            )
        rubric = source if isinstance(source, Rubric) else self._read_rubric(source)
        if threshold is None or threshold == rubric.pass_threshold:
            return rubric
        fields = {name: getattr(rubric, name) for name in Rubric.model_fields}
        return Rubric(**{**fields, "pass_threshold": threshold})

    def case(self, file: str | Path, case_id: str) -> Case:
        """A case of a file of cases."""
        key = str(file)
        if key not in self._cases:
            self._cases[key] = {case.id: case for case in load_dataset(file, unique=True).cases}
        known = self._cases[key]
        if case_id not in known:
            raise UnknownNameError(f"case in {file}", case_id, known)
        return known[case_id]

    def _read_rubric(self, source: str | Path) -> Rubric:
        key = str(source)
        if key not in self._rubrics:
            self._rubrics[key] = load_rubric(source)
        return self._rubrics[key]

    @property
    def threads(self) -> ThreadPoolExecutor:
        """Where asynchronous tests wait for a judge, so that their loop goes on."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(_MOST_WAITING, thread_name_prefix="judgekit-test")
        return self._threads

    def close(self) -> None:
        """Close the judges, with their connections and caches."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
        for _, judge in self._judges:
            judge.close()
        self._judges.clear()
