"""The published task files and the SQLite copies of the original organisation."""

from pathlib import Path

from pydantic import Field

from cxlab.importers.importer import Imported, Importer
from cxlab.records.settings import Settings


class PublishedOptions(Settings):
    """The two files, where they are named one by one."""

    # A page takes files below its import root alone, as the path.
    tasks: str = Field("", description="The published task file.", json_schema_extra={"on_page": False})
    org: str = Field("", description="The organisation, a SQLite file.", json_schema_extra={"on_page": False})


def _read(path: Path, options: PublishedOptions) -> Imported:
    from cxlab.benchmarks.crmarena.importers import published
    from cxlab.errors import BadOption

    if options.tasks or options.org:
        raise BadOption("import crmarena: give one path, or --tasks and --org, not both")
    return published.read_folder_or_file(path)


def _read_named(options: PublishedOptions) -> Imported:
    from cxlab.benchmarks.crmarena.importers import published

    return published.read(Path(options.tasks) if options.tasks else None, Path(options.org) if options.org else None)


IMPORTERS = (
    Importer(
        id="crmarena",
        title="CRMArena's published tasks and organisation",
        takes="a folder with the task file and the SQLite file of the organisation, or one of them",
        read=_read,
        Options=PublishedOptions,
        read_named=_read_named,
    ),
)
