"""The app's entry: page config and navigation; each page is a file in pages/.

A session runs this file as its script. The server imports it once: `streamlit run app.py` looks for the application in
it, which answers to this machine only (cxlab/server/__init__.py).
"""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from cxlab import server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cxlab.runner.stored.migrate import MigrationProgress

ROOT = Path(__file__).parent
GROUPS = {
    "Explore": {
        "overview": "Overview",
        "compare": "Compare",
        "failures": "Failures",
        "conversations": "Conversations",
    },
    "Benchmarks": {
        "sop_paths": "SOP paths",
        "judges": "Judges",
        "knowledge": "Knowledge",
        "retrieval": "Retrieval",
        "crm_desk": "CRM desk",
        "persona_lab": "Persona lab",
    },
    "Build": {"datasets": "Datasets", "run": "Run", "models": "Models", "glossary": "Glossary"},
}

HOME = "home"
# Among these a page looks for work that has just ended.
RECENT_JOBS = 20
ICON = str(ROOT / ".streamlit" / "favicon.png")


def name_benchmark(id: str) -> str:
    """What pages call a benchmark; any other word as it is."""
    from cxlab.benchmarks import REGISTRY

    return REGISTRY[id].card.name if id in REGISTRY else id


def main() -> None:
    """One run of a session: the shell, and in it the page that the address names."""
    # Here, because what pages cache wants a running server when it is loaded.
    from cxlab import jobs, ui
    from cxlab.store import catalogue

    st.set_page_config(page_title="CX Lab", page_icon=ICON, layout="wide")
    st.logo(ICON, size="large")
    pages = {
        group: [
            page
            for stem, title in titles.items()
            if (page := ui.page_of(ROOT / "pages" / f"{stem}.py", title, HOME if stem == "overview" else stem))
        ]
        for group, titles in GROUPS.items()
    }
    # The default page lives at "/" and its path is a 404; so it gets another one, and who types its name is sent on.
    alias = st.Page(go_home, title="Overview", url_path="overview", visibility="hidden")
    shown = {group: listed for group, listed in pages.items() if listed}
    page = st.navigation({**shown, " ": [alias]}, expanded=True)
    ui.enter(page, [each for listed in pages.values() for each in listed], upgrade)
    ui.watch_jobs(partial(jobs.list_jobs, RECENT_JOBS), lambda job: jobs.stages(job)[1], name_benchmark)
    with ui.guarded(), catalogue.held():
        page.run()


def go_home() -> None:
    st.switch_page("pages/overview.py", query_params={key: st.query_params.get_all(key) for key in st.query_params})


def upgrade() -> "Iterator[MigrationProgress]":
    """The migration of a store of before, once; see cxlab/runner/stored/migrate.py."""
    from cxlab.runner.stored.migrate import migrate

    return migrate()


if __name__ == "__main__":
    main()
else:
    app = st.App(__file__, middleware=server.MIDDLEWARE, lifespan=server.lifespan)
