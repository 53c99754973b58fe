"""Files of other tools as judgekit's records, one module for each shape."""
