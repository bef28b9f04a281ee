"""A brand: its pack, its facts, and the check of both."""
