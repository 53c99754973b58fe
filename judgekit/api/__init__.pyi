from .functions import (
    compare as compare,
    compare_sync as compare_sync,
    grade as grade,
    grade_sync as grade_sync,
    rank as rank,
    rank_sync as rank_sync,
)
from .presentation import Presentation as Presentation, present as present
from .results import ComparisonResults as ComparisonResults, GradingResults as GradingResults
