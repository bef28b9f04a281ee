"""The commands of `python -m cxlab`; each imports what it needs when it is called, so that --help is quick."""
