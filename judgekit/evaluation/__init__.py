"""Where the parts meet: grades many outputs, sums up, and plans before anything is paid."""
