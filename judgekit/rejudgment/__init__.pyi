from .comparison import (
    CriterionShift as CriterionShift,
    JudgedSide as JudgedSide,
    PairedVerdict as PairedVerdict,
    Rejudged as Rejudged,
    compare_verdicts as compare_verdicts,
    pair_verdicts as pair_verdicts,
    read_verdicts as read_verdicts,
)
from .run import (
    compare_runs as compare_runs,
    describe_calibration as describe_calibration,
    describe_file_calibration as describe_file_calibration,
    describe_run_calibration as describe_run_calibration,
    new_rejudgment as new_rejudgment,
    original_run as original_run,
    rejudge as rejudge,
    rejudge_run as rejudge_run,
    rejudge_sync as rejudge_sync,
)
