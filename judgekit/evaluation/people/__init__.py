"""What persons are asked and say: queues, dialogue, label files."""
