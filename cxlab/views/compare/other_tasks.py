"""That Compare looks at one task of several, and what the others come to: one task is not the benchmark."""

import streamlit as st

from cxlab.charts.names import begin
from cxlab.charts.theme import short_model
from cxlab.read.comparison.words import say_leader, say_leaders
from cxlab.records.benchmark_card import Declaration
from cxlab.ui.address import cached, link
from cxlab.ui.labels import plain
from cxlab.views.comparison_sets import ranked, view_of


def show_other_tasks(about: Declaration, task: str) -> None:
    """What a benchmark's tasks come to together, without the filters of this page, and folded the way to each other
    one; nothing where a single task is ranked."""
    view = view_of(about.card.id)
    scored = [each for each in cached(ranked, view).tasks if each.table.height > 1]
    if len(scored) < 2:
        return
    here = next((each.task.title for each in scored if each.task.id == task), "")
    told = f"One of {len(scored)} tasks{f' ({here})' if here else ''}. All of them: {say_leaders(scored, short_model)}"
    with st.expander(plain(told), type="compact"):
        for each in scored:
            if each.task.id != task:
                words = begin(say_leader(each, short_model))
                link(f"{each.task.title}: {words}", "compare", view.change(tasks=(each.task.id,)))
