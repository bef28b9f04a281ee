"""The libraries that our figures are held against, imported when first used.

Every worker collects every file: what is imported at the top is paid for by each of them.
"""

import importlib
from typing import Any


class Late:
    """A module that is imported when something of it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("_", "pytest")):
            raise AttributeError(name)  # asked by pytest while it collects, of whatever stands in a test file
        return getattr(importlib.import_module(self._name), name)


sk = Late("sklearn.metrics")
stats = Late("scipy.stats")
krippendorff = Late("krippendorff")
