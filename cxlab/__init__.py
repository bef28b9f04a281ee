"""CX Lab: find out what customer-experience agents really do."""

__version__ = "0.1.0"
