"""The settings that a benchmark subclasses: `Options` of a run, `GenerateOptions` of a dataset."""

from typing import ClassVar

from cxlab.records.settings import Settings


class Options(Settings):
    """The switches of a run; a benchmark without any uses this class as it is."""


class GenerateOptions(Settings):
    """The settings of a dataset; each is a flag of `python -m cxlab generate` and a widget of the page Datasets."""

    making: ClassVar[str] = "Its samples are made and stored under an id that is the hash of their content."
    """What happens while it is made, in a sentence or two."""
