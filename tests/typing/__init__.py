"""Calls as the docs write them, for type checkers without a plugin: checked, never run."""
