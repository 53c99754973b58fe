"""Public labelled sets: what there is, fetching it from its source, and turning it into rows."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
