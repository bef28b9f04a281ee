"""What the attempts of each task take."""

import polars as pl

from cxlab.read.query import ask, where
from cxlab.read.view import View


def task_costs(view: View) -> pl.DataFrame:
    """What an answer takes, one row a task and model.

    Columns: task, model, n, and of an answer the means calls, prompt_tokens, completion_tokens, latency_s, cost_usd;
    median_s and p95_s of its time, total_usd of all.

    Tokens and cost are null where no provider reports them: unknown is not zero. Attempts that a provider cut short
    are left out. As the paper's table 10 counts: the model under test alone, no judges.
    """
    condition, params = where(view)
    return ask(
        f"""
        SELECT task, model, count(*) AS n, avg(calls) AS calls, avg(prompt_tokens) AS prompt_tokens,
            avg(completion_tokens) AS completion_tokens, avg(latency_s) AS latency_s, median(latency_s) AS median_s,
            quantile_cont(latency_s, 0.95) AS p95_s,
            CASE WHEN count(cost_usd) = count(*) THEN avg(cost_usd) END AS cost_usd,
            CASE WHEN count(cost_usd) = count(*) THEN sum(cost_usd) END AS total_usd
        FROM attempts WHERE outcome <> 'provider' AND {condition} GROUP BY ALL ORDER BY task, model
        """,
        params,
    )
