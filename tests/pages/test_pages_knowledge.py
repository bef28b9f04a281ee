"""The page Knowledge as a script sees it, and how it turns articles into safe HTML."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from cxlab.read import annotations
from cxlab.store import write
from cxlab.views.knowledge import suspicions
from cxlab.views.knowledge.article_html import mark_differences, to_html
from cxlab.views.knowledge.queries_health import first_words
from tests.conftest import use
from tests.pages.app_script import codes
from tests.stores.knowledge_base import DATASET, HOSTILE, QUESTIONS, make_knowledge

ROOT = Path(__file__).parents[2]


@pytest.fixture
def home(knowledge_store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    use(knowledge_store, monkeypatch)
    return knowledge_store


def open_page(state: dict[str, Any] | None = None, **query: Any) -> AppTest:
    app = AppTest.from_file(str(ROOT / "pages" / "knowledge.py"), default_timeout=300)
    for key, value in query.items():
        app.query_params[key] = value
    for key, value in (state or {}).items():
        app.session_state[key] = value
    return app.run()


def words(app: AppTest) -> str:
    parts = [*app.title, *app.subheader, *app.caption, *app.markdown, *app.info, *app.error, *app.text]
    return re.sub(r"\\(?=\W)", "", "\n".join([*(str(part.value) for part in parts), *codes(app)]))


def made_html(app: AppTest) -> str:
    return "\n".join(str(each.proto.body) for each in app.get("html"))


def tags(text: str) -> set[str]:
    return set(re.findall(r"<(/?\w+)", text))


@pytest.mark.parametrize(
    ("articles", "told"), [(None, "There is no dataset of CXMArena"), (False, "came without articles")]
)
def test_what_is_missing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, articles: bool | None, told: str
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    monkeypatch.setenv("CXLAB_NO_AUTOSTART", "1")
    if articles is not None:
        make_knowledge(tmp_path, articles=articles, runs=False)
    app = open_page()
    assert not app.exception
    assert told in words(app)
    if articles is not None:
        for tab, button in (
            ("pairs", "Run the task"),
            ("intents", "Run the task"),
            ("quality", "Run the task"),
            ("facts", ""),
        ):
            app = open_page(tab=tab)
            assert not app.exception, tab
            assert button in [*(each.label for each in app.button), ""], tab


def test_the_strips_of_a_run_and_of_the_articles(home: Path) -> None:
    app = open_page(tab="pairs")
    assert not app.exception
    assert {each.label: each.value for each in app.metric} == {
        "Articles": "5", "Contradictions missed": "1 of 2", "Repetitions missed": "1 of 2",
        "Intents told right": "33.3 %",
    }  # fmt: skip
    assert "5 articles under 2 roots" in words(open_page(tab="articles"))
    narrowed = open_page(topic=["Heat"], find="wood")
    assert narrowed.dataframe[1].value["article_id"].tolist() == ["K_4"]
    near = open_page(find="lamps and fans")
    assert "Near to it in other words" in words(near)
    assert {"K_1", "K_2"} <= set(near.dataframe[-1].value["article_id"])
    assert "Most trouble under" in words(open_page(corpus="refinement"))


def test_a_click_in_the_tree_and_in_the_list_go_into_the_address(home: Path) -> None:
    app = open_page({"knowledge-tree": {"selection": {"points": [{"customdata": ["Heat", "Fan"]}]}}}, tab="articles")
    assert app.query_params["topic"] == ["Heat", "Fan"]
    back = open_page({"knowledge-tree": {"selection": {"points": [{"customdata": [""]}]}}}, topic=["Heat"])
    assert "topic" not in back.query_params


def test_every_format_is_read_and_nothing_in_it_runs(home: Path) -> None:
    html = made_html(open_page(article="K_3"))
    assert "&lt;script&gt;" not in html  # what a script holds is dropped from HTML, as no reader would see it
    assert not {"script", "img", "a"} & tags(html)
    assert "alert(1)" not in html
    markdown = re.sub(r">\n+<", "><", made_html(open_page(article="K_2")))
    assert "<th>Item</th><th>Value</th>" in markdown
    lamp = open_page(article="K_1")
    assert '<abbr title="Aero Lamp">AL</abbr>' in made_html(lamp)
    assert "Where a parcel is" in words(lamp)
    assert lamp.query_params.get("corpus") is None
    pdf = open_page(article="K_4")
    assert "Page 2 of 2" in words(pdf)
    assert next(each.label for each in pdf.get("download_button")).startswith("Open the PDF")
    only = open_page(article="K_1", text="clean")
    assert "AL</abbr>" not in made_html(only)
    assert "unknown article" in words(open_page(article="gone"))
    # A link may name an article of another collection than the one that is listed.
    assert "Contradicts R_2" in words_of_buttons(open_page(article="R_3"))


def words_of_buttons(app: AppTest) -> str:
    return " ".join(each.label for each in app.button).replace("\\", "")


def test_pairs_are_told_and_one_is_shown_side_by_side(home: Path) -> None:
    app = open_page(tab="pairs")
    assert "1 of 2 contradictions found, 1 missed, 1 invented" in words(app)
    assert "1 replies could not be read" in words(app)
    app = open_page(tab="pairs", pairs="similar")
    assert "A threshold of 0.50 would be better: F1 80.0 % instead of 66.7 %" in words(app)
    one = open_page(tab="pairs", pair=["R_2", "R_3"])
    assert "A contradiction that the run missed" in words(one)
    shown = made_html(one)
    assert 'lasts <mark class="other">36</mark> months' in shown
    assert 'lasts <mark class="other">24</mark> months' in shown
    assert not open_page(tab="pairs", pair=["R_2", "gone"]).exception


def test_confusions_lead_to_the_conversations(home: Path) -> None:
    app = open_page(tab="intents")
    assert "Most often confused: “Repair” is called “Return”" in words(app)
    assert "4 of 6 conversations have another label than the gold; 1 of these labels are not in" in words(app)
    app = open_page(
        {"knowledge-confused-A": {"selection": {"points": [{"customdata": ["Repair", "Return"]}]}}}, tab="intents"
    )
    assert (app.query_params["gold"], app.query_params["said"]) in ((["Repair"], ["Return"]), ("Repair", "Return"))
    assert app.dataframe[0].value.shape[0] == 2
    talk = open_page(tab="intents", gold="Repair", sample="s-intent-2")
    assert not tags(made_html(talk)) & {"img", "script", "a", "b"}
    assert HOSTILE in [each.value for each in talk.text]
    assert not open_page(tab="intents", taxonomy="B", gold="Trouble").exception


def test_discovery_is_computed_when_asked(
    knowledge_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = shutil.copytree(knowledge_store, tmp_path / "own")
    use(home, monkeypatch)
    app = open_page(tab="intents")
    assert "V-measure" not in [each.label for each in app.metric]
    app.button(key="knowledge-discover").click().run()
    assert not app.exception
    assert {"V-measure", "Adjusted Rand"} <= {each.label for each in app.metric}
    assert app.dataframe[-1].value["n"].sum() == 6
    # What real customers said comes as a file; one that cannot be read is told, and nothing fails.
    said = home / "said.jsonl"
    rows = [("reset my password", "password"), ("forgot password", "password"), ("where is my parcel", "parcel")]
    said.write_text("\n".join(json.dumps({"utterance": u, "intent": i}) for u, i in rows), encoding="utf-8")
    app.text_input(key="knowledge-utterances").set_value(str(said)).run()
    assert app.dataframe[-1].value["n"].to_list() == [2, 1]
    app.text_input(key="knowledge-utterances").set_value(str(home / "none.jsonl")).run()
    assert not app.exception
    assert any("cannot be read" in each.value for each in app.error)


def test_evidence_is_marked_line_by_line(home: Path) -> None:
    app = open_page(tab="quality")
    shown = {each.label: each.value for each in app.metric}
    assert shown["Questions right"] == shown["Majority floor"] == "50.0 %"
    assert (shown["Lists right in full"], shown["Evidence, P / R"]) == ("0.0 %", "100 / 50 %")
    assert f"Hardest: “{QUESTIONS[1]}”" in words(app)
    html = made_html(open_page(tab="quality", sample="s-quality-7", question=QUESTIONS[0]))
    kinds = re.findall(r'class="cx-line (\w*)"><span class="no">(\d)', html)
    assert kinds == [("", "1"), ("found", "2"), ("missed", "3")]
    html = made_html(open_page(tab="quality", sample="s-quality-7", question=QUESTIONS[1]))
    assert ("extra", "1") in re.findall(r'class="cx-line (\w*)"><span class="no">(\d)', html)


def test_a_fact_tells_where_it_is_stated(home: Path) -> None:
    app = open_page(tab="facts", find="warranty")
    assert app.dataframe[0].value["value"].tolist() == ["24 months"]
    one = open_page(tab="facts", fact="lamp.warranty")
    assert one.dataframe[0].value["article_id"].tolist() == ["K_1"]
    assert one.dataframe[1].value["text"].tolist() == ["24 months."]
    assert "no fact of this id" in words(open_page(tab="facts", fact="gone"))


@pytest.mark.parametrize("tab", ["", "pairs", "intents", "quality", "facts"])
def test_nonsense_in_the_address_is_ignored(home: Path, tab: str) -> None:
    app = open_page(tab=tab, topic=["a"] * 30, pair=["a"], corpus="'; --", taxonomy="Z",
                    kind="x", form="<b>", trouble="y", outcome="z", page="99999", find="%' OR 1")  # fmt: skip
    assert not app.exception
    assert not app.error


@pytest.mark.parametrize("form", ["text", "table", "markdown", "html", "pdf"])
def test_no_text_becomes_markup(form: str) -> None:
    nasty = (
        f"{HOSTILE}\n| a | {HOSTILE} |\n|---|---|\n| 1 | <svg onload=x> |\n\n- {HOSTILE}\n# {HOSTILE}\n<p style='x'>"
    )
    made = to_html(nasty, form, {"AL": '"><script>'}, ["alert"])
    allowed = {"p", "h1", "h5", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "hr", "strong", "em",
               "code", "mark", "abbr", "b", "i"}  # fmt: skip
    assert {name.strip("/") for name in tags(made)} <= allowed
    # No attribute but our own.
    assert set(re.findall(r"<\w+ (\w+)=", made)) <= {"title", "start"}
    for name in allowed - {"hr"}:
        assert made.count(f"<{name}>") + made.count(f"<{name} ") == made.count(f"</{name}>"), name


def test_markdown_and_tables_are_read() -> None:
    made = to_html(
        "# One\n\n**two** *three* `four`\n\n- five\n- six\n\n3. seven\n\n[eight](http://x)\n\n---", "markdown"
    )
    flat = re.sub(r">\n+<", "><", made)
    for part in ("<h1>One</h1>", "<em>three</em> <code>four</code>", "<strong>two</strong>", "eight ‹http://x›", "<hr>",
                 "<ul><li>five</li><li>six</li></ul>", '<ol start="3"><li>seven</li></ol>'):  # fmt: skip
        assert part in flat
    grid = to_html("+---+---+\n| a | b |\n+---+---+\n| 1 | 2 |\n+---+---+\nAfter.", "table")
    head, body = "<thead><tr><th>a</th><th>b</th></tr></thead>", "<tbody><tr><td>1</td><td>2</td></tr></tbody>"
    assert re.sub(r"\s*\n\s*", "", grid) == f"<table>{head}{body}</table><p>After.</p>"
    assert to_html("this | that is no table", "table").strip() == "<h5>this | that is no table</h5>"
    assert to_html("*5* of 7 [are](x) free.", "text").strip() == "<p>*5* of 7 [are](x) free.</p>"
    assert to_html("<ul><li>a<li>b</ul><b>c", "html") == "<ul><li>a</li><li>b</li></ul><b>c</b>"
    assert to_html("<p>all of <em>AL</em></p>", "html", {"AL": "x"}, ["all"]) == (
        '<p><mark>all</mark> of <em><abbr title="x">AL</abbr></em></p>'
    )


def test_values_that_differ_are_marked_and_nothing_else() -> None:
    left, right = mark_differences("The fee is 1,000.50 now", "It costs 900 now <b>")
    assert re.findall(r'<mark class="other">(.*?)</mark>', left + right) == ["1,000.50", "900"]
    assert "&lt;b&gt;" in right
    left, right = mark_differences("slate grey case", "slate blue case")
    assert (left, right) == ('slate <mark class="other">grey</mark> case', 'slate <mark class="other">blue</mark> case')


def test_health_comes_first_and_does_not_change_with_the_run(home: Path) -> None:
    app = open_page()
    assert not app.exception
    figures = {each.label: each.value for each in app.metric}
    assert figures["Articles"] == "5"
    assert figures["Gaps · unreached"] == "–"
    assert "things to look at" in words(app)
    listed = app.dataframe[0].value
    assert {"contradiction", "repetition"} <= set(listed["kind"])
    # A run invented this pair, so it is suspected as well, and said to be.
    assert "strong · simulated" in set(listed["by"])
    assert "Have a model look for more" in words(app)
    assert "found in the articles' own texts" in words(app)
    # What the key alone knows is shown as the key has it.
    alone = listed[(listed["by"] == "the dataset's own key") & listed["why"].str.contains("texts alone")]
    assert alone.empty
    other = open_page(run="run-other")
    assert {each.label: each.value for each in other.metric} == figures
    assert not any(box.label == "Run" for box in app.selectbox)


def test_from_an_article_one_comes_back_to_the_health(home: Path) -> None:
    app = open_page(article="K_1")
    tabs = next(each for each in app.get("button_group") if each.key == "cx-choose-tab")
    assert tabs.value == "articles"
    tabs.set_value("health").run()
    assert "things to look at" in words(app)
    assert app.query_params["tab"] == "health"


def test_a_finding_is_resolved_noted_and_taken_back(
    knowledge_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(shutil.copytree(knowledge_store, tmp_path / "own")))
    key = "contradiction:refinement:R_1+R_3"
    app = open_page(finding=key)
    assert '<mark class="other">36</mark> months' in made_html(app)
    app.text_area[0].set_value(HOSTILE)
    next(button for button in app.button if button.label == "Resolve").click().run()
    assert annotations.findings(DATASET).select("key", "state", "note").rows() == [(key, "resolved", HOSTILE)]
    # The work goes on with the next one, and what was decided can be taken back from there.
    listed = [each.suspicion.key for each in suspicions.find(DATASET)]
    after = [*listed[listed.index(key) + 1 :], *reversed(listed[: listed.index(key)])]
    assert app.query_params["finding"] == after[0]
    assert "✓ Resolved: " in words(app)
    assert len(open_page().dataframe[0].value) == len(listed) - 1
    resolved = open_page(status="resolved")
    assert len(resolved.dataframe[0].value) == 1
    # Who stands on it all the same is not at a dead end.
    there = open_page(finding=key)
    assert HOSTILE in [each.value for each in there.text]
    assert not all(there.button(key=f"knowledge-findings-{each}").disabled for each in "pn")
    app.button(key="knowledge-decided-undo").click().run()
    assert annotations.findings(DATASET).is_empty()
    assert app.query_params["finding"] == key
    assert "no longer there" in words(open_page(finding="contradiction:refinement:R_1+GONE"))


def test_a_taxonomy_is_changed_undone_and_frozen_as_a_version(
    knowledge_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(shutil.copytree(knowledge_store, tmp_path / "own")))
    app = open_page({"cx-author-kept": "Ann"}, tab="taxonomy")
    assert not app.exception
    assert set(app.dataframe[0].value["label"]) == {"Repair", "Return", "Late", "Never"}

    def press(label: str) -> None:
        next(button for button in app.button if button.label == label).click().run()
        assert not app.exception

    def ask(action: str, labels: list[str], names: str) -> None:
        next(box for box in app.selectbox if box.label == "What to do").set_value(action)
        next(box for box in app.multiselect if box.label == "Labels").set_value(labels)
        next(area for area in app.text_area if area.label == "New name").set_value(names)
        press("Change")

    ask("merge", ["Return"], "Back")
    assert "two labels or more" in words(app)
    ask("merge", ["Return", "Late"], "Delivery")
    ask("split", ["Repair"], f"{HOSTILE[:40].replace(':', '')}\nReplace")
    # Another window has it too, with who changed what.
    other = open_page(tab="taxonomy")
    assert "2 changes not frozen yet" in words(other)
    assert "1. merge Return, Late into Delivery · Ann, " in words(other)
    other.button(key="knowledge-taxonomy-discard").click().run()
    assert "2 changes were discarded." in words(other)
    other.button(key="knowledge-taxonomy-back").click().run()
    app.run()
    assert "2 changes not frozen yet" in words(app)
    assert app.warning[0].value.startswith("3 conversations had a label that is split")
    app.button(key="knowledge-taxonomy-undo").click().run()
    assert dict(app.dataframe[0].value[["label", "n"]].values.tolist())["Delivery"] == 3
    press("Freeze as a version")
    version = next(iter(write.list_derived(DATASET, "taxonomy")))
    assert version.config["changes"] == ["merge Return, Late into Delivery"]
    assert f"python -m cxlab run cxmarena --dataset {version.id}" in codes(app)
    app.button(key=f"knowledge-version-drop-{version.id}").click().run()
    assert [each.id for each in write.list_datasets()] == [DATASET]
    assert any(button.label == "Undo" for button in app.button)


def test_conversations_that_a_finding_touched_are_told_by_their_first_words(
    knowledge_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(knowledge_store))
    ids = write.load_table(DATASET, "conversations")["conversation_id"].to_list()[:2]
    said = first_words(DATASET, [*ids, "nowhere"])
    assert list(said) == [*ids, "nowhere"]
    assert said["nowhere"] == "nowhere"
    messages = json.loads(write.load_table(DATASET, "conversations")["messages"][0])
    first = next(each["text"] for each in messages if each["role"] == "customer")
    assert said[ids[0]].startswith(f"{ids[0]}: {' '.join(first.split())[:20]}")
    assert len(said[ids[0]]) <= len(ids[0]) + 2 + 70
