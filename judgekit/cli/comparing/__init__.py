"""Two variants and more, blind; and approving the better one."""
