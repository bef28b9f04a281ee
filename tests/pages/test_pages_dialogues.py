"""Conversations, searching what was said in runs: words, filters, and the way to the message."""

import json
from pathlib import Path
from urllib.parse import parse_qs

import polars as pl
import pytest

from cxlab.benchmarks.cdr.corpus.dataset import build
from cxlab.read import View, failures
from cxlab.read.word_search import messages
from cxlab.read.word_search.terms import left_out, split_terms
from cxlab.records import Conversation, Message
from cxlab.store import tables, write
from cxlab.ui.annotations import annotate
from cxlab.views.benchmarks import declared_all
from cxlab.views.search import dialogue_set
from cxlab.views.search.dialogues import count_dialogues, read_speaker
from cxlab.views.search.excerpts import cut_around
from cxlab.views.search.queries_dialogues import find_dialogues
from cxlab.word_forms import Sought, Term
from tests.pages.app_script import codes, open_page, words
from tests.stores.runs import write_run

pytestmark = pytest.mark.xdist_group("pages")
SAID = {
    "base": ("My parcel is lost.", "I will refund it NEXT month.", "A refund, <b>at last</b>.", '{"refund": 1}'),
    "weak": ("My parcel is late.", "No refund for you.", "Goodbye.", "{}"),
}
ROLES = ("customer", "agent", "customer", "tool")


@pytest.fixture
def home(empty_home: Path) -> Path:
    for number, (model, lines) in enumerate(SAID.items(), 1):
        run = write_run(empty_home, number, model, {("s1", 1): 90.0 if number == 1 else 10.0}, reasons={"s1": "late"})
        rows = [
            dict.fromkeys(tables.MESSAGES)
            | {"run_id": run, "attempt_id": f"a{number}-s1-1", "seq": place, "turn": 1 + place // 2, "role": role,
               "text": text}
            for place, (role, text) in enumerate(zip(ROLES, lines, strict=True))
        ]  # fmt: skip
        (part,) = (empty_home / "runs" / run / "parts").iterdir()
        pl.DataFrame(rows, schema=tables.MESSAGES).write_parquet(part / "messages.parquet")
    return empty_home


ALL = View()


def find(text: str, view: View = ALL, roles: tuple[str, ...] = ("customer", "agent")) -> dict[str, list[str]]:
    """Model → the messages that were found."""
    terms = split_terms(text)
    found = find_dialogues(view, terms, roles, 10, 0)
    if found.held < len(terms):
        return {}
    of = dict(found.rows.select("attempt_id", "model").iter_rows())
    told: dict[str, list[str]] = {model: [] for model in of.values()}
    for attempt, said in found.said.select("attempt_id", "text").iter_rows():
        told[of[attempt]].append(said)
    assert found.messages == sum(map(len, told.values()))
    assert found.dialogues == len(told)
    return told


def test_words_are_found_where_one_message_holds_them_all(home: Path) -> None:
    base, weak = SAID["base"], SAID["weak"]
    assert find("REFUND") == {"base": [base[1], base[2]], "weak": [weak[1]]}
    assert list(find("refund")) == ["base", "weak"], "most messages first"
    assert find("refund month") == {"base": [base[1]]}
    assert find('"refund it next"') == {"base": [base[1]]}
    assert find('"month next"') == find("parcel refund") == find("100 %") == {}
    assert find("refund", roles=("tool",)) == {"base": [base[3]]}
    assert find("refund", roles=()) == {"base": [*base[1:]], "weak": [weak[1]]}
    assert find("refund", View(verdict="failed")) == find("refund", View(models=("weak",))) == {"weak": [weak[1]]}
    assert find("refund", View(benchmark="cdr")) == {}


def test_a_result_leads_to_the_message_and_text_is_text(home: Path) -> None:
    app = open_page("conversations", source="runs", q="refund")
    assert not app.exception
    assert "3 messages in 2 dialogues" in [each.value for each in app.subheader]
    bodies = " ".join(each.proto.body for each in app.get("html"))
    assert 'A <mark class="cx-sought">refund</mark>, &lt;b&gt;at last&lt;/b&gt;.' in bodies
    links = [parse_qs(each.proto.query_string) for each in app.get("page_link") if "Read the" in each.proto.label]
    assert [(each["attempt"][0].partition("/")[2], each["turn"]) for each in links] == [
        ("a1-s1-1", ["1"]), ("a1-s1-1", ["2"]), ("a2-s1-1", ["1"]),
    ]  # fmt: skip
    opened = open_page("failures", **links[1])
    assert not opened.exception
    assert "a1-s1-1" in words(opened) or "a1-s1-1" in codes(opened)
    # Of what the sidebar narrows nothing else is counted, and words that nobody said are said to be none.
    app.selectbox(key="search-verdict").set_value("failed").run()
    assert "1 message in 1 dialogue" in [each.value for each in app.subheader]
    app.text_input(key="search-words").set_value("elephant").run()
    assert "No message of customer or agent holds “elephant”" in [each.value for each in app.subheader]
    assert "search-anybody" not in {each.key for each in app.button}
    # What only a tool gave back is no dead end.
    app = open_page("conversations", source="runs", q="1}")
    assert "In 1 dialogue they stand in what others said" in words(app)
    app.button(key="search-anybody").click().run()
    assert "1 message in 1 dialogue" in [each.value for each in app.subheader]


def test_words_that_carry_nothing_are_left_out_of_a_sentence() -> None:
    asked = "a customer says that something had been promised, before"
    assert split_terms(asked) == (Term("promised"),)
    assert left_out(asked) == ("a", "customer", "says", "that", "something", "had", "been", "before")
    assert split_terms('"had been" promised?') == (Term("had been", exact=True), Term("promised"))
    assert split_terms("who was it") == (Term("who"), Term("was"), Term("it")), "where there is nothing else"
    assert left_out("who was it") == ()
    assert split_terms("100 % 1}") == (Term("100", exact=True), Term("%", exact=True), Term("1}", exact=True))
    assert split_terms("die Rechnung, die der Kunde nicht bezahlt hat") == (Term("Rechnung"), Term("bezahlt"))
    assert split_terms("le client demande un remboursement") == (Term("remboursement"),)


def test_where_no_message_holds_all_words_those_with_most_are_shown(home: Path) -> None:
    roles = ("customer", "agent")
    found = find_dialogues(ALL, split_terms("refund late parcel"), roles, 10, 0)
    assert (found.counts, found.held) == ({"refund": 3, "late": 1, "parcel": 2}, 2)
    found = find_dialogues(ALL, split_terms("elephant zebra"), roles, 10, 0)
    assert (found.counts, found.held) == ({"elephant": 0, "zebra": 0}, 0)
    app = open_page(
        "conversations", source="runs", said="both", q="a customer says the parcel is late before a refund, zebra"
    )
    assert not app.exception
    heads = [each.value.replace("\\", "") for each in app.subheader]
    assert "No message of customer or agent holds all of: “parcel”, “late”, “refund”, “zebra”" in heads
    assert "2 hold “parcel”, 1 holds “late”, 3 hold “refund”, none hold “zebra”." in words(app)
    assert "1 message in 1 dialogue" in heads
    assert "Each holds 2 of the 4 words" in words(app)
    bodies = " ".join(each.proto.body for each in app.get("html"))
    assert 'My <mark class="cx-sought">parcel</mark> is <mark class="cx-sought">late</mark>.' in bodies
    assert "lost" not in bodies
    # Where one word a message is most, the word that few hold comes before the one that many do.
    app = open_page("conversations", source="runs", q="refund late")
    assert "4 messages in 2 dialogues" in [each.value for each in app.subheader]
    told = [each.value.replace("\\", "") for each in app.caption]
    assert [each for each in told if each.endswith("-s1-1")] == ["a2-s1-1", "a1-s1-1"]
    app.button(key="search-only-0").click().run()
    assert "3 messages in 2 dialogues" in [each.value for each in app.subheader]


def test_a_long_message_is_cut_around_the_words() -> None:
    text = f"{'before ' * 100}needle {'after ' * 200}"
    shown = cut_around(text, Sought(frozenset({"needle"})))
    assert shown.startswith("… before ")
    assert shown.endswith("after …")
    assert "needle" in shown
    assert len(shown) < 720
    assert cut_around("short needle", Sought(parts=("needle",))) == "short needle"


def store(home: Path, number: int, model: str, lines: list[str]) -> None:
    """A run with one dialogue, its messages by customer and agent in turn."""
    run = write_run(home, number, model, {("s1", 1): 10.0}, reasons={"s1": "late"})
    rows = [
        dict.fromkeys(tables.MESSAGES)
        | {"run_id": run, "attempt_id": f"a{number}-s1-1", "seq": place, "turn": 1 + place // 2,
           "role": ROLES[place % 2], "text": text}
        for place, text in enumerate(lines)
    ]  # fmt: skip
    (part,) = (home / "runs" / run / "parts").iterdir()
    pl.DataFrame(rows, schema=tables.MESSAGES).write_parquet(part / "messages.parquet")


def test_a_word_is_found_in_all_its_forms_by_the_language_of_the_run(empty_home: Path) -> None:
    english = ["I was PROMISED it.", "We keep our promises, and this is a promise.", "It is compromised.", "Bye."]
    german = ["Guten Tag, ich habe eine Frage zu der Rechnung.", "Wir haben die Häuser und die Rechnungen geprüft.",
              "Das Haus ist mir nicht so wichtig.", "Die Stromrechnung ist da."]  # fmt: skip
    store(empty_home, 1, "base", english)
    store(empty_home, 2, "weak", german)
    for word in ("promise", "promised", "promises"):
        assert find(word) == {"base": english[:2]}, word
    found = find_dialogues(ALL, split_terms("promised"), (), 10, 0)
    assert {*found.forms["promised"]} == {"promise", "promised", "promises"}
    # What stands as it was typed comes first, and of a dialogue the messages that hold it so.
    store(empty_home, 3, "curt", ["No promise.", "I promise.", "A promise is a promise."])
    assert list(find("promised")) == ["base", "curt"]
    assert list(find("promise")) == ["curt", "base"]
    found = find_dialogues(View(models=("base",)), split_terms("promises"), (), 10, 0, 1)
    assert found.said["text"].to_list() == [english[1]]
    assert find('"promise"', View(models=("base",))) == {"base": english[:3]}, "as it stands, also within words"
    assert find("haus") == find("Häuser") == {"weak": german[1:3]}
    assert find("Rechnung") == {"weak": german[:2]}
    # A part of a word finds what it is a part of, where it is no word anywhere.
    assert find("compromis") == {"base": [english[2]]}
    of_base = View(models=("base",))
    assert find("promis", of_base) == find("omise", of_base) == {"base": english[:3]}


def test_more_messages_than_are_read_for_their_words_are_found_by_the_forms(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["I promise, this is it.", "You promised that.", "A promise.", "Promising.", "A promised thing.", "Prom."]
    store(empty_home, 1, "base", lines)
    terms = split_terms("promised")
    whole = find_dialogues(ALL, terms, (), 10, 0, 9)
    monkeypatch.setattr(messages, "_READ_FOR_FORMS", 4)
    few = find_dialogues(ALL, terms, (), 10, 0, 9)
    assert whole.messages == few.messages == 5
    assert whole.said.equals(few.said)
    assert whole.forms["promised"] == ("promise", "promised", "promising")


def test_the_page_says_which_forms_were_looked_for_and_the_opened_dialogue_marks_them_all(empty_home: Path) -> None:
    store(empty_home, 1, "base", ["I was promised two refunds.", "No refund was promised.", "The promise!", "Bye."])
    app = open_page("conversations", source="runs", q="promise refund")
    assert "Looked for: promised; refund, refunds." in words(app), "as they stand in the messages with both"
    (first, *_) = [parse_qs(each.proto.query_string) for each in app.get("page_link") if "Read the" in each.proto.label]
    assert first["q"] == ["promise refund"]
    opened = open_page("failures", **{name: value[0] for name, value in first.items()})
    assert not opened.exception
    shown = " ".join(each.proto.body for each in opened.get("html"))
    for word in ("promised", "refunds", "refund", "promise"):
        assert f'<mark class="cx-sought">{word}</mark>' in shown
    app = open_page("conversations", source="runs", q="romise")
    assert "No message has “romise” as a word: looked for within words." in words(app)
    # Of some of the words alone the other page finds no dialogue, so it is not searched, and marks them.
    app = open_page("conversations", source="runs", q="promised elephants")
    (first, *_) = [parse_qs(each.proto.query_string) for each in app.get("page_link") if "Read the" in each.proto.label]
    assert "q" not in first
    assert first["sought"] == ["promised elephants"]


def failing(text: str) -> list[str]:
    """The attempts that Failures lists under a search, by their models."""
    return sorted(failures.rows(View(search=text, metric="overall")).frame["model"])


def test_failures_are_searched_as_conversations_are(empty_home: Path) -> None:
    store(empty_home, 1, "base", ["I was PROMISED two refunds.", "Hello.", "It is compromised.", "Bye."])
    store(empty_home, 2, "weak", ["A promise.", "Another message: no refund.", "My parcel.", "Bye."])
    store(empty_home, 3, "noted", ["Good day.", "Hello.", "Nothing.", "Bye."])
    for word in ("promise", "promised", "Promises"):
        assert failing(word) == sorted(find(word)) == ["base", "weak"], word
    assert failing("promise refund") == sorted(find("promise refund")) == ["base"], "all of them in one message"
    assert failing("a customer says that something had been promised") == ["base", "weak"]
    assert failing('"promise"') == ["base", "weak"]
    assert failing('"two refunds"') == ["base"]
    assert failing('"refunds two"') == failing("elephant") == failing("promise elephant") == []
    assert failing("compromis") == ["base"]
    assert failing("romise") == ["base", "weak"], "a part of a word that is none by itself"
    assert failing("?!") == []
    assert failing("a3-s1-1") == ["noted"], "an attempt by its id"
    (attempt,) = failures.rows(View(models=("noted",), metric="overall")).frame.iter_rows(named=True)
    annotate("note", attempt["run_id"], attempt["attempt_id"], "Somebody promises a voucher here")
    assert failing("promised") == ["base", "noted", "weak"]
    assert failing("promising vouchers") == ["noted"]
    assert failing("romise") == ["base", "noted", "weak"]
    app = open_page("failures", q="tell: promised refund", verdict="all")
    assert not app.exception
    assert "Looked for: promised; refunds. Left out: tell; in “quotes” each counts." in words(app)
    app = open_page("failures", q="promised zebra", verdict="all")
    assert "No message or note holds all of them." in words(app)
    assert "as a word" not in words(app)
    app = open_page("failures", q="romise", verdict="all")
    assert "No message or note has “romise” as a word: looked for within words." in words(app)


def test_the_dialogues_found_are_kept_as_a_set_with_who_says_the_words(home: Path) -> None:
    annotate(
        "note", *failures.rows(View(models=("base",))).frame.select("run_id", "attempt_id").row(0), "No parcel here"
    )
    app = open_page("conversations", source="runs", q="refund", said="customer")
    (there,) = [parse_qs(each.proto.query_string) for each in app.get("page_link") if "Failures" in each.proto.label]
    assert (there["q"], there["speaker"], there["verdict"]) == (["refund"], ["customer"], ["all"])
    listed = failures.rows(View.from_query(there)).frame
    assert listed["model"].to_list() == ["base"], "weak's agent says it, its customer does not"
    opened = open_page("failures", **{name: value[0] for name, value in there.items()})
    assert not opened.exception
    assert "1 dialogue" in " ".join([each.value for each in opened.subheader])
    assert "Said by: the customer" in [each.label.replace("\\", "") for each in opened.button]
    opened.button(key="cx-active-speaker").click().run()
    assert "2 dialogues" in " ".join([each.value for each in opened.subheader])
    for speaker, models in {
        "both": ["base", "weak"],
        "tool": ["base"],
        "anybody": ["base", "weak"],
        "": ["base", "weak"],
    }.items():
        assert sorted(failures.rows(View(search="refund", speaker=speaker)).frame["model"]) == models
    assert failures.rows(View(search="here", speaker="anybody")).frame.is_empty(), "a note is nobody's message"
    assert failures.rows(View(search="a1-s1-1", speaker="both")).frame.is_empty()
    # Files and the dataset hold what the page shows, also where no message holds all the words.
    about = declared_all(["sage"])
    for text, ids in {"refund": {"a1-s1-1"}, "parcel zebra": {"a1-s1-1", "a2-s1-1"}}.items():
        view, terms = View(search=text, speaker="customer", verdict="all"), split_terms(text)
        table = pl.read_csv(dialogue_set.write_table(view, about, terms))
        assert {*table["attempt_id"]} == ids
        lines = [json.loads(each) for each in dialogue_set.write_lines(view, about, terms).splitlines()]
        assert {each["attempt_id"]: len(each["messages"]) for each in lines} == dict.fromkeys(ids, 4)
        named = dialogue_set.name_these(view, terms)
        assert failures.counts(named)["attempts"] == len(ids)
        assert (named.to_query()["sought"], named.to_query()["speaker"]) == (text, "customer"), "a dataset says by what"
    assert {*table["matched"]} == {"customer: My parcel is lost.", "customer: My parcel is late."}


def test_a_question_that_names_a_side_is_searched_in_what_that_side_says(home: Path) -> None:
    asked = "a customer says that something about a refund"
    assert [read_speaker(each) for each in (asked, "the agent promised a refund", "refund", '"customer" refund')] == [
        "customer", "agent", "both", "both",
    ]  # fmt: skip
    assert read_speaker("customer") == "both", "where there is no other word that one is looked for"
    assert (count_dialogues(asked), count_dialogues("refund"), count_dialogues("a customer: zebra")) == (1, 2, 0)
    app = open_page("conversations", source="runs", q=asked)
    assert not app.exception
    assert "1 message in 1 dialogue" in [each.value for each in app.subheader]
    assert app.selectbox(key="search-said").value == "customer"
    assert "The question names the customer, so only what the customer says is searched." in words(app)
    app.button(key="search-both").click().run()
    assert "3 messages in 2 dialogues" in [each.value for each in app.subheader]
    assert app.selectbox(key="search-said").value == "both"
    assert "search-both" not in {each.key for each in app.button}
    # What was not to be read into those words is read into others; who was chosen stays.
    app.text_input(key="search-words").set_value("an agent says refund").run()
    assert app.selectbox(key="search-said").value == "agent"
    assert "2 messages in 2 dialogues" in [each.value for each in app.subheader]
    app.selectbox(key="search-said").set_value("tool").run()
    app.text_input(key="search-words").set_value("a customer says refund").run()
    assert app.selectbox(key="search-said").value == "tool"
    assert "The question names" not in words(app)


def test_collected_conversations_and_dialogues_of_runs_point_to_each_other(home: Path) -> None:
    said = Message(role="customer", text="Are there brown shoes?", turn=1)
    corpus = {"t1": Conversation(id="t1", messages=(said,))}
    dataset, samples, tables_ = build("Shoes", "imported", corpus, {}, {}, {}, config={}, licence="own work")
    write.save_dataset(dataset, samples, tables=tables_)
    app = open_page("conversations", dataset=dataset.id, q="a customer says that something was a refund")
    assert "No conversation here says “refund”." in words(app)
    assert app.button(key="search-there-runs").label == "Said in 1 dialogue of a run: look there"
    app.button(key="search-there-runs").click().run()
    assert "1 message in 1 dialogue" in [each.value for each in app.subheader]
    app.button(key="search-collected").click().run()
    assert "No conversation here says “refund”." in words(app)
    # Words alone are no description of what happens.
    app = open_page("conversations", source="runs", q="refund parcel")
    assert "search-collected" not in {each.key for each in app.button}
    app = open_page("conversations", dataset=dataset.id, q="customers who say zebra")
    assert "search-there-runs" not in {each.key for each in app.button}
