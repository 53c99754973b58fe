"""The only place that decides value, pass, winner and their bounds from judgments."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
