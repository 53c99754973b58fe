"""One module for each published set: its authors' files into joined rows."""
