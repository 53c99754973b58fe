"""Compares a judge with human labels: agreement, confidence, correction, maps.

What to label next.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
