-- What the database holds: views over the parts, and macros. Paths are relative to `file_search_path`, which
-- connect.py sets at opening, so that the folder can be moved. A dollar sign and a name stand for a table's columns
-- (tables.py), with `from_` for its files: all of them, or those that count while something is set aside (catalogue.py).
-- The views list their columns: parts of an older version lack some, and those read as NULL.

CREATE OR REPLACE VIEW samples AS SELECT $samples
FROM read_parquet($from_samples, union_by_name = true, hive_partitioning = false);

CREATE OR REPLACE VIEW attempts AS SELECT $attempts
FROM read_parquet($from_attempts, union_by_name = true, hive_partitioning = false);

CREATE OR REPLACE VIEW messages AS SELECT $messages
FROM read_parquet($from_messages, union_by_name = true, hive_partitioning = false);

CREATE OR REPLACE VIEW scores AS SELECT $scores
FROM read_parquet($from_scores, union_by_name = true, hive_partitioning = false);

CREATE OR REPLACE VIEW judgements AS SELECT $judgements
FROM read_parquet($from_judgements, union_by_name = true, hive_partitioning = false);

CREATE OR REPLACE VIEW votes AS SELECT $votes
FROM read_parquet($from_votes, union_by_name = true, hive_partitioning = false);

CREATE OR REPLACE VIEW traces AS SELECT $traces
FROM read_parquet($from_traces, union_by_name = true, hive_partitioning = false);

CREATE OR REPLACE VIEW failures AS SELECT $failures
FROM read_parquet($from_failures, union_by_name = true, hive_partitioning = false);

-- Merging annotation files shows some of them twice for a moment: each id counts once.
CREATE OR REPLACE VIEW annotations AS SELECT DISTINCT ON (id) $annotations
FROM read_parquet($from_annotations, union_by_name = true, hive_partitioning = false);

-- A withdrawal names the annotation that it takes back; nothing is ever deleted.
CREATE OR REPLACE VIEW annotations_in_force AS SELECT * FROM annotations
WHERE kind <> 'withdrawn' AND id NOT IN (SELECT value FROM annotations WHERE kind = 'withdrawn');

-- The tags that are on attempts now, one a row: what was said last of an attempt and a tag counts.
CREATE OR REPLACE VIEW attempt_tags AS SELECT run_id, attempt_id, value FROM annotations_in_force
WHERE kind IN ('tag', 'untag')
QUALIFY kind = 'tag' AND row_number() OVER (PARTITION BY run_id, attempt_id, value ORDER BY created DESC, id DESC) = 1;

-- Read as text and then taken apart: read_json takes a millisecond more a file, which each question that joins runs pays.
-- The file without a record is empty; conditions may be looked at in any order.
CREATE OR REPLACE VIEW runs AS SELECT r.id AS run_id, r.benchmark, r.model, r.simulated, r.setup, r.judges,
    r.dataset_id, r.seed, r.trials, r.planned, r.prompts, r.code, r."group" AS group_, r.created
FROM (SELECT from_json_strict(nullif(content, ''), '{"id": "VARCHAR", "benchmark": "VARCHAR", "model": "VARCHAR",
    "simulated": "BOOLEAN", "setup": "JSON", "judges": ["VARCHAR"], "dataset_id": "VARCHAR", "seed": "BIGINT",
    "trials": "INTEGER", "planned": "INTEGER", "prompts": "JSON", "code": "VARCHAR", "group": "VARCHAR",
    "created": "TIMESTAMPTZ"}') AS r
    FROM read_text($from_runs) WHERE content <> '');

-- One facet of attempts or samples; five times as fast as facets['level'], for no map is made.
CREATE OR REPLACE MACRO facet_of(facet_list, name) AS list_filter(facet_list, lambda each: each."key" = name)[1]."value";

-- One of the scores that a single judge gives, of an element of traces.single_judges.
CREATE OR REPLACE MACRO score_of(scores, metric) AS list_filter(scores, lambda s: s."key" = metric)[1]."value";

-- Rows of a table with the facets of their attempts: FROM facetted('traces') t … t.facets['level'].
CREATE OR REPLACE MACRO facetted(rows_of) AS TABLE
SELECT t.*, a.facets, a.facet_list FROM query_table(rows_of) t JOIN attempts a USING (run_id, attempt_id);

-- What several turns, trials and runs say of one sample is alike, so an interval over turns is clustered by sample, as
-- on the pages (cxlab/read/clusters.py). First level: one row per run, sample and metric with the count and the sum of
-- its scored turns. Second level: the macros below over those rows.
CREATE OR REPLACE VIEW turn_sums AS
SELECT run_id, benchmark, model, task, metric, sample_id,
    count(value) AS n, sum(value) AS total, count(*) - count(value) AS unscored
FROM scores WHERE turn IS NOT NULL GROUP BY ALL;

-- Mean over all turns.
CREATE OR REPLACE MACRO clustered_mean(total, n) AS sum(total) / nullif(sum(n), 0);

-- Standard error of that mean, clustered: with C clusters of sums s and counts k, N = sum(k), m = sum(s) / N:
-- sqrt(C / (C - 1) * sum((s - m k)^2)) / N, multiplied out so that one pass is enough. NULL for fewer than 2
-- clusters (the ratio estimator's variance; Cochran, Sampling Techniques, chapter 9). Clusters without a scored
-- turn do not count. greatest: rounding must not make the root of a tiny negative number.
CREATE OR REPLACE MACRO clustered_error(total, n) AS
    CASE WHEN count(*) FILTER (n > 0) > 1 THEN
        sqrt(count(*) FILTER (n > 0) / (count(*) FILTER (n > 0) - 1.0) * greatest(0.0,
            coalesce(sum(total * total), 0)
            - 2 * (sum(total) / sum(n)) * coalesce(sum(total * n), 0)
            + (sum(total) / sum(n)) * (sum(total) / sum(n)) * sum(n * n))) / sum(n)
    END;

-- The whole line of a leaderboard for one metric: FROM turn_means('overall').
CREATE OR REPLACE MACRO turn_means(wanted) AS TABLE
SELECT run_id, model, sum(n)::BIGINT AS n, count(*) FILTER (n > 0) AS clusters,
    clustered_mean(total, n) AS mean, clustered_error(total, n) AS error, sum(unscored)::BIGINT AS unscored
FROM turn_sums WHERE metric = wanted GROUP BY run_id, model;
