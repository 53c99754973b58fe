"""What judgekit is made to survive, and what is counted: `python -m tests.chaos`."""
