from .analysis import Analyst as Analyst
from .concurrency import SyncRunner as SyncRunner, synchronous as synchronous
from .exchange import (
    UNASKED_FAILURE_KINDS as UNASKED_FAILURE_KINDS,
    JudgeQuestion as JudgeQuestion,
    gather_in_order as gather_in_order,
)
from .judge import (
    Judge as Judge,
    check_pair_rule as check_pair_rule,
    configured_judge as configured_judge,
    open_judge as open_judge,
)
from .pairwise import (
    BlindPair as BlindPair,
    Comparer as Comparer,
    PairJudge as PairJudge,
    is_of_cases as is_of_cases,
    prepare_pair as prepare_pair,
    rubric_of_case as rubric_of_case,
    rubric_of_cases as rubric_of_cases,
)
from .panel import JudgePanel as JudgePanel, Panel as Panel, select_criteria as select_criteria
from .pointwise import (
    AnswerKey as AnswerKey,
    Grader as Grader,
    PendingGrading as PendingGrading,
    implied_rubric as implied_rubric,
    judge_by_assertions as judge_by_assertions,
)
