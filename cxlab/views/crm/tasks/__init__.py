"""Tasks: an organisation's questions, and how the answers come about."""
