"""Public labelled sets: what there is, fetching it from its source, and turning it into rows."""
