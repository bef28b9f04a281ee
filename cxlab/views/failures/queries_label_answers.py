"""What a sample expects and what models answered, each in a few words: to be read beside each other in a list."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from cxlab.read.query import ask

NOTHING = "nothing"
"""No answer: that several models have none says nothing of what would be right."""


def read_answers(attempts: Sequence[tuple[str, str]]) -> pl.DataFrame:
    """run_id, attempt_id, due and given in words; both "" where answers are of no kind to be set beside another."""
    found = ask(
        """SELECT a.run_id, a.attempt_id, any_value(a.output) AS output, any_value(s.expected) AS expected,
            any_value(s.inputs) AS inputs
        FROM attempts a JOIN runs r USING (run_id) JOIN samples s
            ON s.sample_id = a.sample_id AND s.dataset_id = r.dataset_id
        JOIN (SELECT unnest($runs) AS run_id, unnest($attempts) AS attempt_id) USING (run_id, attempt_id)
        GROUP BY ALL""",
        {"runs": [run for run, _ in attempts], "attempts": [attempt for _, attempt in attempts]},
    )
    said = [
        say_answers(*(json.loads(row[name] or "{}") or {} for name in ("expected", "output", "inputs")))
        for row in found.iter_rows(named=True)
    ]
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
