"""The nouns: frozen, validated records that every room passes to the next.

No I/O, except that an image which is named by its path is read.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
