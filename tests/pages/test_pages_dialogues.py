"""Conversations, searching what was said in runs: words, filters, and the way to the message."""

from pathlib import Path
from urllib.parse import parse_qs

import polars as pl
import pytest

from cxlab.read import View
from cxlab.store import tables
from cxlab.views.search.excerpts import cut_around, mark_terms
from cxlab.views.search.queries_dialogues import count_terms, find_dialogues, left_out, split_terms
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
    found = find_dialogues(view, split_terms(text), roles, 10, 0)
    if not found.dialogues:
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
    assert "A <mark>refund</mark>, &lt;b&gt;at last&lt;/b&gt;." in bodies
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
    assert split_terms(asked) == ("promised",)
    assert left_out(asked) == ("a", "customer", "says", "that", "something", "had", "been", "before")
    assert split_terms('"had been" promised?') == ("had been", "promised")
    assert split_terms("who was it") == ("who", "was", "it"), "where there is nothing else"
    assert left_out("who was it") == ()
    assert split_terms("100 % 1}") == ("100", "%", "1}")


def test_where_no_message_holds_all_words_those_with_most_are_shown(home: Path) -> None:
    roles = ("customer", "agent")
    assert count_terms(ALL, ("refund", "late", "parcel"), roles) == ({"refund": 3, "late": 1, "parcel": 2}, 2)
    assert count_terms(ALL, ("elephant", "zebra"), roles) == ({"elephant": 0, "zebra": 0}, 0)
    app = open_page("conversations", source="runs", q="a customer says the parcel is late before a refund, zebra")
    assert not app.exception
    heads = [each.value.replace("\\", "") for each in app.subheader]
    assert "No message of customer or agent holds all of: “parcel”, “late”, “refund”, “zebra”" in heads
    assert "2 hold “parcel”, 1 holds “late”, 3 hold “refund”, none hold “zebra”." in words(app)
    assert "1 message in 1 dialogue" in heads
    assert "Each holds 2 of the 4 words" in words(app)
    bodies = " ".join(each.proto.body for each in app.get("html"))
    assert "My <mark>parcel</mark> is <mark>late</mark>." in bodies
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
    shown = cut_around(text, ["needle"])
    assert shown.startswith("… before ")
    assert shown.endswith("after …")
    assert "needle" in shown
    assert len(shown) < 720
    assert cut_around("short needle", ["needle"]) == "short needle"
    assert mark_terms("<i> Needle (a+b)", ["needle", "(a+b)"]) == ("&lt;i&gt; <mark>Needle</mark> <mark>(a+b)</mark>")
