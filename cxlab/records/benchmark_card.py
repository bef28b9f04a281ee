"""What a benchmark declares of itself as plain data: its card, tasks, facets and floors.

A benchmark's `contract.Benchmark` holds these beside its code; pages are handed a `Declaration`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cxlab.errors import BadOption
from cxlab.records.cluster import Cluster
from cxlab.records.settings import Switch

_RESERVED = """run model task outcome failure ended error split judge benchmark metric q baseline field attempt stage
order tab at alike decides verdict set lead dataset conversation turn page id owner tag tags written floors
blind job seed limit trials marked reviewed shared weight
run_id attempt_id sample_id trial simulated ended_by score turns opening reason wrong way first_turn latency_s cost_usd
started name group value sides other show price sample whose groups
dropped sought speaker"""
RESERVED = frozenset(_RESERVED.split())
"""Names that addresses and tables use themselves, so no facet may have them."""


@dataclass(frozen=True)
class Search:
    """What an attempt at a task ranks; such tasks stand on the page Retrieval.

    The page reads of an attempt's output `ranked` (ids, best first) and, where they are there, `scores` and `spans` (of
    the best piece of each), `chunks` (whose pieces were best), `query` (that a model wrote), `response`, `steps.search`
    (latency_s, build_s) and `index`: retrieval, embedder, unit, chunk, overlap, chunks, documents; a run's options of
    these names stand in for it. Of a sample's inputs it reads `query` or `transcript`.

    `corpus`: the collection that is ranked. `relevant`: where the sample's expected value has the right id, or a list
    of ids. `unit`: what is ranked. `table`, `id`, `title`: the dataset's table that holds it, and its columns. `area`:
    the facet by which queries are grouped; empty takes the root of the right one's `topic`. `asks_model`: a model
    writes the query. `answers`: an answer is written from what was found and judged: scores `ANSWERS_correct`,
    `_incorrect`, `_hallucinated`, `_refusal`; `answered_by` is the option that asks for it. `offers`: further options
    that the page's form shows. `misses`: where a failed attempt's verdict says in its stage what came first instead of
    a right one, (stage, words). `same_queries`: the benchmark's other tasks that say so ask the same queries, so that
    an index can be compared with itself at them.
    """

    corpus: str
    relevant: str
    unit: tuple[str, str] = ("article", "articles")
    table: str = "articles"
    id: str = "article_id"
    title: str = "title"
    area: str = ""
    asks_model: bool = False
    answers: str = ""
    answered_by: str = ""
    offers: tuple[str, ...] = ()
    misses: tuple[tuple[str, str], ...] = ()
    same_queries: bool = False

    def __post_init__(self) -> None:
        if not self.relevant.isidentifier():
            raise BadOption(f"relevant={self.relevant!r}: name a field of the expected value")


@dataclass(frozen=True)
class Task:
    """One task of a benchmark and its headline: the metric its leaderboard shows, its unit and direction.

    The verdict rule, unless the benchmark has a `verdict` of its own: `decided_by` is the metric that decides (the
    headline when empty), `pass_from` its value from which an attempt has passed (or down to which, where less is
    better); None is 100, or 0. `verdict_rule` says in a sentence what counts for it; without one it is told from these
    two.

    `leads`: the metrics that a viewer may let lead in the headline's place. `paper`: the one that the paper's own
    leaderboard prints, beside which alone its figures stand; empty where that is the headline.
    `search`: what an attempt ranks, where it ranks anything.
    """

    id: str
    title: str
    metric: str
    unit: str = "points"
    higher_is_better: bool = True
    decided_by: str = ""
    pass_from: float | None = None
    leads: tuple[str, ...] = ()
    paper: str = ""
    search: Search | None = None
    verdict_rule: str = ""


ENDS: Mapping[str, str] = {
    "goodbye": "goodbye",
    "turns": "limit of turns",
    "loop": "going in circles",
    "unreadable": "unreadable replies",
    "provider": "a fault of the provider",
    "customer_stop": "the customer",
    "agent_stop": "the agent",
    "max_steps": "limit of messages",
    "too_many_errors": "too many tool errors",
    "timeout": "limit of time",
}
"""By what dialogues end, whichever benchmark they are of."""


@dataclass(frozen=True)
class Card:
    """What a newcomer must know of a benchmark before running it.

    `metrics`: metric → definition. `titles`: metric → what it is called within a sentence, where its id does not
    say it. `leading`: up to three figures that head one attempt. `parts`: what makes up the headline, in the order
    in which Compare sets it side by side. `scales`: metric → its worst and best value where they are not 0 and 100,
    None for a count without a scale. `lower_is_better`: those of the metrics of which less is better. `unit`: what
    one attempt is called. `reply_length`: the metric that counts the words of a reply. `sums`: metric → the metrics
    that it is a weighted sum of, with their weights. `zeros`: metric → the constant agent that its 0 stands for,
    drawn as a line. `unjudged`: metrics in which no judge has a say, so that nothing hangs on who judged. `ends`:
    by what an attempt can end → how people are told, beside what dialogues of any benchmark end by (`ENDS`).
    `hand_over`: what an attempt's output calls it that the agent handed the customer over to a person.
    """

    id: str
    title: str
    measures: str
    paper: str
    licence: str
    tasks: tuple[Task, ...]
    metrics: Mapping[str, str]
    leading: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    scales: Mapping[str, tuple[float, float] | None] = field(default_factory=dict)
    lower_is_better: frozenset[str] = frozenset()
    unit: tuple[str, str] = ("dialogue", "dialogues")
    reply_length: str = ""
    sums: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    zeros: Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    unjudged: frozenset[str] = frozenset()
    ends: Mapping[str, str] = field(default_factory=dict)
    hand_over: str = ""

    @property
    def name(self) -> str:
        """The title up to its first colon."""
        return self.title.partition(":")[0]

    @property
    def headline(self) -> str:
        """The metric that leads the first task."""
        return self.tasks[0].metric if self.tasks else ""

    def scale(self, metric: str) -> tuple[float, float] | None:
        """The worst and the best value that a metric can have; None where it has no end."""
        return self.scales.get(metric, (0.0, 100.0))

    def task(self, id: str) -> Task | None:
        """The task of that id."""
        return next((task for task in self.tasks if task.id == id), None)


@dataclass(frozen=True)
class Facet:
    """Something that samples can be filtered and grouped by.

    `order`: its values as they should be listed, others behind them by name. `labels`: value → how it is shown.
    `spread`: a limited run takes a bit of each value. `identifies`: its value stands for the sample's id, as a name of
    the situation does; such a facet has too many values to compare by. `of_run`: attempts have the value of the run's
    switch of that name, whatever their sample says. `within`: facets whose values the values of this one may not share,
    as the customers' may not the ways to speak; values are compared on the combinations that all of them were tried in
    (read/comparison/like_with_like.py). Every page offers the facets in the order of their declaration.
    """

    id: str
    title: str
    meaning: str = ""
    order: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    spread: bool = False
    identifies: bool = False
    of_run: bool = False
    within: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.id.isidentifier() or self.id in RESERVED:
            raise BadOption(f"facet {self.id!r}: take a plain word that is none of {', '.join(sorted(RESERVED))}")


@dataclass(frozen=True)
class Baseline:
    """A constant or trivial agent: drawn as a line, out of rankings and failure lists unless asked for."""

    model: str
    title: str
    meaning: str

    @property
    def name(self) -> str:
        """The title, and that it is a floor."""
        return self.title if "floor" in self.title.lower() else f"{self.title} (floor)"


def _spell_out(value: str) -> str:
    """An id in words: "wifi_off+data_off" → "wifi off + data off"."""
    return re.sub(r"(?<=\w)\+(?=\w)", " + ", value.replace("_", " "))


@dataclass(frozen=True)
class Declaration:
    """What a page knows of a benchmark: all that it asks for by name stands in here.

    `attempt_view` names the part of the page Failures that draws one attempt; `published` are its files of published
    tables; `switches` what a run of it can be told; `cluster` what several samples share.
    """

    card: Card
    facets: tuple[Facet, ...] = ()
    floors: tuple[Baseline, ...] = ()
    attempt_view: str = "dialogue"
    published: tuple[Path, ...] = ()
    switches: tuple[Switch, ...] = ()
    cluster: Cluster | None = None

    def facet(self, id: str) -> Facet | None:
        """The facet of that id."""
        return next((facet for facet in self.facets if facet.id == id), None)

    def title(self, facet: str) -> str:
        """What a facet is called."""
        found = self.facet(facet)
        return found.title if found else facet.replace("_", " ").capitalize()

    def value(self, facet: str, value: str) -> str:
        """How a facet's value is shown."""
        found = self.facet(facet)
        return found.labels.get(value, _spell_out(value)) if found else value

    def end(self, value: str) -> str:
        """By what an attempt ended, in words."""
        return {**ENDS, **self.card.ends}.get(value) or _spell_out(value)

    def end_of(self, attempt: Mapping[str, Any]) -> str:
        """By what a stored attempt ended: a customer who is handed over ends it, too, but not of his own accord."""
        told = self.end(str(attempt["ended_by"] or "")) or "nothing noted"
        handed = self.card.hand_over and (attempt.get("output") or {}).get(self.card.hand_over)
        return f"{told}, after the agent had handed over to a person" if handed else told

    def in_order(self, facet: str, values: Iterable[str]) -> list[str]:
        """Values as they should be listed: as declared, the others behind them as they come."""
        order = found.order if (found := self.facet(facet)) else ()
        return sorted(values, key=lambda value: order.index(value) if value in order else len(order))

    @property
    def cluster_name(self) -> str:
        """What intervals are clustered by."""
        return self.cluster.name if self.cluster else "sample"

    @property
    def identifying(self) -> Facet | None:
        """The facet that stands for the sample's id, where there is one."""
        return next((facet for facet in self.facets if facet.identifies), None)

    @property
    def floor_models(self) -> tuple[str, ...]:
        """The models that are no contestants."""
        return tuple(floor.model for floor in self.floors)
