"""A job on a page: its runs as they go, what can be done about it, and a word when it ends while one is elsewhere."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Protocol
from urllib.parse import urlencode

import streamlit as st

from cxlab.errors import BadStore, CxError, UnknownName
from cxlab.store import write
from cxlab.ui.address import has_page, link
from cxlab.ui.jobs.progress import live_progress
from cxlab.ui.labels import Badge, error, plain, section, show_code

_BADGES: dict[str, Badge] = {"running": "running", "done": "done", "failed": "failed", "stalled": "stalled"}
LOST = "Its process is gone without a word. What was finished is kept; the rest can be resumed."
STOPPED = "Stopped. What was finished is kept; the rest can be resumed."
_ENDED = {"stalled": LOST, "stopped": STOPPED}
# The end of a log tells what went wrong; more would push everything else off the page.
_LOG_CHARACTERS = 2000
_WATCHED = "cx-jobs-watched"
_EVERY_S = 4.0
_WORDS = {
    "done": ("Finished", ":material/check_circle:", "See Overview."),
    "failed": ("Failed", ":material/error:", "What was finished is kept: the page Run says why, and resumes it."),
    "stalled": ("Lost its process", ":material/warning:", "What was finished is kept: resume it on the page Run."),
    "stopped": ("Stopped", ":material/stop_circle:", "What was finished is kept: resume it on the page Run."),
}
# How ids of datasets and runs end, which tell nobody anything.
_ID = re.compile(r"-[0-9a-f]{8,}$")
# Where work is shown that is no run.
_PAGES = {"import": "Conversations", "index": "Conversations", "send": "Conversations", "generate": "Datasets"}


class Job(Protocol):
    """What is shown of a job; `cxlab.jobs.Job` is one."""

    @property
    def id(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def args(self) -> tuple[str, ...]: ...
    @property
    def runs(self) -> tuple[str, ...]: ...
    @property
    def started(self) -> datetime: ...
    @property
    def log(self) -> Path: ...


def _link_answers(runs: Sequence[str]) -> bool:
    """Links to what was said of conversations that nobody has labelled, which stands on no board."""
    found = False
    for name in runs:
        try:
            dataset = write.load_dataset(write.load_run(name).dataset_id)
        except (UnknownName, BadStore):
            continue  # deleted meanwhile
        if dataset.derivation == "task" and has_page("conversations"):
            words = "Read what was said of each conversation"
            query = {"dataset": str(dataset.derived_from), "tab": "send", "run": name}
            st.page_link("pages/conversations.py", label=words, query_params=query)
            found = True
    return found


def show_job(
    look: Callable[[], Job],
    cancel: Callable[[str], None],
    resume: Callable[[Sequence[str]], None],
    called: str = "",
    results: Callable[[Sequence[str]], None] | None = None,
) -> None:
    """One job; `look` gives it as it is now, `called` is what it is about, and `results` shows the way to what it came
    to."""
    job = look()
    with st.container(border=True):
        section(plain(called or f"Job {job.id.removeprefix('job-')}"), badges=[badge_of(job)])
        live_progress(lambda: look().runs, key=job.id, working=lambda: look().state == "running", since=job.started)
        if job.state == "running":
            _offer_cancel(job.id, cancel)
        elif job.state == "done":
            if not _link_answers(job.runs):
                if results:
                    results(job.runs)
                link("See the result on Overview", "overview")
        else:
            _offer_rest(job, resume)


def _offer_cancel(job: str, cancel: Callable[[str], None]) -> None:
    """The button that stops a job in good order, once."""
    asked = f"cx-cancelled-{job}"

    def ask() -> None:
        st.session_state[asked] = True
        cancel(job)

    if st.session_state.get(asked):
        st.caption("Stopping: what is under way is finished, then the rest can be resumed.")
    else:
        tip = "What is finished stays, and the run can be resumed."
        st.button("Cancel", key=f"cancel-{job}", on_click=ask, help=tip)


def _offer_rest(job: Job, resume: Callable[[Sequence[str]], None]) -> None:
    """What is to be said of a job that did not come to its end, and the button that goes on with it."""
    if job.state == "failed":
        error("The job failed.", "What was finished is kept: mend the cause, then resume.")
        show_log(job)
    elif job.state == "stalled":
        st.caption(LOST)
    else:
        st.caption(STOPPED)
    # The demo goes on as a demo: some of its runs may not have been made yet.
    is_demo = job.args[:1] == ("demo",)
    if st.button("Resume", key=f"resume-{job.id}", disabled=not job.runs and not is_demo):
        resume(() if is_demo else job.runs)


def show_work(look: Callable[[], Job], resume: Callable[[Sequence[str]], None], cancel: Callable[[str], None]) -> None:
    """Work that goes on, or that ended before its end, as the first page tells of it; the demo resumes as a whole."""
    job = look()
    is_demo = job.args[:1] == ("demo",)
    over = job.state in _ENDED
    note = "The demo is being built from simulated models; every page works meanwhile." if is_demo else ""
    with st.container(border=True):
        section("Work in progress" if not over else "Unfinished work", _ENDED.get(job.state, note), [badge_of(job)])
        working = None if over else lambda: look().state == "running"
        live_progress(
            lambda: look().runs, key="overview-live", working=working, refresh=True, since=None if over else job.started
        )
        if not over:
            _offer_cancel(job.id, cancel)
        elif st.button("Resume", key="overview-resume"):
            resume(() if is_demo else job.runs)


def badge_of(job: Job) -> Badge:
    """The mark of a job's state."""
    return _BADGES.get(job.state, "stopped")


def show_log(job: Job) -> None:
    """The end of what a job that failed had to say."""
    if log := job.log.read_text(errors="replace")[-_LOG_CHARACTERS:] if job.log.is_file() else "":
        show_code(log)


def watch_jobs(
    list_jobs: Callable[[], Sequence[Job]], made: Callable[[str], str], name: Callable[[str], str] = str
) -> None:
    """Called on every page: notes which jobs run, and looks again now and then while any does; `made` gives the dataset
    that a job has made, "" for none; `name` what pages call a word of its command that is an id.

    A list of jobs that cannot be read is for the pages to tell that show it.
    """
    try:
        tell_ended(list_jobs(), made, name)
    except (CxError, OSError):
        return
    if st.session_state[_WATCHED]:
        _look_again(list_jobs, made, name)


@st.fragment(run_every=_EVERY_S)
def _look_again(list_jobs: Callable[[], Sequence[Job]], made: Callable[[str], str], name: Callable[[str], str]) -> None:
    if st.session_state[_WATCHED]:
        with suppress(CxError, OSError):
            tell_ended(list_jobs(), made, name)


def tell_ended(jobs: Sequence[Job], made: Callable[[str], str], name: Callable[[str], str] = str) -> None:
    """Say which of the jobs that ran at the last look do so no more, each once in a session; remember those that do."""
    watched: frozenset[str] = st.session_state.get(_WATCHED, frozenset())
    for job in jobs:
        if job.id in watched and job.state in _WORDS:
            word, icon, where = _WORDS[job.state]
            if page := _PAGES.get(next(iter(job.args), "")):
                where = where.replace("Overview", page).replace("the page Run", f"the page {page}")
            if job.state == "done" and (dataset := made(job.id)) and has_page("datasets"):
                # Beside whichever page one is on: they all lie in one folder.
                where = f"[Open the dataset](datasets?{urlencode({'dataset': dataset})})"
            st.toast(f"**{word}: {plain(describe(job.args, name))}**  \n{where}", icon=icon, duration="long")
    st.session_state[_WATCHED] = frozenset(job.id for job in jobs if job.state == "running")


def describe(args: Sequence[str], name: Callable[[str], str] = str) -> str:
    """A job in a few words: its command and what comes first, without its switches, ids and paths of this machine."""
    words = []
    for arg in args:
        if arg.startswith("-"):
            break
        words += [] if arg.startswith("/") or _ID.search(arg) else [name(arg)]
    return " ".join(words)[:80] or "work"
