"""The published folder's shape, its defects, and what a bad one is told."""

import ast
import json
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from runner.shell import make_shell

from cxlab.benchmarks.contract import Uncheckable
from cxlab.benchmarks.cxmarena.benchmark import check
from cxlab.benchmarks.cxmarena.importers.published_conversations import split
from cxlab.benchmarks.cxmarena.importers.published_dataset import import_folder, read_folder
from cxlab.benchmarks.cxmarena.score import measure
from cxlab.errors import BadFile
from cxlab.importers import cells
from cxlab.read import View
from cxlab.store import write
from cxlab.views.conversations import queries
from tests.benchmarks.cxmarena.importers.cxm_folder import make, read_json, store

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    base = tmp_path / "home"
    monkeypatch.setenv("CXLAB_HOME", str(base))
    return base


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_sound_folder_gives_every_task_and_no_complaint(tmp_path, home, suffix):
    found = import_folder(store(tmp_path / "in", make(), suffix))
    assert found.rejected == []
    assert found.tasks == {
        "kb_refinement": 1,
        "intent": 2,
        "quality": 2,
        "article_search": 1,
        "multi_turn": 1,
        "tools": 1,
    }
    assert found.dataset.source == "imported"
    assert "CC BY-NC 4.0" in found.dataset.licence
    samples = write.load_samples(found.dataset.id)
    assert samples == found.samples
    # Of conversations that are whole, here one of three messages; the histories of other tasks may break off.
    measured = found.dataset.config["statistics"]
    assert (measured["turns_mean"], measured["articles"]) == (3.0, 24.0)
    assert [complaint for sample in samples for complaint in check(sample)] == []
    articles = write.load_table(found.dataset.id, "articles")
    # KB_13 says something else in the refinement corpus than in the two others.
    corpora = sorted(map(tuple, articles.filter(article_id="KB_13")["corpus"].to_list()))
    assert corpora == [("refinement",), ("search", "multi_turn")]


def test_parquet_and_csv_give_the_same_dataset(tmp_path):
    one, other = (read_folder(store(tmp_path / suffix, make(), suffix)) for suffix in ("parquet", "csv"))
    assert one.dataset.id == other.dataset.id
    assert one.samples == other.samples


def test_importing_twice_is_importing_once(tmp_path, home):
    folder = store(tmp_path / "in", make())
    assert import_folder(folder).dataset.id == import_folder(folder).dataset.id
    assert len(write.list_datasets()) == 1


@pytest.mark.parametrize(
    ("part", "spoil", "column", "problem"),
    [
        ("Multi_Turn/train", {"kb_ids": ["KB_12", "KB_3211"]}, "kb_ids", "no article KB_3211"),
        ("Multi_Turn/train", {"kb_ids": ["KB_3211"]}, "kb_ids", "no known article; kept"),
        ("Article_Search/train", {"True KB ID": "KB_3211"}, "True KB ID", "no article KB_3211"),
        ("KB_Refinement/similarity_pairs", {"Pairs": ["KB_0", "KB_0"]}, "Pairs", "paired with itself"),
        ("KB_Refinement/similarity_pairs", {"Pairs": ["KB_0"]}, "Pairs", "1 ids where a pair"),
        ("KB_Refinement/similarity_pairs", {"Pairs": ["KB_0", "KB_9999"]}, "Pairs", "no article KB_9999"),
        ("Intent_Prediction/train", {"Taxonomy_1": "Something new"}, "Taxonomy_1", "no label of taxonomy A"),
        (
            "Agent_Quality_Adherence/train",
            {"question_answers": "[{'Question': 'x', 'Answer': open('/etc/passwd')}]"},
            "question_answers",
            "neither JSON nor a Python literal",
        ),
        (
            "Agent_Quality_Adherence/train",
            {"question_answers": "[{'Question': 'Was it good?', 'Answer': 'Maybe'}]"},
            "question_answers",
            "none of Yes, No, NA",
        ),
        ("Agent_Quality_Adherence/train", {"conversation": "no speakers"}, "conversation", "no line"),
        ("Tool_Calling/train", {"true_tools": ["fly_home"]}, "true_tools", "no definition of fly_home"),
        ("Tool_Calling/train", {"tool_candidates16": ["cancel_order"]}, "tool_candidates16", "is not among them"),
        ("Tools_Description/train", {"Definition": "{'type': 'function'"}, "Definition", "neither JSON nor"),
    ],
)
def test_a_defect_is_named_with_its_row_and_the_rest_is_taken(tmp_path, part, spoil, column, problem):
    parts = make()
    parts[part].append({**parts[part][0], **spoil})
    row = len(parts[part])
    found = read_folder(store(tmp_path, parts))
    mine = [one for one in found.rejected if one.row == row]
    assert mine, found.rejected
    assert all(one.file == f"{part}.parquet" for one in mine)
    assert any(one.column == column and problem in one.problem for one in mine), mine
    sound = read_folder(store(tmp_path / "sound", make()))
    assert {s.id for s in sound.samples} - {s.id for s in found.samples} <= {sound.samples[0].id}


def test_a_dangling_id_beside_a_known_one_leaves_the_known_one(tmp_path):
    parts = make()
    parts["Multi_Turn/train"][0]["kb_ids"] = ["KB_3211", "KB_12"]
    found = read_folder(store(tmp_path, parts))
    expected = next(s for s in found.samples if s.task == "multi_turn").expected
    # What the public evaluator divides by holds the id that is missing.
    assert (expected["article_ids"], expected["published_ids"]) == (["KB_12"], ["KB_3211", "KB_12"])


def test_rows_that_nobody_can_get_right_stay_in_the_published_denominators(tmp_path, home):
    parts = make()
    before = Counter(s.task for s in read_folder(store(tmp_path / "sound", parts)).samples)
    parts["Intent_Prediction/train"][0]["Taxonomy_1"] = "Something new"
    parts["Multi_Turn/train"][0]["kb_ids"] = ["KB_3211"]
    parts["Tool_Calling/train"][0]["true_tools"] = ["fly_home"]
    found = read_folder(store(tmp_path / "in", parts))
    assert Counter(s.task for s in found.samples) == before
    lost = [s for s in found.samples if "unreachable" in s.inputs]
    assert sorted(s.task for s in lost) == ["intent", "multi_turn", "tools"]
    found.save(home)
    for sample in lost:
        with pytest.raises(Uncheckable, match="wrong for everybody"):
            list(check(sample))
    turn = next(s for s in lost if s.task == "multi_turn")
    figures = measure(turn, {"ranked": ["KB_12"], "chunks": ["KB_12"]})
    assert (figures["recall@10"][0], figures["public_recall@10"][0]) == (None, 0)


def test_pairs_in_either_order_are_one_and_rows_that_repeat_stay_two_samples(tmp_path):
    parts = make()
    parts["KB_Refinement/similarity_pairs"].append({"Pairs": ["KB_100", "KB_0"]})
    parts["Article_Search/train"] *= 2
    found = read_folder(store(tmp_path, parts))
    assert next(s for s in found.samples if s.task == "kb_refinement").expected["similar"] == [["KB_0", "KB_100"]]
    assert [one.problem for one in found.rejected] == ["KB_0, KB_100 came before"]
    assert len({s.id for s in found.samples if s.task == "article_search"}) == 2


def test_ten_megabytes_in_one_cell_are_refused_and_the_rest_is_taken(tmp_path):
    parts = make()
    parts["Articles/article_search_articles"].append({"document_id": "KB_big", "document_content": "x" * 10_000_000})
    found = read_folder(store(tmp_path, parts))
    assert [str(one) for one in found.rejected] == [
        "Articles/article_search_articles.parquet, row 25, document_content: 10.0 MB in one cell; the limit is 2 MB"
    ]


def test_a_missing_column_is_named_and_nothing_is_stored(tmp_path, home):
    parts = make()
    for row in parts["Multi_Turn/train"]:
        del row["kb_ids"]
    with pytest.raises(BadFile, match=r"Multi_Turn/train\.parquet: no column 'kb_ids'; it has: conversation_context"):
        import_folder(store(tmp_path / "in", parts))
    assert write.list_datasets() == []
    assert not list(home.rglob("*.parquet"))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("Multi_Turn/train.parquet", b"PAR1 not really", "cannot be read as Parquet"),
        ("multi_turn.csv", b"\xff\xfe\x00\x01", "cannot be read as CSV|no column"),
        ("notes.txt", b"hello", "no file of the CXMArena data set"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path, name, data, message):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    with pytest.raises(BadFile, match=message):
        read_folder(tmp_path)


def test_no_folder(tmp_path):
    with pytest.raises(BadFile, match="is no folder"):
        read_folder(tmp_path / "nowhere")


def test_a_part_that_lacks_what_it_refers_to_is_left_out_and_said(tmp_path):
    parts = make()
    del parts["Articles/multi_turn_articles"]
    found = read_folder(store(tmp_path, parts))
    assert "multi_turn" not in found.tasks
    assert any("needs the split multi_turn_articles" in one.problem for one in found.rejected)
    # The tool task lives without the articles, which it is then not given.
    assert next(s for s in found.samples if s.task == "tools").inputs["articles"] == []


def test_files_named_by_task_and_shards_of_one_split(tmp_path):
    parts = make()
    rows = parts.pop("Articles/article_search_articles")
    flat = {name.replace("/train", "").replace("/", "_").lower(): one for name, one in parts.items()}
    flat["articles-article_search_articles-00000-of-00002"] = rows[:10]
    flat["articles-article_search_articles-00001-of-00002"] = rows[10:]
    found = read_folder(store(tmp_path, flat))
    assert found.rejected == []
    assert found.rows["articles of search"] == 24
    assert len(found.tasks) == 6


@pytest.mark.parametrize(
    ("cell", "ids"),
    [
        (["KB_1", "KB_2"], ["KB_1", "KB_2"]),
        ("['KB_1', 'KB_2']", ["KB_1", "KB_2"]),
        ('["KB_1", "KB_2"]', ["KB_1", "KB_2"]),
        ("('KB_1', 'KB_2')", ["KB_1", "KB_2"]),
        ("['KB_1' 'KB_2'\n 'KB_3']", ["KB_1", "KB_2", "KB_3"]),
        ("KB_1, KB_2", ["KB_1", "KB_2"]),
        ("KB_1", ["KB_1"]),
        ("nan", []),
        (None, []),
    ],
)
def test_lists_however_they_are_written(cell, ids):
    assert cells.as_list(cell) == ids


@given(
    st.lists(st.text(st.characters(categories=["L", "Nd"]), min_size=1, max_size=8).filter(lambda t: cells.as_text(t)))
)
def test_a_list_survives_python_and_json_text(ids):
    assert cells.as_list(repr(ids)) == cells.as_list(json.dumps(ids)) == ids


@given(st.text(max_size=60))
def test_no_text_is_executed_or_crashes(text):
    for read in (cells.as_list, cells.as_dicts, cells.as_object):
        try:
            read(text)
        except cells.Unreadable as problem:
            assert str(problem)  # noqa: PT017 the refusal must say why


def test_deep_nesting_is_refused():
    for text in ("[" * 100_000, "[" * 5_000 + "]" * 5_000, '{"a":' * 50_000):
        with pytest.raises(cells.Unreadable):
            cells.as_dicts(text)


def test_the_command_reports_and_what_it_stores_can_be_listed(tmp_path, monkeypatch):
    parts = make()
    parts["Multi_Turn/train"][0]["kb_ids"] = ["KB_12", "KB_3211"]
    folder = store(tmp_path / "in", parts)
    shell = make_shell(tmp_path / "home", monkeypatch)
    done = shell.call("import", "cxmarena", str(folder), "--json")
    assert done.returncode == 0, done.stderr
    report = read_json(done.stdout)
    assert report["rejected"] == [
        {
            "file": "Multi_Turn/train.parquet",
            "row": 1,
            "column": "kb_ids",
            "problem": "no article KB_3211 in the split multi_turn_articles; left out",
        }
    ]
    rejected = pl.read_parquet(tmp_path / "home" / "datasets" / report["dataset"] / "rejected.parquet")
    assert rejected.to_dicts() == report["rejected"]
    plain = shell.call("import", "cxmarena", str(folder))
    assert plain.returncode == 0, plain.stderr
    assert "rejected: Multi_Turn/train.parquet, row 1, kb_ids" in plain.stderr
    assert "CC BY-NC 4.0" in plain.stdout
    wrong = shell.call("import", "cxmarena", str(tmp_path / "no"))
    assert wrong.returncode == 2
    assert "is no folder" in wrong.stderr
    assert "Traceback" not in wrong.stderr


def test_questions_keep_their_evidence_and_tri_state():
    entry = ast.literal_eval("{'Question': 'Q', 'Answer': False, 'proof_message_ids': '[3, 4, 3]'}")
    assert cells.as_question(entry) == ("Q", "No", [3, 4])
    assert cells.as_question({"question": "Q", "answer": "n/a"}) == ("Q", "NA", [])


def test_conversations_can_be_read_as_far_as_they_were_published(tmp_path, home):
    dataset = import_folder(store(tmp_path / "published", make())).dataset
    samples = write.load_samples(dataset.id)
    cases = {s.inputs["conversation_id"]: s for s in samples if s.task == "quality"}
    for key, sample in cases.items():
        talk = queries.conversation(dataset.id, key)
        assert [m.text for m in talk.messages] == [line["text"] for line in sample.inputs["lines"]]
        assert talk.served == talk.messages
        assert (talk.noise, talk.agent, talk.customer) == ({}, {}, {})
        assert talk.labels["source"] == "transcripts"
        assert {q["question"] for q in talk.labels["quality"]} >= set(sample.inputs["questions"])
    # Every transcript is in one of the conversations, and none is there twice.
    told = [[m.text for m in queries.conversation(dataset.id, key).messages] for key in queries.ids(dataset.id)]
    for sample in samples:
        if "transcript" in sample.inputs:
            said = [text for _, text in split(sample.inputs["transcript"])]
            assert sum(one[: len(said)] == said for one in told) == 1
    assert len({tuple(one) for one in told}) == len(told) == queries.listed(View(dataset=dataset.id)).height


def test_a_transcript_is_split_at_its_speakers():
    said = split("Welcome.\nIVR: press one\nUser: it broke\nand leaks\nAgent: Customer: is a word here, too")
    assert said == [
        ("system", "Welcome."),
        ("IVR", "press one"),
        ("User", "it broke\nand leaks"),
        ("Agent", "Customer: is a word here, too"),
    ]


def test_a_folder_with_brackets_in_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "[cx] {a}"
    folder.mkdir()
    articles = pl.DataFrame({"document_id": ["1"], "document_content": ["Text"]})
    articles.write_parquet(folder / "article_search_articles.parquet")
    pl.DataFrame({"query": ["q"], "True KB ID": ["1"]}).write_csv(folder / "article_search [1].csv")
    assert len(read_folder(folder).samples) == 1
