"""Other people's conversations, and the published benchmark's three files."""

from cxlab.benchmarks.cdr.importers.cdr_files import CdrFiles, read_cdr_files

__all__ = ["CdrFiles", "read_cdr_files"]
