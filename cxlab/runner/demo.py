"""The demo: what a newcomer sees first, built from simulated models alone."""

from cxlab.records import Run
from cxlab.runner.loaded_run import folder_of, open_run
from cxlab.runner.lock import hold_run
from cxlab.runner.request import RunRequest, create_runs, generate_dataset
from cxlab.store import home, trash, write

GROUP = "demo"
MODELS = tuple(f"simulated:{name}" for name in ("strong", "base", "weak", "eloquent", "curt", "floor"))
CUSTOMER = "simulated:customer"
JUDGES = tuple(f"simulated:{name}" for name in ("judge-strict", "judge-lenient", "judge-partial"))
REQUEST = RunRequest("sage", MODELS, CUSTOMER, JUDGES)
"""All leaves x levels of SAGE: the benchmark's own dataset."""


def prepare_demo(force: bool) -> tuple[list[str], int]:
    """The demo's runs, created where they are missing, and how many attempts are left to make.

    Runs on a dataset that is no longer the benchmark's own (a scenario was edited) are left alone and new
    ones made. `force` moves the present ones to the trash first.
    """
    dataset, _ = generate_dataset(REQUEST)
    present = [run for run in list_demo_runs() if run.dataset_id == dataset.id]
    if force:
        for run in present:
            with hold_run(folder_of(run.id)):
                trash.delete("run", run.id)
        present = []
    have = {run.model: run for run in reversed(present)}
    missing = tuple(model for model in MODELS if model not in have)
    if missing:
        order = RunRequest(REQUEST.benchmark, missing, CUSTOMER, JUDGES)
        have |= {run.model: run for run in create_runs(order, group=GROUP)}
    ids = [have[model].id for model in MODELS]
    left = sum(len(open_run(run_id).pairs) - len(write.finished(run_id)) for run_id in ids)
    return ids, left


def list_demo_runs() -> list[Run]:
    """All demo runs in the store, newest first."""
    return [run for run in write.list_runs() if run.group == GROUP] if (home() / "runs").exists() else []
