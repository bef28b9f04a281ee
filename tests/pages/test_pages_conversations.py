"""The page Conversations: one's own file, a question, the messages that matched, a set that is kept."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner

from cxlab import cli, jobs, read
from cxlab.benchmarks.cdr.corpus.dataset import build
from cxlab.benchmarks.cdr.corpus.subset import save_subset
from cxlab.benchmarks.cdr.retrievers.explanation import explain
from cxlab.benchmarks.cdr.units import split
from cxlab.read import View
from cxlab.records import Conversation, Message
from cxlab.records.conversation import ToolCall
from cxlab.store import write
from cxlab.ui.trash import delete
from cxlab.views.search import finding, work
from cxlab.views.search.place import SearchPlace, name_retriever
from cxlab.views.search.results import draw_messages, find_telling
from cxlab.views.search.work import REPORT
from cxlab.word_forms import Sought
from tests.benchmarks.cdr.test_relevance_queue import store_labelled
from tests.pages.app_script import codes, open_page, words

QUESTION = "users who grow more frustrated over time"
GROWS = ["My parcel has not come yet.", "I told you the number twice, this is annoying.", "Ridiculous, I am furious."]
CALMS = ["I am furious, this is ridiculous.", "It is a bit annoying.", "Thank you, great, I am happy now."]
ASKS = ["Which sizes are there?", "Do you have brown ones?", "Good, I will order a pair."]
REPLIES = ["Let me see.", "One moment please.", "Is there anything else?"]


def lines(count: int = 9) -> list[str]:
    """A file as people have it: three ways a talk may go, a day and a product each."""
    rows = []
    for number in range(count):
        said = (GROWS, CALMS, ASKS)[number % 3]
        town = ("Leeds", "Oslo", "Pune", "Lima", "Graz")[number // 3 % 5]
        told = [{"role": "user", "content": text} for text in said]
        told[0]["content"] += f" I write from {town}, case {number}."
        messages = [each for pair in zip(told, REPLIES, strict=True) for each in (pair[0], answer(pair[1]))]
        day = f"2026-0{1 + number % 4}-1{number}"
        rows.append({"id": f"t{number}", "messages": messages, "product": ("post", "shop")[number % 2], "at": day})
    return [json.dumps(each) for each in rows]


def answer(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def drop(app: AppTest, text: str, name: str = "own talks.jsonl") -> AppTest:
    app.file_uploader(key="search-file").upload(name, text.encode(), "application/octet-stream").run()
    assert not app.exception
    return app


def hits(app: AppTest) -> list[str]:
    """Ids of the conversations on the page that something speaks for, best first."""
    every = [each for each in codes(app) if each.startswith("t")]
    told = re.search(r"speaks for it in \*\*(\d+)\*\*", words(app))
    weaker = any(each.value.startswith("Weaker") for each in app.subheader)
    return every[: int(told[1])] if weaker and told else every


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A store whose one dataset came over the page; its id."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXLAB_HOME", str(tmp_path_factory.mktemp("conversations")))
        patch.setenv("CXLAB_NO_AUTOSTART", "1")
        app = drop(open_page("conversations"), "\n".join([*lines(), '{"id": "broken", "messages": 3}']))
        assert "9 conversations from the first 10 rows" in words(app)
        app.toggle[0].set_value(False).run()
        started: list[list[str]] = []
        patch.setattr(jobs, "start", lambda args: started.append(list(args)) or SimpleNamespace(id="job-none"))
        app.button(key="search-import-now").click().run()
        (words_of,) = started
        assert words_of[:2] == ["import", "cdr"]
        assert CliRunner().invoke(cli.app, words_of).exit_code == 0
        (found,) = write.list_datasets()
        assert found.name == "own talks"
        app = open_page("conversations", state={REPORT: found.id}, dataset=found.id)
        assert "Imported: 9 conversations" in words(app)
        assert "1 left out" in [each.label for each in app.expander]
        yield found.id


def test_a_question_finds_who_grows_frustrated_and_says_why(dataset: str) -> None:
    app = open_page("conversations", dataset=dataset, q=QUESTION)
    assert not app.exception
    assert set(hits(app)) == {"t0", "t3", "t6"}
    said = words(app)
    assert "Something speaks for it in **3** of 9 conversations" in said
    assert "said by the customer" in said
    assert "a worse mood:" in said
    shown = "".join(str(each.proto.body) for each in app.get("html"))
    assert "this is annoying" in shown
    assert "Asked of **own talks" in said
    # Of so few it is not plain that there are no more: what comes next stands below, named as weaker.
    assert "Weaker: the nearest of the others" in [each.value for each in app.subheader]
    assert len([each for each in codes(app) if each.startswith("t")]) == 5


def test_a_question_of_how_something_moves_is_not_answered_by_words_in_common(dataset: str) -> None:
    moving = "users who grow frustrated over brown sizes"
    app = open_page("conversations", dataset=dataset, q=moving)
    assert not app.exception
    assert {*hits(app)[:3]} == {"t0", "t3", "t6"}
    assert "read by who says what and when" in words(app)
    # Who does not grow frustrated has no mark that says so.
    assert words(app).count("a worse mood:") == 3
    for other in ({"q": "brown sizes"}, {"q": moving, "retriever": "bm25"}, {"q": moving, "granularity": "turn"}):
        assert "read by who says what and when" not in words(open_page("conversations", dataset=dataset, **other))
    assert {*hits(open_page("conversations", dataset=dataset, q=moving, retriever="bm25"))} == {"t2", "t5", "t8"}


def test_what_nothing_speaks_for_is_no_result(dataset: str) -> None:
    # Ranks that are joined give a number to each conversation.
    app = open_page("conversations", dataset=dataset, q="customers who are sick of waiting for a bicycle bell")
    assert not app.exception
    assert not hits(app)
    assert not app.subheader
    assert "Nothing in these conversations speaks for this" in words(app)
    near = open_page("conversations", dataset=dataset, q="a bicycle bell", retriever="hashing")
    assert "the last of them may have nothing to do with it" in words(near)
    assert "Something speaks for" not in words(near)


def test_words_that_any_talk_holds_are_no_evidence_and_those_that_nobody_says_are_named(dataset: str) -> None:
    asked = "a customer says that something is not what it had been promised before"
    for retriever in ("hybrid:conversation", "conversation", "bm25"):
        app = open_page("conversations", dataset=dataset, q=asked, retriever=retriever)
        assert not app.exception
        assert not hits(app), retriever
        assert "No conversation here says “promised”." in words(app)
    # "is", "it" and "this" stand in the others; what counts is who says the one word that tells anything.
    both = open_page("conversations", dataset=dataset, q="customers who say that this is what it is: brown, velvet")
    assert set(hits(both)) == {"t2", "t5", "t8"}
    assert "Something speaks for it in **3** of 9 conversations" in words(both)
    assert "words: brown" in words(both)
    assert "No conversation here says “velvet”." in words(both)
    other = open_page("conversations", dataset=dataset, q="customers who say moment")
    assert "No customer here says “moment”; in 9 conversations somebody else does." in words(other)
    other.button(key="search-others-0").click().run()
    assert len(hits(other)) == 9


def test_other_conversations_that_say_the_word_are_offered_where_none_does(dataset: str) -> None:
    made = save_subset(dataset, "3 conversations of sizes", ["t2", "t5", "t8"], {})
    # It says the words, too, but nothing that its origin does not.
    part = save_subset(dataset, "3 others", ["t0", "t3", "t6"], {})
    names = finding.searchable()
    assert (names[made.id], names[dataset]) == ("3 conversations of sizes", "own talks · 9 conversations")
    app = open_page("conversations", dataset=made.id, q="customers who say parcel or velvet")
    assert "No conversation here says “parcel” or “velvet”." in words(app)
    assert [each.key for each in app.button if "search-there" in str(each.key)] == [f"search-there-{dataset}"]
    app.button(key=f"search-there-{dataset}").click().run()
    assert not app.exception
    assert set(hits(app)) == {"t0", "t3", "t6"}
    delete("dataset", made.id)
    delete("dataset", part.id)


def test_the_message_that_holds_the_word_is_shown_with_the_word_in_it() -> None:
    texts = ["Hello.", *(["I see."] * 9), f"{'so it goes ' * 90} it was promised {'and on ' * 90}", "Bye."]
    roles = ("customer", "agent") * 6
    said = tuple(Message(role=role, text=text, turn=1) for role, text in zip(roles, texts, strict=True))
    talk = Conversation(id="t", messages=said)
    for question in (
        "promised",
        "users who were promised it",
        "assistants who promised",
        "grateful that it was promised",
    ):
        why = explain(question, talk, split(talk, "session")[0])
        assert why.words == ("promised",), question
        matched = find_telling(said, why)
        assert 10 in matched, question
        drawn = draw_messages(said, [0, *matched], matched, Sought(frozenset(why.words)))
        assert '<mark class="cx-sought">promised</mark>' in drawn, question
        assert "so it goes … " not in drawn
        assert "and on …" in drawn


def test_nothing_can_be_typed_that_would_be_lost_when_an_import_is_done(
    dataset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not open_page("conversations", dataset=dataset).text_input(key="search-question").disabled
    monkeypatch.setattr(work.SearchJobs, "is_working", lambda self, *words: words == ("import",))
    field = open_page("conversations", dataset=dataset).text_input(key="search-question")
    assert field.disabled
    assert "ask when they are there" in field.placeholder
    went: list[SearchPlace] = []
    monkeypatch.setattr(work, "go", went.append)
    work._leave(SearchPlace(View(dataset="before", search="who is angry?")), dataset)
    assert [(each.dataset, each.question) for each in went] == [(dataset, "who is angry?")]


def test_single_messages_are_found_by_their_words(dataset: str) -> None:
    app = open_page("conversations", dataset=dataset, q="brown sizes", granularity="turn", retriever="bm25")
    assert set(hits(app)) == {"t2", "t5", "t8"}
    assert "matched in message" in words(app)
    assert "words: brown" in words(app) or "words: sizes" in words(app)
    assert '<mark class="cx-sought">brown</mark>' in "".join(str(each.proto.body) for each in app.get("html"))


def test_filters_narrow_and_days_cut(dataset: str) -> None:
    both = open_page("conversations", dataset=dataset, q=QUESTION, only="product=post")
    assert set(hits(both)) == {"t0", "t6"}
    late = open_page("conversations", dataset=dataset, q=QUESTION, since="2026-03-01")
    assert "t0" not in hits(late)
    assert set(hits(late)) == {"t3", "t6"}


def test_counts_stand_by_label_and_time(dataset: str) -> None:
    app = open_page("conversations", dataset=dataset, q=QUESTION, tab="counts")
    assert not app.exception
    assert "Among those found are from " in words(app)
    assert "An order of what was counted, not a test." in words(app)
    assert "Found and all conversations by" in words(app)
    assert len(app.get("plotly_chart")) == 3


def test_of_few_conversations_a_quarter_is_the_best_and_times_are_no_labels(dataset: str) -> None:
    assert [SearchPlace(View()).limit(count) for count in (9, 100, 5000)] == [10, 25, 50]
    assert SearchPlace(View(), size=20).limit(5000) == 20
    app = open_page("conversations", dataset=dataset, q=QUESTION, tab="counts", size="10", only="product=post")
    assert app.selectbox(key="search-count-by").options == ["Product"]


def test_more_like_one_leaves_that_one_out(dataset: str) -> None:
    app = open_page("conversations", dataset=dataset, q=QUESTION)
    first = hits(app)[0]
    app.button(key="search-like-1").click().run()
    assert not app.exception
    assert f"Conversations like {first}" in words(app)
    assert first not in hits(app)
    assert set(hits(app)[:2]) == {"t0", "t3", "t6"} - {first}
    app.button(key="search-unlike").click().run()
    assert hits(app)[0] == first


def test_a_template_becomes_a_question(dataset: str) -> None:
    app = open_page("conversations", dataset=dataset)
    (template,) = [each for each in app.selectbox if each.label == "Template"]
    assert "{" not in str(template.value)
    app.button(key="search-ask-built").click().run()
    assert not app.exception
    asked: Any = app.query_params["q"]
    assert "{" not in "".join(asked)
    assert app.text_input(key="search-question").value == "".join(asked)


def test_what_is_no_conversation_is_refused_with_its_place(dataset: str) -> None:
    app = drop(open_page("conversations", tab="own"), '{"a": 1}\n{"a": 2}\n')
    assert "No conversations recognised in the columns a. Say below which column is what." in words(app)
    assert "/tmp" not in words(app)
    assert app.button(key="search-import-now").disabled
    empty = drop(open_page("conversations", tab="own"), "", "nothing.csv")
    assert "The file is empty" in words(empty)


def test_speakers_that_nobody_knows_are_named_and_seen_before_the_import(
    dataset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = "Ticket,Sender,Body\n" + "".join(
        f'T{n},Kunde,Wo ist Paket {n}?\nT{n},"Lee, Ann",Morgen ist es da.\n' for n in range(3)
    )
    app = drop(open_page("conversations", tab="own"), table, "help desk.csv")
    said = words(app)
    assert "Who speaks first was taken for the customer" in said
    assert "3 conversations from the first 6 rows" in said
    started: list[list[str]] = []
    monkeypatch.setattr(jobs, "start", lambda args: started.append(list(args)) or SimpleNamespace(id="job-none"))
    next(each for each in app.toggle if each.key.endswith("-filter")).set_value(False).run()
    app.button(key="search-import-now").click().run()
    assert not app.exception
    assert Path(started[0][2]).name == "help-desk.csv"
    assert '--speakers={"kunde": "customer", "lee, ann": "agent"}' in started[0]
    done = CliRunner().invoke(cli.app, [*started[0], "--json"])
    assert done.exit_code == 0
    made = json.loads(done.stdout)["dataset"]
    assert write.load_table(made, "conversations").height == 3
    delete("dataset", made)


def test_a_name_that_is_a_path_is_only_a_name(dataset: str) -> None:
    app = drop(open_page("conversations", tab="own"), "\n".join(lines(3)), "../../etc/<b>passwd</b>.jsonl")
    assert "3 conversations from the first 3 rows" in words(app)
    assert not any("<b>" in str(each.value).replace("\\<", "") for each in [*app.markdown, *app.caption])


def test_a_sample_is_judged_blind_and_gives_a_share_with_its_interval(dataset: str) -> None:
    app = open_page("conversations", dataset=dataset, q=QUESTION, tab="spread")
    assert not app.exception
    for answer in ("yes", "no", "unsure"):
        app.button(key=f"search-{answer}").click().run()
        assert not app.exception
    said = words(app)
    assert "3 of 9 judged" in "".join(str(each.proto.text) for each in app.get("progress"))
    assert [each.value for each in app.metric] == ["50.0 %"]
    assert "95 % interval 9.5 % to 90.5 %" in said
    assert "1 unsure are left out" in said
    app.button(key="search-undo").click().run()
    assert "2 of 9 judged" in "".join(str(each.proto.text) for each in app.get("progress"))
    again = open_page("conversations", dataset=dataset, q=f" {QUESTION.upper()}", tab="spread")
    assert "2 of 9 judged" in "".join(str(each.proto.text) for each in again.get("progress"))


def test_what_was_found_is_saved_as_a_set_searched_and_taken_back(dataset: str) -> None:
    app = open_page("conversations", dataset=dataset, q=QUESTION, tab="sets")
    app.text_input(key="search-set-name").set_value("Growing anger").run()
    app.button(key="search-set-save").click().run()
    assert not app.exception
    (kept,) = [each for each in write.list_datasets() if each.derivation == "conversations"]
    assert (kept.name, kept.config["asked"]["q"]) == ("Growing anger", QUESTION)
    assert write.load_table(kept.id, "conversations")["conversation_id"].to_list() == ["t0", "t3", "t6"]
    inside = open_page("conversations", dataset=kept.id, q="furious")
    assert set(hits(inside)) <= {"t0", "t3", "t6"}
    app.button(key=f"search-drop-{kept.id}").click().run()
    assert not app.exception
    assert [each.id for each in write.list_datasets()] == [dataset]


def test_a_sum_of_ranks_is_no_score_and_retrievers_have_names(dataset: str) -> None:
    """A hybrid ranks by reciprocal ranks of its parts, which tell nothing of how well one fits."""
    for retriever, scored in (("hybrid:conversation", False), ("bm25", True)):
        app = open_page("conversations", dataset=dataset, q="brown sizes", tab="sets", retriever=retriever)
        assert not app.exception
        (table,) = [each.value for each in app.dataframe if "conversation_id" in each.value.columns]
        assert ("score" in table.columns) == scored, retriever
    names = app.selectbox(key="search-retriever").options
    assert {"BM25 + conversation", "BM25", "TF-IDF", "MiniLM", "BM25 + MiniLM", "MiniLM, Chroma index"} <= set(names)
    assert not [name for name in names if ":" in name]
    assert name_retriever("openai:some-model") == "openai:some-model"


def test_trust_says_how_to_measure_where_nothing_was_measured(dataset: str) -> None:
    app = open_page("conversations", dataset=dataset, tab="trust")
    assert not app.exception
    assert "No retriever has been evaluated at this granularity yet" in words(app)


def test_an_index_is_built_by_a_job_serves_the_page_and_is_measured(
    dataset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(jobs, "start", lambda args: started.append(list(args)) or SimpleNamespace(id="job-none"))
    asked = {"dataset": dataset, "retriever": "chroma:hashing", "granularity": "turn", "q": "brown sizes"}
    app = open_page("conversations", **asked)
    assert "these are the results of exact search" in words(app)
    before = hits(app)
    app.button(key="search-index-build").click().run()
    assert started == [["index", dataset, "--embedder=hashing", "--granularity=turn", "--quiet"]]
    assert CliRunner().invoke(cli.app, started[0]).exit_code == 0
    app = open_page("conversations", **asked)
    assert not app.exception
    assert "found by the index" in words(app)
    assert hits(app)[:3] == before[:3]
    app = open_page("conversations", **{**asked, "tab": "trust"})
    app.button(key="search-recall").click().run()
    assert not app.exception
    assert {each.label: each.value for each in app.metric}["Recall of the 10 nearest"] == "100.0 %"


def test_a_job_shows_its_stages_and_ends_at_what_it_made(dataset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    state = "running"

    def look(_: str = "") -> jobs.Job:
        args = ("import", "cdr", "/no/upload.jsonl", "--quiet")
        return jobs.Job("job-1", "import", args, datetime.now(UTC), 1, state, None, (), Path("/no/log"))

    stages = [jobs.StageProgress("read", 500, 500), jobs.StageProgress("near", 100, 500)]
    monkeypatch.setattr(jobs, "list_jobs", lambda *_, **__: [look()])
    monkeypatch.setattr(jobs, "find_job", look)
    monkeypatch.setattr(jobs, "stages", lambda _: (stages, dataset if state == "done" else ""))
    app = open_page("conversations", dataset=dataset, job="job-1", tab="own")
    assert not app.exception
    assert "Reading conversations" in words(app)
    assert [str(each.proto.text) for each in app.get("progress")] == ["near\\: 100 of 500"]
    assert app.button(key="cancel-job-1")
    state = "stopped"
    app = open_page("conversations", dataset=dataset, job="job-1", tab="own")
    assert "Stopped. What was finished is kept" in words(app)
    assert app.button(key="resume-job-1")
    state = "done"
    app = open_page("conversations", job="job-1", tab="own")
    assert app.query_params["dataset"] in (dataset, [dataset])
    assert "job" not in app.query_params
    assert "Imported: 9 conversations" in words(app)


def test_queued_pairs_are_decided_undone_and_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path / "home"))
    labelled = store_labelled()
    app = open_page("conversations", dataset=labelled, tab="relevance")
    assert not app.exception
    assert "4 pairs of a question and a conversation" in words(app)
    app.button(key="relevance-yes").click().run()
    app.button(key="relevance-no").click().run()
    app.button(key="relevance-undo").click().run()
    assert not app.exception
    assert "1 of 4 decided by you" in "".join(str(each.proto.text) for each in app.get("progress"))
    app.button(key="relevance-unsure").click().run()
    assert app.button(key="relevance-revise").label == "Take over 1 decision"
    app.button(key="relevance-revise").click().run()
    assert not app.exception
    (made,) = write.list_derived(labelled, "decisions")
    assert "Pairs decided by people in this version: 1." in words(app)
    relevant = {each.inputs["query_id"]: each.expected["conversations"] for each in write.load_samples(made.id)}
    assert relevant["q1"] == ["glad", "late"]
    app = open_page("conversations", dataset=made.id, tab="relevance")
    app.button(key="relevance-drop").click().run()
    assert not app.exception
    assert [each.id for each in write.list_datasets()] == [labelled]


def test_conversations_without_labels_are_sent_and_what_was_said_is_read(
    dataset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(jobs, "start", lambda args: started.append(list(args)) or SimpleNamespace(id="job-none"))
    app = open_page("conversations", dataset=dataset, tab="send")
    assert not app.exception
    app.segmented_control(key="send-task").set_value("procedure_check").run()
    assert app.button(key="send-prepare").disabled
    app.segmented_control(key="send-task").set_value("quality").run()
    app.text_area(key="send-quality-questions").set_value("Was it quick? Was the agent kind?").run()
    app.button(key="send-prepare").click().run()
    (words_of,) = started
    assert words_of == ["send", dataset, "quality", "--questions=Was it quick? Was the agent kind?", "--quiet"]
    assert CliRunner().invoke(cli.app, words_of).exit_code == 0
    made = next(iter(write.list_derived(dataset, "task")))
    app = open_page("conversations", dataset=dataset, tab="send")
    assert "Was the agent kind?" in words(app)
    done = CliRunner().invoke(
        cli.app, ["run", "cxmarena", "--dataset", made.id, "--model", "simulated:strong", "--quiet"]
    )
    assert done.exit_code == 0
    run = next(each for each in write.list_runs() if each.dataset_id == made.id)
    app = open_page("conversations", dataset=dataset, tab="send")
    app.button(key=f"send-read-{run.id}").click().run()
    assert not app.exception
    said = words(app)
    assert "What simulated:strong says" in said
    assert "how often a model is right cannot be told" in said
    assert "Least often yes: Was" in said
    assert app.selectbox(key="send-asked").options == ["Was it quick?", "Was the agent kind?"]
    assert "of 9" in said
    # What nobody has labelled is among no failures and on no board, unless it is asked for.
    assert read.attempts(View(benchmark="cxmarena")).total == 0
    assert read.attempts(View(benchmark="cxmarena", runs=(run.id,))).total == 9


def test_calls_of_tools_stand_with_what_came_back() -> None:
    call = ToolCall(id="c1", name="find_<order>", arguments='{"order": 7}')
    said = (
        Message(role="customer", text="Where is it?", turn=1),
        Message(role="agent", text="", turn=1, tool_calls=(call,)),
        Message(role="tool", text="state: <b>lost</b>", turn=1, data={"call": "c1"}),
        Message(role="agent", text="It is lost.", turn=1),
        Message(role="tool", text="asked by nobody", turn=1),
    )
    drawn = draw_messages(said, range(5))
    assert "find_&lt;order&gt;" in drawn
    assert drawn.index("find_") < drawn.index("state: &lt;b&gt;lost") < drawn.index("It is lost.")
    assert drawn.count("cx-line") == 4
    assert "asked by nobody" in drawn
    # The result is drawn with its call, so it is no gap; that it matched marks the message that asked for it.
    part = draw_messages(said, [0, 1], matched=[2])
    assert "… 2 messages …" in part
    assert "state: " in part
    assert part.count("asked") == 1
    empty = draw_messages((said[1], said[2].model_copy(update={"text": ""})), range(2))
    assert "find_" in empty


def test_results_that_name_their_tool_alone_stand_with_its_call() -> None:
    calls = (ToolCall(id="c1", name="find", arguments="{}"), ToolCall(id="c2", name="move", arguments="{}"))
    said = (
        Message(role="agent", text="", turn=1, tool_calls=calls),
        Message(role="tool", text="it was moved", turn=1, data={"tool": "move"}),
        Message(role="tool", text="it was found", turn=1, data={"tool": "find"}),
        Message(role="agent", text="Done.", turn=1),
    )
    drawn = draw_messages(said, range(4))
    assert "no result" not in drawn
    assert drawn.index("it was found") < drawn.index("it was moved") < drawn.index("Done.")
    assert drawn.count("cx-line") == 2
    unanswered = draw_messages((said[0], said[1].model_copy(update={"data": {}}), said[3]), range(3))
    assert unanswered.count("no result") == 1
    assert unanswered.index("it was moved") < unanswered.index("no result")


@pytest.fixture
def promises(empty_home: Path) -> str:
    said = {"a": "You promised me a call back.", "b": "Keep your promises, please.", "c": "My car broke.", "d": "Care."}
    corpus = {
        name: Conversation(id=name, messages=(Message(role="customer", text=text, turn=1),))
        for name, text in said.items()
    }
    dataset, samples, tables = build("Promises", "imported", corpus, {}, {}, {}, config={}, licence="own work")
    write.save_dataset(dataset, samples, tables=tables)
    return dataset.id


def test_conversations_are_found_by_every_form_of_a_word_and_the_page_says_which(promises: str) -> None:
    app = open_page("conversations", dataset=promises, q="the customer was promised something")
    assert not app.exception
    assert "Looked for: promised, promises." in words(app)
    shown = "".join(str(each.proto.body) for each in app.get("html"))
    assert '<mark class="cx-sought">promised</mark>' in shown
    assert '<mark class="cx-sought">promises</mark>' in shown
    assert "Something speaks for it in **2** of 4 conversations" in words(app)
    assert "Something speaks for it in **1** of 4" in words(open_page("conversations", dataset=promises, q="car"))
    assert "No conversation here says “guarantee”." in words(
        open_page("conversations", dataset=promises, q="guaranteed promises guarantee")
    )


def test_who_has_the_words_and_the_mood_comes_before_who_has_the_words_alone(empty_home: Path) -> None:
    said = {
        "t0": "Nobody called me back. Please call, call, call me back.",
        "t1": "Nobody ever called me about the parcel that I sent last week to my aunt, who waits for it still. I am a "
        "bit annoyed.",
        "t2": "Hello.",
        "t3": "Good day. I am fine.",
    }
    corpus = {
        name: Conversation(id=name, messages=(Message(role="customer", text=text, turn=1),))
        for name, text in said.items()
    }
    dataset, samples, tables = build("Calls", "imported", corpus, {}, {}, {}, config={}, licence="own work")
    write.save_dataset(dataset, samples, tables=tables)
    app = open_page("conversations", dataset=dataset.id, q="customers whom nobody called back")
    assert hits(app) == ["t0", "t1"]
    assert "what is asked of the mood" not in words(app)
    app = open_page("conversations", dataset=dataset.id, q="annoyed customers whom nobody called back")
    assert hits(app) == ["t1", "t0"]
    assert "In 1 of them the words stand and what is asked of the mood, tone or clarity is read; those come first." in (
        words(app)
    )


def test_a_set_that_was_saved_leaves_the_search_where_it_is(promises: str) -> None:
    app = open_page("conversations", q="promised", tab="sets")
    assert not app.exception
    app.button(key="search-set-save").click().run()
    assert not app.exception
    assert "1 saved of these conversations" in [each.value for each in app.subheader]
    assert "Something speaks for it in **2** of 4 conversations" in words(app)
    # Nor is it what the page opens on next time.
    assert "of 4 conversations" in words(open_page("conversations", q="promised"))
    assert next(iter(finding.searchable())) == promises


def test_what_matched_begins_near_the_word_and_one_conversation_is_one(empty_home: Path) -> None:
    greeting = "Hello and welcome to our shop, you are speaking with Robin, what can I do for you today? "
    said = (Message(role="agent", text=greeting, turn=1), Message(role="customer", text="I was promised it.", turn=1))
    talks = {"t0": Conversation(id="t0", messages=said)}
    dataset, samples, tables = build("One", "imported", talks, {}, {}, {}, config={}, licence="own work")
    write.save_dataset(dataset, samples, tables=tables)
    app = open_page("conversations", dataset=dataset.id, q="promised", tab="sets")
    assert not app.exception
    assert "Save this conversation" in [each.value for each in app.subheader]
    (table,) = [each.value for each in app.dataframe if "conversation_id" in each.value.columns]
    (matched,) = table["matched"].to_list()
    assert matched.startswith("… ")
    assert 0 < matched.index("promised") < 30
    assert matched.endswith("I was promised it.")
    app.button(key="search-set-save").click().run()
    assert "1 conversation" in [each.value for each in app.caption]
