"""The built-in scorers, one a file; each measures one thing of an output on [0, 1]."""
