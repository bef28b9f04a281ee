"""The papers' tables: one shape, and figures that agree with each other and with the papers' formulas."""

import json
import math
import re
from pathlib import Path
from statistics import mean

import pytest

FOLDER = Path(__file__).parents[2] / "data" / "published"
BENCHMARKS = {
    "cdr": {"table3", "table9", "table10", "table11", "table12"},
    "crmarena": {"table2", "table3", "table4", "table5", "figure4"},
    "cxmarena": {*(f"table{number}" for number in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12)), "appendixC", "appendixD"},
    "mmtaup2": {"table2", "table3", "table4", "table5"},
    "sage": {"table1", "table2", "table3", "table4", "figure6"},
}
UNITS = {"points", "percent", "ratio", "usd", "count"}


def load(benchmark):
    return json.loads((FOLDER / f"{benchmark}.json").read_text(encoding="utf-8"))


def table(benchmark, wanted, key=None):
    """Rows as dicts, or a dict of them by the column `key`."""
    found = next(one for one in load(benchmark)["tables"] if one["id"] == wanted)
    rows = [dict(zip((column["id"] for column in found["columns"]), row, strict=True)) for row in found["rows"]]
    return {row[key]: row for row in rows} if key else rows


def test_there_is_one_file_a_benchmark():
    assert {path.name for path in FOLDER.iterdir()} == {f"{benchmark}.json" for benchmark in BENCHMARKS}


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_shape(benchmark):
    document = load(benchmark)
    assert set(document) == {"paper", "benchmark", "tables"}
    assert document["benchmark"] == benchmark
    paper = document["paper"]
    assert set(paper) - {"name"} == {"title", "authors_short", "year", "arxiv"}
    assert isinstance(paper["title"], str)
    assert paper["authors_short"]
    assert paper["year"] in range(2024, 2027)
    assert paper["arxiv"] is None or len(paper["arxiv"]) == 10
    assert {one["id"] for one in document["tables"]} == BENCHMARKS[benchmark]
    assert len(document["tables"]) == len(BENCHMARKS[benchmark])
    assert any(one["leaderboard"] for one in document["tables"])


@pytest.mark.parametrize(
    ("benchmark", "one"),
    [pytest.param(name, one, id=f"{name}-{one['id']}") for name in BENCHMARKS for one in load(name)["tables"]],
)
def test_shape_of_a_table(benchmark, one):
    assert set(one) - {"keys", "beside"} == {"id", "table", "caption", "unit", "columns", "rows", "leaderboard"}
    assert len(one.get("keys", one["rows"])) == len(one["rows"])  # our names of the rows that we measure too
    named = re.sub(r"^(table|appendix|figure)", lambda found: f"{found[0].capitalize()} ", one["id"])
    assert one["table"] == named
    assert one["unit"] in UNITS
    assert one["caption"].endswith(".")
    ids = [column["id"] for column in one["columns"]]
    assert len(set(ids)) == len(ids)
    assert all(name.replace("_", "").isalnum() and name == name.lower() for name in ids)
    assert one["rows"]
    for column in one["columns"]:
        assert set(column) == {"id", "title", "kind", "unit", "higher_is_better"}
        assert column["title"]
        assert column["unit"] in UNITS | {None}
        assert column["higher_is_better"] in (True, False, None)
        assert column["kind"] == "number" or (column["unit"], column["higher_is_better"]) == (None, None)
    for row in one["rows"]:
        assert len(row) == len(ids)
        for column, cell in zip(one["columns"], row, strict=True):
            if column["kind"] == "number":
                assert isinstance(cell, int | float)
                assert math.isfinite(cell)
                if column["unit"] == "percent" and column["higher_is_better"] is not None:
                    assert 0 <= cell <= 100
            else:
                assert column["kind"] == "text"
                assert cell is None or (isinstance(cell, str) and cell)
    if one["leaderboard"] is not None:
        assert set(one["leaderboard"]) == {"entity", "metric"}
        by_id = {column["id"]: column for column in one["columns"]}
        assert by_id[one["leaderboard"]["entity"]]["kind"] == "text"
        assert by_id[one["leaderboard"]["metric"]]["higher_is_better"] is not None
        entities = [row[ids.index(one["leaderboard"]["entity"])] for row in one["rows"]]
        assert len(set(entities)) == len(entities)


SCENARIOS = (
    "telecom_package",
    "ecommerce_refund",
    "property_service",
    "logistics_delivery",
    "airline_refund",
    "online_education",
)


def test_sage_overall_is_logic_and_chat_for_all_27_models():
    rows = table("sage", "table1")
    assert len({row["model"] for row in rows}) == 27
    for row in rows:
        assert 0.8 * row["logic"] + 0.2 * row["chat"] == pytest.approx(row["oa"], abs=0.01)
        assert mean(row[scenario] for scenario in SCENARIOS) == pytest.approx(row["oa"], abs=0.0101)


def test_sage_ranks_follow_the_scores_within_each_group():
    for group, size in (("closed", 9), ("open", 18)):
        rows = [row for row in table("sage", "table1") if row["group"] == group]
        assert len(rows) == size
        for score in ("oa", "logic", "chat"):
            ordered = sorted(rows, key=lambda row: row[f"{score}_rank"])
            assert [row[f"{score}_rank"] for row in ordered] == list(range(1, size + 1))
            values = [row[score] for row in ordered]
            assert values == sorted(values, reverse=True)


def test_sage_logic_and_chat_are_the_weighted_parts():
    parts, turns = table("sage", "table4", "scenario"), table("sage", "table2", "scenario")
    assert set(turns) == set(SCENARIOS)
    for scenario in SCENARIOS:
        part, turn = parts[scenario], turns[scenario]
        logic = 0.4 * part["classification"] + 0.4 * part["path"] + 0.2 * part["action"]
        chat = (
            0.2 * part["linguistic_quality"]
            + 0.25 * part["anthropomorphism"]
            + 0.25 * part["content_utility"]
            + 0.15 * part["user_satisfaction"]
            + 0.15 * part["instruction_compliance"]
        )
        assert logic == pytest.approx(turn["logic_t1"], abs=0.1)
        assert chat == pytest.approx(turn["chat_t1"], abs=0.1)


def test_sage_tables_agree_with_each_other():
    models, turns = table("sage", "table1"), table("sage", "table2", "scenario")
    for scenario in SCENARIOS:
        assert mean(model[scenario] for model in models) == pytest.approx(turns[scenario]["oa_t1"], abs=0.06)
        for turn in ("t1", "t5", "t10", "t15"):
            row = turns[scenario]
            overall = 0.8 * row[f"logic_{turn}"] + 0.2 * row[f"chat_{turn}"]
            assert overall == pytest.approx(row[f"oa_{turn}"], abs=0.1)
    levels = table("sage", "table3", "scenario")
    for row in levels.values():
        for level in ("zero", "weak", "strong"):
            overall = 0.8 * row[f"logic_{level}"] + 0.2 * row[f"chat_{level}"]
            assert overall == pytest.approx(row[f"oa_{level}"], abs=0.1)
    for rows in (levels, table("sage", "table4", "scenario")):
        for column, average in rows["average"].items():
            if column != "scenario":
                assert mean(rows[scenario][column] for scenario in SCENARIOS) == pytest.approx(average, abs=0.075)


def test_crmarena_all_is_the_mean_of_the_nine_tasks():
    rows = table("crmarena", "table2", "agent")
    assert len(rows) == 18
    tasks = ("ncr", "htu", "tcu", "ned", "pvi", "kqa", "tii", "mta", "bri")
    for row in rows.values():
        assert mean(row[task] for task in tasks) == pytest.approx(row["all"], abs=0.1)


def test_cxmarena_f1_is_that_of_precision_and_recall():
    for row in table("cxmarena", "table1"):
        f1 = 2 * row["precision"] * row["recall"] / (row["precision"] + row["recall"])
        assert f1 == pytest.approx(row["f1"], abs=0.025)  # from figures rounded to two digits


def test_cxmarena_shares_are_whole_numbers_of_samples():
    for row in table("cxmarena", "table2"):
        for taxonomy in "abc":
            share = row[f"taxonomy_{taxonomy}"]
            assert round(round(share / 100 * 979) / 979 * 100, 2) == share
    for row in table("cxmarena", "table7"):
        for tools in (16, 32, 64, 96, 128):
            share = row[f"tools_{tools}"]
            assert round(round(share / 100 * 456) / 456 * 100, 2) == share
    for row in table("cxmarena", "table5"):
        assert sum(row[kind] for kind in ("correct", "incorrect", "hallucinated", "refusal")) == 100


def test_cdr_tables_repeat_each_other_but_for_two_swapped_cells():
    short = table("cdr", "table3", "model")
    assert len(short) == 16
    swapped = set()
    for number, grain in ((9, "turn"), (10, "window"), (11, "session")):
        for model, row in table("cdr", f"table{number}", "model").items():
            for metric in ("ndcg_10", "recall_10", "precision_10"):
                if short[model][f"{grain}_{metric}"] != row[metric]:
                    swapped.add((model, f"{grain}_{metric}"))
            assert row["hit_1"] == row["precision_1"] == row["ndcg_1"] == row["mrr_1"]
            assert row["hit_1"] <= row["hit_5"] <= row["hit_10"] <= row["hit_20"]
    assert swapped == {
        (model, f"window_{metric}")
        for model in ("Text-embedding-3-small", "Stella_en_1.5B_v5")
        for metric in ("ndcg_10", "recall_10")
    }


def test_mmtaup2_changes_follow_from_its_table_2():
    values = {(row["domain"], row["exposure"], row["judge"]): row for row in table("mmtaup2", "table2")}
    assert len(values) == 12
    titles = {column["title"]: column["id"] for column in load("mmtaup2")["tables"][0]["columns"]}
    off = set()
    for number, domain in ((3, "retail"), (4, "telecom")):
        for row in table("mmtaup2", f"table{number}"):
            metric = titles[row["metric"]]
            for judge, short in (("gpt-4.1", "gpt_4_1"), ("gpt-5", "gpt_5")):
                context = values[domain, "context", judge][metric]
                assert row[f"{short}_context"] == context
                for exposure in ("none", "persona"):
                    change = 100 * (values[domain, exposure, judge][metric] / context - 1)
                    if abs(change - row[f"{short}_{exposure}_change"]) > 0.06:
                        off.add((domain, metric, judge, exposure))
    # The paper prints -9.1 % where its own figures give -8.9 %.
    assert off == {("telecom", "modality_robustness", "gpt-4.1", "none")}


def test_mmtaup2_composite_gives_a_possible_pass_rate():
    values = {row["setting"]: row for row in table("mmtaup2", "table2")}
    for row in table("mmtaup2", "table5"):
        m = values[row["setting"]]
        robust = 0.35 * (m["modality_robustness"] + m["arga_score"] + m["error_recovery_rate"]) / 3
        swift = 0.2 * (m["turn_efficiency"] + 1 / (1 + m["user_effort_score"]) + 1 / (1 + m["turn_overhead"])) / 3
        rest = row["mm_tap"] - robust - swift - 0.1 * m["safety_precision"]
        assert 0 < rest / (0.35 * m["critical_field_accuracy"]) < 1
