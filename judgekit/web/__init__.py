"""The local viewer: pages of a store, labelling and the editor, served on this machine only."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
