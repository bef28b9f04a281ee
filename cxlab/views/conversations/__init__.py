"""Conversations of a dataset, wherever they are shown."""
