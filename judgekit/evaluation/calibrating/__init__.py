"""A judge held against people: joining, agreement, trust, correction, and what to label next."""
