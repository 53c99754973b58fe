"""Reads a judge's reply into scores or preferences, or says why it cannot; nothing is guessed."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
