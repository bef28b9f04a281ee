"""How tables are sent: one number format on every page."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.elements.lib.pandas_styler_utils import marshall_styler
from streamlit.proto.ArrowData_pb2 import ArrowData
from streamlit.testing.v1 import AppTest

from cxlab.charts.numbers import format_cell
from cxlab.ui import tables
from cxlab.ui.columns import write_minus
from cxlab.ui.tables import Kind, column, find_hidden, fit_columns, fit_widths


def test_shares_are_sent_as_percentages_with_one_decimal() -> None:
    frame = pl.DataFrame({"share": [0.35, 0.53333, None], "done": [1.0, 0.5, 0.0], "n": [3, 4, 5]})
    table, columns = fit_columns(
        frame, {"share": column("Share", "share"), "done": column("Done", "progress"), "n": column("n", "count")}
    )
    assert table["share"].to_list() == [35.0, pytest.approx(53.333), None]
    assert table["done"].to_list() == [100.0, 50.0, 0.0]
    assert table["n"].to_list() == [3, 4, 5]
    assert columns["share"]["type_config"]["format"] == columns["done"]["type_config"]["format"] == "%.1f %%"
    assert columns["done"]["type_config"]["max_value"] == 100.0


@pytest.mark.parametrize(
    ("kind", "values", "format"),
    [
        ("usd", [0.0012, None], "$%.4f"),
        ("usd", [0.0012, 12.5], "$%.4f"),
        ("usd", [0.0, 0.5, 12.5], "$%.2f"),
        ("usd", [None, None], "$%.2f"),
        ("seconds", [0.04, 0.3], "%.3f s"),
        ("seconds", [0.04, 130.0], "%.1f s"),
        ("seconds", [], "%.3f s"),
        ("seconds", [0.04, 0.002], "%.1f ms"),
        ("seconds", [0.0004], "%.2f ms"),
    ],
)
def test_money_and_time_have_the_decimals_that_their_column_needs(
    kind: str, values: list[float | None], format: str
) -> None:
    frame = pl.DataFrame({"x": values}, schema={"x": pl.Float64})
    table, columns = fit_columns(frame, {"x": column("x", kind)})
    assert columns["x"]["type_config"]["format"] == format
    shown = frame * 1000.0 if format.endswith("ms") else frame
    assert table["x"].to_list() == pytest.approx(shown["x"].to_list(), nan_ok=True)


def test_p_is_never_written_as_nought() -> None:
    frame = pl.DataFrame({"p": [0.0, 0.00049, 0.012, 1.0, None]})
    table, columns = fit_columns(frame, {"p": column("p", "p")})
    assert table["p"].to_list() == ["< 0.001", "< 0.001", "0.012", "1.000", None]
    assert columns["p"]["type_config"] == {"type": "text"}


def test_text_where_a_number_was_expected_stays() -> None:
    frame = pl.DataFrame({"x": ["–", "35 %"]})
    assert fit_columns(frame, {"x": column("x", "share"), "gone": column("y", "usd")})[0].equals(frame)


SENTENCE = "A person who works in the organisation; those that take cases are its agents."


@given(
    st.lists(st.tuples(st.text(max_size=220), st.sampled_from(["", "short", SENTENCE, "x" * 200])), max_size=6),
    st.integers(200, 1500),
)
def test_long_texts_give_way_and_nothing_else(rows: list[tuple[str, str]], room: int) -> None:
    frame = pl.DataFrame({"a": [a for a, _ in rows], "b": [b for _, b in rows], "n": [1234567] * len(rows)})
    frame = frame.with_columns(pl.col("a", "b").cast(pl.String))
    shapes = {"a": column("First"), "b": column("Second", width="large"), "n": column("Number", "count")}
    widths = fit_widths(frame, shapes, room)
    assert set(widths) in (set(), {"a", "b"})
    for name, width in widths.items():
        assert 0 < width <= 500
        longest_word = max((len(word) for text in frame[name] for word in text.split(" ")), default=0)
        assert width >= min(longest_word, 32) * 7


def test_a_table_that_fits_stays_as_it_is() -> None:
    shapes = {"a": column("Name"), "b": column("What it is")}
    frame = pl.DataFrame({"a": ["strong"], "b": [SENTENCE]})
    assert fit_widths(frame, shapes, 900) == {}
    narrow = fit_widths(frame, shapes, 400)
    assert narrow["b"] < 400
    assert narrow["b"] * 3 > len(SENTENCE) * 7
    assert narrow["a"] < 100
    assert fit_widths(frame.clear(), shapes, 400) == {}


def test_a_name_of_many_capitals_has_room_in_one_line() -> None:
    frame = pl.DataFrame({"name": ["CRMArena"], "why": ["so many words that lines must be broken " * 6]})
    shapes = {"name": column("Name"), "why": column("Why")}
    # Its eight letters are 84 pixels wide as Streamlit measures them, with four capitals among them some more.
    assert fit_widths(frame, shapes, 300)["name"] >= 95
    assert fit_widths(frame.with_columns(name=pl.lit("crmarena")), shapes, 300)["name"] < 90


@pytest.mark.parametrize("values", [[0], [7, None, -12], [999, 1000], [-1_000_000], [2**63 - 1], [-(2**63)], [None]])
def test_a_whole_number_takes_the_room_of_its_largest_with_commas(values: list[int | None]) -> None:
    frame = pl.DataFrame({"n": values}, {"n": pl.Int64})
    largest = max((abs(value) for value in values if value is not None), default=None)
    assert tables._longest(frame["n"]) == (0 if largest is None else len(f"{largest:,}"))


def test_the_table_under_a_chart_tells_what_the_downloads_store() -> None:
    stored = pl.DataFrame({"judge": ["simulated:judge-fair"], "slice": ["s_1"], "run_id": ["a_b"], "rank": [2.0]})
    told = tables._in_words(stored, {"slice": {"s_1": "By phone"}.__getitem__})
    assert told.row(0) == ("fair", "By phone", "a_b", 2.0)
    shapes = {name: tables._plain_column(stored[name]) for name in stored.columns}
    assert (shapes["rank"]["label"], shapes["rank"].kind) == ("Rank", "count")
    assert tables._plain_column(pl.Series("mean_cost", [0.25])).kind == "ratio"


@pytest.mark.parametrize(
    ("rows", "height", "told"),
    [
        (10, None, ""),
        (11, None, "11 rows: the table scrolls."),
        (1_200, None, "1,200 rows: the table scrolls."),
        # Of 38 pixels for the head and 35 for a row six rows fit.
        (6, 260, ""),
        (7, 260, "7 rows: the table scrolls."),
        (30, "content", ""),
    ],
)
def test_a_table_with_more_rows_than_it_shows_says_that_it_scrolls(
    rows: int, height: int | str | None, told: str
) -> None:
    def draw(rows: int, height: int | str | None) -> None:
        import polars

        from cxlab.ui.tables import column, show_table

        frame = polars.DataFrame({"name": [f"row {n}" for n in range(rows)]})
        show_table(frame, {"name": column("Name")}, key="t", alt="Rows.", height=height)

    app = AppTest.from_function(draw, default_timeout=300, kwargs={"rows": rows, "height": height}).run()
    assert not app.exception
    assert [each.value for each in app.caption] == ([told] if told else [])


def test_columns_out_of_a_narrow_window_are_named() -> None:
    heads = {"model": "Model", **{f"m{place}": f"Figure {place}" for place in range(9)}}
    frame = pl.DataFrame({name: ["a fairly long name"] if name == "model" else [1.5] for name in heads})
    shapes = {name: column(head, "text" if name == "model" else "points") for name, head in heads.items()}
    widths = fit_widths(frame, shapes, 750)
    assert find_hidden(frame, shapes, widths, 2000) == []
    hidden = find_hidden(frame, shapes, widths, 500)
    assert hidden == list(heads.values())[-len(hidden) :]
    assert 1 < len(hidden) < 9
    # A width that was fitted counts instead of the one that is needed.
    assert find_hidden(frame, shapes, {"model": 700}, 500)[0] == "Model"

    def page() -> None:
        import polars as pl

        from cxlab.ui import column, show_table

        names = [f"Quite a long title {place}" for place in range(9)]
        show_table(pl.DataFrame({name: [1.5] for name in names}), {name: column(name, "points") for name in names},
                   key="wide", alt="")  # fmt: skip

    told = [each.value for each in AppTest.from_function(page).run().caption]
    assert any(each.startswith("On scrolling to the right: ") and each.endswith("title 8.") for each in told)


@given(
    values=st.lists(st.none() | st.floats(-1e6, 1e6), min_size=1, max_size=6),
    kind=st.sampled_from(["points", "percent", "ratio", "share", "usd", "seconds", "count"]),
)
def test_negative_numbers_are_written_with_a_true_minus_and_stay_numbers(
    values: list[float | None], kind: Kind
) -> None:
    frame = pl.DataFrame({"name": ["a", None, "c", "d", "e", "f"][: len(values)], "value": values},
                         schema={"name": pl.String, "value": pl.Float64})  # fmt: skip
    columns = {"name": column("Name"), "value": column("Value", kind)}
    table, fitted = fit_columns(frame, columns)
    sent, shapes = write_minus(table, fitted)
    negative = any(value is not None and value < 0 for value in values)
    if not negative:
        assert sent.column("value").to_pylist() == table["value"].to_list()
        assert "format" in shapes["value"]["type_config"]
        return
    assert "format" not in shapes["value"]["type_config"], "Streamlit would write it with a hyphen"
    proto = ArrowData()
    marshall_styler(proto, sent, "id")
    shown = convert_arrow_bytes_to_pandas_df(proto.styler.display_values)
    kept = convert_arrow_bytes_to_pandas_df(proto.data) if proto.data else sent.data
    assert kept["value"].astype(float).fillna(0.0).tolist() == table["value"].fill_null(0.0).to_list()
    assert shown["name"].tolist() == ["–" if name is None else name for name in frame["name"]]
    for value, text in zip(table["value"], shown["value"], strict=True):
        assert "-" not in text
        assert (text == "–") == (value is None)
        assert text.startswith("−") <= (value is not None and value < 0)


def test_a_minus_stands_before_the_sign_of_money() -> None:
    for value, form, told in (
        (-0.2, "$%.2f", "−$0.20"), (-1.44, "%.1f %%", "−1.4 %"), (-1234.0, "localized", "−1,234"),
        (-0.01, "%.1f", "0.0"), (None, "%.1f", "–"), (3.0, "%.1f s", "3.0 s"),
    ):  # fmt: skip
        assert format_cell(value, form) == told


def test_a_table_that_scrolls_is_printed_by_all_of_its_rows() -> None:
    def page(many: int) -> None:
        from datetime import UTC, datetime

        import polars as pl

        from cxlab.ui.tables import column, show_table

        frame = pl.DataFrame({"what": [f"<b>{n}</b>" for n in range(many)], "share": [0.5] * many,
                              "gap": [-1.25] * many, "made": [datetime(2026, 1, 1, 12, tzinfo=UTC)] * many,
                              "sure": [True] * many})  # fmt: skip
        columns = {"what": column("What"), "share": column("Share", "share"), "gap": column("Gap", "points"),
                   "made": column("Made", "time"), "sure": column("Sure", "flag")}  # fmt: skip
        show_table(frame, columns, key="t", alt="t")

    for many, rows, left in ((5, 0, False), (30, 30, False), (130, 100, True)):
        app = AppTest.from_function(page, args=(many,), default_timeout=300).run()
        assert not app.exception
        drawn = "".join(str(each.proto.body) for each in app.get("html"))
        assert drawn.count("&lt;b&gt;") == rows
        assert ("and 30 more" in drawn) is left
        assert (">50.0 %<" in drawn) is (">−1.3<" in drawn) is (">2026-01-01 12:00<" in drawn) is bool(rows)
