from .agreement import Steadiness as Steadiness, coefficient_difference as coefficient_difference
from .annotators import (
    AnnotatorAgreement as AnnotatorAgreement,
    AnnotatorHabits as AnnotatorHabits,
    Conflict as Conflict,
    LabelKey as LabelKey,
    MergedLabels as MergedLabels,
    merge_labels as merge_labels,
)
from .breakdown import Disagreement as Disagreement, Segment as Segment
from .comparison_labels import (
    LabelledComparison as LabelledComparison,
    check_winner_labels as check_winner_labels,
    correct_scores as correct_scores,
    correct_wins as correct_wins,
    labels_of_sides as labels_of_sides,
)
from .confidence import (
    Reliability as Reliability,
    Review as Review,
    Trust as Trust,
    random_key as random_key,
)
from .correction import CorrectedFigure as CorrectedFigure, LabelBudget as LabelBudget
from .coverage import (
    LabelCoverage as LabelCoverage,
    LabelledShare as LabelledShare,
    cover_outputs as cover_outputs,
    cover_pairs as cover_pairs,
)
from .files import iter_verdicts as iter_verdicts, read_judged_file as read_judged_file
from .inputs import (
    CLUSTER_BY_CASE as CLUSTER_BY_CASE,
    CLUSTER_BY_ITEM as CLUSTER_BY_ITEM,
    Alignment as Alignment,
    CalibrationOptions as CalibrationOptions,
    Groups as Groups,
    OutputKey as OutputKey,
    PairwiseData as PairwiseData,
    PointwiseData as PointwiseData,
    Rightness as Rightness,
    cluster_of as cluster_of,
    groups_of as groups_of,
    output_key as output_key,
    pair_key as pair_key,
)
from .items import (
    AlignedItems as AlignedItems,
    JudgedItem as JudgedItem,
    clustered_estimate as clustered_estimate,
    clustered_mean as clustered_mean,
    estimate_or_undefined as estimate_or_undefined,
    level_of as level_of,
    mean_rating as mean_rating,
)
from .join import (
    WHOLE_OUTPUT as WHOLE_OUTPUT,
    LabelMatcher as LabelMatcher,
    add_metadata as add_metadata,
    align_items as align_items,
    label_problems as label_problems,
)
from .packets import (
    PACKET_FIELD as PACKET_FIELD,
    SLOT_FIELD as SLOT_FIELD,
    PacketChoice as PacketChoice,
    PairSource as PairSource,
    ResolvedLabels as ResolvedLabels,
    draw_packet as draw_packet,
    draw_pair_packet as draw_pair_packet,
    hidden_names as hidden_names,
    packet_of as packet_of,
    pair_source as pair_source,
    read_label_files as read_label_files,
    resolve_labels as resolve_labels,
    store_labels as store_labels,
)
from .report import (
    CalibrationReport as CalibrationReport,
    CriterionCalibration as CriterionCalibration,
    calibrate as calibrate,
    calibrate_and_release as calibrate_and_release,
)
from .sources import (
    RecordedReplies as RecordedReplies,
    judged_from_grading as judged_from_grading,
    judged_from_records as judged_from_records,
    judged_from_replies as judged_from_replies,
    judged_from_run as judged_from_run,
    load_recorded_replies as load_recorded_replies,
    read_replies as read_replies,
    whole_rubric as whole_rubric,
)
from .substitution import StandInAnswer as StandInAnswer
