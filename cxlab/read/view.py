"""The selection a page shows, as one frozen value that fits into an address."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

Query = dict[str, str | list[str]]
Facets = tuple[tuple[str, tuple[str, ...]], ...]
"""Facet → the values that are let through, by the name of the facet; a facet without values is not in it."""

# An address is typed by people and sent by strangers: what is longer than this is no selection of ours.
_LONGEST_VALUE = 200
_MOST_VALUES = 50

# Field of View -> its key in the address; the keys are part of links that people keep, so they do not change.
_LISTS = {
    "runs": "run",
    "models": "model",
    "tasks": "task",
    "outcomes": "outcome",
    "failures": "failure",
    "ends": "ended",
    "errors": "error",
    "splits": "split",
    "owners": "owner",
    "reasons": "reason",
    "tags": "tag",
    "written": "written",
    "judges": "judge",
    "sets": "set",
}
_TEXTS = {
    "benchmark": "benchmark",
    "metric": "metric",
    "lead": "lead",
    "search": "q",
    "sought": "sought",
    "speaker": "speaker",
    "baseline": "baseline",
    "field": "field",
    "attempt": "attempt",
    "stage": "stage",
    "order": "order",
    "tab": "tab",
    "at": "at",
    "alike": "alike",
    "decides": "decides",
    "verdict": "verdict",
    "dataset": "dataset",
    "conversation": "conversation",
    "floors": "floors",
    "blind": "blind",
    "marked": "marked",
    "shared": "shared",
    "reviewed": "reviewed",
    "weight": "weight",
}
_NUMBERS = {"turn": "turn", "page": "page"}

KEYS = frozenset({**_LISTS, **_TEXTS, **_NUMBERS}.values())
"""The parameters of an address that belong to a View; those of facets are named as the facets are."""

# Where one is on a page, as opposed to what one filters by: this stays behind when the page changes. Words that are
# searched for are of one page, too: in dialogues, in an article's text, or a question to all conversations.
_PLACE = (
    "ends", "errors", "splits", "owners", "reasons", "tags", "written", "floors", "shared", "blind", "alike", "decides",
    "verdict", "reviewed", "weight", "attempt", "turn", "stage", "page", "order", "tab", "at",
    "field", "baseline", "conversation", "search", "sought",
    "speaker",
)  # fmt: skip


# Of these, what narrows the rows all the same.
_NARROWS = (
    "ends", "errors", "splits", "owners", "reasons", "tags", "written", "floors", "shared", "alike", "decides",
    "verdict", "search", "speaker",
)  # fmt: skip


@dataclass(frozen=True)
class View:
    """What a page shows. An empty filter takes everything; `attempt` is `RUN/ATTEMPT`, the one that is open.

    `failures` are "where:type" as in attempts.failure. `stage` is a stage of a procedure (or `from>to` for an
    edge), `field` a judged field, `baseline` the model that others are compared with,
    `at` the turns that are looked at ("last" or a number; empty: all). `errors` are kinds of what went wrong
    (failure_kinds.KINDS), `splits` "yes" or "no", `ends` how dialogues ended, `owners` whose doing a verdict was
    (failure_kinds.OWNER), `reasons` why an attempt did not pass, without what names one case (REASON_STEM),
    `tags` what people tagged attempts with, `written` what they wrote to them (note, tag, adjudication, dispute,
    nothing), `floors` "shown" where constant agents are among the attempts, `blind` "yes" where model and verdict are
    hidden,
    `shared` "model" or "run_id" where only what all models, or runs, of `runs` have tried is looked at, the newest of
    each sample and trial,
    `reviewed` "yes" where scores that people's decisions correct stand beside those as judged,
    `weight` "points" where groups of failures are put in order by points lost, not by attempts,
    `alike` a group of alike failures, `decides` "yes" where only attempts are looked at whose verdict stands on one of
    it. `sets` are conditions under which models are compared, one a benchmark
    (read/conditions.py), `marked` is "out" where samples are left out whose label people marked as wrong. `lead` is the
    metric that leads where a benchmark lets that be chosen. `without` are models and `without_samples` samples that a
    page leaves out, `among` names the attempts that it looks at (query.AttemptSet); no address has any of the three.
    `verdict` is what became of an attempt: failed, unscored, wrong (either of them), passed; all and "" narrow nothing.
    `sought` are words that are marked in the open dialogue in all their forms; they narrow nothing, as `search` does.
    `speaker`: whose messages alone `search` looks in (a role, or one of word_search.attempts.SPEAKERS).
    `dataset` is the one that is looked at, `conversation` the one of its conversations that is open.
    """

    benchmark: str = ""
    runs: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    facets: Facets = ()
    outcomes: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    metric: str = ""
    lead: str = ""
    search: str = ""
    sought: str = ""
    speaker: str = ""
    baseline: str = ""
    field: str = ""
    attempt: str = ""
    stage: str = ""
    alike: str = ""
    decides: str = ""
    verdict: str = ""
    floors: str = ""
    shared: str = ""
    marked: str = ""
    reviewed: str = ""
    weight: str = ""
    blind: str = ""
    dataset: str = ""
    conversation: str = ""
    order: str = ""
    tab: str = ""
    at: str = ""
    turn: int | None = None
    page: int = 1
    without: tuple[str, ...] = ()
    without_samples: tuple[str, ...] = ()
    among: str = ""

    def to_query(self) -> Query:
        """The address's parameters; what is at its default is left out, lists become repeated keys."""
        query: Query = {}
        for name, key in {**_LISTS, **_TEXTS, **_NUMBERS}.items():
            value = getattr(self, name)
            if value != getattr(_DEFAULT, name):
                query[key] = list(value) if name in _LISTS else str(value)
        return query | {facet: list(values) for facet, values in self.facets}

    @classmethod
    def from_query(cls, query: Mapping[str, str | Iterable[str]], facets: Iterable[str] = ()) -> "View":
        """The view of an address; unknown keys and values that cannot be meant are ignored, never an error.

        `facets` are those that there are, in the store or by declaration.
        """
        found: dict[str, Any] = {}
        given = {key: [value] if isinstance(value, str) else list(value) for key, value in query.items()}
        given = {key: [v for v in values if v and len(v) <= _LONGEST_VALUE] for key, values in given.items()}
        for name, key in _LISTS.items():
            if values := given.get(key):
                found[name] = tuple(dict.fromkeys(values))[:_MOST_VALUES]
        asked = {facet: tuple(dict.fromkeys(given[facet]))[:_MOST_VALUES] for facet in facets if given.get(facet)}
        found["facets"] = tuple(sorted((facet, values) for facet, values in asked.items() if facet not in KEYS))
        for name, key in _TEXTS.items():
            if values := given.get(key):
                found[name] = values[-1]
        for name, key in _NUMBERS.items():
            values = given.get(key)
            if values and values[-1].isascii() and values[-1].isdigit() and 0 < int(values[-1]) < 10**9:
                found[name] = int(values[-1])
        if found.get("attempt") and "/" not in found["attempt"] and len(found.get("runs", ())) == 1:
            # Typed by hand: the attempt belongs to the only run that is named.
            found["attempt"] = f"{found['runs'][0]}/{found['attempt']}"
        if found.get("attempt", "").count("/") != 1:
            found.pop("attempt", None)
        return cls(**found)

    def values(self, name: str) -> tuple[str, ...]:
        """What a filter lets through: a list of this record by its name (models, runs, …), or a facet by its own."""
        if name in _LISTS:
            found: tuple[str, ...] = getattr(self, name)
            return found
        return dict(self.facets).get(name, ())

    def narrow(self, **filters: Iterable[str]) -> "View":
        """The view with other values of filters and facets, named as in `values`; no values let everything through."""
        changes: dict[str, Any] = {name: tuple(values) for name, values in filters.items() if name in _LISTS}
        facets = dict(self.facets) | {name: tuple(values) for name, values in filters.items() if name not in _LISTS}
        kept = tuple(sorted((name, values) for name, values in facets.items() if values))
        return self.change(**changes, facets=kept)

    def filters(self) -> "View":
        """The view without the place on the page: what survives a change of page, and what caches are keyed by."""
        return replace(self, **{name: getattr(_DEFAULT, name) for name in _PLACE})

    def change(self, **changes: Any) -> "View":
        """The view with other values; a change of any filter or of the order goes back to page 1."""
        changed = replace(self, **changes)
        narrowed = any(getattr(changed, name) != getattr(self, name) for name in _NARROWS)
        moved = narrowed or changed.filters() != self.filters() or changed.order != self.order
        return replace(changed, page=1) if moved and "page" not in changes else changed

    def open(self, run_id: str, attempt_id: str, turn: int | None = None) -> "View":
        """The view with this attempt open."""
        return replace(self, attempt=f"{run_id}/{attempt_id}", turn=turn)

    @property
    def opened(self) -> tuple[str, str] | None:
        """(run, attempt) of the open attempt; None when none is open."""
        run_id, _, attempt_id = self.attempt.partition("/")
        return (run_id, attempt_id) if run_id and attempt_id else None

    def describe(self) -> list[tuple[str, str]]:
        """The filters in force as (name, values), for people; what models are compared under is none of them."""
        shown: list[tuple[str, str]] = []
        for name in (f.name for f in fields(self)):
            value = getattr(self, name)
            if name in _LISTS and name != "sets" and value:
                shown.append((_LISTS[name], ", ".join(value)))
            elif name == "facets":
                shown += [(facet, ", ".join(values)) for facet, values in self.facets]
            elif name in ("benchmark", "search") and value:
                shown.append((name, value))
        return shown


_DEFAULT = View()
