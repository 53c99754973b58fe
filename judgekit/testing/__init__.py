"""Models that play judges in tests: scripted, flawed and biased. The product imports none of it."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
