"""The forms a dataset can be written in: judgekit's own and those of other tools."""
