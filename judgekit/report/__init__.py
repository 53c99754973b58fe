"""Results as people and programs read them: terminal tables, pages, JSON and data files."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
