"""The store of runs and comparisons, in SQLite or PostgreSQL.

Observations are added and never altered.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
