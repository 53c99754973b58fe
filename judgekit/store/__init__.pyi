from .catalog import (
    COMPARISON_OUTPUTS_SUFFIX as COMPARISON_OUTPUTS_SUFFIX,
    LATEST_RUN as LATEST_RUN,
    CaseFilter as CaseFilter,
    StoredJudgment as StoredJudgment,
    StoredRuns as StoredRuns,
)
from .comparisons import (
    LATEST_COMPARISON as LATEST_COMPARISON,
    StoredComparisons as StoredComparisons,
)
from .database import NOTHING_STORED as NOTHING_STORED, locate_database as locate_database
from .observations import SupersededObservation as SupersededObservation
from .results import AnswerProgress as AnswerProgress, VariantProgress as VariantProgress
from .runs import RunStore as RunStore, temporary_store as temporary_store
