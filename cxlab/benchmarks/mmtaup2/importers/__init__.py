"""tau2-bench's tasks into a dataset, its result files into a run, its submissions into published figures."""

from pathlib import Path

from pydantic import Field

from cxlab.importers.importer import Imported, Importer, read_late
from cxlab.records.settings import Settings


class TaskOptions(Settings):
    """What is done beside reading."""

    check: bool = Field(False, description="Replay the gold actions on our worlds.")


def _read_tasks(path: Path, options: TaskOptions) -> Imported:
    from cxlab.benchmarks.mmtaup2.importers import tau2

    found = tau2.read_folder(path)
    if options.check:
        found.replay = tau2.check_gold(found)
    return found


IMPORTERS = (
    Importer(
        id="tau2",
        title="tau2-bench's tasks",
        takes="the folder that holds its telecom and retail folders",
        read=_read_tasks,
        Options=TaskOptions,
    ),
    Importer(
        id="tau2-results",
        title="tau2-bench's results",
        takes="a results.json, or the folder that it lies in; becomes a run",
        read=read_late("cxlab.benchmarks.mmtaup2.importers.tau2_results:read_file"),
    ),
    Importer(
        id="tau2-submissions",
        title="tau2-bench's leaderboard",
        takes="a submission.json, or a folder with several below it; becomes published figures",
        read=read_late("cxlab.benchmarks.mmtaup2.importers.tau2_submissions:read_submissions"),
    ),
)
