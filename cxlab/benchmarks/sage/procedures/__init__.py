"""Procedure files: their check, their text for prompts, and prose made into them."""
