"""A word when work ends while one is on another page."""

from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from cxlab.errors import BadStore
from cxlab.ui.jobs import job_panel


def draw() -> None:
    import streamlit as st

    from cxlab.ui.jobs.job_panel import watch_jobs

    watch_jobs(
        st.session_state["look"],
        lambda job: "sage-1 & co" if job == "job-made" else "",
        lambda word: {"sage": "SAGE"}.get(word, word),
    )


def job(state: str, id: str = "job-1", *args: str) -> SimpleNamespace:
    return SimpleNamespace(id=id, state=state, args=args or ("run", "sage", "--model", "simulated:weak"))


def look_at(app: AppTest, *jobs: SimpleNamespace) -> list[str]:
    app.session_state["look"] = lambda: list(jobs)
    app.run()
    assert not app.exception
    return [str(toast.value) for toast in app.toast]


def test_a_job_is_told_once_when_it_has_ended_and_only_if_it_ran_before() -> None:
    app = AppTest.from_function(draw)
    assert look_at(app, job("done", "job-0"), job("running")) == []
    assert look_at(app, job("done", "job-0"), job("done")) == ["**Finished: run SAGE**  \nSee Overview."]
    assert look_at(app, job("done", "job-0"), job("done")) == []


def test_work_that_is_no_run_names_its_page_and_no_path() -> None:
    app = AppTest.from_function(draw)
    look_at(app, job("running", "job-3", "import", "cdr", "/home/ada/store/uploads/x.jsonl", "--name=x"))
    told = look_at(app, job("done", "job-3", "import", "cdr", "/home/ada/store/uploads/x.jsonl", "--name=x"))
    assert told == ["**Finished: import cdr**  \nSee Conversations."]
    look_at(app, job("running", "job-4", "send", "cdr-fb2d793a824c", "quality", "--quiet"))
    told = look_at(app, job("done", "job-4", "send", "cdr-fb2d793a824c", "quality", "--quiet"))
    assert told == ["**Finished: send quality**  \nSee Conversations."]


def test_work_that_made_a_dataset_leads_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_panel, "has_page", lambda stem: stem == "datasets")
    app = AppTest.from_function(draw)
    look_at(app, job("running", "job-made", "generate", "cxmarena", "--seed=1"))
    told = look_at(app, job("done", "job-made", "generate", "cxmarena", "--seed=1"))
    assert told == ["**Finished: generate cxmarena**  \n[Open the dataset](datasets?dataset=sage-1+%26+co)"]
    # A sample makes none: it stands on the page where it was asked for.
    look_at(app, job("running", "job-7", "generate", "cxmarena", "--sample"))
    told = look_at(app, job("done", "job-7", "generate", "cxmarena", "--sample"))
    assert told == ["**Finished: generate cxmarena**  \nSee Datasets."]


@pytest.mark.parametrize(
    ("state", "word"), [("failed", "Failed"), ("stalled", "Lost its process"), ("stopped", "Stopped")]
)
def test_what_did_not_come_to_its_end_is_told_with_the_way_to_resume_it(state: str, word: str) -> None:
    app = AppTest.from_function(draw)
    look_at(app, job("running"))
    told = look_at(app, job(state))
    assert told[0].startswith(f"**{word}: run SAGE**")
    assert "kept" in told[0]
    assert "Run" in told[0]


def test_words_of_a_job_are_text_and_a_list_that_cannot_be_read_is_passed_over() -> None:
    app = AppTest.from_function(draw)
    hostile = job("running", "job-2", "generate", "![x](http://evil.example/a.png)")
    assert look_at(app, hostile) == []
    hostile.state = "done"
    assert "![x](" not in look_at(app, hostile)[0]

    def broken() -> list[SimpleNamespace]:
        raise BadStore("the table of jobs is damaged")

    app.session_state["look"] = broken
    app.run()
    assert not app.exception
    assert job_panel.describe(("--all",)) == "work"
