"""What there is to choose from in the Persona lab: tasks, and the models that can be asked or of which talks are
stored."""

from collections.abc import Sequence

from cxlab.benchmarks.mmtaup2.live import live_tasks
from cxlab.ui.labels import label
from cxlab.views.persona.choices import AvailableChoices
from cxlab.views.persona.claims import list_pairs

DOMAINS = {"telecom": "Telecom: a phone that does not work", "retail": "Retail: orders of a shop"}
_SHOWN_FIRST = {"telecom": "lock_sim_card_pin", "retail": "cancel_order"}


def list_available(
    source: str, sources: dict[str, str], agents: Sequence[str], customers: Sequence[str], lines: dict[str, str],
    lacks: dict[str, str],
) -> AvailableChoices:  # fmt: skip
    """What there is to choose from of the tasks of one source; `agents` and `customers` are those that can be asked."""
    cases = {name: live_tasks.titles(live_tasks.cases(name, source)) for name in live_tasks.domains(source)}
    usual = {
        name: next((id for id in known if _SHOWN_FIRST[name] in id), next(iter(known))) for name, known in cases.items()
    }
    # What is stored can be shown where its models cannot be asked.
    pairs = list_pairs()
    playing, calling = (
        {name: label(name) for name in [*here, *(pair[place] for pair in pairs)]}
        for place, here in enumerate((agents, customers))
    )
    absent = (playing.keys() | calling.keys()) - {*agents, *customers}
    return AvailableChoices(sources, DOMAINS, cases, usual, playing, calling, lines, lacks, frozenset(absent))
