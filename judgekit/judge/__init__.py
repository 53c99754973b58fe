"""Rubric and output to judgments: asks a model, retries unparseable replies.

Says how sure it is.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
