"""The commands of the reply cache."""
