"""Grades outputs that were judged before with another judge, and says what that changes."""
