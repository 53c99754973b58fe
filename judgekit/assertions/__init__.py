"""Checks that need no model: assertions (yes or no) and scorers (a number on [0, 1])."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
