"""Makes store_3.zip: a small store as the third version of stored files left it, one run and datasets made of others.

Ran with the program of November 2026 before version 4; kept to say where the file is from, not to be run again.
"""

import os
import zipfile
from pathlib import Path

from cxlab.benchmarks.cdr.corpus.dataset import build
from cxlab.benchmarks.cdr.corpus.subset import save_subset
from cxlab.benchmarks.cdr.importers.conversations import CdrImport, read_stored
from cxlab.benchmarks.generation import GenerationContext
from cxlab.benchmarks.generation.stages import finish
from cxlab.benchmarks.sending import send
from cxlab.runner.launch import ExecutionOptions, launch
from cxlab.runner.plan import SampleFilter
from cxlab.runner.request import RunRequest, create_runs
from cxlab.store import write
from cxlab.store.sample_set import save_samples
from tests.benchmarks.cdr.conftest import AREAS, CORPUS, QUERIES, RELEVANT

JUDGES = ("simulated:judge-strict", "simulated:judge-lenient")


def make() -> None:
    """Fill $CXLAB_HOME."""
    dataset, samples, tables = build(
        "Six talks", "imported", CORPUS, QUERIES, RELEVANT, AREAS, config={"share": False}, licence="not to be shared"
    )
    write.save_dataset(dataset, samples, tables=tables)
    part = save_samples(dataset.id, "One question", [samples[0].id], {})
    kept = save_subset(part.id, "Two talks", list(CORPUS)[:2], {"q": "late"})
    again = read_stored(CdrImport.read({"dataset": dataset.id, "filter": False}))
    write.save_dataset(again.dataset, again.samples, tables=again.tables)
    finish(send(kept.id, "domain", {}, GenerationContext(0, None)))
    (run,) = create_runs(RunRequest("cdr", ("retriever:bm25",), dataset_id=part.id))
    launch([run.id], ExecutionOptions(quiet=True, workers=1))
    (run,) = create_runs(
        RunRequest(
            "sage", ("simulated:strong",), customer="simulated:customer", judges=JUDGES, choice=SampleFilter(limit=1)
        )
    )
    launch([run.id], ExecutionOptions(quiet=True, workers=1))


if __name__ == "__main__":
    make()
    home = Path(os.environ["CXLAB_HOME"])
    with zipfile.ZipFile(Path(__file__).with_name("store_3.zip"), "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(home.rglob("*")):
            if path.is_file():
                packed.write(path, path.relative_to(home))
