"""tau2-bench's tasks into a dataset, its result files into a run, its submissions into published figures."""

from pathlib import Path
from typing import Any

from pydantic import Field

from cxlab.importers.importer import Imported, Importer
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


def _read_results(path: Path, options: Any) -> Imported:
    from cxlab.benchmarks.mmtaup2.importers import tau2_results

    del options
    return tau2_results.read_file(path)


def _read_submissions(path: Path, options: Any) -> Imported:
    from cxlab.benchmarks.mmtaup2.importers import tau2_submissions

    del options
    return tau2_submissions.read_submissions(path)


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
        read=_read_results,
    ),
    Importer(
        id="tau2-submissions",
        title="tau2-bench's leaderboard",
        takes="a submission.json, or a folder with several below it; becomes published figures",
        read=_read_submissions,
    ),
)
