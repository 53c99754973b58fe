"""Statistics: numbers in, estimates out.

Knows no record and reads no file. What holds for every function, and is not repeated at each:

- None, nan and what a mask hides are missing: they are left out and counted. Sequences that belong
  together have one length and one order; an index of pandas is ignored, and a frame is read by its
  rows. `Values` are such a sequence or an array of numbers. `clusters` names the case (prompt,
  document) of each observation.
- ValueError: an argument lies outside the range its description states, a name is unknown, lengths
  differ, or a number is infinite.
- NotEnoughDataError: nothing known is left. A docstring names it where more than that is needed.
- What is undefined is nan, and `reason` says why; no interval has width 0. `note` is a caveat.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
