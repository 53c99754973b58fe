"""Cases to observations: answers, checks and judgments, each kept as it arrives."""
