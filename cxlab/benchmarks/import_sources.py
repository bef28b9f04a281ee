"""All sources that files can be imported from: those of no benchmark, then each benchmark's own."""

from cxlab.benchmarks import REGISTRY
from cxlab.errors import UnknownName
from cxlab.importers import runs, transcripts
from cxlab.importers.importer import Importer


def list_sources() -> dict[str, Importer]:
    """Id → importer, in the order of the registry, what belongs to none last.

    The command line and the Datasets page offer just these: `title` names the source, `takes` says what the path is,
    `Options.switches()` are the widgets or flags, `read(path, Options.read(values))` reads without storing anything,
    then `save()` stores and `report()` tells.
    """
    found = {each.id: each for name in REGISTRY for each in REGISTRY[name].importers}
    return {**found, transcripts.IMPORTER.id: transcripts.IMPORTER, runs.IMPORTER.id: runs.IMPORTER}


def find_source(name: str) -> Importer:
    """The source of that id; raises UnknownName."""
    sources = list_sources()
    if name not in sources:
        raise UnknownName("source", name, sources)
    return sources[name]
