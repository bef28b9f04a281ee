"""Conversations: personas, plans, wordings, grounding, and the noise of channels."""
