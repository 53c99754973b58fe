"""The command line `judgekit`, one module for each command.

Start at `main` for the list of commands.
"""
