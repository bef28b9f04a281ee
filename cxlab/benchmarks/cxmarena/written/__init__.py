"""Brands written by hand: their files read, proven and made into datasets, without any model."""
