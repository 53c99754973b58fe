"""How the quality of a suite moves from run to run and from version to version of its variants.

Only runs that were measured the same way (`comparability`) form a series. A change of judge,
template, rubric, assertions or cases is a break: nothing is averaged or compared over it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from judgekit.errors import NotEnoughDataError, UnknownNameError
from judgekit.evaluation.comparability import (
    case_changes,
    compare_measures,
    describe_break,
    has_other_cases,
)
from judgekit.evaluation.run_config import (
    MEMORY_KEY,
    calibration_changes,
    has_variant,
    variant_version_in,
)
from judgekit.evaluation.run_figures import FigureReader, StoredFigure, StoredFigures
from judgekit.fingerprint import fingerprint
from judgekit.records import VariantVersion, config_rows, has_own_cases, is_whole_run, objects_of
from judgekit.stats.trend import (
    baseline,
    can_change,
    changepoint,
    cusum,
    direction,
    mann_kendall,
    should_escalate,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from datetime import datetime

    from judgekit.records import JsonObject, RunInfo, TrendMeasure
    from judgekit.stats.trend import Changepoint, Cusum, Direction, Escalation, MannKendall
    from judgekit.store import RunStore

# The first runs since a break, which say what is normal: as many as `baseline` needs.
_BASELINE_RUNS = 8
_SEED = 0

# Of a run without the criterion: it is shown, and the statistics skip it.
_NO_FIGURE = StoredFigure()
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendPoint:
    """A run in the series of a variant.

    Attributes:
        figure: Its figure with a 95 % interval.
        n_cases: Cases of the run.
        change: What was measured differently than in the run before, in words; None where nothing
            was, and for the first run.
        direction: The direction of the series up to this run, since the last break.
    """

    run: str
    at: datetime
    figure: StoredFigure
    n_cases: int
    change: str | None
    direction: Direction


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityTrend:
    """The series of one variant of a suite, oldest run first.

    Attributes:
        measure: `score` (the mean overall value), `pass_rate`, or the name of a criterion.
        points: All runs, also those before a break.
        direction: Of the last runs since the last break, by the rule of five runs and 5 %.
        escalation: Whether the last three runs or more were degrading.
        test: Mann and Kendall's test of all runs since the last break, with the slope of Theil and
            Sen; None with fewer than two.
        shift: Where those runs most likely changed their level; None with fewer than four, or where
            all are equal.
        shortfall: The CUSUM of those after the first eight, which say what is normal; None with
            fewer than nine.
        n_left_out: Runs that are no part of it: they ran some of the cases only, or did not end.
    """

    suite: str
    variant: str
    measure: str
    points: tuple[TrendPoint, ...]
    direction: Direction
    escalation: Escalation
    test: MannKendall | None
    shift: Changepoint | None
    shortfall: Cusum | None
    n_left_out: int

    @property
    def since_break(self) -> tuple[TrendPoint, ...]:
        """The runs since the last break, which alone say where quality moves."""
        starts = [place for place, point in enumerate(self.points) if point.change is not None]
        return self.points[starts[-1] if starts else 0 :]


def trend_of_suite(
    store: RunStore,
    suite: str,
    *,
    variant: str | None = None,
    criterion: str | None = None,
    measure: TrendMeasure = "score",
    last: int | None = None,
    cases: Collection[str] | None = None,
) -> list[QualityTrend]:
    """The trend of each variant of a suite's last run, or of a variant that any run has."""
    # A criterion replaces the figure of the whole, which is the pass rate where no answer has a
    # score.
    series = _Series(store, suite, variant=variant, last=last, cases=cases)
    return series.trends(criterion=criterion, measure=measure)


def criterion_trends(
    store: RunStore, suite: str, *, variant: str | None = None, last: int | None = None
) -> list[QualityTrend]:
    """The trend of each criterion of the last run's rubric, for each variant."""
    series = _Series(store, suite, variant=variant, last=last)
    rubric = series.runs[0].rubric if series.runs else None
    return [
        trend
        for criterion in (() if rubric is None else rubric.criteria)
        for trend in series.trends(criterion=criterion.name)
    ]


class _Series:
    """Makes the series of variants from the figures of runs."""

    def __init__(
        self,
        store: RunStore,
        suite: str,
        *,
        variant: str | None,
        last: int | None,
        cases: Collection[str] | None = None,
    ) -> None:
        self._store, self._suite = store, suite
        self._every = store.runs(suite=suite)
        if not self._every:
            raise UnknownNameError("suite", suite, store.suites())
        names = {each.id: None for run in self._every for each in run.variants}
        if variant is not None and variant not in names:
            raise UnknownNameError("variant", variant, names)
        own = [run for run in self._every if variant is None or has_variant(run, variant)]
        whole = [run for run in own if is_whole_run(run)]
        # Runs of the suite's cases; if there are none, those of cases of their own.
        self._whole = [run for run in whole if not has_own_cases(run)] or whole
        # Newest first
        self.runs = self._whole[:last]
        latest = (self._whole or own)[0]
        self._variants = [variant] if variant else [each.id for each in latest.variants]
        self._reader = FigureReader(store, suite, cases=cases)

    def trends(
        self, *, criterion: str | None = None, measure: TrendMeasure = "score"
    ) -> list[QualityTrend]:
        return [self._trend(name, criterion, measure) for name in self._variants]

    def _trend(self, variant: str, criterion: str | None, wanted: TrendMeasure) -> QualityTrend:
        found = [*self._figures(variant)]
        measure = self._measure_of([figures for _, figures, _ in found], criterion, wanted)
        points: list[TrendPoint] = []
        values: list[float | None] = []
        for run, figures, change in reversed(found):
            figure = figures.score if measure == "score" else figures.pass_rate
            if criterion is not None:
                figure = figures.criteria.get(criterion, _NO_FIGURE)
            values = [] if change is not None else values
            values.append(figure.value)
            points.append(
                TrendPoint(
                    run=run.id,
                    at=run.started_at,
                    figure=figure,
                    n_cases=figures.n_cases,
                    change=change,
                    direction=direction(values),
                )
            )
        directions = [point.direction.direction for point in points[len(points) - len(values) :]]
        return QualityTrend(
            suite=self._suite,
            variant=variant,
            measure=measure,
            points=tuple(points),
            direction=direction(values),
            escalation=should_escalate(directions),
            test=_or_none(lambda: mann_kendall(values)),
            shift=_shift(values),
            shortfall=_or_none(lambda: _shortfall(values, points[-1].n_cases)) if points else None,
            n_left_out=sum(has_variant(run, variant) for run in self._every)
            - sum(has_variant(run, variant) for run in self._whole),
        )

    def _figures(self, variant: str) -> Iterator[tuple[RunInfo, StoredFigures, str | None]]:
        """Newest first: each run with its figures, and what was different in the run before."""
        later: tuple[RunInfo, StoredFigures] | None = None
        for run in self.runs:
            if not has_variant(run, variant):
                continue
            change, concluded = (None, run) if later is None else _measured(run, later[0])
            figures = self._reader.figures(concluded).variants.get(variant)
            if figures is None or not figures.n_cases:  # none of the cases that count
                continue
            if later is not None:
                if change is None and has_other_cases(self._reader, concluded, later[0]):
                    words = case_changes(self._store, run.id, later[0].id)
                    change = words or "cases: others"
                yield later[0], later[1], change
            later = concluded, figures
        if later is not None:
            yield later[0], later[1], None

    def _measure_of(
        self, figures: Sequence[StoredFigures], criterion: str | None, wanted: TrendMeasure
    ) -> str:
        if criterion is not None:
            # A criterion of a rubric is known, also where no output could be judged by it yet.
            rubrics = [run.rubric for run in self.runs if run.rubric is not None]
            known = dict.fromkeys(name for one in figures for name in one.criteria)
            known |= dict.fromkeys(one.name for rubric in rubrics for one in rubric.criteria)
            if criterion not in known:
                raise UnknownNameError("criterion", criterion, known)
            return criterion
        has_scores = any(one.score.value is not None for one in figures)
        return wanted if has_scores else "pass_rate"


def _measured(run: RunInfo, later: RunInfo) -> tuple[str | None, RunInfo]:
    """What was different in a run than in a later one; and the run as it is to be concluded."""
    measure = compare_measures(run, later)
    changes = measure.changes or calibration_changes(run, later)
    if changes:
        return describe_break(run, later, changes), run
    # Where only thresholds or weights differ, all runs are scored by the latest ones.
    return None, measure.a


def _shortfall(values: Sequence[float | None], n_cases: int) -> Cusum | None:
    known = [place for place, value in enumerate(values) if value is not None]
    if len(known) <= _BASELINE_RUNS:
        return None
    start = known[_BASELINE_RUNS]
    normal = baseline(values[:start], n_cases=n_cases)
    # The runs that say what is normal raise no alarm; places stay those of the series.
    return cusum([*[None] * start, *values[start:]], normal.target, normal.sd)


def _shift(values: Sequence[float | None]) -> Changepoint | None:
    if not can_change(values):
        return None
    import numpy as np  # noqa: PLC0415 - the rest of a trend does without it

    return changepoint(values, rng=np.random.default_rng(_SEED))


def _or_none(statistic: Callable[[], _T]) -> _T | None:
    try:
        return statistic()
    except NotEnoughDataError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionFigures:
    """A version of a variant: a prompt, a program or recorded outputs as they were then.

    Attributes:
        number: From 1, in the order in which the versions first ran.
        path: The file of its prompt or its outputs; None for what has no file.
        n_runs: Complete runs of all cases.
        first_at: When it first ran.
        last_run: Its latest run, whose figures these are.
        changes: What was measured differently in that run than in the suite's latest one, so that
            the figures are not comparable; empty where they are.
        is_current: Whether the suite's latest run has it.
    """

    variant: str
    number: int
    fingerprint: str
    path: str | None
    revision: str | None
    n_runs: int
    first_at: datetime
    last_run: str
    last_at: datetime
    figures: StoredFigures
    changes: tuple[str, ...]
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRun:
    """A benchmark run of a quality memory that was made elsewhere.

    Attributes:
        id: Its id in the memory.
        fields: What the memory says of it; its answers are not known, so that nothing here is
            compared with it.
    """

    id: str
    fields: JsonObject


def imported_runs(store: RunStore, suite: str) -> list[ImportedRun]:
    """The earlier runs of a suite's benchmark in the quality memory of its latest run."""
    runs = store.runs(suite=suite)
    if not runs:
        raise UnknownNameError("suite", suite, store.suites())
    known, config = {run.id for run in runs}, runs[0].config
    wanted = config.get("benchmark")
    found = [
        ImportedRun(id=key, fields=fields)
        for key, fields in objects_of(config_rows(runs[0], MEMORY_KEY), "benchmark-run")
        # A memory that was exported from this store has runs that are here with their answers.
        if key.rpartition("/")[0] not in known
    ]
    of_suite = (one for one in found if wanted in (None, one.fields.get("benchmarkId")))
    return sorted(of_suite, key=lambda one: (str(one.fields.get("ranAt")), one.id))


def version_history(store: RunStore, suite: str) -> list[VersionFigures]:
    """The versions of a suite's variants, oldest first."""
    runs = store.runs(suite=suite)[::-1]
    if not runs:
        raise UnknownNameError("suite", suite, store.suites())
    whole = [run for run in runs if is_whole_run(run)]
    reader = FigureReader(store, suite)
    by_version: dict[tuple[str, str], list[RunInfo]] = {}
    for run in whole:
        for key in _versions(run):
            by_version.setdefault(key, []).append(run)
    numbers: dict[str, int] = {}
    found = []
    for key, own in by_version.items():
        variant, print_ = key
        numbers[variant] = numbers.get(variant, 0) + 1
        latest = own[-1]
        measure = compare_measures(latest, whole[-1])
        # Figures by other maps are on another scale, although scores can be compared without them.
        changes = measure.changes or calibration_changes(latest, whole[-1])
        mark = _version(latest, variant)
        found.append(
            VersionFigures(
                variant=variant,
                number=numbers[variant],
                fingerprint=print_,
                path=mark.prompt or mark.outputs,
                revision=latest.revision,
                n_runs=len(own),
                first_at=own[0].started_at,
                last_run=latest.id,
                last_at=latest.started_at,
                # Where only thresholds or weights differ, all are scored by the latest ones.
                figures=reader.figures(latest if changes else measure.a).variants[variant],
                changes=changes,
                is_current=key in _versions(whole[-1]),
            )
        )
    return found


def _versions(run: RunInfo) -> list[tuple[str, str]]:
    return [(one.id, _version(run, one.id).fingerprint) for one in run.variants]


def _version(run: RunInfo, variant: str) -> VariantVersion:
    # A run that was imported, or is older than versions, has none.
    return variant_version_in(run, variant) or VariantVersion(fingerprint=fingerprint(variant))
