"""Searching what was said by words: each in all its forms, all of them in one message, and what is in quotes as it
is."""
