"""Probes a judge for biases: each probe gives effects with intervals and a verdict."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
