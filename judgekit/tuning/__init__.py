"""Tunes a judge on human labels and confirms the choice on held-out cases."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
