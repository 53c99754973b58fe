"""Language models behind one protocol: requests, transports, cache, limits, prices and budget."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
