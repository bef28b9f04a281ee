"""Page furniture: what every page is made of. The only Streamlit code outside app.py and pages/.

A page reads top to bottom:

    ui.routed()                                            # first line of every page
    view = ui.view()                                       # the selection, from the address
    ui.header("Compare", "Which model, and is the difference real?")
    about = declared(view.benchmark)                       # what the benchmark declares: facets, metrics, tasks
    view = ui.sidebar_filters(view, ["models", *(facet.id for facet in about.facets)], about, metric=True)
    board = ui.cached(read.leaderboard, view.filters())    # read.* functions, cached by arguments and store version
    picked = ui.show_chart(draw_board(board, ...), board, key="board", alt="...", select=True)
    if picked: ui.open_page("failures", view.change(models=(picked[0][0],)))

The address is the one truth: widgets are set from it before they are drawn, and write it when they change. Text from
customers and models is never handed to anything that reads Markdown or HTML: use `plain` in labels, `say` in bodies.
"""

from cxlab.charts.numbers import format_seconds, format_time
from cxlab.ui.address import breadcrumbs, cached, has_page, keep_form, link, marks, open_page, set_view, view
from cxlab.ui.app_frame import colours, dark, enter, guarded, page_of, routed, zone
from cxlab.ui.boards import published_columns, show_runs, with_labels
from cxlab.ui.choices import choose, choose_id, choose_number, is_new
from cxlab.ui.filters import show_active, sidebar_filters
from cxlab.ui.jobs.job_panel import show_job, show_work, watch_jobs
from cxlab.ui.jobs.progress import draw_progress, live_progress
from cxlab.ui.labels import (
    Badge,
    badge,
    chip,
    describe_state,
    empty,
    error,
    figures,
    header,
    label,
    plain,
    say,
    section,
    show_code,
)
from cxlab.ui.run_names import name_run, offer_names, show_notes
from cxlab.ui.tables import Kind, column, show_chart, show_table, table_key
from cxlab.ui.transcript import path_strip, transcript, votes
from cxlab.ui.trash import show_trash

__all__ = [
    "Badge",
    "Kind",
    "badge",
    "breadcrumbs",
    "cached",
    "chip",
    "choose",
    "choose_id",
    "choose_number",
    "colours",
    "column",
    "dark",
    "describe_state",
    "draw_progress",
    "empty",
    "enter",
    "error",
    "figures",
    "format_seconds",
    "format_time",
    "guarded",
    "has_page",
    "header",
    "is_new",
    "keep_form",
    "label",
    "link",
    "live_progress",
    "marks",
    "name_run",
    "offer_names",
    "open_page",
    "page_of",
    "path_strip",
    "plain",
    "published_columns",
    "routed",
    "say",
    "section",
    "set_view",
    "show_active",
    "show_chart",
    "show_code",
    "show_job",
    "show_notes",
    "show_runs",
    "show_table",
    "show_trash",
    "show_work",
    "sidebar_filters",
    "table_key",
    "transcript",
    "view",
    "votes",
    "watch_jobs",
    "with_labels",
    "zone",
]
