"""Records to messages: templates, schemas, fences, evidence, lint.

Replies are read in `judgekit.prompts.parsing`.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
