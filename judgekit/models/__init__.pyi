from .budget import Budget as Budget
from .cached_model import CachedModel as CachedModel, Refresh as Refresh
from .embeddings import Embeddings as Embeddings, open_embeddings as open_embeddings
from .error_mapping import (
    REDACTED as REDACTED,
    key_variable as key_variable,
    mask_secrets as mask_secrets,
    redact as redact,
    refuse_secret_address as refuse_secret_address,
    refuse_secret_parameters as refuse_secret_parameters,
    secret_forms as secret_forms,
)
from .factory import Connection as Connection, check_together as check_together, connect as connect
from .local import (
    SMOKE_NOTICE as SMOKE_NOTICE,
    WEIGHTS_VARIABLE as WEIGHTS_VARIABLE,
    is_smoke_name as is_smoke_name,
    local_weights as local_weights,
)
from .logprobs import (
    ChoiceDistribution as ChoiceDistribution,
    ScoreDistribution as ScoreDistribution,
    choice_distribution as choice_distribution,
    score_distribution as score_distribution,
)
from .pricing import (
    BATCH_PRICE_SHARE as BATCH_PRICE_SHARE,
    BATCH_PROVIDERS as BATCH_PROVIDERS,
    ModelPrice as ModelPrice,
    PriceTable as PriceTable,
    can_batch as can_batch,
    count_messages as count_messages,
    count_tokens as count_tokens,
    token_source as token_source,
)
from .rate_limit import LimitedModel as LimitedModel
from .recorded_replies import RecordedModel as RecordedModel
from .request import (
    ModelReply as ModelReply,
    ModelRequest as ModelRequest,
    transport_names as transport_names,
)
from .shared_limits import (
    LimitsClient as LimitsClient,
    LostProcessError as LostProcessError,
    ProcessHandle as ProcessHandle,
    SharedBudget as SharedBudget,
    SharedLimits as SharedLimits,
    open_budget as open_budget,
)
from .simulated_judge import (
    PREFERENCE_CHOICES as PREFERENCE_CHOICES,
    BiasedModel as BiasedModel,
    Biases as Biases,
    InjectedGoal as InjectedGoal,
    OutputValue as OutputValue,
    SchemaFiller as SchemaFiller,
    allowed_scores as allowed_scores,
    contains_instruction as contains_instruction,
    fenced_outputs as fenced_outputs,
    nearest_score as nearest_score,
    typed_score as typed_score,
)
