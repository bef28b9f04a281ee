"""Agent traces: attempts at an organisation's questions, and one of them step by step."""
