from .aggregate import conclude as conclude, passes_by_votes as passes_by_votes
from .calibration import (
    apply_calibration as apply_calibration,
    calibration_in_use as calibration_in_use,
    criterion_edits as criterion_edits,
    format_measurement as format_measurement,
    judge_changes as judge_changes,
    panel_configuration as panel_configuration,
    portable_judge_name as portable_judge_name,
)
from .gate import (
    TIERS as TIERS,
    GateOutcome as GateOutcome,
    all_passed as all_passed,
    assertion_share as assertion_share,
    check_drop as check_drop,
    check_value as check_value,
)
from .panel import (
    is_confident as is_confident,
    is_sure_of as is_sure_of,
    weighted_mean as weighted_mean,
    with_repeat_confidence as with_repeat_confidence,
)
from .swap import (
    Reconciliation as Reconciliation,
    Vote as Vote,
    conclude_comparison as conclude_comparison,
    reconcile as reconcile,
)
