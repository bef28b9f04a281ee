"""The conditions that a run was made under: what two runs must have in common for their results to be compared."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

import polars as pl

from cxlab.read.query import ask, repeated_runs
from cxlab.records.ids import content_id
from cxlab.records.settings import Switch, show_word, write_word
from cxlab.store import catalogue, layout


@dataclass(frozen=True)
class Conditions:
    """One set of conditions; `id` is the hash of all of it and stands in addresses.

    `parts`: what it is made of as (title, value): dataset, judges, customer and seed (where there is a customer: its
    words follow from the seed), each switch that changes results, prompts (a hash of theirs) and scorer. Not among
    them: the model, how many trials and samples were run, how many at once, the budget and the code's version.
    """

    id: str
    benchmark: str
    dataset: str
    parts: tuple[tuple[str, str], ...]

    def differs(self, other: "Conditions") -> tuple[tuple[str, str, str], ...]:
        """(title, value here, value there) of each part that is not the same; "–" where one side has none."""
        here, there = dict(self.parts), dict(other.parts)
        return tuple(
            (title, here.get(title, "–"), there.get(title, "–"))
            for title in dict.fromkeys([*here, *there])
            if here.get(title, "–") != there.get(title, "–")
        )


def find_differing(known: Mapping[str, Conditions]) -> dict[str, dict[str, str]]:
    """Title → name → value, of each part that is not the same for all; "–" where one has none."""
    parts = {name: dict(each.parts) for name, each in known.items()}
    titles = dict.fromkeys(title for each in parts.values() for title in each)
    found = {title: {name: each.get(title, "–") for name, each in parts.items()} for title in titles}
    return {title: values for title, values in found.items() if len(set(values.values())) > 1}


@dataclass(frozen=True)
class RunConditions:
    """A stored run with its conditions and the attempts that were `planned`. `again`: its attempts stand in
    another run, too (`query.repeated_runs`)."""

    run: str
    model: str
    simulated: bool
    conditions: Conditions
    created: datetime
    with_customer: bool
    again: bool
    planned: int


def of_runs(benchmark: str, switches: Sequence[Switch]) -> dict[str, RunConditions]:
    """The runs of a benchmark by id. `switches` are those that a run of it has: what a run left out is at its
    default."""
    terms = tuple(
        (switch.name, switch.title, switch.usual, switch.compared, tuple(switch.labels.items())) for switch in switches
    )
    return _of_runs(str(layout.home()), catalogue.data_version(), benchmark, terms)


# Of all benchmarks at once: a page that shows several would read both tables again for each.
@lru_cache(maxsize=2)
def _read_runs(home: str, version: str) -> tuple[pl.DataFrame, dict[str, list[str]]]:
    """Every run, the oldest first; and run → the scorers that its scores were made by."""
    runs = ask(
        "SELECT run_id, benchmark, model, simulated, dataset_id, seed, judges, prompts, setup, created, planned "
        "FROM runs ORDER BY created, run_id"
    )
    # Scores of before versions were kept have none, which is a version like any other.
    scorers = ask("SELECT run_id, list_sort(list(DISTINCT coalesce(scorer, 'none'))) FROM scores GROUP BY 1")
    return runs, dict(scorers.iter_rows())


_Terms = tuple[tuple[str, str, str, bool, tuple[tuple[str, str], ...]], ...]
"""Of each switch its name, title, usual value as it is typed, whether it changes results, and how values are shown."""


@lru_cache(maxsize=32)
def _of_runs(home: str, version: str, benchmark: str, terms: _Terms) -> dict[str, RunConditions]:
    runs, scorers = _read_runs(home, version)
    runs = runs.filter(pl.col("benchmark") == benchmark)
    usual, repeated = _settings(terms, {}), set(repeated_runs())
    labels = {title: dict(words) for _, title, *_, words in terms if words}
    found = {}
    for row in runs.iter_rows(named=True):
        setup = json.loads(row["setup"] or "{}")
        customer = setup.get("customer")
        head = {
            "Dataset": row["dataset_id"],
            "Judges": ", ".join(sorted(row["judges"] or ())) or "none",
            **({"Customer": str(customer), "Seed": str(row["seed"])} if customer else {}),
        }
        settings = _settings(terms, setup.get("options") or {})
        tail = {
            "Prompts": content_id(sorted(json.loads(row["prompts"] or "{}").items()))[:8],
            "Scorer": " and ".join(scorers.get(row["run_id"], ())) or "none",
        }
        # What stands at its default is no part of the id, so that a switch that comes later changes no address.
        apart = {title: value or "not set" for title, value in settings.items() if value != usual.get(title)}
        id = content_id(benchmark, head, apart, tail)[:10]
        shown = {title: show_word(value, labels.get(title, {})) for title, value in settings.items()}
        conditions = Conditions(id, benchmark, row["dataset_id"], tuple({**head, **shown, **tail}.items()))
        found[row["run_id"]] = RunConditions(
            row["run_id"], row["model"], bool(row["simulated"]), conditions, row["created"], bool(customer),
            row["run_id"] in repeated, row["planned"] or 0,
        )  # fmt: skip
    return found


def _settings(terms: _Terms, options: Mapping[str, Any]) -> dict[str, str]:
    """Title → value as it is typed, of each switch that changes results; what is not declared (any more) as stored."""
    told = {
        title: write_word(options[name]) if name in options else usual
        for name, title, usual, compared, _ in terms
        if compared
    }
    known = {name for name, *_ in terms}
    return told | {name: write_word(value) for name, value in options.items() if name not in known}
