"""What is made from sums in memory must be what the store's own queries say."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from cxlab import read
from cxlab.metrics.intervals import clustered_interval
from cxlab.read import View
from cxlab.read.comparison import score_sums
from cxlab.store import connect
from cxlab.store.load import load_rows
from cxlab.views.judges import queries_agreement, queries_materiality
from cxlab.views.sop import queries

ZERO = View(metric="overall", models=("simulated:strong", "simulated:base")).narrow(level=("zero",))


@pytest.mark.parametrize(
    "view", [View(metric="overall"), ZERO, View(metric="chat").narrow(scenario=("airline_refund",)), View(metric="?")]
)
@pytest.mark.parametrize("by", [("model",), ("run_id", "level"), ("model", "leaf")])
def test_sums_say_what_the_score_table_says(home: Path, view: View, by: Sequence[str]) -> None:
    wanted = read.score_table(view, by=by).drop("metric")
    found = score_sums.table(view, by)
    assert_frame_equal(found, wanted, check_dtypes=False)


def test_a_filter_on_what_was_read_is_a_filter_in_the_store(home: Path) -> None:
    names = queries_agreement.panel(View(metric="overall"))["judge"].to_list()
    for view in (View(metric="overall"), ZERO, View(metric="overall").narrow(scenario=("airline_refund",))):
        # By run the filter goes into the query: the runs of these models are the same attempts.
        runs = tuple(read.facets(view, ("runs",))["value"])
        asked = view.change(models=(), runs=runs)
        assert_frame_equal(
            queries_agreement.patterns(view, names, "level", ("level",)),
            queries_agreement.patterns(asked, names, "level", ("level",)),
        )
        assert_frame_equal(queries_agreement.panel(view), queries_agreement.panel(asked))
        assert_frame_equal(
            queries_materiality.materiality(view, "model"), queries_materiality.materiality(asked, "model")
        )
        assert_frame_equal(queries.error_split(view), queries.error_split(asked))
        assert_frame_equal(queries.branches(view, True), queries.branches(asked, True))


def test_filters_other_than_those_reach_the_store(home: Path) -> None:
    assert (
        score_sums.of_attempts(View(metric="overall", errors=("field",))).height
        < score_sums.of_attempts(View(metric="overall")).height
    )
    assert queries.error_split(View(metric="overall", search="no such words")).is_empty()


def test_the_macros_of_the_store_cluster_as_the_pages_do(home: Path) -> None:
    told = connect.query(connect.open_store(home), "FROM turn_means('overall')")
    assert told.height == 5
    scores = pl.concat(pl.read_parquet(path) for path in home.glob("runs/run-*/parts/*/scores.parquet"))
    for row in told.iter_rows(named=True):
        of = {name: row[name] for name in ("run_id", "model")}
        part = scores.filter(
            *(pl.col(name) == value for name, value in of.items()), pl.col("turn") > 0, metric="overall"
        )
        wanted = clustered_interval(part["value"].to_numpy(), part["sample_id"].to_list())
        assert (row["n"], row["clusters"]) == wanted[3:]
        assert row["mean"] == pytest.approx(wanted.mean)


def test_trials_of_a_sample_are_one_cluster_for_the_macros() -> None:
    # One clustering for both: two trials that say the same are no more evidence than one.
    import duckdb

    rows = [(sample, trial, sample * 10.0) for sample in (1, 2, 3) for trial in (1, 2)]
    con = duckdb.connect()
    con.execute("CREATE TABLE scores (run_id TEXT, benchmark TEXT, model TEXT, task TEXT, "
                "metric TEXT, attempt_id TEXT, sample_id TEXT, turn INT, value DOUBLE)")  # fmt: skip
    for sample, trial, value in rows:
        con.execute("INSERT INTO scores VALUES ('r', 'b', 'm', 't', 'overall', ?, ?, 1, ?)",
                    [f"a{sample}{trial}", f"s{sample}", value])  # fmt: skip
    views = (Path(connect.__file__).parent / "schema.sql").read_text()
    con.execute(views[views.index("CREATE OR REPLACE VIEW turn_sums") :])
    n, clusters, mean, error = con.execute("SELECT n, clusters, mean, error FROM turn_means('overall')").fetchall()[0]
    wanted = clustered_interval([value for *_, value in rows], [sample for sample, *_ in rows])
    assert (n, clusters, mean) == (6, 3, wanted.mean)
    assert 4.302652729911275 * error == pytest.approx((wanted.high - wanted.low) / 2)  # t with 2 degrees, 97.5 %


def test_rows_of_one_attempt_are_those_of_the_views(home: Path) -> None:
    con = connect.open_store(home)
    run, attempt = connect.query(con, "SELECT run_id, attempt_id FROM attempts ORDER BY ALL LIMIT 1").row(0)
    names = ("attempts", "messages", "votes", "traces", "failures")
    for name, frame in load_rows(run, attempt, names).items():
        asked = f"FROM {name} WHERE run_id = $run AND attempt_id = $attempt"
        wanted = connect.query(con, asked, {"run": run, "attempt": attempt})
        assert frame.height > 0 or name == "failures"
        if "facets" in frame.columns:  # a list of entries in the files, a map and that list in the views
            assert dict(wanted["facets"][0]) == {each["key"]: each["value"] for each in frame["facets"][0]}
            wanted = wanted.with_columns(facets="facet_list").drop("facet_list")
        assert_frame_equal(frame, wanted, check_row_order=False)
    assert all(frame.is_empty() for frame in load_rows(run, "no-such", names).values())
