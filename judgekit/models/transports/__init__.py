"""The ways to a named model: one module is one transport, and `--transport` takes its name.

To add a transport, put a module here that holds a `Transport`. `judgekit.models.request` finds it
and says what it must offer.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
