"""The published CXMArena files into a dataset."""
