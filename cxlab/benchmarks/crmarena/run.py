"""Work one sample: an agent asks the organisation, the attempt keeps what it asked and what came of it."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from cxlab.benchmarks.contract import Setup
from cxlab.benchmarks.crmarena import agents
from cxlab.benchmarks.crmarena.agents.toolsets import list_tools
from cxlab.benchmarks.crmarena.live import LiveOrganisation
from cxlab.benchmarks.crmarena.live.connection import Connection
from cxlab.benchmarks.crmarena.live.uploads import read_ids
from cxlab.benchmarks.crmarena.options import CrmOptions
from cxlab.benchmarks.crmarena.organisation.schema_changes import load_of
from cxlab.benchmarks.crmarena.sandbox import COMPATS, Compat, Sandbox
from cxlab.benchmarks.crmarena.tools import GENERIC
from cxlab.records import Attempt, Sample, content_id
from cxlab.store import home, layout, write


async def run(sample: Sample, setup: Setup, trial: int) -> Attempt:
    """One question worked by one agent; `output["answer"]` is what it submitted, as it did (None: nothing), and
    `output["organisation"]` the host of a live organisation.

    The messages are the trace: `agents/episode.py`. It ended by `submit`, by `actions` (none was left), by `stuck`, by
    `unanswered` (the agent's model could not read what it had asked for, or its filter held it back) or by `provider`.
    """
    started = datetime.now(UTC)
    options = CrmOptions.of(setup.options)
    queries = options.framework in ("act", "react")
    asked = _open_live(sample) if options.organisation == "live" else open_sandbox(sample)
    episode = agents.Episode(
        asked,
        str(sample.inputs["query"]),
        frozenset(GENERIC if queries else list_tools(sample.task, options)),
        options.actions,
        options.observation_limit,
    )
    await agents.play(episode, setup.model, sample.inputs, options, setup.seed + trial)
    return Attempt(
        id=content_id(setup.run_id, sample.id, trial),
        run_id=setup.run_id,
        sample_id=sample.id,
        trial=trial,
        messages=tuple(episode.messages),
        output={
            "answer": episode.answer,
            **({"organisation": asked.host} if isinstance(asked, LiveOrganisation) else {}),
        },
        outcome=episode.outcome,
        ended_by=episode.ended_by,
        failures=episode.faults,
        usage=episode.totals.usage,
        latency_s=episode.totals.latency_s,
        cost_usd=episode.totals.cost_usd,
        started=started,
    )


def open_sandbox(sample: Sample, linked: bool = False) -> Sandbox:
    """The sample's organisation on its day, with the tools as its dataset reads them; `linked` for its solver."""
    opened = open_organisation(sample.dataset_id, linked)
    today = sample.inputs.get("today")
    return opened.at(today) if today else opened


def _open_live(sample: Sample) -> LiveOrganisation:
    """The live organisation on the sample's day, with the ids of its dataset."""
    opened = open_live(sample.dataset_id, str(home()))
    today = sample.inputs.get("today")
    return opened.at(today) if today else opened


@functools.lru_cache(maxsize=8)
def open_live(dataset_id: str, folder: str) -> LiveOrganisation:
    """The live organisation that the environment names, with the ids of a stored dataset where it was uploaded."""
    connection = Connection.open()
    ids = read_ids(dataset_id, connection.host, folder)
    schema = load_of(layout.dataset_folder(Path(folder), dataset_id))
    return LiveOrganisation.open(compat=_find_compat(dataset_id, folder), ids=ids, connection=connection, schema=schema)


def open_organisation(dataset_id: str, linked: bool = False) -> Sandbox:
    """The organisation of a stored dataset; BadFile where it has tasks alone."""
    folder = str(home())
    return Sandbox.open(dataset_id, compat=_find_compat(dataset_id, folder), home=folder, linked=linked)


@functools.lru_cache(maxsize=64)
def _find_compat(dataset_id: str, folder: str) -> Compat:
    # A dataset's id is the hash of its content, so what was read once stays as it is.
    given: Compat = write.load_dataset(dataset_id, folder).config.get("compat", COMPATS[0])
    return given


def prepare(samples: Sequence[Sample], options: CrmOptions, model: str) -> Iterator[tuple[int, int, str]]:
    """Open each organisation before anything is asked of a model; a live one is asked how many cases it has."""
    del model
    datasets = list(dict.fromkeys(sample.dataset_id for sample in samples))
    for done, dataset_id in enumerate(datasets, 1):
        if options.organisation == "live":
            open_live.cache_clear()  # credentials and ids may be others by now
            open_live(dataset_id, str(home())).check()
        else:
            open_organisation(dataset_id)
        yield done, len(datasets), "organisations"
