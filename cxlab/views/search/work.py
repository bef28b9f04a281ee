"""Work that a page has set out: reading a file, bringing an index up to date; how far it is, and what can be done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from cxlab.read import View
from cxlab.ui.jobs.job_panel import Job, badge_of, show_log
from cxlab.ui.jobs.stages import StageProgress, draw_stages
from cxlab.ui.labels import error, section
from cxlab.ui.place import go
from cxlab.views.search.place import SearchPlace
from cxlab.views.search.uploads import drop_upload

KINDS = {
    "import": "Reading conversations",
    "index": "Bringing the index up to date",
    "send": "Preparing conversations for a task",
}
"""The kinds of jobs that this page starts, and what is said of them."""


REPORT = "search-report"
"""Of the session: the dataset that it has just imported, whose report is shown."""


@dataclass(frozen=True)
class SearchJobs:
    """`shown`: jobs of these kinds that work, and the one in the address, newest first; the rest is of jobs."""

    shown: Sequence[str]
    start: Callable[[Sequence[str]], None]
    look: Callable[[str], Job]
    stages: Callable[[str], tuple[Sequence[StageProgress], str]]
    cancel: Callable[[str], None]

    def is_working(self, *words: str) -> bool:
        """Whether a job with these words among its arguments works at the moment."""
        found = (self.look(each) for each in self.shown)
        return any(job.state == "running" and set(words) <= set(job.args) for job in found)


def show_work(jobs: SearchJobs, place: SearchPlace) -> None:
    """Each job with its progress; of one that ended in the address what came of it, and the way on."""
    for name in jobs.shown:
        job = jobs.look(name)
        done, dataset = jobs.stages(name)
        if job.state == "done":
            if job.args[0] == "import":
                drop_upload(job.args[2])
                st.session_state[REPORT] = dataset
            _leave(place, dataset if job.args[0] == "import" else "")
        with st.container(border=True, key=f"search-job-{name}"):
            section(KINDS.get(job.args[0], job.args[0]), badges=[badge_of(job)])
            if job.state == "running":
                _poll(jobs, name)
                st.button("Cancel", key=f"cancel-{name}", on_click=jobs.cancel, args=(name,),
                          help="What is finished stays, and it can be resumed.")  # fmt: skip
                continue
            draw_stages(done)
            if job.state == "failed":
                error("It ended by a fault.", "Mend the cause, then resume.")
                show_log(job)
            else:
                st.caption("Stopped. What was finished is kept; the rest can be resumed.")
            with st.container(horizontal=True, gap="small"):
                if st.button("Resume", key=f"resume-{name}"):
                    jobs.start(job.args)
                if st.button("Put this away", key=f"away-{name}", type="tertiary"):
                    _leave(place, "")


def _leave(place: SearchPlace, dataset: str) -> None:
    """Off from a job that is over: to the dataset that it made, else where the page was."""
    st.query_params.pop("job", None)
    # What was asked while they came in is asked of them.
    go(SearchPlace(View(dataset=dataset, search=place.view.search)) if dataset else place)


@st.fragment(run_every=0.7)
def _poll(jobs: SearchJobs, name: str) -> None:
    running = jobs.look(name).state == "running"
    draw_stages(jobs.stages(name)[0], running)
    if not running:
        st.rerun()
