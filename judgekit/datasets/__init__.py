"""Files become records here, with errors that name the file, the line and the remedy."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
