"""The version of stored records, and what an older or a newer one means."""

from typing import Annotated

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

FILE_VERSION = 4
"""Of the files of runs and datasets; those that name none are of the first, and migrated before they are read."""


def _readable(version: int) -> int:
    if version > FILE_VERSION:
        raise PydanticCustomError(
            "newer_version",
            "is of version {version}, this CX Lab knows versions up to {known}; update CX Lab",
            {"version": version, "known": FILE_VERSION},
        )
    return version


Version = Annotated[int, AfterValidator(_readable)]
