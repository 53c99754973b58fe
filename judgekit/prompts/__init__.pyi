from .analysis import (
    AnalysisReply as AnalysisReply,
    AnalysisTemplate as AnalysisTemplate,
    analysis_schema as analysis_schema,
    parse_analysis as parse_analysis,
)
from .conversation import (
    IMAGE_MARKER as IMAGE_MARKER,
    ConversationPart as ConversationPart,
    assistant_turns as assistant_turns,
    chat_messages as chat_messages,
    whole_conversation as whole_conversation,
)
from .environment import (
    CompiledTemplate as CompiledTemplate,
    TemplateLimitError as TemplateLimitError,
    make_environment as make_environment,
)
from .fences import (
    fence_text as fence_text,
    judged_text as judged_text,
    output_flags as output_flags,
    pairwise_text as pairwise_text,
    steps_text as steps_text,
    to_text as to_text,
)
from .messages import (
    OVERALL_KEY as OVERALL_KEY,
    SLOT_LABELS as SLOT_LABELS,
    JudgePrompt as JudgePrompt,
    PairTemplate as PairTemplate,
    PromptTemplate as PromptTemplate,
    case_texts as case_texts,
    draw_labels as draw_labels,
    scale_words as scale_words,
)
from .parsing import locate_evidence as locate_evidence
from .redaction import WITHHELD_NAME as WITHHELD_NAME, Redaction as Redaction, scrub as scrub
from .rubric_lint import Flaw as Flaw, lint_rubric as lint_rubric
from .template_lint import lint_partial as lint_partial, lint_template as lint_template
from .templates import (
    TemplateHeader as TemplateHeader,
    find_template as find_template,
    is_pair_template as is_pair_template,
    pair_template_names as pair_template_names,
    template_names as template_names,
)
