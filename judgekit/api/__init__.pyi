from .grading import grade as grade, grade_sync as grade_sync
from .multiway import rank as rank, rank_sync as rank_sync
from .pairwise_comparison import compare as compare, compare_sync as compare_sync
from .presentation import Presentation as Presentation, present as present
from .results import ComparisonResults as ComparisonResults, GradingResults as GradingResults
