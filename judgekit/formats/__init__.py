"""Files of other tools as judgekit's records, one module for each shape."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
