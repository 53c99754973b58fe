from .direct import DirectModel as DirectModel
from .litellm import LitellmModel as LitellmModel
