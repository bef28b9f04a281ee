"""What the attempts of each task take."""

import polars as pl

from cxlab.read.query import ask, measured, where
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
        SELECT task, model, count(*) AS n, avg(calls + coalesce(cached_calls, 0)) AS calls,
            avg(prompt) AS prompt_tokens, avg(completion) AS completion_tokens, avg(seconds) AS latency_s,
            median(seconds) AS median_s,
            quantile_cont(seconds, 0.95) AS p95_s,
            CASE WHEN count(price) = count(*) THEN avg(price) END AS cost_usd,
            CASE WHEN count(price) = count(*) THEN sum(price) END AS total_usd
        FROM (SELECT *, {measured("prompt_tokens")} AS prompt, {measured("completion_tokens")} AS completion,
            {measured("latency_s")} AS seconds, {measured("cost_usd")} AS price FROM attempts)
        WHERE outcome <> 'provider' AND {condition} GROUP BY ALL ORDER BY task, model
        """,
        params,
    )
