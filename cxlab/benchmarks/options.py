"""The settings that a benchmark subclasses: `Options` of a run, `GenerateOptions` of a dataset."""

from cxlab.records.settings import Settings


class Options(Settings):
    """The switches of a run; a benchmark without any uses this class as it is."""


class GenerateOptions(Settings):
    """The settings of a dataset; each is a flag of `python -m cxlab generate`."""
