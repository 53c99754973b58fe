"""Grades outputs that were judged before with another judge, and says what that changes."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
