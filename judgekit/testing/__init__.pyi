from .chaos import ChaosServer as ChaosServer
from .fake_models import (
    BiasedModel as BiasedModel,
    Biases as Biases,
    Faults as Faults,
    FlawedModel as FlawedModel,
    ScriptedModel as ScriptedModel,
)
from .flawed_files import FlawedFiles as FlawedFiles
from .server_replies import (
    SERVER_FAULTS as SERVER_FAULTS,
    ServedReply as ServedReply,
    ServedRequest as ServedRequest,
)
