from .fake_models import (
    ScriptedModel as ScriptedModel,
)
