"""Checks that need no model: assertions (yes or no) and scorers (a number on [0, 1])."""
