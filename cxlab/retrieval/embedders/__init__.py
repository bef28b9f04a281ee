"""Embedders turn texts into vectors: by hashing, a model on this machine or a server; the vectors are kept."""
