"""The same judging by other tools, each in an environment of its own."""
