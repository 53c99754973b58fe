"""The forms of other tools in which a run can be written, one file for each."""
