"""The prompts of the agents under test."""
