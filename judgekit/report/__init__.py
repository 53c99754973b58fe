"""Results to what people and programs read: terminal tables and files."""
