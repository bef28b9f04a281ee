"""Other people's files: the published benchmark's three."""

from cxlab.benchmarks.cdr.importers.cdr_files import CdrFiles, read_cdr_files

__all__ = ["CdrFiles", "read_cdr_files"]
