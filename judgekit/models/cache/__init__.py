"""The reply cache stores every reply that was paid for under the fingerprint of its request."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
