"""Samples of the six tasks, made from a generated dataset and validated."""
