from .added_context import (
    ContextFiller as ContextFiller,
    LongerContextTarget as LongerContextTarget,
)
from .factory import (
    code_of as code_of,
    expand_variables as expand_variables,
    is_code as is_code,
    open_target as open_target,
)
from .prompt import PromptTarget as PromptTarget, TargetPrompt as TargetPrompt
from .recorded_outputs import GivenTarget as GivenTarget, RecordedTarget as RecordedTarget
from .target import Target as Target
