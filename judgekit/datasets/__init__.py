"""Files become records here, with errors that name the file, the line and the remedy."""
