from .inputs import TuneOptions as TuneOptions
from .results import (
    ChangedScore as ChangedScore,
    HeldOutAgreement as HeldOutAgreement,
    HeldOutContrast as HeldOutContrast,
    HeldOutResult as HeldOutResult,
    Tuning as Tuning,
    TuningDecision as TuningDecision,
)
from .search import (
    TunePlan as TunePlan,
    TuningSetup as TuningSetup,
    plan_tuning as plan_tuning,
    prepare_tuning as prepare_tuning,
    run_tuning as run_tuning,
    tune as tune,
    tune_sync as tune_sync,
)
