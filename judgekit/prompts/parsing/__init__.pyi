from .fields import (
    FEWEST_REASON_WORDS as FEWEST_REASON_WORDS,
    HIGHEST_SIDE_SCORE as HIGHEST_SIDE_SCORE,
    LABEL_KEYS as LABEL_KEYS,
    LOWEST_SIDE_SCORE as LOWEST_SIDE_SCORE,
    MAXIMUM_KEYS as MAXIMUM_KEYS,
    NO_RATIONALE as NO_RATIONALE,
    RATIONALE_KEYS as RATIONALE_KEYS,
    SCORE_KEYS as SCORE_KEYS,
    UNREAD_KEYS as UNREAD_KEYS,
    CriterionReply as CriterionReply,
    PairReplyFormat as PairReplyFormat,
    PreferenceReply as PreferenceReply,
    ReplyFormat as ReplyFormat,
    count_words as count_words,
    fold_name as fold_name,
)
from .pair_formats import (
    PAIR_FORMATS as PAIR_FORMATS,
    parse_formatted_preference as parse_formatted_preference,
)
from .quotation import locate_evidence as locate_evidence, may_hold_verdict as may_hold_verdict
from .resolve import (
    is_cut_off as is_cut_off,
    parse_reply as parse_reply,
    require_text as require_text,
)
from .strict import (
    parse_criterion_replies as parse_criterion_replies,
    parse_preferences as parse_preferences,
)
from .text_formats import (
    TEXT_FORMATS as TEXT_FORMATS,
    parse_formatted_reply as parse_formatted_reply,
)
