"""The realism study: which conversation comes next, what was said of which, and what it comes to.

Ratings are annotations (kind "rating") on a conversation of a dataset; a later one of the same rater wins.
"""

import itertools
import math
from collections import Counter
from dataclasses import dataclass

import polars as pl

from cxlab.metrics.agreement import cohen_kappa, krippendorff_alpha, percent_agreement
from cxlab.metrics.intervals import proportion_interval
from cxlab.read.query import ask
from cxlab.records import content_id
from cxlab.views.benchmarks import find_published
from cxlab.views.conversations import queries
from cxlab.views.datasets import queries as datasets

VERDICTS = ("real", "fake")
REAL, GENERATED = "real", "generated"


@dataclass(frozen=True)
class StudyItem:
    """One conversation of the study. `kind` is for the results alone: whoever rates must not see it."""

    dataset_id: str
    conversation_id: str
    kind: str


def real_datasets() -> list[str]:
    """Imported datasets with conversations between people, which a study can mix in."""
    frame = datasets.datasets()
    imported = frame.filter((pl.col("source") == "imported") & pl.col("conversations").is_not_null())
    return [each for each in imported["dataset_id"] if datasets.load(each).config.get("conversations") == REAL]


def items(dataset_id: str, seed: int, mixed: tuple[str, ...] = ()) -> list[StudyItem]:
    """The study's conversations in its order, the same for every rater: so that raters meet on the same ones."""
    kinds = {each: kind_of(each) for each in dict.fromkeys((dataset_id, *mixed))}
    found = [StudyItem(each, conversation, kind) for each, kind in kinds.items() for conversation in queries.ids(each)]
    return sorted(found, key=lambda item: content_id(seed, item.dataset_id, item.conversation_id))


def kind_of(dataset_id: str) -> str:
    """Whether its conversations are real (imported, between people) or generated."""
    return REAL if datasets.load(dataset_id).config.get("conversations") == REAL else GENERATED


def ratings(dataset_ids: tuple[str, ...]) -> pl.DataFrame:
    """The ratings in force: id, created, rater, dataset_id, conversation_id, verdict, reasons, kind; newest last."""
    names = [f"d{place}" for place in range(len(dataset_ids))]
    listed = ", ".join(f"${name}" for name in names)
    frame = ask(
        f"""SELECT id, created, author AS rater, run_id AS dataset_id, attempt_id AS conversation_id,
            field AS verdict, value AS reasons
        FROM annotations_in_force WHERE kind = 'rating' AND run_id IN ({listed})
        QUALIFY row_number() OVER (
            PARTITION BY author, run_id, attempt_id ORDER BY created DESC, id DESC) = 1
        ORDER BY created, id""",
        dict(zip(names, dataset_ids, strict=True)),
    )
    kinds = {each: kind_of(each) for each in dataset_ids}
    return frame.with_columns(kind=pl.col("dataset_id").replace_strict(kinds, return_dtype=pl.String))


def next_item(study: list[StudyItem], rated: pl.DataFrame, rater: str) -> StudyItem | None:
    """The first conversation that this rater has not rated; None when all are done."""
    done = set(rated.filter(pl.col("rater") == rater).select("dataset_id", "conversation_id").iter_rows())
    return next((item for item in study if (item.dataset_id, item.conversation_id) not in done), None)


def shares(rated: pl.DataFrame) -> pl.DataFrame:
    """Share judged real, per rater and kind and over all raters: rater, kind, n, real, share, low, high (Wilson)."""
    counted = rated.group_by("rater", "kind").agg(
        pl.len().alias("n"), (pl.col("verdict") == "real").sum().alias("real")
    )
    rows = list(counted.sort("kind", "rater").iter_rows())
    for kind, n, real in counted.group_by("kind", maintain_order=True).agg(pl.col("n", "real").sum()).iter_rows():
        if sum(row[1] == kind for row in rows) > 1:
            rows.append(("all raters", kind, n, real))
    schema = {"rater": pl.String, "kind": pl.String, "n": pl.Int64, "real": pl.Int64}
    schema |= dict.fromkeys(("share", "low", "high"), pl.Float64)
    return pl.DataFrame([(*row, *proportion_interval(row[3], row[2])[:3]) for row in rows], schema=schema, orient="row")


def agreement(rated: pl.DataFrame) -> tuple[pl.DataFrame, float]:
    """Each two raters on what both rated (rater, other, n, agree, kappa), and Krippendorff's alpha over all (nan:
    nothing was rated by two, or all said the same).
    """
    by = {
        rater: dict(zip(part.select("dataset_id", "conversation_id").iter_rows(), part["verdict"], strict=True))
        for (rater,), part in rated.group_by("rater", maintain_order=True)
    }
    rows = []
    for one, other in itertools.combinations(sorted(map(str, by)), 2):
        both = sorted(by[one].keys() & by[other].keys())
        if both:
            left, right = [by[one][key] for key in both], [by[other][key] for key in both]
            kappa = cohen_kappa(left, right)
            rows.append((one, other, len(both), percent_agreement(left, right), None if math.isnan(kappa) else kappa))
    schema = {"rater": pl.String, "other": pl.String, "n": pl.Int64, "agree": pl.Float64, "kappa": pl.Float64}
    every = sorted({key for said in by.values() for key in said})
    alpha = krippendorff_alpha([[said.get(key) for key in every] for said in by.values()]) if len(by) > 1 else math.nan
    return pl.DataFrame(rows, schema=schema, orient="row"), alpha


def reasons(rated: pl.DataFrame) -> pl.DataFrame:
    """How often each reason was given, by verdict: reason, verdict, n, raters, and one conversation
    that it was given for (dataset, example)."""
    counts: Counter[tuple[str, str]] = Counter()
    raters: dict[tuple[str, str], set[str]] = {}
    examples: dict[tuple[str, str], tuple[str, str]] = {}
    columns = ("rater", "dataset_id", "conversation_id", "verdict", "reasons")
    for rater, dataset, conversation, verdict, told in rated.select(columns).iter_rows():
        for reason in dict.fromkeys(filter(None, map(str.strip, told.splitlines()))):
            key = (reason, verdict)
            counts[key] += 1
            raters.setdefault(key, set()).add(rater)
            examples.setdefault(key, (dataset, conversation))
    rows = [
        (*key, n, len(raters[key]), *examples[key]) for key, n in sorted(counts.items(), key=lambda x: (-x[1], x[0]))
    ]
    schema = {"reason": pl.String, "verdict": pl.String, "n": pl.Int64, "raters": pl.Int64}
    schema |= {"dataset": pl.String, "example": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def published_shares() -> pl.DataFrame:
    """The paper's three validators, in the shape of `shares`."""
    table = find_published("cxmarena", "realism")
    told = table.frame.iter_rows() if table is not None else ()
    rows = [(name, GENERATED, int(n), int(real)) for name, n, real in told]
    rows.append(("all validators", GENERATED, sum(row[2] for row in rows), sum(row[3] for row in rows)))
    schema = {"rater": pl.String, "kind": pl.String, "n": pl.Int64, "real": pl.Int64}
    schema |= dict.fromkeys(("share", "low", "high"), pl.Float64)
    return pl.DataFrame([(*row, *proportion_interval(row[3], row[2])[:3]) for row in rows], schema=schema, orient="row")
