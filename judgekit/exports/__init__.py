"""The forms of other tools in which a run can be written, one file for each."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
