"""Which names the store has, so that an address that names anything else can be told so."""

from cxlab.read.query import ask
from cxlab.store import write


def names() -> dict[str, frozenset[str]]:
    """The store's names by kind: run, model; dataset, benchmark and task, also those that nobody was evaluated on."""
    rows = ask("SELECT run_id, model, benchmark FROM runs")
    tasks = ask("SELECT task FROM attempts UNION SELECT task FROM samples")
    datasets = write.list_datasets()
    return {
        "run": frozenset(rows["run_id"]),
        "model": frozenset(rows["model"]),
        "dataset": frozenset(each.id for each in datasets),
        "benchmark": frozenset(rows["benchmark"]) | {each.benchmark for each in datasets},
        "task": frozenset(tasks["task"].drop_nulls()),
    }


def runs() -> list[tuple[str, str, str]]:
    """(run, model, benchmark) of each stored run, the oldest first."""
    return ask("SELECT run_id, model, benchmark FROM runs ORDER BY created, run_id").rows()


def has_attempt(run_id: str, attempt_id: str) -> bool:
    """Whether this attempt of this run is stored."""
    found = ask(
        "SELECT 1 FROM attempts WHERE run_id = $run AND attempt_id = $attempt LIMIT 1",
        {"run": run_id, "attempt": attempt_id},
    )
    return not found.is_empty()
