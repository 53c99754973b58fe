from .criteria import (
    parse_criterion_replies as parse_criterion_replies,
)
from .fields import (
    LABEL_KEYS as LABEL_KEYS,
    MAXIMUM_KEYS as MAXIMUM_KEYS,
    RATIONALE_KEYS as RATIONALE_KEYS,
    SCORE_KEYS as SCORE_KEYS,
    UNREAD_KEYS as UNREAD_KEYS,
    PairReplyFormat as PairReplyFormat,
    ReplyFormat as ReplyFormat,
    fold_name as fold_name,
)
from .pairwise import (
    parse_formatted_preference as parse_formatted_preference,
    parse_preferences as parse_preferences,
)
from .resolve import (
    is_cut_off as is_cut_off,
    parse_reply as parse_reply,
    require_text as require_text,
)
from .strict import (
    HIGHEST_SIDE_SCORE as HIGHEST_SIDE_SCORE,
    LOWEST_SIDE_SCORE as LOWEST_SIDE_SCORE,
    CriterionReply as CriterionReply,
    PreferenceReply as PreferenceReply,
)
from .text_formats import (
    TEXT_FORMATS as TEXT_FORMATS,
    parse_formatted_reply as parse_formatted_reply,
)
