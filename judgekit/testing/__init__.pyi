from .fake_models import (
    BiasedModel as BiasedModel,
    Biases as Biases,
    Faults as Faults,
    FlawedModel as FlawedModel,
    ScriptedModel as ScriptedModel,
)
