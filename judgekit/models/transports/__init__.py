"""The ways to a named model, which `judgekit.models.transport` chooses from."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
