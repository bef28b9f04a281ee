"""CRM desk: can an agent work the CRM?"""

import streamlit as st

from cxlab import ui
from cxlab.ui.place import follow_link, pick
from cxlab.views.crm import look, organisation
from cxlab.views.crm.board.page import show_board
from cxlab.views.crm.console.page import show_console
from cxlab.views.crm.place import Place
from cxlab.views.crm.rating.page import show_rating
from cxlab.views.crm.records.page import show_records
from cxlab.views.crm.tasks.page import show_tasks
from cxlab.views.crm.traces.page import show_attempts

ui.routed()
TABS = {
    "": "Records",
    "console": "Console",
    "tasks": "Tasks",
    "traces": "Agent traces",
    "board": "Board",
    "rating": "Rating",
}
NEEDS_RECORDS = ("", "console", "rating")


def generate() -> None:
    """To the form that makes an organisation."""
    st.switch_page("pages/datasets.py", query_params={"tab": "generate", "bench": organisation.BENCHMARK})


follow_link()
view = ui.view()
ui.header("CRM desk", "Can an agent work the CRM?")
known = {dataset.id: dataset for dataset in ui.cached(organisation.datasets)}
if not known:
    ui.empty(
        "Here you would browse a CRM organisation, ask it in SOQL, see how the answers to its nine tasks come about, "
        "and step through what agents did. This store holds no organisation yet.",
        "Generate one",
        generate,
        "python -m cxlab generate crmarena",
    )
    st.stop()

if view.benchmark not in ("", organisation.BENCHMARK):
    # What another page looked at says nothing here, and a link from here should not name it.
    view = view.change(benchmark="", page=view.page)
    ui.set_view(view)
place = Place.read(view)
names = {id: f"{dataset.name} · {ui.format_time(dataset.created, ui.zone())}" for id, dataset in known.items()}
with st.sidebar:
    clears = ("object", "record", "find", "sample", "runs", "tasks")
    chosen = pick(place, "dataset", "Organisation", list(known), names, clears=clears)
place = place.change(dataset=chosen, page=view.page)
dataset = known[chosen]
look.style()
tab = pick(
    place, "tab", "What to look at", list(TABS), TABS, style="segments", clears=("object", "record", "kind", "sample")
)
if tab in NEEDS_RECORDS and not organisation.has_organisation(chosen):
    st.info("This dataset has tasks and no records: it was imported without the organisation's file.")
    st.stop()
if tab == "console":
    show_console(place, dataset, organisation.load(chosen))
elif tab == "tasks":
    show_tasks(place, dataset)
elif tab == "traces":
    show_attempts(place)
elif tab == "board":
    show_board(place)
elif tab == "rating":
    show_rating(place, organisation.load(chosen))
else:
    show_records(place, organisation.load(chosen))
