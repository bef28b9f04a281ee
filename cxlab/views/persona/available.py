"""What there is to choose from in the Persona lab: tasks, and the models that can be asked or of which talks are
stored."""

from collections.abc import Mapping, Sequence

from cxlab.benchmarks.mmtaup2.live import live_tasks
from cxlab.benchmarks.mmtaup2.tasks import Task
from cxlab.ui.labels import label
from cxlab.views.persona.choices import AvailableChoices
from cxlab.views.persona.claims import list_pairs

DOMAINS = {"telecom": "Telecom: a phone that does not work", "retail": "Retail: orders of a shop"}
_SHOWN_FIRST = {"telecom": "overdue_bill_suspension", "retail": "cancel_order"}


def list_available(
    source: str, sources: dict[str, str], agents: Sequence[str], customers: Sequence[str], lines: dict[str, str],
    lacks: dict[str, str],
) -> AvailableChoices:  # fmt: skip
    """What there is to choose from of the tasks of one source; `agents` and `customers` are those that can be asked."""
    known = {name: live_tasks.cases(name, source) for name in live_tasks.domains(source)}
    cases = {name: live_tasks.titles(tasks) for name, tasks in known.items()}
    usual = {name: _pick_usual(name, tasks) for name, tasks in known.items()}
    # What is stored can be shown where its models cannot be asked.
    pairs = list_pairs()
    playing, calling = (
        {name: label(name) for name in [*here, *(pair[place] for pair in pairs)]}
        for place, here in enumerate((agents, customers))
    )
    absent = (playing.keys() | calling.keys()) - {*agents, *customers}
    return AvailableChoices(sources, DOMAINS, cases, usual, playing, calling, lines, lacks, frozenset(absent))


def _pick_usual(domain: str, tasks: Mapping[str, Task]) -> str:
    """The task that is shown where nobody chose one: the simplest that the agent can solve by itself."""
    ranks = {id: (task.transfer_right, _SHOWN_FIRST[domain] not in id) for id, task in tasks.items()}
    return min(ranks, key=ranks.__getitem__)
