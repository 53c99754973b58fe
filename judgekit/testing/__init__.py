"""Fakes for tests: models that judge by a script, with faults or biases, a server, flawed files.

The product imports none of it.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
