"""What a newcomer calls first: the demonstration, a suite to edit, the health of it all."""
