from .comparison import (
    MEASURED_BY_FILE as MEASURED_BY_FILE,
    CriterionShift as CriterionShift,
    PairedVerdict as PairedVerdict,
    Rejudged as Rejudged,
    SegmentChange as SegmentChange,
    check_same_rubric as check_same_rubric,
    compare_verdicts as compare_verdicts,
    pair_verdicts as pair_verdicts,
    read_verdicts as read_verdicts,
)
from .run import (
    check_judged as check_judged,
    compare_runs as compare_runs,
    describe_calibration as describe_calibration,
    describe_file_calibration as describe_file_calibration,
    describe_run_calibration as describe_run_calibration,
    new_rejudgment as new_rejudgment,
    original_run as original_run,
    plan_rejudgment as plan_rejudgment,
    rejudge as rejudge,
    rejudge_run as rejudge_run,
    rejudge_sync as rejudge_sync,
)
