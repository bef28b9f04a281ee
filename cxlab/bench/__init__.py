"""The programs that measure CX Lab itself: python -m cxlab bench NAME."""
