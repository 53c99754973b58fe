"""The systems under test, from recorded outputs to an HTTP endpoint.

See `target` for their interface and `factory` for how a variant becomes one.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
