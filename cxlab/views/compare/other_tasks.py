"""That Compare looks at one task of several, and what the others come to: one task is not the benchmark."""

import streamlit as st

from cxlab.charts.theme import short_model
from cxlab.read.comparison.words import say_leaders, say_scores
from cxlab.records.benchmark_card import Declaration
from cxlab.ui.address import cached, link
from cxlab.ui.labels import plain, section
from cxlab.views.comparison_sets import ranked, view_of


def show_other_tasks(about: Declaration, task: str) -> None:
    """What a benchmark's tasks come to together, without the filters of this page, as the first heading, and folded the
    way to each other one; nothing where a single task is ranked."""
    view = view_of(about.card.id)
    scored = [each for each in cached(ranked, view).tasks if each.table.height > 1]
    if len(scored) < 2:
        return
    section(plain(f"All {len(scored)} tasks: {say_leaders(scored, short_model)}"))
    with st.expander("Task by task", type="compact"):
        for each in scored:
            words = f"{each.task.title}: {say_scores(each, short_model)}"
            if each.task.id == task:
                st.caption(plain(f"{words} (below)"))
            else:
                link(words, "compare", view.change(tasks=(each.task.id,)))
