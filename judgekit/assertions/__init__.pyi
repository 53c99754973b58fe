from .builtin.budgets import judge_score as judge_score
from .builtin.text import is_refusal as is_refusal
from .builtin.text_similarity import (
    LEXICAL as LEXICAL,
    SIMILAR_ASSERTION as SIMILAR_ASSERTION,
    WORDLLAMA as WORDLLAMA,
    SimilaritySettings as SimilaritySettings,
    reference_text as reference_text,
    similar_entry as similar_entry,
)
from .builtin.variants import JUDGED_CHOICE as JUDGED_CHOICE, PENDING_CHOICE as PENDING_CHOICE
from .registry import (
    SYNONYMS as SYNONYMS,
    NotApplicableError as NotApplicableError,
    UndecidedError as UndecidedError,
    assertion as assertion,
    assertion_registry as assertion_registry,
    compares_variants as compares_variants,
    full_name as full_name,
    scorer as scorer,
    scorer_registry as scorer_registry,
)
from .runner import (
    evaluate_assertions as evaluate_assertions,
    every_assertion as every_assertion,
    read_scorers as read_scorers,
    score_output as score_output,
    validate_dataset as validate_dataset,
)
from .scripts import (
    CODE_PREFIX as CODE_PREFIX,
    CodeCall as CodeCall,
    ScriptFailedError as ScriptFailedError,
    ScriptSettings as ScriptSettings,
    code_context as code_context,
    find_script as find_script,
    named_scripts as named_scripts,
    run_code as run_code,
    script_entries as script_entries,
    tests_by_code as tests_by_code,
    with_scripts as with_scripts,
)
from .selection import text_of as text_of
from .spec import check_specs as check_specs, read_specs as read_specs
from .strategies import (
    PROFILES as PROFILES,
    SIMILARITY as SIMILARITY,
    EvaluationPlan as EvaluationPlan,
    EvaluationProfile as EvaluationProfile,
    StrategyOutcome as StrategyOutcome,
    combine_outcomes as combine_outcomes,
    plan_evaluation as plan_evaluation,
)
from .transforms import (
    CODE_STEP as CODE_STEP,
    IS_TRANSFORMED as IS_TRANSFORMED,
    transform_output as transform_output,
)
