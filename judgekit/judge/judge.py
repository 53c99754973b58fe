"""`Judge`: a model, a template and settings; and how a suite describes one."""

from __future__ import annotations

import asyncio
import weakref
from collections import deque
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, get_args

from judgekit.datasets import (
    DEFAULT_CACHE_FOLDER,
    JudgeSettings,
    resolve_suite_model,
    resolve_suite_template,
    suite_template_folders,
)
from judgekit.errors import SettingsError
from judgekit.judge.concurrency import SyncRunner
from judgekit.judge.pairwise import Comparer, PairJudge, check_material
from judgekit.judge.pointwise import Grader
from judgekit.models import Connection, connect
from judgekit.prompts import PairTemplate, PromptTemplate, is_pair_template
from judgekit.records import Case, Output, ReconciliationRule, Rubric

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Mapping, Sequence

    from judgekit.datasets import JudgeMode, Suite, SuiteJudge
    from judgekit.judge.pointwise import AnswerKey, PendingGrading
    from judgekit.models import Budget, PriceTable, Refresh
    from judgekit.models.cache import CacheLocation, ReplyCache
    from judgekit.models.request import Model, ModelRequest
    from judgekit.records import JsonObject, JudgeFailure, Judgment, Verdict

_TEMPLATES = {"per_criterion": "pointwise/criterion", "joint": "pointwise/joint"}
_PAIR_TEMPLATES = {"per_criterion": "pairwise/criterion", "joint": "pairwise/joint"}
_UNSEEN = "no_reference"
_TOP_LOGPROBS = 10
# Outputs for which `grade_many` reads the cache with one query.
_READ_AHEAD = 16
_SETTINGS = frozenset(JudgeSettings.model_fields)


class Judge(PairJudge):
    """Grades outputs against rubrics, and compares two outputs blind.

    Args:
        model: Provider and model as litellm names them (`openai/gpt-4.1-mini`,
            `anthropic/claude-…`), `recorded:PATH`, `local`, or any object with `name` and
            `async complete(request)`.
        api_base: The endpoint, where it is not the provider's own.
        cache: Folder or address (`postgresql://…`, `redis://…`) of the reply cache, a cache object,
            or None for no cache.
        mode: `per_criterion` asks one call a criterion; `joint` asks all at once. Both give the
            same records.
        repeats: How often each question is asked, at least 1.
        temperature: Sampling temperature; None leaves it to the provider.
        seed: Sampling seed, for providers that take one.
        template: Name or path of a template; None takes the mode's own. A template says itself
            whether it asks one criterion or all, and whether it grades or compares; for the other
            the mode's own serves.
        template_folders: Folders of own templates and partials; they come before the shipped.
        max_tokens: Limit of a reply, in tokens; None leaves it to the provider.
        logprobs: Ask for token probabilities, for `expected_raw` and `logprob_confidence`.
        parameters: Further parameters of every request (`top_p`, `reasoning_effort`, …).
        max_concurrency: Calls in flight at most.
        rpm: Requests a minute at most.
        tpm: Tokens a minute at most.
        timeout_s: Deadline of one call, in seconds.
        max_retries: Retries after a passing error of the provider.
        max_reasks: How often a question is repeated whose reply cannot be parsed.
        frozen: Never ask: what the cache does not hold is a `frozen_miss` failure.
        refresh: Fetch cached replies again, once each; `unreadable`: only those that cannot be
            parsed.
        transport: `auto` calls a model directly where its provider's protocol is known, and others
            through litellm; `litellm`, `direct` or any other transport's name forces one.
        prices: Own prices, where litellm's table does not know the model.
        budget: What may be spent, shared by all the judges and targets it is given to; None for
            no limit.
        scrub: In comparisons, take out of an output what names its maker.
        draw_labels: In comparisons, give the places drawn labels beside `first` and `second`.
        label_seed: Seed of the labels; None takes `seed`.
        rule: In comparisons, who wins where the orders differ: `consistent` (neither), `average`
            (who is preferred by more than half of both).

    Raises:
        SettingsError: When a setting is out of its range, or the budget is to limit a model whose
            price is unknown.
        UnknownNameError: When there is no such template.
        TemplateError: When the template is invalid.
    """

    def __init__(
        self,
        model: str | Model,
        *,
        api_base: str | None = None,
        cache: str | Path | ReplyCache | None = DEFAULT_CACHE_FOLDER,
        mode: JudgeMode = "per_criterion",
        repeats: int = 1,
        temperature: float | None = 0.0,
        seed: int | None = None,
        template: str | Path | None = None,
        template_folders: Sequence[Path | str] = (),
        max_tokens: int | None = None,
        logprobs: bool = False,
        parameters: Mapping[str, object] | None = None,
        max_concurrency: int = 32,
        rpm: int | None = None,
        tpm: int | None = None,
        timeout_s: float = 60,
        max_retries: int = 5,
        max_reasks: int = 2,
        frozen: bool = False,
        refresh: Refresh = False,
        transport: str = "auto",
        prices: PriceTable | None = None,
        budget: Budget | None = None,
        scrub: bool = True,
        draw_labels: bool = True,
        label_seed: int | None = None,
        rule: ReconciliationRule = "consistent",
    ) -> None:
        # The signature is for readers and type checkers; what a setting may be and what it does by
        # default is in JudgeSettings alone (a test compares the two), so that nothing is listed
        # here a second time.
        settings = {name: value for name, value in locals().items() if name in _SETTINGS}
        is_one = isinstance(template_folders, str | Path)  # a text is a sequence, too: of letters
        folders: Any = [template_folders] if is_one else template_folders
        settings |= {
            "parameters": dict(parameters or {}),
            "template": None if template is None else str(template),
            "template_folders": tuple(map(Path, folders)),
        }
        checked = JudgeSettings.checked(**settings)
        self._set_up(model, checked, cache=cache, prices=prices, budget=budget)

    def _set_up(
        self,
        model: str | Model,
        settings: JudgeSettings,
        *,
        cache: str | CacheLocation | ReplyCache | None,
        prices: PriceTable | None,
        budget: Budget | None,
        name: str | None = None,
    ) -> None:
        self._settings = settings
        self._made_of = {key: value for key, value in locals().items() if key != "self"}
        self._connection: Connection = connect(
            model,
            api_base=settings.api_base,
            cache=cache,
            max_concurrency=settings.max_concurrency,
            rpm=settings.rpm,
            tpm=settings.tpm,
            timeout_s=settings.timeout_s,
            max_retries=settings.max_retries,
            frozen=settings.frozen,
            refresh=settings.refresh,
            transport=settings.transport,
            prices=prices,
            budget=budget,
        )
        folders, own = settings.template_folders, settings.template
        # One setting names either kind of template, so that `--template` needs no second form.
        compares = own is not None and is_pair_template(own, folders)
        graded_by = _TEMPLATES[settings.mode] if compares or not own else own
        self._grader = Grader(
            model=self._connection.model,
            model_name=self._connection.name,
            template=PromptTemplate(graded_by, folders),
            parameters=_sent_parameters(settings),
            api_base=settings.api_base,
            repeats=settings.repeats,
            max_reasks=settings.max_reasks,
            flags=self._connection.flags,
            template_folders=folders,
            name=name,
        )
        blind = own if own is not None and compares else _PAIR_TEMPLATES[settings.mode]
        # A judge that must not see the reference when it grades must not see it when it compares
        # either.
        if self._grader.template.name.endswith(_UNSEEN):
            blind += f"_{_UNSEEN}"
        self._pair_template = blind
        if compares:
            _ = self.comparer  # an invalid template is reported now, not at the first comparison
        self._sync_runner = SyncRunner()
        # A judge that is never closed still writes the counts of its cache at exit.
        self._finalizer = weakref.finalize(self, _close, self._sync_runner, self._connection)

    def __getstate__(self) -> dict[str, Any]:
        # A copy in another process is made from its settings, which hold no key.
        if self._made_of["budget"] is not None:
            raise SettingsError(
                "a judge with a budget cannot be pickled, since each process would spend all of it",
                hint="give the judge of each process a budget of its own",
            )
        return self._made_of

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set_up(**state)

    @property
    def id(self) -> str:
        """Model and template, as every judgment names them."""
        return self._grader.id

    @property
    def connection(self) -> Connection:
        """The model with its limits, prices and cache."""
        return self._connection

    @property
    def template(self) -> PromptTemplate:
        """The template it asks with."""
        return self._grader.template

    @property
    def grader(self) -> Grader:
        """What grades one output: its model, template, parameters and repeats."""
        return self._grader

    @cached_property
    def joint_grader(self) -> Grader | None:
        """As `grader`, with one call for all criteria; None where the template is not the default.

        For plans: what `mode="joint"` would ask of the same model.
        """
        if self._grader.template.name != _TEMPLATES["per_criterion"]:
            return None
        template = PromptTemplate(_TEMPLATES["joint"], self._settings.template_folders)
        return replace(self._grader, template=template)

    @cached_property
    def comparer(self) -> Comparer:
        """What compares two outputs: its questions, its answers as they come, its template."""
        settings, label_seed = self._settings, self._settings.label_seed
        return Comparer(
            model=self._grader.model,
            model_name=self._grader.model_name,
            template=PairTemplate(self._pair_template, settings.template_folders),
            parameters=self._grader.parameters,
            api_base=self._grader.api_base,
            repeats=self._grader.repeats,
            max_reasks=self._grader.max_reasks,
            flags=self._grader.flags,
            scrubs=settings.scrub,
            draws_labels=settings.draw_labels,
            seed=(settings.seed or 0) if label_seed is None else label_seed,
            rule=settings.rule,
            asks_overall=self._connection.compares_overall,
        )

    def _comparers(self) -> tuple[Comparer]:
        return (self.comparer,)

    async def grade(self, case: Case, output: Output, rubric: Rubric) -> Verdict:
        """Grade one output.

        Args:
            case: What was to be answered.
            output: What was produced; an output with an error is not judged.
            rubric: How it is judged.

        Returns:
            The verdict, with one judgment or failure for each criterion and repeat.

        Raises:
            TemplateError: When the template does not fit the output or the rubric.
            StoreError: When the cache cannot store what was paid for.
        """
        # Examined here first: a call more for each output is felt where replies are cached.
        if (type(case), type(output), type(rubric)) != (Case, Output, Rubric):
            check_material(rubric, case, output)
        (grading,) = self._grader.begin([(case, output)], rubric)
        return await grading.finish()

    def begin(
        self, answers: Iterable[tuple[Case, Output]], rubric: Rubric
    ) -> Iterator[PendingGrading]:
        """Grade outputs from the cache as far as that goes, with one query for all of them.

        Args:
            answers: Cases with their outputs; hold no more than fit into memory.
            rubric: How they are judged.

        Returns:
            Gradings in the order given; one has a verdict where every reply is cached; else its
            `finish` asks for the rest.

        Raises:
            TemplateError: When the template does not fit an output or the rubric.
            StoreError: When the cache cannot be read at all.
        """
        return self._grader.begin(answers, rubric)

    async def grade_many(
        self, pairs: Iterable[tuple[Case, Output]], rubric: Rubric
    ) -> AsyncGenerator[Verdict, None]:
        """Grade many outputs, several at once, and yield each verdict when its turn comes.

        Pairs are taken from the iterable while verdicts are read, so it may be longer than memory.
        Calls in flight are cancelled when the iteration ends early. An error of the iterable is
        raised after the verdicts of the pairs before it.

        Args:
            pairs: Cases with their outputs.
            rubric: How they are judged.

        Yields:
            A verdict for each pair, in their order.

        Raises:
            InputError: When a pair is not a case and its output.
            TemplateError: When the template does not fit an output or the rubric.
            StoreError: When the cache cannot store what was paid for.
        """
        # Verdicts wait for the slowest before them: with twice as many outputs begun as there are
        # slots, the slots stay busy meanwhile.
        most = 2 * self._settings.max_concurrency
        begun: deque[Verdict | asyncio.Task[Verdict]] = deque()
        source, ended = iter(pairs), None
        try:
            while ended is None:
                batch: list[Any] = []
                try:
                    while len(batch) < _READ_AHEAD:
                        pair: Any = next(source)
                        is_pair = isinstance(pair, tuple | list) and len(pair) == 2  # noqa: PLR2004 - a pair
                        check_material(rubric, *(pair if is_pair else (pair,)))
                        batch.append(pair)
                # The end of the source, or its error: what was begun is paid for, and comes first.
                except Exception as error:  # noqa: BLE001 - raised below
                    ended = error
                for grading in self.begin(batch, rubric):
                    begun.append(grading.verdict or asyncio.ensure_future(grading.finish()))
                await asyncio.sleep(0)  # cached verdicts alone would give other tasks no turn
                while len(begun) > (0 if ended else most):
                    yield await _first(begun)
            if not isinstance(ended, StopIteration):
                raise ended
        finally:
            asked = [one for one in begun if isinstance(one, asyncio.Task)]
            for one in asked:
                one.cancel()
            await asyncio.gather(*asked, return_exceptions=True)

    def observe(
        self,
        case: Case,
        output: Output,
        rubric: Rubric,
        *,
        known: Collection[tuple[str, int] | AnswerKey] = (),
    ) -> AsyncGenerator[tuple[Judgment | JudgeFailure, ...], None]:
        """Grade one output and yield each answer as it arrives, so that it can be stored at once.

        Calls in flight are cancelled when the iteration ends early; `aclose` it, or iterate in
        `contextlib.aclosing`, to have that done before you continue.

        Args:
            case: What was to be answered.
            output: What was produced; of one with an error nothing is asked.
            rubric: How it is judged.
            known: Criterion and repeat of earlier answers, and the turn of one that was judged turn
                by turn. A question is not asked when all
                it asks for is known; a joint one of which a part is not known is asked whole.

        Yields:
            The outcome of one question, a judgment or failure for each of its criteria.

        Raises:
            TemplateError: When the template does not fit the output or the rubric.
            StoreError: When the cache cannot store what was paid for.
        """
        keys = {(key[0], key[1], key[2] if len(key) == 3 else None) for key in known}  # noqa: PLR2004 - a turn is last
        return self._grader.observe(case, output, rubric, known=keys)

    def grade_sync(self, case: Case, output: Output, rubric: Rubric) -> Verdict:
        """`grade`, for callers that are not asynchronous; works inside a running loop too."""
        return self._sync_runner.run(self.grade(case, output, rubric))

    def requests(self, case: Case, output: Output, rubric: Rubric) -> list[ModelRequest]:
        """What would be sent to grade one output, without sending it.

        Args:
            case: What was to be answered.
            output: What was produced.
            rubric: How it is judged.

        Returns:
            One request for each question and repeat.

        Raises:
            TemplateError: When the template does not fit the output or the rubric.
        """
        return [q.request for q in self._grader.questions(case, output, rubric)]

    async def aclose(self) -> None:
        """Close the connections of the running event loop; the next call opens new ones."""
        await self._connection.aclose()

    def close(self) -> None:
        """Close the connections of `grade_sync` and the cache, where the judge opened it."""
        _close(self._sync_runner, self._connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()
        self.close()


async def _first(begun: deque[Verdict | asyncio.Task[Verdict]]) -> Verdict:
    first = begun[0]
    if isinstance(first, asyncio.Task):
        # Awaited itself, it would be cancelled before the others, and its slot serve one of them.
        await asyncio.wait([first])
        first = first.result()
    begun.popleft()
    return first


def _close(sync_runner: SyncRunner, connection: Connection) -> None:
    sync_runner.close(last=connection.aclose)
    connection.close()


def check_pair_rule(rule: str) -> None:
    """Refuse an unknown rule for two orders."""
    if rule not in get_args(ReconciliationRule):
        raise SettingsError(f"rule is {rule!r}", hint="use consistent or average")


def _sent_parameters(settings: JudgeSettings) -> JsonObject:
    """The parameters of every request; those that are None are left to the provider."""
    merged: JsonObject = {
        "temperature": settings.temperature,
        "seed": settings.seed,
        "max_tokens": settings.max_tokens,
        "logprobs": True if settings.logprobs else None,
        "top_logprobs": _TOP_LOGPROBS if settings.logprobs else None,
        **settings.parameters,
    }
    # Without nulls the one object serves every request and its cache key; see `request._sent`.
    return {name: value for name, value in merged.items() if value is not None}


def configured_judge(
    model: str | Model,
    settings: JudgeSettings,
    *,
    cache: str | CacheLocation | ReplyCache | None,
    prices: PriceTable | None = None,
    budget: Budget | None = None,
    name: str | None = None,
) -> Judge:
    """A judge of settings that were read and merged before."""
    # Without `__init__`, which would check and merge the settings a second time.
    judge = Judge.__new__(Judge)
    judge._set_up(model, settings, cache=cache, prices=prices, budget=budget, name=name)  # noqa: SLF001 - its other constructor
    return judge


def open_judge(
    settings: SuiteJudge,
    suite: Suite,
    *,
    cache: CacheLocation | ReplyCache | None,
    template_folders: Sequence[Path] = (),
    frozen: bool = False,
    refresh: Refresh = False,
    prices: PriceTable | None = None,
    budget: Budget | None = None,
) -> Judge:
    overridden = settings.overrides() | {
        "template": resolve_suite_template(suite, settings.template),
        "template_folders": (*template_folders, *suite_template_folders(suite)),
        "frozen": frozen,
        "refresh": refresh,
    }
    return configured_judge(
        resolve_suite_model(suite, settings.model),
        JudgeSettings.checked(**overridden),
        cache=cache,
        prices=prices,
        budget=budget,
        name=settings.name,
    )
