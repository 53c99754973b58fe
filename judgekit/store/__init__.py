"""The memory of quality: what was observed in every run, in SQLite or PostgreSQL, for ever."""
