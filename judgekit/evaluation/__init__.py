"""Where the parts meet: grades many outputs, sums up, and plans before anything is paid."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
