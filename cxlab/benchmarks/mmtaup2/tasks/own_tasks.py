"""Our own tasks of a domain, drawn from its issues."""

from cxlab.benchmarks.mmtaup2 import worlds
from cxlab.benchmarks.mmtaup2.tasks.task import Task
from cxlab.errors import BadOption, UnknownName


def make(domain: str, seed: int, count: int) -> list[Task]:
    """Tasks of our own on a generated world; the same seed and count give the same tasks."""
    if count < 1:
        raise BadOption(f"number of tasks {count}: must be at least 1")
    match domain:
        case "telecom":
            from cxlab.benchmarks.mmtaup2.tasks import telecom_tasks

            return telecom_tasks.make(seed, count)
        case "retail":
            from cxlab.benchmarks.mmtaup2.tasks import retail_tasks

            return retail_tasks.make(seed, count)
    raise UnknownName("domain", domain, worlds.DOMAINS)
