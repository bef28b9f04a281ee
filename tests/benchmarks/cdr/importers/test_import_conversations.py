"""Conversations of people, of the published files and of the store become a corpus, with an honest report."""

import json
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest

from cxlab.benchmarks.cdr.corpus.dataset import load_corpus
from cxlab.benchmarks.cdr.corpus.sources import SOURCES
from cxlab.benchmarks.cdr.importers.conversations import IMPORTER, CdrImport, ImportedCorpus, read_path, read_stored
from cxlab.benchmarks.cdr.retrievers import search
from cxlab.errors import BadFile, BadOption, UnknownName
from cxlab.importers.conversations import PackedConversations, read_conversations
from cxlab.records import Message
from tests.benchmarks.cdr.conftest import SAID

OPTIONS = CdrImport.read({})


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path / "home"))
    return tmp_path


def rows() -> list[dict[str, object]]:
    return [
        {
            "id": name,
            "messages": [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(said)],
        }
        for name, said in SAID.items()
    ]


def test_a_file_of_ones_own_is_imported_filtered_and_searched(home: Path) -> None:
    path = home / "mine.jsonl"
    twice = {**rows()[0], "id": "twice"}
    path.write_text("\n".join(json.dumps(row) for row in [*rows(), twice, {"id": "bad", "messages": 3}]))
    found = read_path(path, OPTIONS)
    assert len(list(home.glob("home/datasets/*"))) == 0
    found.save()
    report = found.report()
    assert (report.record["conversations"], report.record["queries"]) == (6, 0)
    assert [one["row"] for one in report.record["rejected"]] == [8]
    assert report.record["filtered"]["steps"][0] == {"step": "exact", "given": 7, "kept": 6, "note": ""}
    assert found.tables["filtered_out"].rows()[0][:3] == ("twice", "exact", "the same as late")
    assert "Licence: not stated" in report.lines[-1]
    assert search(found.dataset.id, "reset the password")[0].conversation.id == "login"
    again = read_stored(CdrImport.read({"dataset": found.dataset.id}))
    assert load_corpus(found.dataset.id).keys() == {*SAID}
    assert (again.dataset.derived_from, again.dataset.derivation) == (found.dataset.id, "import")


def test_the_published_files_are_evaluated_as_they_are(home: Path) -> None:
    texts = {
        name: "\n".join(f"{('user', 'assistant')[n % 2]}: {t}" for n, t in enumerate(said))
        for name, said in SAID.items()
    }
    for name, content in (
        ("corpus", texts),
        ("queries", {"query_1": "late parcels", "query_2": "nothing"}),
        ("relevant_docs", {"query_1": ["late", "late", "glad"], "query_2": ["gone"]}),
    ):
        (home / f"{name}.json").write_text(json.dumps(content))
    found = read_path(home, OPTIONS)
    assert [(s.task, s.expected["conversations"]) for s in found.samples] == [
        (g, ["glad", "late"]) for g in ("turn", "window", "session")
    ]
    assert found.dataset.redistributable is False
    assert found.filtered is None
    assert len(found.report().complaints) == 2


def test_tables_of_messages_and_a_sources_own_names(home: Path) -> None:
    table = [
        {
            "dialogue_id": name,
            "turns": [{"speaker": ("USER", "SYSTEM")[n % 2], "utterance": t} for n, t in enumerate(said)],
        }
        for name, said in SAID.items()
    ]
    (home / "in").mkdir()
    (home / "in/dialogues.json").write_text(json.dumps(table))
    (home / "in/schema.json").write_text(json.dumps([{"service": "x"}]))
    found = read_path(home / "in", CdrImport.read({"source": "sgd", "filter": False}))
    assert (found.dataset.licence, found.dataset.config["corpus"]) == ("CC BY-SA 4.0", 6)
    assert [one.file for one in found.rejected] == ["schema.json"]
    roles = {m.role for talk in read_conversations(home / "in").conversations.values() for m in talk.messages}
    assert roles == {"customer", "agent"}
    frame = pl.DataFrame(
        [{"k": "a", "w": "bob", "t": "the lamp is broken"}, {"k": "a", "w": "anna", "t": "which lamp is it"}]
    )
    frame.write_csv(home / "odd.csv")
    with pytest.raises(BadFile):
        read_path(home / "odd.csv", OPTIONS)
    named = {"shape": "rows", "id": "k", "role": "w", "text": "t", "speakers": "bob=customer,anna=agent", "quality": 0}
    frame.rename({"k": "id", "w": "speaker", "t": "text"}).write_csv(home / "odd.csv")
    made = read_path(home / "odd.csv", CdrImport.read({**named, "id": "id", "role": "speaker", "text": "text"}))
    assert made.dataset.config["corpus"] == 1


def test_what_cannot_be_imported_is_said(home: Path) -> None:
    with pytest.raises(BadOption):
        read_stored(OPTIONS)
    with pytest.raises(BadOption):
        read_path(home, CdrImport.read({"run": "run-1"}))
    with pytest.raises(UnknownName):
        read_stored(CdrImport.read({"run": "run-none"}))
    with pytest.raises(BadOption, match="names nobody"):
        CdrImport.read({"speakers": "bob"}).changes()
    (home / "one.jsonl").write_text(json.dumps({"messages": [{"role": "user", "content": "hi"}]}))
    with pytest.raises(BadOption, match="left no conversation"):
        read_path(home / "one.jsonl", OPTIONS)
    assert IMPORTER.read_named is read_stored
    assert len(SOURCES) == 11
    assert [name for name, each in SOURCES.items() if not each.share] == ["lmsys"]


def test_mobileconvrec_is_read_from_what_computer_and_human_say(home: Path) -> None:
    """The form that its authors' program writes; the words are ours."""
    turns = [
        {"turn": 1, "is_rec": False, "user_accept_recommendation": False, "COMPUTER": "Hi.", "HUMAN": "Chess, please."},
        {"turn": 2, "is_rec": True, "user_accept_recommendation": True, "COMPUTER": "Try Rook.", "HUMAN": "I will."},
        {"turn": 3, "is_rec": False, "user_accept_recommendation": False, "COMPUTER": "Have fun."},
    ]
    before = [{"app_name": "go", "package_name": "a.go", "date": "2022-01-02", "rating": "4"}]
    row = {"user_id": "u1", "user_previous_interactions": before, "recommended_app": {"app_name": "Rook"},
           "negative_recommended_app": [], "turns": turns}  # fmt: skip
    (home / "apps.jsonl").write_text(json.dumps(row))
    said = [("agent", "Hi."), ("customer", "Chess, please."), ("agent", "Try Rook."), ("customer", "I will."),
            ("agent", "Have fun.")]  # fmt: skip
    for options in ({"source": "mobileconvrec", "filter": False}, {"filter": False}):
        (talk,) = load_read(read_path(home / "apps.jsonl", CdrImport.read(options)))
        assert [(each.role, each.text) for each in talk] == said


def test_bot_adversarial_dialogue_is_taken_apart(home: Path) -> None:
    """Lines as its authors' files have them: each the dialogue so far; the words are ours."""
    end = "labels:__ok__\tepisode_done:True\tspeaker_to_eval:human\tbot_persona:your persona: i fish.\\nand i run"
    said = ["Hi there", "Hello: how are you?", "Fine", "Good"]
    lines = ["text:" + "\\n".join(said[:count]) + "\t" + end for count in (1, 2, 4)] + ["text:Hi there\t" + end]
    (home / "bad.txt").write_text("\n".join(lines) + "\n")
    first, second = load_read(read_path(home / "bad.txt", CdrImport.read({"source": "bad", "filter": False})))
    assert [(each.role, each.text) for each in first] == list(zip(("customer", "agent") * 2, said, strict=True))
    assert [each.text for each in second] == ["Hi there"]
    # The same as TensorFlow Datasets gives it: a row a message.
    rows = [{"dialogue_id": 0.0, "round_id": float(n), "speaker_to_eval": ("human", "bot")[n % 2], "text": text}
            for n, text in enumerate(said)]  # fmt: skip
    pl.DataFrame(rows[::-1]).write_parquet(home / "bad.parquet")
    (again,) = load_read(read_path(home / "bad.parquet", CdrImport.read({"source": "bad", "filter": False})))
    assert again == first


def test_dialogsum_and_opendialkg_are_read_by_their_presets(home: Path) -> None:
    rows = [
        {"id": "d0", "dialogue": "#Person1#: Is the shop open?\n#Person2#: Until six.", "summary": "#Person1# asks."}
    ]
    pl.DataFrame(rows).write_csv(home / "sum.csv")
    (talk,) = load_read(read_path(home / "sum.csv", CdrImport.read({"source": "dialogsum", "filter": False})))
    assert [(each.role, each.text) for each in talk] == [("customer", "Is the shop open?"), ("agent", "Until six.")]
    said = [{"type": "chat", "sender": "user", "message": "Who plays in it?"},
            {"type": "action", "sender": "assistant", "action_id": "kgwalk/choose_path", "metadata": {"path": [0, []]}},
            {"type": "chat", "sender": "assistant", "message": "Nobody famous."}]  # fmt: skip
    pl.DataFrame({"Messages": [json.dumps(said)], "User Rating": [4]}).write_csv(home / "kg.csv")
    made = read_path(home / "kg.csv", CdrImport.read({"source": "opendialkg", "filter": False}))
    assert [each.text for each in load_read(made)[0]] == ["Who plays in it?", "Nobody famous."]
    assert [each.problem for each in made.rejected] == ["a message without text"]


def test_dialogsum_and_dailydialog_are_read_as_their_authors_give_them(home: Path) -> None:
    """The forms of their own files, which are not those of the hubs; the words are ours."""
    rows = [
        {"fname": f"test_{n}", "dialogue": "#Person1#: Is the shop open?\n#Person2#: Until six.",
         "summary1": "#Person1# asks.", "topic1": "a shop"} for n in range(2)
    ]  # fmt: skip
    (home / "dialogsum.jsonl").write_text("\n".join(map(json.dumps, rows)))
    made = read_path(home / "dialogsum.jsonl", CdrImport.read({"source": "dialogsum", "filter": False}))
    assert [*PackedConversations.from_table(made.tables["conversations"], made.dataset.id)] == ["test_0", "test_1"]
    assert [each.role for each in load_read(made)[0]] == ["customer", "agent"]
    lines = ["Is it far ? __eou__ Two stops . __eou__ Then I walk . __eou__", "Tea ? __eou__ Please . __eou__", ""]
    (home / "dialogues.txt").write_text("\n".join(lines))
    for options in ({"source": "dailydialog", "filter": False}, {"filter": False}):
        found = load_read(read_path(home / "dialogues.txt", CdrImport.read(options)))
        assert [[each.text for each in talk] for talk in found] == [
            ["Is it far ?", "Two stops .", "Then I walk ."], ["Tea ?", "Please ."]
        ]  # fmt: skip
        assert [each.role for each in found[0]] == ["customer", "agent", "customer"]


def test_chats_of_wildchat_lmsys_smoltalk_and_bitext_are_read_by_their_presets(home: Path) -> None:
    """The columns that programs write and read; the words are ours."""
    said = [("user", "How long do eggs take?"), ("assistant", "Eight minutes.")]
    chat = [{"role": role, "content": text} for role, text in said]
    about = {"language": "English", "redacted": False, "toxic": False, "turn_identifier": 7, "country": "Peru",
             "header": {"accept-language": "es", "user-agent": "browser"}}  # fmt: skip
    wild = {"conversation_hash": "h1", "model": "gpt-4", "timestamp": datetime(2024, 2, 1), "turn": 1, "toxic": False,
            "conversation": [{**each, **about} for each in chat], "hashed_ip": "x"}  # fmt: skip
    pl.DataFrame([wild]).write_parquet(home / "wildchat.parquet")
    lmsys = {"conversation_id": "l1", "model": "vicuna", "conversation": chat, "turn": 1, "redacted": False,
             "openai_moderation": [{"categories": {"hate": False}, "flagged": False}] * 2}  # fmt: skip
    pl.DataFrame([lmsys]).write_parquet(home / "lmsys.parquet")
    smol = {"messages": [{"role": "system", "content": "Be brief."}, *chat], "source": "everyday", "full_topic": "Food"}
    pl.DataFrame([smol]).write_parquet(home / "smoltalk.parquet")
    answers = {"intent": "boil", "category": "FOOD", "response": said[1][1]}
    older = {"context": "kitchen", "role": "virtual assistant", "instruction": said[0][1], "tags": "BIL", **answers}
    newer = {"flags": "B", "instruction": said[0][1], **answers}
    pl.DataFrame([older]).write_csv(home / "bitext.csv")
    pl.DataFrame([newer]).write_csv(home / "newer.csv")
    files = {"wildchat": "wildchat.parquet", "lmsys": "lmsys.parquet", "smoltalk": "smoltalk.parquet",
             "bitext": "bitext.csv"}  # fmt: skip
    for source, name in [*files.items(), ("bitext", "newer.csv")]:
        made = read_path(home / name, CdrImport.read({"source": source, "filter": False}))
        (talk,) = load_read(made)
        heard = [(each.role, each.text) for each in talk if each.role != "system"]
        assert heard == [("customer", said[0][1]), ("agent", said[1][1])], source
        assert not made.rejected, source
        assert made.dataset.redistributable is SOURCES[source].share


def load_read(made: ImportedCorpus) -> list[tuple[Message, ...]]:
    """The messages of each conversation of an import that is not stored."""
    found = PackedConversations.from_table(made.tables["conversations"], made.dataset.id)
    return [talk.messages for talk in found.values()]
