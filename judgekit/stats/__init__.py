"""Statistics: numbers in, estimates out.

Knows no record and reads no file.
"""
