"""What a sample expects and what models answered, each in a few words: to be read beside each other in a list."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import polars as pl

from cxlab.read.query import ask
from cxlab.store import catalogue, layout

NOTHING = "nothing"
"""No answer: that several models have none says nothing of what would be right."""


_ANSWERED = """json_valid(expected)
    AND list_has_any(json_keys(expected), ['label', 'tools', 'answers', 'answer'])"""
_SAID = {"run_id": pl.String, "attempt_id": pl.String, "due": pl.String, "given": pl.String}


@lru_cache(maxsize=4)
def _read_answered(home: str, version: str) -> frozenset[str]:
    """The datasets with a sample that has an answer."""
    return frozenset(ask(f"SELECT DISTINCT dataset_id FROM samples WHERE {_ANSWERED}")["dataset_id"])


def read_answers(attempts: pl.DataFrame) -> pl.DataFrame:
    """run_id, attempt_id, due and given in words, of those attempts (run_id, attempt_id) whose sample has an answer to
    be set beside another."""
    # Attempts are read of no run in which there is nothing to find: of long dialogues that takes longest.
    answered, runs = _read_answered(str(layout.home()), catalogue.data_version()), catalogue.read().runs
    attempts = attempts.filter(pl.col("run_id").is_in([run for run in runs if runs[run].dataset_id in answered]))
    if attempts.is_empty():
        return pl.DataFrame(schema=_SAID)
    # One after the other: what a sample of which dataset is, DuckDB cannot estimate, and would pair each attempt with
    # all samples first. Of what a sample holds only what is looked at is handed out.
    found = ask(
        f"""WITH tried AS MATERIALIZED (
            SELECT run_id, attempt_id, sample_id, dataset_id, output FROM attempts
            JOIN wanted_attempts USING (run_id, attempt_id) JOIN (SELECT run_id, dataset_id FROM runs) USING (run_id)
        ), due AS MATERIALIZED (
            SELECT dataset_id, sample_id, any_value(expected) AS expected,
                any_value(json_extract(inputs, '$.questions')) AS questions
            FROM samples WHERE sample_id IN (SELECT sample_id FROM tried) AND {_ANSWERED} GROUP BY ALL
        )
        SELECT run_id, attempt_id, any_value(output) AS output, any_value(expected) AS expected,
            any_value(questions) AS questions
        FROM tried JOIN due USING (dataset_id, sample_id) GROUP BY ALL""",
        beside={"wanted_attempts": attempts.select("run_id", "attempt_id").unique().to_arrow()},
    )
    said = [
        say_answers(
            json.loads(row["expected"]), json.loads(row["output"] or "{}") or {},
            {"questions": json.loads(row["questions"])} if row["questions"] else {},
        )
        for row in found.iter_rows(named=True)
    ]  # fmt: skip
    told = {"due": [due for due, _ in said], "given": [given for _, given in said]}
    return found.select("run_id", "attempt_id").with_columns(
        pl.Series(name, values, dtype=pl.String) for name, values in told.items()
    )


def say_answers(expected: Mapping[str, Any], output: Mapping[str, Any], inputs: Mapping[str, Any]) -> tuple[str, str]:
    """(due, given): a label, an answer, the tools called; of several questions those that were answered otherwise.

    Rankings, pairs and dialogues are no answers that can agree: ("", "").
    """
    if "label" in expected:
        return _say(expected["label"]), _say(output.get("label"))
    if "tools" in expected:
        calls = next(iter((output.get("calls") or {}).values()), None)
        return _name_tools(expected["tools"]), _name_tools(calls)
    if "answers" in expected and "answers" in output and "questions" in inputs:
        given = [*(output["answers"] or ()), *[None] * len(expected["answers"])]
        apart = [
            (question, due, said)
            for question, due, said in zip(inputs["questions"], expected["answers"], given, strict=False)
            if due != said
        ]
        due, said = (" ".join(f"{each[0]} {_say(each[at])}." for each in apart) for at in (1, 2))
        return due, said
    if "answer" in expected and "answer" in output:
        return _say(expected["answer"]), _say(output["answer"])
    return "", ""


def _say(value: Any) -> str:
    return value.strip() if isinstance(value, str) and value.strip() and value != "None" else NOTHING


def _name_tools(calls: Any) -> str:
    names = sorted(str(each.get("name") if isinstance(each, Mapping) else each) for each in calls or ())
    return ", ".join(name.replace("_", " ") for name in names) or NOTHING
