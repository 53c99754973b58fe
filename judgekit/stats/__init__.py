"""Numbers in, estimates out; knows no record, reads no file."""
