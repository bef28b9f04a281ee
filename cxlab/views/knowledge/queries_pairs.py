"""The article pairs of one run compared with the gold: what was found, missed and invented, at any threshold."""

import json
import re
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import polars as pl

from cxlab.read.query import ask
from cxlab.views.knowledge import queries, queries_facts

OUTCOMES = ("missed", "false", "found")
PAIR = {"first": pl.String, "second": pl.String}


@dataclass(frozen=True)
class Pairs:
    """What one attempt at knowledge-base refinement said.

    `scored`: first, second, similarity of the most similar pairs, none below `floor`. `table`: kind, first, second,
    outcome (one of OUTCOMES), similarity (null when the pair was not looked at), left and right (the words that the
    run gives for a contradiction). `settings` as the run has them. `asked`: kind → how many of its gold pairs the model
    was asked about, where it was asked about chosen pairs.
    """

    run_id: str
    attempt_id: str
    corpus: str
    settings: dict[str, Any]
    scored: pl.DataFrame
    table: pl.DataFrame
    floor: float
    checked: int
    unread: int
    outcome: str
    asked: dict[str, int]

    @property
    def threshold(self) -> float:
        """From which similarity the run calls two articles similar."""
        return float(self.settings.get("threshold", 0.0))


def runs(dataset: str) -> pl.DataFrame:
    """The runs on a dataset, newest first: run_id, model, simulated, created, setup, tasks (with attempts)."""
    return ask(
        """
        SELECT r.run_id, r.model, r.simulated, r.created, r.setup, list_sort(list(DISTINCT a.task)) AS tasks
        FROM runs r JOIN attempts a USING (run_id) WHERE r.dataset_id = $dataset
        GROUP BY ALL ORDER BY r.created DESC, r.run_id
        """,
        {"dataset": dataset},
    )


def load(dataset: str, run_id: str) -> Pairs | None:
    """The pairs of a run (of its first trial, of its first corpus); None when it did not try the task."""
    found = ask(
        """
        SELECT a.attempt_id, a.output, a.outcome, s.inputs, s.expected FROM attempts a
        JOIN samples s ON s.sample_id = a.sample_id AND s.dataset_id = $dataset
        WHERE a.run_id = $run AND a.task = 'kb_refinement' ORDER BY a.trial, a.sample_id LIMIT 1
        """,
        {"run": run_id, "dataset": dataset},
    )
    if found.is_empty():
        return None
    row = found.row(0, named=True)
    output, expected = json.loads(row["output"]), json.loads(row["expected"])
    scored = pl.DataFrame(
        [(*sorted(pair[:2]), float(pair[2])) for pair in output.get("pairs", ())],
        schema={**PAIR, "similarity": pl.Float64},
        orient="row",
    )
    similarity = {(a, b): value for a, b, value in scored.iter_rows()}
    shown = {tuple(sorted(one["pair"])): one for one in output.get("shown", ())}
    rows, asked = [], {}
    for kind in queries.TROUBLES:
        said = {tuple(sorted(pair[:2])) for pair in output.get(kind, ())}
        gold = {tuple(sorted(pair[:2])) for pair in expected.get(kind) or ()}
        if (proposed := output.get("proposed", {}).get(kind)) is not None:
            asked[kind] = len(gold & {tuple(sorted(pair[:2])) for pair in proposed})
        for pair in said | gold:
            words = shown.get(pair, {}) if kind == "contradictory" else {}
            turned = bool(words) and tuple(words["pair"]) != pair
            left, right = words.get("first", ""), words.get("second", "")
            rows.append(
                {
                    "kind": kind,
                    "first": pair[0],
                    "second": pair[1],
                    "outcome": "found" if pair in said and pair in gold else "missed" if pair in gold else "false",
                    "similarity": similarity.get(pair, words.get("similarity")),
                    "left": right if turned else left,
                    "right": left if turned else right,
                }
            )
    texts = dict.fromkeys(("kind", "first", "second", "outcome"), pl.String)
    schema: dict[str, Any] = {**texts, "similarity": pl.Float64, "left": pl.String, "right": pl.String}
    order = pl.col("outcome").replace_strict({name: n for n, name in enumerate(OUTCOMES)}, return_dtype=pl.Int32)
    return Pairs(
        run_id=run_id,
        attempt_id=row["attempt_id"],
        corpus=json.loads(row["inputs"]).get("corpus", "refinement"),
        settings=output.get("settings", {}),
        scored=scored,
        table=pl.DataFrame(rows, schema=schema).sort(
            "kind", order, "similarity", "first", "second", descending=[False, False, True, False, False],
            nulls_last=True,
        ),
        floor=cast("float | None", scored["similarity"].min()) or 0.0,
        checked=int(output.get("candidates", 0)),
        unread=int(output.get("unread", 0)),
        outcome=row["outcome"],
        asked=asked,
    )  # fmt: skip


def sweep(found: Pairs, kind: str, step: float = 0.01) -> pl.DataFrame:
    """If the similarity alone decided: threshold, predicted, hits, precision, recall, f1, while any pair is left.

    A threshold is met by pairs of at least that similarity. Below the floor the run kept no pairs, so nothing is said
    there. Recall is null where the gold has no pair of the kind.
    """
    gold = {
        (a, b) for a, b, outcome in found.table.filter(pl.col("kind") == kind).select("first", "second", "outcome")
        .iter_rows() if outcome != "false"
    }  # fmt: skip
    values = found.scored["similarity"].to_numpy()
    right = np.array([(a, b) in gold for a, b in found.scored.select("first", "second").iter_rows()], dtype=bool)
    first = int(np.ceil(round(found.floor / step, 6)))
    rows = []
    last = int(np.floor(round(float(values.max(initial=0.0)) / step, 6)))
    for place in range(first, last + 1 if found.scored.height else first):
        cut = round(place * step, 6)
        kept = values >= cut - 1e-9
        predicted, hits = int(kept.sum()), int(right[kept].sum())
        rows.append(
            {
                "threshold": cut,
                "predicted": predicted,
                "hits": hits,
                "precision": hits / predicted,
                "recall": hits / len(gold) if gold else None,
                "f1": 2 * hits / (predicted + len(gold)) if predicted + len(gold) else None,
            }
        )
    numbers = {"threshold": pl.Float64, "predicted": pl.Int64, "hits": pl.Int64}
    return pl.DataFrame(rows, schema={**numbers, **dict.fromkeys(("precision", "recall", "f1"), pl.Float64)})


def count(found: Pairs) -> pl.DataFrame:
    """By kind: gold, said, found, missed, false, precision, recall, f1 (null where undefined)."""
    counts = [(pl.col("outcome") == name).sum().cast(pl.Int64).alias(name) for name in OUTCOMES]
    together = found.table.group_by("kind").agg(counts).sort("kind", descending=True)

    def share(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
        return pl.when(whole > 0).then(part / whole)

    return together.with_columns(
        gold=pl.col("found") + pl.col("missed"), said=pl.col("found") + pl.col("false")
    ).with_columns(
        precision=share(pl.col("found"), pl.col("said")),
        recall=share(pl.col("found"), pl.col("gold")),
        f1=share(2 * pl.col("found"), pl.col("said") + pl.col("gold")),
    )


def passages(dataset: str, corpus: str, kind: str, first: str, second: str) -> list[tuple[str, str]]:
    """(first's, second's) passages that make a pair what it is, as the generator noted them; [] when it did not.

    A contradiction: the sentence that was put in, and the one that states the fact in the other article. A repetition
    by insertion: the text that was put in, and the nearest there is to it in the other article.
    """
    if not queries.has(dataset, "changes"):
        return []
    rows = ask(
        'SELECT kind, "to", "from", text, fact_id FROM read_parquet($path) WHERE "to" IN ($first, $second) '
        "AND kind = $kind AND text <> ''",
        {
            "path": str(queries.table_path(dataset, "changes")),
            "first": first,
            "second": second,
            "kind": "contradiction" if kind == "contradictory" else "insertion",
        },
    )
    bodies = {name: queries.article(dataset, corpus, name) for name in (first, second)}
    made = []
    for row in rows.iter_rows(named=True):
        other = second if row["to"] == first else first
        if kind == "contradictory":
            fact = queries_facts.of_ids(dataset, [row["fact_id"]]).row(0, named=True)
            there = queries_facts.find_sentence(bodies[other]["clean"], fact)
        else:
            there = nearest(row["text"], bodies[other]["clean"]) if row["from"] == other else ""
        if there:
            made.append((row["text"], there) if row["to"] == first else (there, row["text"]))
    return made


def shared(one: str, other: str, least: float = 0.6) -> list[tuple[str, str]]:
    """The sentences that two texts have in nearly the same words (Jaccard of at least `least`), longest first."""
    mine, theirs = (_sentences(text) for text in (one, other))
    made = []
    for sentence, words in mine:
        best = max(theirs, key=lambda each: _overlap(words, each[1]), default=None)
        if best is not None and _overlap(words, best[1]) >= least:
            made.append((sentence, best[0]))
    return sorted(made, key=lambda pair: -len(pair[0]))


def nearest(text: str, whole: str) -> str:
    """The stretch of a text, of as many sentences as the given one has, that shares most words with it."""
    wanted, parts = _words(text), _sentences(whole)
    size = max(1, len(_sentences(text)))
    spans = [parts[at : at + size] for at in range(max(1, len(parts) - size + 1))]
    best = max(spans, key=lambda span: _overlap(wanted, frozenset().union(*(w for _, w in span))), default=[])
    return " ".join(sentence for sentence, _ in best)


def _sentences(text: str) -> list[tuple[str, frozenset[str]]]:
    parts = [part.strip() for part in re.split(r"(?<=[.!?])\s+|\n+", text)]
    return [(part, words) for part in parts if len(words := _words(part)) >= 4]


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower()))


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0
