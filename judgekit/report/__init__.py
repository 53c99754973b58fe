"""Results as documents: terminal text, pages, Markdown, JSON and data files."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
