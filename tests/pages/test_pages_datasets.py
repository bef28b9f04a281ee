"""The page Datasets as a script sees it."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner

from cxlab import jobs
from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.cxmarena.generation.dataset_config import read_config
from cxlab.benchmarks.generation import GenerationContext
from cxlab.benchmarks.generation.stages import finish
from cxlab.cli import app as app_of_commands
from cxlab.read import annotations, ask
from cxlab.runner.request import JOB
from cxlab.store import trash, write
from cxlab.store.exports.export import export_runs
from cxlab.ui.tables import fit_widths, table_key
from cxlab.views.conversations import conversation, queries_realism
from cxlab.views.conversations import queries as conversations
from cxlab.views.datasets import queries
from tests.benchmarks.cxmarena.importers.cxm_folder import make, store
from tests.pages.app_script import catch_orders, codes
from tests.store.store_records import make_run
from tests.stores.cxmarena_dataset import DATASET, make_dataset
from tests.stores.judged import HOSTILE

ROOT = Path(__file__).parents[2]
SIZED = ("crmarena", "cxmarena")


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    monkeypatch.setenv("CXLAB_NO_AUTOSTART", "1")
    return tmp_path


@pytest.fixture
def home(empty: Path) -> Path:
    make_dataset(empty)
    return empty


def open_page(**query: Any) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    # As from a cold link: the page before it need not be drawn.
    for key, value in {"goto": "datasets", **query}.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    return app


def words(app: AppTest) -> str:
    parts = [*app.title, *app.subheader, *app.caption, *app.markdown, *app.error, *app.info, *app.warning, *app.text]
    return "\n".join(str(part.value) for part in parts)


def test_an_empty_store_leads_to_the_form(empty: Path) -> None:
    app = open_page()
    assert "There are none in this store yet" in words(app)
    next(each for each in app.button if each.label == "Generate a dataset").click().run()
    assert app.title[0].value == "Generate a dataset"
    assert app.query_params["tab"] in ("generate", ["generate"])


def test_the_page_runs_by_itself_and_ignores_nonsense_in_the_address(home: Path) -> None:
    app = AppTest.from_file(str(ROOT / "pages" / "datasets.py"), default_timeout=300).run()
    assert not app.exception
    app = open_page(dataset="../../etc", tab="nothing", page="-1", conversation="'; --", job="job-none")
    assert "There is no dataset “../../etc”" in app.error[0].value.replace("\\", "")
    app = open_page(dataset=DATASET, tab="conversations", conversation="'; --", persona=["no such"])
    assert "unknown conversation" in app.error[0].value
    app.button(key="talk-none").click().run()
    assert "6 conversations" in words(app)


def test_the_form_starts_what_was_chosen(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = catch_orders(monkeypatch)
    app = open_page(tab="generate", bench="cxmarena", seed="5", **{"set-brand": "talvero", "set-size": "paper"})
    app.multiselect(key="set-noise").set_value(["article formats", "misheard words"]).run()
    app.number_input(key="set-wer").set_value(0.2).run()
    app.button(key="generate").click().run()
    assert not app.exception
    given = ["--brand=talvero", "--size=paper", "--noise=formats,speech", "--wer=0.2"]
    assert started == [["generate", "cxmarena", "--seed=5", *given, "--quiet"]]
    assert app.query_params["job"]
    # A number of articles is typed.
    app = open_page(tab="generate", bench="cxmarena", **{"set-size": "200"})
    assert "--size=200" in codes(app)[0]


@pytest.mark.parametrize(("bench", "settings", "told"), [
    ("mmtaup2", {"count": 2, "personas": ("hard",), "modalities": ("text",), "domain": ("retail",)}, "6 dialogues: 2"),
    ("sage", {"levels": ("zero", "weak")}, None),
    ("cdr", {}, None),
])  # fmt: skip
def test_how_much_is_made_is_told_before_and_is_what_is_made(
    empty: Path, bench: str, settings: dict[str, Any], told: str | None
) -> None:
    benchmark = REGISTRY[bench]
    options = benchmark.GenerateOptions.read(settings)
    assert benchmark.amount is not None
    said = benchmark.amount(options)
    made = finish(benchmark.generate(options, GenerationContext(3)))
    assert said.startswith(told or f"{len(made.samples):,} ")
    assert int(said.split()[0].replace(",", "")) == len(made.samples)


def test_the_form_says_how_much_is_made_and_of_what_a_count_is(empty: Path) -> None:
    app = open_page(tab="generate", bench="mmtaup2")
    assert app.number_input(key="set-count").label == "Tasks a world"
    # Three of the five that there are.
    assert app.multiselect(key="set-personas").placeholder == "none, easy, hard"
    said = words(app).replace("\\", "")
    assert "1,440 dialogues: 80 tasks × 3 personas × 3 states of what the agent knows × text and voice." in said
    app.number_input(key="set-count").set_value(2).run()
    assert (
        open_page(tab="generate", bench="sage").number_input(key="set-per_leaf").label == "Customers for each outcome"
    )
    said = [words(app), *(words(open_page(tab="generate", bench=bench, **{"set-size": "tiny"})) for bench in SIZED)]
    told = ["72 dialogues: 4 tasks", "At most 54 questions about 20 cases", "8 articles and 10 conversations"]
    assert [one in each.replace("\\", "") for one, each in zip(told, said, strict=True)] == [True] * 3


def test_a_real_writer_is_estimated_and_can_be_given_a_budget(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = catch_orders(monkeypatch)
    app = open_page(tab="generate", bench="cxmarena")
    assert not [each for each in app.number_input if each.key == "budget"]
    assert not [each for each in app.info if "calls" in each.value]
    app.selectbox(key="set-model").set_value("endpoint:local").run()
    (told,) = [each.value for each in app.info if "calls" in each.value]
    assert "about 1,300 calls" in told
    app.number_input(key="budget").set_value(3.0).run()
    app.button(key="generate").click().run()
    assert "--budget=3" in started[0]


def test_a_brief_that_is_too_short_is_told_and_nothing_starts(empty: Path) -> None:
    app = open_page(tab="generate", bench="cxmarena")
    app.text_area(key="set-brief").set_value("We sell lamps.").run()
    assert "describe the brand in a paragraph" in words(app)
    assert app.button(key="generate").disabled


def test_a_text_of_several_lines_keeps_them(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = catch_orders(monkeypatch)
    app = open_page(tab="generate", bench="crmarena")
    changes = '[Visit__c]\nprefix = "a5V"\nabout = "A visit"\nfields.Day__c = { type = "date", about = "When" }'
    app.text_area(key="set-schema_changes").set_value(changes.replace("date", "day")).run()
    assert "4: Visit__c.fields.Day__c.type: Input should be" in words(app).replace("\\", "")
    assert app.button(key="generate").disabled
    app.text_area(key="set-schema_changes").set_value(changes).run()
    app.button(key="generate").click().run()
    assert f"--schema-changes={changes}" in started[0]


FENWICK = (
    "Fenwick Cycles builds city bikes and cargo bikes in Leeds and sells them online to families across Britain. "
    "A city bike costs £890 and has a warranty of 5 years; every bike can be returned within 60 days."
)
BANK = (
    "Merrow Bank is a bank in Bristol with current accounts, savings accounts and mortgages for private customers. "
    "A current account costs £5 a month."
)


def test_a_paragraph_is_understood_corrected_and_confirmed_before_anything_is_made(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = catch_orders(monkeypatch)
    app = open_page(tab="generate", bench="cxmarena")
    app.text_area(key="set-brief").set_value(FENWICK).run()
    assert app.button(key="generate").disabled
    app.button(key="own-words-read").click().run()
    assert not app.exception
    fields = {each.label.partition(" (")[0].partition(",")[0]: each for each in (*app.text_input, *app.text_area)}
    assert fields["Name"].value == "Fenwick Cycles"
    assert fields["What it sells"].value == "city bikes\ncargo bikes"
    assert "£890 = price of a city bike" in fields["Figures"].value
    assert "what it belongs to" in fields["Figures"].help
    # A dataset that is yet to be made has no sample that could say anything.
    assert {each.placeholder for each in app.selectbox} <= {"not set", "choose", "Choose an option", ""}
    assert "90% certain" in next(each.label for each in app.text_input if each.label.startswith("Trade"))
    assert app.button(key="generate").disabled
    fields["Name"].set_value("Fenwick")
    fields["Figures"].set_value("60 days = returns")
    (confirm,) = [each for each in app.button if "show me a sample" in each.label]
    confirm.click().run()
    assert not app.exception
    (sample,) = started
    assert "--sample" in sample
    # The job does what the page ordered, and is found again by its settings.
    job = jobs.Job("job-s", "generate", tuple(sample), datetime.now(UTC), None, "running", None, (), empty / "s.log")
    monkeypatch.setattr(jobs, "list_jobs", lambda *_: [job])
    monkeypatch.setattr(jobs, "find_job", lambda _: job)
    app.run()
    assert "Writing a sample: CXMArena" in words(app)
    assert app.button(key="generate").disabled
    monkeypatch.setenv(JOB, "job-s")
    assert CliRunner().invoke(app_of_commands, sample).exit_code == 0
    job = replace(job, state="done")
    app.run()
    assert not app.exception
    assert "Conversation" in words(app)
    assert "_" not in next(each.value for each in app.markdown if "Conversation" in each.value)
    assert any("Fenwick" in each.value for each in app.text)
    app.button(key="generate").click().run()
    args = started[-1]
    assert "--sample" not in args
    assert "--called=Fenwick" in args
    assert "--figures=60 days = returns" in args
    assert not [each for each in args if each.startswith(("--sells", "--trade"))]


def test_a_trade_that_is_not_known_is_asked_for(empty: Path) -> None:
    app = open_page(tab="generate", bench="cxmarena")
    app.text_area(key="set-brief").set_value(BANK).run()
    app.button(key="own-words-read").click().run()
    assert "Which trade is it in?" in words(app)
    # What is open is asked above the fields that answer it.
    drawn = [type(each).__name__ + str(getattr(each, "value", "") or "")[:12] for each in app.main]
    asked = next(at for at, each in enumerate(drawn) if each.startswith("Warning"))
    assert asked < next(at for at, each in enumerate(drawn) if "Marlow" in each or "TextInput" in each)
    assert app.button(key="generate").disabled
    assert not [each for each in (empty / "datasets").glob("*") if each.name != "_empty"]


def test_a_page_takes_no_path_for_a_brand(empty: Path) -> None:
    app = open_page(tab="generate", bench="cxmarena", **{"set-brand": "/etc/brand.yaml"})
    assert app.selectbox(key="set-brand").value is None
    assert "brand.yaml" not in codes(app)[0]


def test_a_job_shows_its_stages_and_leads_to_what_it_made(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = home / "x.log"
    log.write_text("cxlab: brand file is cyclic\n")

    def job(state: str) -> jobs.Job:
        args = ("generate", "cxmarena", "--brand=talvero", "--size=small", "--wer=0.2", "--seed=3")
        return jobs.Job("job-1", "generate", args, queries.load(DATASET).created, None, state, None, (), log)

    state = "running"
    monkeypatch.setattr(jobs, "list_jobs", lambda *_: [job(state)])
    monkeypatch.setattr(jobs, "find_job", lambda _: job(state))
    told = {"stages": [{"stage": "articles", "done": 60, "total": 60}, {"stage": "formats", "done": 15, "total": 60}]}
    (home / "jobs").mkdir(exist_ok=True)
    (home / "jobs" / "job-1.stages").write_text(json.dumps({**told, "dataset": ""}))
    app = open_page(tab="generate", job="job-1")
    assert "Making a dataset: CXMArena, brand talvero, size small, word error rate 0.2, seed 3" in words(app).replace(
        "\\", ""
    )
    (bar,) = app.get("progress")
    assert (bar.proto.value, bar.proto.text) == (25, "formats\\: 15 of 60")
    assert app.button(key="cancel-job-1")
    assert "waiting for" not in words(app).lower()
    waiting = {"whom": "endpoint:writer", "why": "HTTP 429: slow down", "calls": 2, "until": 0}
    (home / "jobs" / "job-1.stages").write_text(json.dumps({**told, "dataset": "", "waiting": waiting}))
    app.run()
    assert "Waiting for endpoint:writer, 0 s (2 calls): HTTP 429: slow down" in words(app).replace("\\", "")
    # A real writer's calls stand beside the stages, and a spent budget can be raised.
    spent = {"calls": 7, "prompt_tokens": 700, "completion_tokens": 0, "cost_usd": None, "retries": 1, "uncounted": 2}
    why = {"spent": spent, "stopped": "the budget of $0.5 for all tries together is spent", "waiting": waiting}
    (home / "jobs" / "job-1.stages").write_text(json.dumps({**told, "dataset": "", **why}))
    started = catch_orders(monkeypatch)
    state = "stopped"
    app.run()
    assert [(each.label, each.value) for each in app.metric][:4] == [
        ("Calls", "7"), ("Tokens in", "≥ 700"), ("Tokens out", "≥ 0"), ("Cost", "unknown")
    ]  # fmt: skip
    assert "The budget of" in words(app)
    assert "Waiting for" not in words(app), "nobody waits any more"
    app.number_input(key="budget-job-1").set_value(2.5).run()
    app.button(key="resume-job-1").click().run()
    assert started[-1][-2:] == ["--budget=2.5", "--quiet"]
    state = "failed"
    app.query_params["job"] = "job-1"
    app.run()
    assert "It ended by a fault" in words(app)
    assert "brand file is cyclic" in codes(app)[0]
    assert app.button(key="resume-job-1")
    state = "done"
    (home / "jobs" / "job-1.stages").write_text(json.dumps({**told, "dataset": DATASET}))
    app.run()
    app.button(key="open-job-1").click().run()
    assert app.title[0].value == "Hearthwise, small"


def test_a_row_opens_a_dataset_with_both_tables_and_checks(home: Path) -> None:
    app = open_page()
    assert {each.label: each.value for each in app.metric}["Conversations"] == "6"
    frame = queries.datasets()
    key = next(k for k in (table_key("datasets", f) for f in _shown(frame)))
    app.session_state[key] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    app.run()
    assert app.query_params["dataset"] in (DATASET, [DATASET])
    said = words(app)
    assert "statistics lie within 20 % of real contact centres" in said
    assert "27 samples" in said
    assert "How much of it passed the checks" in said
    twins = [each.value for each in app.dataframe]
    assert twins[0].set_index("statistic").loc["Moving-average type-token ratio"].tolist() == [
        "0.731",
        "0.747",
        "0.754",
    ]


def _shown(frame: Any) -> list[Any]:
    import polars as pl

    from cxlab.charts.names import name_each
    from cxlab.ui.labels import label

    return [
        frame.with_columns(
            benchmark_=name_each(frame["benchmark"], label),
            tasks_=pl.col("tasks").list.eval(pl.element().str.replace_all("_", " ")).list.join(", "),
        )
    ]


def test_a_dataset_that_is_not_there_is_told_and_left(home: Path) -> None:
    app = open_page(dataset="no-such", tab="statistics")
    assert "no\\-such" in app.error[0].value
    assert not app.title
    app.button(key="cx-unknown").click().run()
    assert app.title[0].value == "Datasets"


def test_conversations_are_filtered_and_read(home: Path) -> None:
    app = open_page(dataset=DATASET, tab="conversations", intent=["delivery"])
    assert "2 conversations" in words(app)
    app.multiselect(key="talk-intent").set_value([]).run()
    app.text_input(key="talk-search").set_value("whistles").run()
    assert "1 conversation" in words(app)
    assert app.query_params["q"] in ("whistles", ["whistles"])
    app = open_page(dataset=DATASET, tab="conversations", q="whistling", fragments="false", speech="false")
    assert "1 conversation" in words(app)
    assert "Looked for: whistles." in words(app).replace("\\", "")
    told = {"dataset": DATASET, "tab": "conversations", "conversation": "C_3", "q": "whistling nights"}
    for noise in ("false", "true"):
        app = open_page(**told, fragments="false", speech=noise)
        assert not app.exception
        shown = " ".join(each.proto.body for each in app.get("html"))
        assert '<mark class="cx-sought">whistles</mark>' in shown, noise
        assert '<mark class="cx-sought">night</mark>' in shown, noise


def test_noise_is_switched_for_the_same_conversation(home: Path) -> None:
    app = open_page(dataset=DATASET, tab="conversations", conversation="C_0")
    marked = [
        each.proto.body for each in app.get("html") if "cx-heard" in each.proto.body and "<mark" in each.proto.body
    ]
    assert any("<del>" in each for each in marked)
    assert "Phone menu" in words(app)
    assert "part 1 of " in words(app)
    for kind in ("speech", "fragments", "menu"):
        app.toggle(key=kind).set_value(False).run()
        assert not app.exception
    clean = [each.value for each in app.text]
    assert any(each.startswith("Hello, the thermostat shows a yellow dot") for each in clean)
    assert "part 1 of " not in words(app)
    assert "Phone menu" not in words(app)
    # Its grounds: passages in their order, the tool with its result, the quality answers.
    assert "**1. Article 2 \\*\\*x\\*\\*" in words(app)
    assert app.expander[0].label.startswith("find\\_order")
    assert "Did the agent ask for a rating?" in clean


def test_tools_of_a_conversation_fit_into_their_row() -> None:
    names = [f"look_up_order_mobile_honey_{n}" for n in range(6)]
    shown = pl.DataFrame({"tools": [[], names[:1], names[:2], names]}, schema={"tools": pl.List(pl.String)})
    told = shown.select(conversation.tell_tools())["tools"].to_list()
    assert told == ["", names[0], f"{names[0]}, {names[1]}", f"{names[0]}, {names[1]} and 4 more"]
    # With the other columns it needs no more than a page at a window of 1440 has, so that none is cut at its end.
    texts = {"opening": "my refund under Standard Return Policy has not arrived", "family": "Subscriptions"}
    texts |= {"traits": "technical, talkative", "tools": told[-1], "noises": "fragments, misheard words, phone menu"}
    frame = pl.DataFrame({**{k: [v] for k, v in texts.items()}, "turns": [38], "grounded": [3], "questions": [10]})
    widths = fit_widths(frame, {name: {"label": name} for name in frame.columns}, 714)
    tick, numbers, page = 36, 220, 1086
    assert tick + sum(widths.values()) + numbers < page
    whole = frame.with_columns(tools=pl.lit(", ".join(names)))
    assert (
        tick + sum(fit_widths(whole, {name: {"label": name} for name in whole.columns}, 714).values()) + numbers > page
    )


def test_a_message_that_breaks_a_standard_is_marked(home: Path) -> None:
    talk = conversations.conversation(DATASET, "C_0")
    broken = [each for each in talk.labels["quality"] if each["answer"] == "No" and each.get("evidence")]
    assert broken == [] or all(each["question"] in talk.broken(n) for each in broken for n in each["evidence"])
    kept = {**talk.labels, "quality": [{"question": "Any jargon?", "answer": "No", "evidence": [1]}]}
    marked = replace(talk, labels=kept)
    assert marked.broken(1) == ["Any jargon?"]
    assert marked.broken(0) == marked.broken(None) == []
    kept["quality"][0]["answer"] = "Yes"
    assert marked.broken(1) == []


def test_what_was_said_is_never_rendered(home: Path) -> None:
    app = open_page(dataset=DATASET, tab="conversations", conversation="C_1", speech="false", fragments="false")
    assert any(HOSTILE in each.value for each in app.text)
    app = open_page(dataset=DATASET, tab="conversations", conversation="C_1")
    for each in [*app.markdown, *app.caption]:
        assert "<img" not in each.value
        assert "](http" not in each.value
    for each in app.get("html"):
        assert "<img" not in each.proto.body


@pytest.fixture
def imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that pages may import from."""
    folder = tmp_path / "for pages"
    folder.mkdir()
    monkeypatch.setenv("CXLAB_IMPORT_ROOT", str(folder))
    return folder


def test_a_folder_is_previewed_before_it_is_stored(empty: Path, imports: Path) -> None:
    folder = imports / "given"
    folder.mkdir()
    store(folder, make())
    (folder / "notes.txt").write_text("mine")
    app = open_page(tab="import", folder="given")
    app.button(key="import-look").click().run()
    assert not app.exception
    assert queries.datasets().is_empty()
    assert "samples can be imported" in words(app)
    assert "notes.txt" in words(app)
    app.button(key="import-store").click().run()
    assert not app.exception
    assert queries.datasets()["source"].to_list() == ["imported"]


def test_runs_of_another_store_are_looked_at_and_then_stored(empty: Path, imports: Path) -> None:
    write.create_run(make_run(), imports / "there")
    export_runs(["r1"], "folder", imports / "sent", imports / "there")
    app = open_page(tab="import", folder="sent", kind="runs of another CX Lab")
    app.button(key="import-look").click().run()
    assert not app.exception
    assert "Runs of another CX Lab can be imported" in words(app)
    assert "r1: can be stored" in words(app)
    assert "its dataset d1 is not in the archive" in words(app)
    assert not write.list_runs(empty)
    app.button(key="import-store").click().run()
    assert not app.exception
    assert "r1: stored" in app.success[0].value.replace("\\", "")
    assert [each.id for each in write.list_runs(empty)] == ["r1"]


def test_real_conversations_are_imported_and_can_be_mixed_into_a_study(home: Path, imports: Path) -> None:
    calls = imports / "calls.csv"
    calls.write_text("conversation_id,role,text\n1,caller,Hi\n1,agent,Hello\n2,alien,?\n")
    app = open_page(tab="import", folder=str(calls), kind="conversations between people")
    app.text_input(key="import-licence").set_value("ours").run()
    app.button(key="import-look").click().run()
    assert "1 conversation can be imported" in words(app)
    assert "2 complaints in 1 file" in words(app)  # the message, and that nothing is left of its conversation
    app.button(key="import-store").click().run()
    (real,) = queries_realism.real_datasets()
    assert queries.load(real).licence == "ours"
    study = queries_realism.items(DATASET, 3, (real,))
    assert [each.kind for each in study].count("real") == 1
    assert study == queries_realism.items(DATASET, 3, (real,))
    assert [each.conversation_id for each in study] != [
        each.conversation_id for each in queries_realism.items(DATASET, 4, (real,))
    ]
    app = open_page(dataset=DATASET, tab="realism", rater="AB")
    assert app.multiselect(key="mix").value == [real]
    assert "of 7 rated by you" in app.get("progress")[0].proto.text


def test_a_folder_that_cannot_be_read_says_what_to_do(empty: Path) -> None:
    app = open_page(tab="import", folder="no-such-folder")
    app.button(key="import-look").click().run()
    assert "is no folder" in app.error[0].value.replace("\\", "")


def test_nothing_outside_the_folder_for_imports_is_looked_at(empty: Path, imports: Path, tmp_path: Path) -> None:
    store(tmp_path, make())
    (imports / "link").symlink_to(tmp_path)
    app = open_page(tab="import", folder="..")
    for given in ("..", "/", str(tmp_path), "link", "a/../../", "~", "x" * 300, "nul\0", "C:\\", "<b>"):
        app.text_input(key="folder").set_value(given).run()
        app.button(key="import-look").click().run()
        assert not app.exception
        assert "can be imported" not in words(app)
        if given not in ("~", "C:\\", "<b>"):
            assert "is not below" in words(app) or "no usable name" in words(app), given
    assert queries.datasets().is_empty()


def test_a_paragraph_is_a_paragraph_whatever_file_it_names(
    empty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = catch_orders(monkeypatch)
    secret = tmp_path / ("we sell everything for the house " + "x" * 40)
    secret.write_text("A secret.")
    sentence = "We sell lamps and more lamps. "
    for text in (str(secret), f"@{secret}", sentence.ljust(256, "z"), sentence.ljust(299, "z")):
        app = open_page(tab="generate", bench="cxmarena")
        app.text_area(key="set-brief").set_value(text).run()
        app.button(key="own-words-read").click().run()
        assert not app.exception
        assert "A secret." not in words(app)
        assert not started
        assert read_config({"brief": text}, 0).brief == text


def test_a_dataset_tells_what_its_writer_took_and_a_deleted_one_can_be_brought_back(home: Path) -> None:
    path = home / "datasets" / DATASET / "dataset.json"
    told = json.loads(path.read_text(encoding="utf-8"))
    one = {"calls": 4, "prompt_tokens": 400, "completion_tokens": 80, "cost_usd": 0.5, "retries": 0, "uncounted": 0}
    told["config"]["spending"] = {**one, "stages": {"information": one}}
    path.write_text(json.dumps(told), encoding="utf-8")
    app = open_page(dataset=DATASET, tab="files")
    assert [each.value for each in app.metric][-4:] == ["4", "400", "80", "$0.50"]
    app.button(key="dataset-delete").click().run()
    assert not app.exception
    assert queries.datasets().is_empty()
    next(each for each in app.button if each.label == "Undo").click().run()
    assert queries.datasets()["dataset_id"].to_list() == [DATASET]
    assert trash.list_deleted("dataset") == []


def rate(app: AppTest, verdict: str, reason: str) -> None:
    """Judge the conversation that is shown."""
    group = next(each for each in app.get("button_group") if each.label == "This conversation is")
    group.set_value(verdict).run()
    app.text_area[0].set_value(reason).run()
    next(each for each in app.button if each.label == "Save and go on").click().run()
    assert not app.exception


def test_raters_judge_blind_and_can_undo(home: Path) -> None:
    app = open_page(dataset=DATASET, tab="realism")
    assert "Type your name or initials" in words(app)
    app.text_input(key="rater").set_value("AB").run()
    first = [each.value for each in app.text]
    shown = words(app)
    # Nothing tells the rater what the conversation is, or what is known of it.
    for word in ("C_", "knowledge base", "sources", "generated ones"):
        assert word not in shown, word
    rate(app, "fake", HOSTILE)
    rate(app, "real", "plausible")
    rated = queries_realism.ratings((DATASET,))
    assert rated.select("rater", "verdict", "reasons").rows() == [("AB", "fake", HOSTILE), ("AB", "real", "plausible")]
    assert rated["conversation_id"].to_list() == [
        each.conversation_id for each in queries_realism.items(DATASET, 0)[:2]
    ]
    app.button(key="study-undo").click().run()
    app.button(key="study-undo").click().run()
    assert queries_realism.ratings((DATASET,)).is_empty()
    assert [each.value for each in app.text] == first
    # Nothing was lost: the store keeps the ratings and their withdrawals.
    assert ask("SELECT kind, count(*) FROM annotations GROUP BY 1 ORDER BY 1").rows() == [
        ("rating", 2),
        ("withdrawn", 2),
    ]
    assert annotations.known_tags() == ()


def test_results_stand_beside_the_papers(home: Path) -> None:
    app = open_page(dataset=DATASET, tab="realism", rater="AB")
    rate(app, "fake", "repeats itself")
    app.text_input(key="rater").set_value("CD").run()
    rate(app, "real", "plausible")
    app = open_page(dataset=DATASET, tab="realism", study="Results")
    said = words(app)
    assert "No real conversations are in this study" in said
    assert {each.label: each.value for each in app.metric}["Generated, judged real"] == "50.0 %"
    assert "Two raters say the same of 0.0 % of what both judged" in said
    twin = next(each.value for each in app.dataframe if "interval" in each.value.columns)
    assert twin.set_index("rater").loc["Validator 1", "share"] == pytest.approx(100 * 240 / 430)
