"""What people wrote to attempts and turns: notes and tags in force, newest last; what they decided: decisions.py."""

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

import polars as pl

from cxlab.read.query import ask, facet, say_annotations_read
from cxlab.store import catalogue, layout


@dataclass(frozen=True)
class AttemptNotes:
    """Of one attempt. `log` holds all that was written and is in force; `tags` the tags that are on it now."""

    log: pl.DataFrame
    tags: tuple[str, ...]


def notes(run_id: str, attempt_id: str) -> AttemptNotes:
    """Notes and tags of one attempt: columns id, created, author, kind, turn, judge, field, value."""
    log = ask(
        """SELECT id, created, author, kind, turn, judge, field, value FROM annotations_in_force
        WHERE run_id = $run AND attempt_id = $attempt ORDER BY created, id""",
        {"run": run_id, "attempt": attempt_id},
    )
    tags: dict[str, None] = {}
    for kind, value in log.select("kind", "value").iter_rows():
        if kind == "tag":
            tags[value] = None
        elif kind == "untag":
            tags.pop(value, None)
    return AttemptNotes(log, tuple(tags))


def known_tags() -> tuple[str, ...]:
    """Every tag that was ever given, commonest first."""
    found = ask("SELECT value FROM annotations WHERE kind = 'tag' GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 50")
    return tuple(found["value"])


WRONG_LABEL = "label is wrong"
"""The tag of an attempt whose sample is believed to expect the wrong thing."""


RIGHT_LABEL = "label is right"
"""The tag of an attempt whose sample was doubted and found to expect the right thing."""


def marked_samples(benchmark: str, identity: str = "") -> pl.DataFrame:
    """Samples with an attempt that is tagged as WRONG_LABEL: sample_id, name (what `identity`, the facet that stands
    for a sample, says of it; else its id), datasets (those that it was run from)."""
    say_annotations_read()  # by `_is_any_marked`, which may remember its answer
    if not _is_any_marked(str(layout.home()), catalogue.version()):
        return pl.DataFrame(schema={"sample_id": pl.String, "name": pl.String, "datasets": pl.List(pl.String)})
    name = f"coalesce({facet(identity)}, a.sample_id)" if identity else "a.sample_id"
    return ask(
        f"""SELECT a.sample_id, min({name}) AS name, list_sort(list(DISTINCT r.dataset_id)) AS datasets
        FROM attempt_tags t JOIN attempts a USING (run_id, attempt_id) JOIN runs r USING (run_id)
        WHERE t.value = $tag AND a.benchmark = $benchmark GROUP BY 1 ORDER BY 2, 1""",
        {"tag": WRONG_LABEL, "benchmark": benchmark},
    )


# Asked for each benchmark of a page, and in most stores answered by no tag at all.
@lru_cache(maxsize=2)
def _is_any_marked(home: str, version: str) -> bool:
    return ask("SELECT 1 FROM attempt_tags WHERE value = $tag LIMIT 1", {"tag": WRONG_LABEL}).height > 0


def saved_filters(page: str) -> pl.DataFrame:
    """The filters saved for a page and in force, newest first: id, created, author, name, query."""
    return ask(
        """SELECT id, created, author, attempt_id AS name, value AS query FROM annotations_in_force
        WHERE kind = 'filter' AND run_id = $page
        QUALIFY row_number() OVER (PARTITION BY attempt_id ORDER BY created DESC, id DESC) = 1
        ORDER BY created DESC, id DESC""",
        {"page": page},
    )


def deleted_filters(page: str) -> pl.DataFrame:
    """The filters whose name no saved one of the page has any more, the last deleted first; columns as saved ones."""
    return ask(
        """SELECT a.id, a.created, a.author, a.attempt_id AS name, a.value AS query FROM annotations a
        JOIN annotations w ON w.kind = 'withdrawn' AND w.value = a.id
        WHERE a.kind = 'filter' AND a.run_id = $page AND a.attempt_id NOT IN
            (SELECT attempt_id FROM annotations_in_force WHERE kind = 'filter' AND run_id = $page)
        QUALIFY row_number() OVER (PARTITION BY a.attempt_id ORDER BY w.created DESC, w.id DESC) = 1
        ORDER BY w.created DESC, w.id DESC LIMIT 10""",
        {"page": page},
    )


def findings(dataset_id: str) -> pl.DataFrame:
    """What people decided of what is suspected of a dataset, the latest of each: id, created, author, key, state
    (open, resolved, dismissed), note."""
    return ask(
        """SELECT id, created, author, attempt_id AS key, field AS state, value AS note FROM annotations_in_force
        WHERE kind = 'finding' AND run_id = $dataset
        QUALIFY row_number() OVER (PARTITION BY attempt_id ORDER BY created DESC, id DESC) = 1
        ORDER BY created DESC, id DESC""",
        {"dataset": dataset_id},
    )


def run_names() -> dict[str, str]:
    """What runs were called by people: run → the latest name in force; a run without one is not in it."""
    found = ask(
        """SELECT run_id, value FROM annotations_in_force WHERE kind = 'name'
        QUALIFY row_number() OVER (PARTITION BY run_id ORDER BY created DESC, id DESC) = 1 ORDER BY run_id"""
    )
    return dict(found.iter_rows())


def on_run(run_id: str) -> pl.DataFrame:
    """Names and notes in force on a whole run, newest first: id, created, author, kind, value."""
    return ask(
        """SELECT id, created, author, kind, value FROM annotations_in_force
        WHERE run_id = $run AND attempt_id = '' AND kind IN ('name', 'note') ORDER BY created DESC, id DESC""",
        {"run": run_id},
    )


def notes_on(run_id: str) -> tuple[str, ...]:
    """The notes in force on a whole run, newest first."""
    found = on_run(run_id)
    return tuple(found.filter(found["kind"] == "note")["value"])


@dataclass(frozen=True)
class KeptBaseline:
    """What a benchmark's others are compared with, as somebody chose: `side` is a model's or a run's id."""

    id: str
    side: str
    author: str
    created: datetime


def baselines(benchmark: str) -> dict[str, KeptBaseline]:
    """The latest kept baseline in force, of models (under "model") and of runs ("run_id")."""
    return all_baselines().get(benchmark, {})


def all_baselines() -> dict[str, dict[str, KeptBaseline]]:
    """The `baselines` of each benchmark that has any, for a page that shows them all."""
    rows = ask(
        """SELECT run_id AS benchmark, field, id, value AS side, author, created FROM annotations_in_force
        WHERE kind = 'baseline'
        QUALIFY row_number() OVER (PARTITION BY run_id, field ORDER BY created DESC, id DESC) = 1 ORDER BY 1, 2"""
    )
    found: dict[str, dict[str, KeptBaseline]] = {}
    for benchmark, field, *rest in rows.iter_rows():
        found.setdefault(benchmark, {})[field] = KeptBaseline(*rest)
    return found
