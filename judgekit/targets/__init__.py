"""What answers cases: recorded outputs, a prompt, a command, a Python function, an endpoint."""
