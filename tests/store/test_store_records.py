"""What goes into the store comes out of it."""

import json
import math
from pathlib import Path

import polars as pl
import pytest

from cxlab.errors import BadOption, BadStore, CxError, UnknownName
from cxlab.records import Annotation, Message, Score
from cxlab.store import connect, layout, load, trash, write
from cxlab.store.compact import compact, compact_annotations
from cxlab.store.exports.export import export_runs

from .store_records import NOON, Scored, make_attempt, make_dataset, make_run, make_samples, samples_by_id


def unordered(scored):
    return {name: sorted(map(repr, getattr(scored, name))) for name in ("scores", "votes", "judgements", "traces")}


@pytest.mark.parametrize("compacted", [False, True])
def test_every_record_survives_the_round_trip(filled: Path, compacted: bool) -> None:
    if compacted:
        assert compact("r1", filled) == 3
    loaded = list(load.load_attempts("r1", filled))
    assert len(loaded) == 60
    for number, (attempt, scored) in enumerate(loaded):
        wanted, wanted_scored = make_attempt(number)
        assert attempt == wanted
        assert unordered(scored) == unordered(wanted_scored)
    assert load.load_attempt("r1", "r1-a00007", filled)[0] == make_attempt(7)[0]
    with pytest.raises(UnknownName, match="r1-a99999"):
        load.load_attempt("r1", "r1-a99999", filled)


def test_samples_datasets_and_runs_survive_the_round_trip(home: Path) -> None:
    assert write.load_samples("d1", home) == make_samples()
    assert write.load_dataset("d1", home) == make_dataset()
    assert write.list_datasets(home) == [make_dataset()]
    assert write.load_run("r1", home) == make_run()
    assert [run.id for run in write.list_runs(home)] == ["r1"]
    con = connect.open_store(home)
    row = connect.query(con, "SELECT run_id, group_, judges, created, setup->>'turns' AS turns FROM runs").row(0)
    assert row == ("r1", "pair", ["j1", "j2"], NOON, "3")


def test_a_saved_dataset_is_left_as_it_is_and_a_run_id_is_taken_once(home: Path) -> None:
    write.save_dataset(make_dataset(), [], home)
    assert len(write.load_samples("d1", home)) == 40
    with pytest.raises(BadOption, match="'r1' exists already"):
        write.create_run(make_run(), home)
    with pytest.raises(BadOption, match="belongs to dataset 'd1'"):
        write.save_dataset(make_dataset("d2"), make_samples("d1"), home)
    assert not (home / "datasets" / "d2").exists()


def test_a_dataset_carries_further_tables(home: Path) -> None:
    articles = pl.DataFrame({"article_id": ["a1", "a2"], "facts": [["f1"], []], "file": [None, "files/a2.pdf"]})
    write.save_dataset(make_dataset("d3"), make_samples("d3"), home, tables={"articles": articles})
    assert write.load_table("d3", "articles", home).equals(articles)
    assert write.load_samples("d3", home) == make_samples("d3")
    with pytest.raises(UnknownName, match="unknown table 'topics'; known: articles, samples"):
        write.load_table("d3", "topics", home)
    with pytest.raises(BadOption, match="overwrite the dataset's samples"):
        write.save_dataset(make_dataset("d4"), [], home, tables={"samples": articles})
    for name in ("../escaped", ""):
        with pytest.raises(BadOption):
            write.save_dataset(make_dataset("d4"), [], home, tables={name: articles})
    assert not (home / "datasets" / "d4").exists()


def test_rows_carry_the_facets_of_their_sample_and_the_mark_simulated(filled: Path) -> None:
    con = connect.open_store(filled)
    row = connect.query(con, "SELECT *, to_json(facets) AS told FROM attempts WHERE attempt_id = 'r1-a00003'").row(
        0, named=True
    )
    wanted = {
        "simulated": True,
        "told": {"leaf": "leaf0", "level": "weak", "scenario": "airline_refund"},
        "turns": 2,
        "opening": "My parcel is lost 3.0",
        "failure": "format:no_json",
        "task": "dialogue",
        "cached_calls": 2,
    }
    row["told"] = json.loads(row["told"])
    assert {name: row[name] for name in wanted} == wanted
    for table in ("scores", "traces", "judgements", "failures"):
        rows = connect.query(
            con,
            f"SELECT DISTINCT model, facets['scenario'] FROM facetted('{table}') WHERE attempt_id = 'r1-a00003'",
        ).rows()
        assert rows == [("simulated:strong", "airline_refund")], table


def test_turns_are_what_the_agent_told_the_customer(tmp_path: Path) -> None:
    run, (attempt, scored) = make_run("r9"), make_attempt(0, "r9")
    greeting, empty = Message(role="agent", turn=0, text="Hello."), Message(role="agent", turn=1, text="")
    talk = (Message(role="customer", turn=1, text="Hi."), empty, Message(role="agent", turn=1, text="Yes?"))
    said = (greeting, *talk, Message(role="customer", turn=2, text="Bye."))
    write.create_run(run, tmp_path)
    with write.PartWriter(run, samples_by_id(), home=tmp_path) as parts:
        parts.add(attempt.model_copy(update={"messages": said}), scored)
    assert connect.query(connect.open_store(tmp_path), "SELECT turns FROM attempts").row(0) == (1,)


def test_text_that_no_file_can_hold_is_mended_and_what_is_no_number_is_not_scored(home: Path) -> None:
    attempt, _ = make_attempt(0)
    broken = attempt.model_copy(
        update={
            "messages": (Message(role="customer", text="half \ud83d of a face, \x00 and ä", turn=1),),
            "output": {"huge": 2**70, "half": "\ud83d", "nan": math.nan},
        }
    )
    scores = (
        Score(attempt_id=attempt.id, turn=1, metric="overall", value=math.inf),
        Score(attempt_id=attempt.id, turn=1, metric="logic", value=math.nan, reason="divided by nothing"),
    )
    with write.PartWriter(make_run(), samples_by_id(), home=home) as writer:
        writer.add(broken, Scored(scores))
    back, back_scored = load.load_attempt("r1", attempt.id, home)
    assert back.messages[0].text == "half \ufffd of a face, \x00 and ä"
    assert back.output == {"huge": 2**70, "half": "\ufffd", "nan": None}
    assert [(s.value, s.reason) for s in back_scored.scores] == [
        (None, "not a finite number: inf"),
        (None, "divided by nothing"),
    ]


def test_hostile_text_stays_text(home: Path) -> None:
    hostile = "'); DROP VIEW attempts; -- ../../etc/passwd $run {{x}}"
    with write.PartWriter(make_run(), samples_by_id(), home=home) as writer:
        writer.add(*make_attempt(0, text=hostile))
    con = connect.open_store(home)
    found = connect.query(con, "SELECT text FROM messages WHERE text = $text", {"text": f"{hostile} 0.0"})
    assert found["text"].to_list() == [f"{hostile} 0.0"]
    assert connect.query(con, "SELECT count(*) FROM attempts").item() == 1


def make_annotation(id: str, value: str, **more) -> Annotation:
    return Annotation(
        id=id, created=NOON, author="ann", kind="note", run_id="r1", attempt_id="r1-a00001", value=value, **more
    )


def test_annotations_are_appended_and_merged_without_doubles(home: Path) -> None:
    for number in range(5):
        write.annotate(make_annotation(f"n{number}", f"'=1+1 {number}", turn=number or None), home)
    con = connect.open_store(home)
    before = connect.query(con, "FROM annotations ORDER BY id")
    assert before.row(0, named=True)["turn"] is None
    assert before["value"].to_list() == [f"'=1+1 {number}" for number in range(5)]
    copy = next((home / "annotations").glob("a-*.parquet"))
    (home / "annotations" / "a-copied.parquet").write_bytes(copy.read_bytes())  # as a merge shows it for a moment
    assert connect.query(con, "SELECT count(*) FROM annotations").item() == 5
    assert compact_annotations(home, at_least=50) == 0
    assert compact_annotations(home, at_least=2) == 6
    assert connect.query(con, "FROM annotations ORDER BY id").equals(before)
    assert len(list((home / "annotations").glob("*.parquet"))) == 2


BAD_IDS = [
    "",
    ".",
    "..",
    "../r1",
    "a/b",
    "/etc",
    "a\\b",
    "a b",
    "r1\n",
    "r1\x00",
    "_empty",
    ".hidden",
    "ä",
    "r*",
    "r1~2",
    "x" * 200,
    "a'b",
    "-rf",
]


@pytest.mark.parametrize("bad", BAD_IDS)
def test_ids_that_are_no_plain_names_are_refused_everywhere(home: Path, bad: str) -> None:
    before = sorted(home.parent.rglob("*"))
    run = make_run().model_copy(update={"id": bad})
    dataset = make_dataset().model_copy(update={"id": bad})
    note = make_annotation("n", "x").model_copy(update={"run_id": bad})
    for refused in (
        lambda: write.create_run(run, home),
        lambda: write.load_run(bad, home),
        lambda: write.finished(bad, home),
        lambda: write.save_dataset(dataset, [], home),
        lambda: write.load_samples(bad, home),
        lambda: trash.delete("run", bad, home),
        lambda: trash.restore("run", bad, home),
        lambda: compact(bad, home),
        lambda: write.PartWriter(run, {}, home=home),
        lambda: write.annotate(note, home),
        lambda: list(load.load_attempts(bad, home)),
        lambda: trash.purge("run", bad, home),
    ):
        with pytest.raises(BadOption, match="is not usable"):
            refused()
    with pytest.raises(CxError):
        export_runs([bad], "csv", home.parent / "out", home)
    assert sorted(home.parent.rglob("*")) == before


def test_a_home_that_reads_as_a_pattern_is_refused(tmp_path: Path) -> None:
    for name in ("a,b", "a*", "a[1]"):
        with pytest.raises(BadOption, match="CXLAB_HOME"):
            connect.open_store(tmp_path / name)


def test_home_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path / "x"))
    assert layout.home() == tmp_path / "x"
    monkeypatch.delenv("CXLAB_HOME")
    assert layout.home().parts[-2:] == ("data", "local")


def test_an_attempt_of_another_run_or_an_unknown_sample_is_refused(home: Path) -> None:
    with write.PartWriter(make_run(), samples_by_id(), home=home) as writer:
        attempt, scored = make_attempt(0)
        with pytest.raises(BadStore, match="s-gone"):
            writer.add(attempt.model_copy(update={"sample_id": "s-gone"}), scored)
        with pytest.raises(BadStore, match="'r2'"):
            writer.add(attempt.model_copy(update={"run_id": "r2"}), scored)
    assert write.finished("r1", home) == set()
