"""What customers called for and how they were served, as runs saw it: labels, confusions, quality questions.

Transcripts are read one conversation at a time; everything else is counts.
"""

import json
from typing import Any

import polars as pl

from cxlab.charts.names import name_each
from cxlab.errors import UnknownName
from cxlab.metrics.intervals import proportion_interval
from cxlab.read.query import ask
from cxlab.store import write
from cxlab.views.knowledge import queries

WAYS = {"intent": "raw", "intent_fuzzy": "fuzzy", "intent_verified": "verified", "intent_l1": "level one"}
NO_LABEL = "(no label)"
# What a label cannot be told by: equal to the letter is the headline (raw).
_LABELS = """
    labelled AS (
        SELECT s.sample_id, s.inputs->>'taxonomy' AS taxonomy, s.expected->>'label' AS gold,
            s.inputs->>'conversation_id' AS conversation_id, s.inputs->>'transcript' AS transcript
        FROM samples s WHERE s.dataset_id = $dataset AND s.task = 'intent'
    ), said AS (
        SELECT l.*, a.attempt_id, a.trial, coalesce(a.output->>'label', $none) AS said
        FROM attempts a JOIN labelled l USING (sample_id)
        WHERE a.run_id = $run AND a.task = 'intent' AND a.outcome <> 'provider'
    )
"""


def taxonomies(dataset: str) -> pl.DataFrame:
    """Every label with the number of conversations that have it: taxonomy, label, l1, l2, description, n.

    Labels that only samples have (such as Others) come too, without a description.
    """
    counts = ask(
        "SELECT inputs->>'taxonomy' AS taxonomy, expected->>'label' AS label, count(*) AS n FROM samples "
        "WHERE dataset_id = $dataset AND task = 'intent' GROUP BY 1, 2",
        {"dataset": dataset},
    )
    named = pl.DataFrame(schema=dict.fromkeys(("taxonomy", "l1", "l2", "description", "label"), pl.String))
    if queries.has(dataset, "taxonomies"):
        named = write.load_table(dataset, "taxonomies").with_columns(
            label=pl.when(pl.col("l2").fill_null("") != "")
            .then(pl.col("l1") + ":" + pl.col("l2"))
            .otherwise(pl.col("l1"))
        )
    whole = named.select("taxonomy", "label", "l1", "l2", "description").join(
        counts, on=["taxonomy", "label"], how="full", coalesce=True
    )
    return whole.with_columns(
        l1=pl.coalesce("l1", "label"), description=pl.col("description").fill_null(""), n=pl.col("n").fill_null(0)
    ).sort("taxonomy", "n", "label", descending=[False, True, False])


def accuracies(dataset: str, taxonomy: str) -> pl.DataFrame:
    """How often each model's label is right: model, simulated, way (a value of WAYS), n, share, low, high.

    Wilson's 95 % interval over conversations, those of several trials and runs of one model taken as one mean each.
    """
    rows = ask(
        """
        WITH each AS (
            SELECT s.model, a.simulated, s.metric, s.sample_id, avg(s.value) / 100 AS value
            FROM scores s JOIN attempts a USING (run_id, attempt_id)
            WHERE s.metric IN ('intent', 'intent_fuzzy', 'intent_verified', 'intent_l1') AND s.value IS NOT NULL
                AND s.run_id IN (SELECT run_id FROM runs WHERE dataset_id = $dataset)
                AND s.sample_id IN (SELECT sample_id FROM samples WHERE dataset_id = $dataset AND task = 'intent'
                    AND inputs->>'taxonomy' = $taxonomy)
            GROUP BY ALL
        )
        SELECT model, bool_or(simulated) AS simulated, metric, count(*) AS n, sum(value) AS hits FROM each
        GROUP BY 1, 3 ORDER BY 1, 3
        """,
        {"dataset": dataset, "taxonomy": taxonomy},
    )
    return _with_intervals(rows).with_columns(way=pl.col("metric").replace_strict(WAYS)).drop("metric")


def _with_intervals(rows: pl.DataFrame) -> pl.DataFrame:
    """`share`, `low` and `high` of `hits` in `n`."""
    found = [proportion_interval(round(hits), n) for hits, n in rows.select("hits", "n").iter_rows()]
    return rows.with_columns(
        pl.Series("share", [h / n if n else None for h, n in rows.select("hits", "n").iter_rows()], dtype=pl.Float64),
        pl.Series("low", [one.low for one in found], dtype=pl.Float64),
        pl.Series("high", [one.high for one in found], dtype=pl.Float64),
    )


def confusions(dataset: str, run_id: str, taxonomy: str) -> pl.DataFrame:
    """What a run called what, right ones too, commonest first: gold, said, n, of (conversations with that gold)."""
    return ask(
        f"""
        WITH {_LABELS}
        SELECT gold, said, count(*) AS n, sum(count(*)) OVER (PARTITION BY gold)::BIGINT AS of FROM said
        WHERE taxonomy = $taxonomy GROUP BY 1, 2 ORDER BY n DESC, gold, said
        """,
        {"dataset": dataset, "run": run_id, "taxonomy": taxonomy, "none": NO_LABEL},
    )


def by_label(found: pl.DataFrame) -> pl.DataFrame:
    """Confusions by gold label, most confused first: gold, n, right, wrong, mistaken_for (the commonest wrong one)."""
    right = (pl.col("gold") == pl.col("said")).cast(pl.Int64)
    wrong = found.filter(pl.col("gold") != pl.col("said")).group_by("gold", maintain_order=True).first()
    return (
        found.group_by("gold")
        .agg(n=pl.col("n").sum(), right=(pl.col("n") * right).sum())
        .with_columns(wrong=pl.col("n") - pl.col("right"))
        .join(wrong.select("gold", mistaken_for="said"), on="gold", how="left")
        .sort("wrong", "n", "gold", descending=[True, True, False])
    )


def most_confused(found: pl.DataFrame, most: int = 12) -> list[str]:
    """The labels that take part in the largest confusions, those of one confusion side by side."""
    names: list[str] = []
    for gold, said in found.filter(pl.col("gold") != pl.col("said")).select("gold", "said").iter_rows():
        fresh = [name for name in (gold, said) if name not in names]
        if len(names) + len(fresh) > most:
            break
        names += fresh
    return names


def conversations(dataset: str, run_id: str, taxonomy: str, gold: str, said: str, limit: int = 200) -> pl.DataFrame:
    """The conversations of one confusion: sample_id, attempt_id, conversation_id, opening."""
    return ask(
        f"""
        WITH {_LABELS}
        SELECT sample_id, attempt_id, conversation_id, left(transcript, 300) AS opening FROM said
        WHERE taxonomy = $taxonomy AND gold = $gold AND said = $said ORDER BY sample_id, trial LIMIT $limit
        """,
        {
            "dataset": dataset, "run": run_id, "taxonomy": taxonomy, "none": NO_LABEL, "gold": gold, "said": said,
            "limit": limit,
        },
    )  # fmt: skip


def of_label(dataset: str, taxonomy: str, label: str, limit: int = 200) -> pl.DataFrame:
    """The conversations that have a label, whatever any run said: sample_id, conversation_id, opening."""
    return ask(
        """
        SELECT sample_id, inputs->>'conversation_id' AS conversation_id, left(inputs->>'transcript', 300) AS opening
        FROM samples WHERE dataset_id = $dataset AND task = 'intent' AND inputs->>'taxonomy' = $taxonomy
            AND (expected->>'label' = $label OR starts_with(expected->>'label', $label || ':'))
        ORDER BY sample_id LIMIT $limit
        """,
        {"dataset": dataset, "taxonomy": taxonomy, "label": label, "limit": limit},
    )


def sample(dataset: str, sample_id: str) -> dict[str, Any]:
    """One sample's task, inputs and expected; UnknownName when the dataset has none of this id."""
    rows = ask(
        "SELECT task, inputs, expected FROM samples WHERE dataset_id = $dataset AND sample_id = $sample LIMIT 1",
        {"dataset": dataset, "sample": sample_id},
    )
    if rows.is_empty():
        raise UnknownName(f"sample of dataset {dataset!r}", sample_id, ["those listed on the page"])
    row = rows.row(0, named=True)
    return {"task": row["task"], "inputs": json.loads(row["inputs"]), "expected": json.loads(row["expected"])}


def answer(run_id: str, sample_id: str) -> dict[str, Any]:
    """What a run put out for a sample on its first trial: attempt_id, outcome, output; {} when it did not try."""
    rows = ask(
        "SELECT attempt_id, outcome, output FROM attempts WHERE run_id = $run AND sample_id = $sample "
        "ORDER BY trial LIMIT 1",
        {"run": run_id, "sample": sample_id},
    )
    row = rows.row(0, named=True) if rows.height else {}
    return {**row, "output": json.loads(row["output"] or "{}")} if row else {}


def utterances(dataset: str, taxonomy: str) -> pl.DataFrame:
    """What each conversation's customer said, beside its label: sample_id, gold, text (customer lines only)."""
    rows = ask(
        "SELECT sample_id, expected->>'label' AS gold, inputs->>'transcript' AS transcript FROM samples "
        "WHERE dataset_id = $dataset AND task = 'intent' AND inputs->>'taxonomy' = $taxonomy ORDER BY sample_id",
        {"dataset": dataset, "taxonomy": taxonomy},
    )
    return rows.select("sample_id", "gold", text=name_each(rows["transcript"], _customer))


def describe_clusters(rows: pl.DataFrame) -> pl.DataFrame:
    """Clusters of utterances, largest first: cluster, n, gold (the commonest label), share of it, intents, example.

    `rows`: cluster, gold, text. The example is of the commonest label.
    """
    counts = rows.group_by("cluster", "gold").agg(k=pl.len(), example=pl.col("text").first().str.head(200))
    return (
        counts.sort("cluster", "k", "gold", descending=[False, True, False])
        .group_by("cluster", maintain_order=True)
        .agg(
            n=pl.col("k").sum().cast(pl.Int64),
            gold=pl.col("gold").first(),
            share=pl.col("k").first() / pl.col("k").sum(),
            intents=pl.len().cast(pl.Int64),
            example=pl.col("example").first(),
        )
        .sort("n", "cluster", descending=[True, False])
    )


def _customer(transcript: str) -> str:
    lines = [line for line in transcript.splitlines() if line.lower().startswith("customer")]
    said = [line.partition(":")[2].strip() for line in lines]
    # A transcript that does not say who speaks is taken whole.
    return " ".join(said) or transcript


# Quality ----------------------------------------------------------------------------------------------


def answers(dataset: str, run_id: str) -> pl.DataFrame:
    """One row a question asked: sample_id, conversation_id, place, question, gold, said, right, evidence counts.

    `hits`, `named` and `wanted` count evidence lines where the gold names any (null elsewhere), so that
    precision = sum(hits) / sum(named) and recall = sum(hits) / sum(wanted). A missing answer is wrong.
    """
    return ask(
        """
        WITH asked AS (
            SELECT s.sample_id, s.inputs->>'conversation_id' AS conversation_id, a.trial,
                json_extract_string(s.inputs, '$.questions[*]') AS questions,
                json_extract_string(s.expected, '$.answers[*]') AS golds,
                json_extract(s.expected, '$.evidence[*]') AS proofs,
                json_extract_string(a.output, '$.answers[*]') AS saids,
                json_extract(a.output, '$.evidence[*]') AS shown
            FROM attempts a JOIN samples s ON s.sample_id = a.sample_id AND s.dataset_id = $dataset
            WHERE a.run_id = $run AND a.task = 'quality' AND a.outcome <> 'provider'
        ), rows AS (
            SELECT sample_id, conversation_id, trial, unnest(range(1, len(questions) + 1)) AS place, * EXCLUDE
                (sample_id, conversation_id, trial)
            FROM asked
        ), lined AS (
            SELECT sample_id, conversation_id, trial, place, questions[place] AS question, golds[place] AS gold,
                saids[place] AS said,
                list_distinct(json_extract_string(proofs[place], '$[*]')) AS proof,
                list_distinct(json_extract_string(shown[place], '$[*]')) AS lines
            FROM rows
        )
        SELECT sample_id, conversation_id, trial, place, question, gold, said,
            coalesce(lower(said) = lower(gold), false) AS right,
            CASE WHEN len(proof) > 0 THEN coalesce(len(list_intersect(proof, lines)), 0) END AS hits,
            CASE WHEN len(proof) > 0 THEN coalesce(len(lines), 0) END AS named,
            CASE WHEN len(proof) > 0 THEN len(proof) END AS wanted
        FROM lined ORDER BY sample_id, trial, place
        """,
        {"dataset": dataset, "run": run_id},
    )


def standards(found: pl.DataFrame) -> pl.DataFrame:
    """Answers by question: question, n, right, share, low, high, floor, precision and recall of evidence; worst first.

    `floor`: the share that always giving the commonest gold answer would get right. Wilson's 95 % interval.
    """
    if found.is_empty():
        return pl.DataFrame()
    usual = pl.col("gold").str.to_lowercase().value_counts(sort=True).struct.field("count").first()
    rows = found.group_by("question").agg(
        n=pl.len().cast(pl.Int64),
        hits=pl.col("right").sum().cast(pl.Int64),
        floor=usual / pl.len(),
        precision=pl.col("hits").sum() / pl.col("named").sum(),
        recall=pl.col("hits").sum() / pl.col("wanted").sum(),
    )
    return (
        _with_intervals(rows)
        .rename({"hits": "right"})
        .with_columns(pl.col("precision", "recall").fill_nan(None))
        .sort("share", "n", "question", descending=[False, True, False])
    )


def quality(found: pl.DataFrame) -> dict[str, float | int | None]:
    """The whole run's figures: questions, question_accuracy, floor, rows, row_exact, cases, case_accuracy, evidence.

    A row is one list of questions, a case all lists of one conversation; each is right when every answer is.
    """
    if found.is_empty():
        return {}
    by_row = found.group_by("sample_id", "trial").agg(pl.col("right").all())
    case = pl.coalesce("conversation_id", "sample_id")
    by_case = found.group_by(case.alias("case"), "trial").agg(pl.col("right").all())
    named, wanted, hits = (int(found[name].sum() or 0) for name in ("named", "wanted", "hits"))
    usual = found["gold"].str.to_lowercase().value_counts(sort=True)["count"][0]
    return {
        "questions": found.height,
        "right": int(found["right"].sum()),
        "question_accuracy": _share(found["right"]),
        "floor": usual / found.height,
        "rows": by_row.height,
        "rows_right": int(by_row["right"].sum()),
        "row_exact": _share(by_row["right"]),
        "cases": by_case.height,
        "case_accuracy": _share(by_case["right"]),
        "evidence_precision": hits / named if named else 0.0 if wanted else None,
        "evidence_recall": hits / wanted if wanted else None,
    }


def _share(right: pl.Series) -> float:
    return int(right.sum()) / len(right)
