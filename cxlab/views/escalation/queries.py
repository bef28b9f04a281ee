"""When judges are told otherwise: what they said of hand-overs under each version of the rule, and how often wrongly.

Verdicts come from rejudgings (`python -m cxlab rejudge RUN`); the truth stands beside them, as the judge `measured`. A
verdict has two sides: was a person needed (`right`, `missed`) or not (`wrong`, `none`), and was the customer handed
over. A *false alarm* sees a need where there was none, a *miss* sees none where there was one; who errs in nothing but
what happened is *confused*.
"""

import itertools
import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from cxlab.metrics.classification import matthews
from cxlab.metrics.intervals import clustered_proportion
from cxlab.metrics.paired import holm, mcnemar_exact
from cxlab.read.query import ask, selection, version_of, where
from cxlab.read.sample_clusters import add_cluster, clusters_of
from cxlab.read.view import View
from cxlab.records.evaluation import MEASURED
from cxlab.store import layout

OPTIONS = ("right", "wrong", "missed", "none")
NEEDED = ("right", "missed")
# How the same conversation is found in the run that was asked about.
_KEY = ("source", "sample_id", "trial")
_KINDS = ("wrong", "alarm", "miss")


class RuleVersion(NamedTuple):
    """A version as it was put to judges; `question` tells texts apart that went under one number."""

    version: int
    question: str
    rule: str
    found: str


def questions() -> list[RuleVersion]:
    """All that was ever asked, by version; of one number every text, the oldest first."""
    frame = ask(f"SELECT {_ESCALATION} AS rules FROM runs WHERE {_IS_PATCH} ORDER BY created, run_id")
    found: dict[str, RuleVersion] = {}
    for text in frame["rules"]:
        for rule in json.loads(text):
            found.setdefault(
                rule["question"], RuleVersion(rule["version"], rule["question"], rule["rule"], rule["found"])
            )
    return sorted(found.values(), key=lambda one: one.version)


def sources(view: View) -> pl.DataFrame:
    """The runs whose conversations can be asked about: run_id, model, n conversations, judges; newest first."""
    condition, params = where(view, "attempts", "a.")
    return ask(
        f"""SELECT a.run_id, any_value(r.model) AS model, count(*) AS n, any_value(r.judges) AS judges
        FROM attempts a JOIN runs r USING (run_id)
        WHERE {condition} AND r.benchmark = 'mmtaup2' AND NOT ({_IS_PATCH}) GROUP BY 1
        ORDER BY any_value(r.created) DESC, 1""",
        params,
    )


def verdicts(view: View, wanted: Sequence[str] = ()) -> pl.DataFrame:
    """What each judge said of each conversation under each version: source, attempt_id (of the run that was asked
    about), sample_id, trial, model, scenario, persona, modality, judge, version, question, said (None: not to be read),
    truth, patch and judged (run and attempt that hold the vote), turn.

    `wanted`: only these questions. Where one was asked twice, the first answer that can be read counts.
    """
    return _read(str(layout.home()), version_of(view), selection(view), tuple(wanted))


# Not among what pages remember: that is copied whenever it is looked at, and these are rows.
@lru_cache(maxsize=2)
def _read(home: str, version: str, view: View, wanted: tuple[str, ...]) -> pl.DataFrame:
    condition, params = where(view, "attempts", "b.")
    only = "AND rule.question IN (SELECT unnest($wanted))" if wanted else ""
    return ask(
        f"""
        WITH asked AS (
            SELECT run_id, created, json_extract_string(setup, '$.rescored_from') AS source,
                unnest(from_json({_ESCALATION}, '[{{"version": "INTEGER", "question": "VARCHAR"}}]')) AS rule
            FROM runs WHERE {_IS_PATCH}
        ), said AS (
            SELECT asked.*, j.attempt_id, j.judge, j.turn, CASE WHEN j.status = 'ok' THEN j.verdict END AS said
            FROM judgements j JOIN asked ON asked.run_id = j.run_id
                AND j.field = concat('transfer_v', asked.rule.version)
            WHERE true {only}
        ), held AS (
            SELECT v.*, t.said AS truth FROM said v JOIN said t
                ON t.run_id = v.run_id AND t.attempt_id = v.attempt_id AND t.rule = v.rule AND t.judge = '{MEASURED}'
            WHERE v.judge <> '{MEASURED}'
        )
        SELECT held.source, b.attempt_id, b.sample_id, b.trial, b.model, facet_of(b.facet_list, 'scenario') AS scenario,
            facet_of(b.facet_list, 'persona') AS persona, facet_of(b.facet_list, 'modality') AS modality, held.judge,
            held.rule.version AS version, held.rule.question AS question, held.said, held.truth,
            held.run_id AS patch, held.attempt_id AS judged, held.turn
        FROM held JOIN attempts p ON p.run_id = held.run_id AND p.attempt_id = held.attempt_id
            JOIN attempts b ON b.run_id = held.source AND b.sample_id = p.sample_id AND b.trial = p.trial
        WHERE {condition}
        QUALIFY row_number() OVER (
            PARTITION BY held.source, b.sample_id, b.trial, held.judge, held.rule.question
            ORDER BY held.said IS NULL, held.created, held.run_id) = 1
        ORDER BY version, question, judge, source, sample_id, b.trial
        """,
        {**params, **({"wanted": list(wanted)} if wanted else {})},
    )


_ESCALATION = "json_extract(setup, '$.options.escalation')"
_IS_PATCH = f"coalesce(json_type({_ESCALATION}) = 'ARRAY', false)"
_NEEDED = pl.col("truth").is_in(NEEDED)
_SEEN = pl.col("said").is_in(NEEDED)


def mark(frame: pl.DataFrame) -> pl.DataFrame:
    """`verdicts` with what each is: wrong, alarm (false alarm), miss, confused; None where nothing could be read."""
    return frame.with_columns(
        wrong=pl.col("said") != pl.col("truth"),
        alarm=_SEEN & ~_NEEDED,
        miss=~_SEEN & _NEEDED,
        confused=(pl.col("said") != pl.col("truth")) & (_SEEN == _NEEDED),
    )


def rates(frame: pl.DataFrame) -> pl.DataFrame:
    """How often each judge is wrong under each version: judge, version, n, unread, confused, mcc, and of wrong, alarm
    and miss each NAME (count), NAME_n (of how many), NAME_share, NAME_low, NAME_high.

    False alarms are shares of the conversations in which nobody was needed, misses of those in which somebody was.
    Wilson's interval, of the effective number of observations where a sample was played more than once. `mcc`: of
    needed or not.
    """
    rows = []
    for (judge, version), part in mark(frame).group_by(["judge", "version"], maintain_order=True):
        read = part.filter(pl.col("said").is_not_null())
        unread = part.height - read.height
        row: dict[str, Any] = {"judge": judge, "version": version, "n": read.height, "unread": unread}
        for kind, under in zip(_KINDS, (read, read.filter(~_NEEDED), read.filter(_NEEDED)), strict=True):
            about = clustered_proportion(
                under[kind].cast(pl.Float64).to_numpy(), clusters_of(under["sample_id"]).to_numpy()
            )
            known = under.height > 0
            row |= {
                kind: int(under[kind].sum()),
                f"{kind}_n": under.height,
                f"{kind}_share": about.mean if known else None,
                f"{kind}_low": _finite(about.low),
                f"{kind}_high": _finite(about.high),
            }
        row["confused"] = int(read["confused"].sum())
        row["mcc"] = _finite(matthews(*(read.select(x=side).to_series().to_list() for side in (_NEEDED, _SEEN))))
        rows.append(row)
    whole = ("version", "n", "unread", "confused", *_KINDS, *(f"{kind}_n" for kind in _KINDS))
    parts = [f"{kind}_{part}" for kind in _KINDS for part in ("share", "low", "high")]
    schema = {"judge": pl.String, **dict.fromkeys(whole, pl.Int64), **dict.fromkeys((*parts, "mcc"), pl.Float64)}
    return pl.DataFrame(rows, schema=schema, orient="row").sort("judge", "version")


class BlindErrors(NamedTuple):
    """How often one is wrong without reading: always the commonest verdict, and the commonest given what happened."""

    n: int
    answer: str
    constant: float
    by_event: dict[bool, str]
    looking: float


def baseline(frame: pl.DataFrame) -> BlindErrors | None:
    """The floors over the conversations of `verdicts`, each once; None without any."""
    truth = frame.unique(_KEY, keep="first", maintain_order=True)["truth"]
    if truth.is_empty():
        return None
    counts = {name: int((truth == name).sum()) for name in OPTIONS}
    answer = max(OPTIONS, key=lambda name: counts[name])
    by_event = {
        True: max(("right", "wrong"), key=lambda name: counts[name]),
        False: max(("none", "missed"), key=lambda name: counts[name]),
    }
    looking = 1 - sum(counts[name] for name in by_event.values()) / len(truth)
    return BlindErrors(len(truth), answer, 1 - counts[answer] / len(truth), by_event, looking)


def flips(frame: pl.DataFrame, before: int, after: int) -> pl.DataFrame:
    """The verdicts that changed between two versions: judge, source, attempt_id, sample_id, trial, model, scenario,
    persona, modality, truth, was, now, became (mended, broken, moved), turn; what was not read on a side is no change.
    """
    both = _pair(frame, before, after).filter(pl.col("was") != pl.col("now"))
    became = (
        pl.when(pl.col("now") == pl.col("truth"))
        .then(pl.lit("mended"))
        .when(pl.col("was") == pl.col("truth"))
        .then(pl.lit("broken"))
        .otherwise(pl.lit("moved"))
    )
    return both.with_columns(became=became).sort("judge", "became", "source", "sample_id", "trial")


def steps(frame: pl.DataFrame, pairs: Iterable[tuple[int, int]] = ()) -> pl.DataFrame:
    """Each judge from version to version: judge, before, after, n, kept, mended, broken, moved, p, p_holm.

    `pairs` are (before, after); without any, each version and the next. p: McNemar's exact test of the samples mended
    against those broken (of a sample that was played several times, which were more); p_holm: corrected over all rows.
    """
    versions = sorted(frame["version"].unique())
    rows = []
    for before, after in tuple(pairs) or itertools.pairwise(versions):
        both = _pair(frame, before, after)
        changed = flips(frame, before, after)
        for judge in sorted(both["judge"].unique()):
            mine = changed.filter(pl.col("judge") == judge)
            counts = {name: int((mine["became"] == name).sum()) for name in ("mended", "broken", "moved")}
            net = (
                add_cluster(mine)
                .group_by("cluster")
                .agg(net=(pl.col("became") == "mended").cast(pl.Int64).sum() - (pl.col("became") == "broken").sum())[
                    "net"
                ]
            )
            p = mcnemar_exact(int((net > 0).sum()), int((net < 0).sum()))
            n = both.filter(pl.col("judge") == judge).height
            step = {"judge": judge, "before": before, "after": after, "n": n, "kept": n - mine.height}
            rows.append({**step, **counts, "p": p})
    whole = dict.fromkeys(("before", "after", "n", "kept", "mended", "broken", "moved"), pl.Int64)
    found = pl.DataFrame(rows, schema={"judge": pl.String, **whole, "p": pl.Float64}, orient="row")
    return found.with_columns(p_holm=pl.Series(holm(found["p"].to_numpy()), dtype=pl.Float64))


def confusions(frame: pl.DataFrame) -> pl.DataFrame:
    """What was true and what was said: judge, version, truth, said, n; unread verdicts apart."""
    read = frame.filter(pl.col("said").is_not_null())
    return read.group_by("judge", "version", "truth", "said").agg(n=pl.len()).sort("judge", "version", "truth", "said")


def reason(patch: str, judged: str, judge: str) -> str:
    """Why a judge said what it said, under all versions that this patch asked."""
    frame = ask(
        "SELECT rationale FROM votes WHERE run_id = $run AND attempt_id = $attempt AND judge = $judge",
        {"run": patch, "attempt": judged, "judge": judge},
    )
    return str(frame["rationale"][0] or "") if frame.height else ""


def _pair(frame: pl.DataFrame, before: int, after: int) -> pl.DataFrame:
    """The same judge on the same conversation under both versions, where both could be read."""
    read = frame.filter(pl.col("said").is_not_null())
    keys = ["judge", *_KEY]
    old = read.filter(pl.col("version") == before).select(*keys, was="said")
    new = read.filter(pl.col("version") == after).rename({"said": "now"}).drop("version", "question")
    return new.join(old, on=keys, maintain_order="left")


def _finite(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
