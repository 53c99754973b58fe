from .fields import (
    HIGHEST_SIDE_SCORE as HIGHEST_SIDE_SCORE,
    LABEL_KEYS as LABEL_KEYS,
    LOWEST_SIDE_SCORE as LOWEST_SIDE_SCORE,
    MAXIMUM_KEYS as MAXIMUM_KEYS,
    RATIONALE_KEYS as RATIONALE_KEYS,
    SCORE_KEYS as SCORE_KEYS,
    UNREAD_KEYS as UNREAD_KEYS,
    CriterionReply as CriterionReply,
    PairReplyFormat as PairReplyFormat,
    PreferenceReply as PreferenceReply,
    ReplyFormat as ReplyFormat,
    fold_name as fold_name,
)
from .quotation import (
    locate_evidence as locate_evidence,
)
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
    PAIR_FORMATS as PAIR_FORMATS,
    TEXT_FORMATS as TEXT_FORMATS,
    parse_formatted_preference as parse_formatted_preference,
    parse_formatted_reply as parse_formatted_reply,
)
