"""The command `judgekit`: options in, rooms called, tables and files out."""
