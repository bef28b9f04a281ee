"""What became of answers: verdicts as stacked bars, what judges could not say after them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from cxlab.charts.numbers import format_count, format_share
from cxlab.charts.theme import palette, plain, style_figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_ROW_PX, _FRAME_PX = 40, 94

ANSWERS = {
    "correct": "correct",
    "incorrect": "incorrect",
    "hallucinated": "hallucinated",
    "refusal": "refused",
    "split": "judges split",
    "unread": "judge unreadable",
    "silent": "no answer",
    "unjudged": "not judged",
}
"""What became of an answer, in the order in which the bars show it."""


def draw_answers(frame: pl.DataFrame, names: Mapping[str, str], dark: bool) -> "Figure":
    """Shares of the answers as bars, the verdicts first, what judges could not say after them.

    `frame`: run_id, kind, n, share, low, high, total. customdata: [run, kind].
    """
    import plotly.graph_objects as go

    colours = palette(dark)
    fills = {
        "correct": colours.good, "incorrect": colours.warning, "hallucinated": colours.bad, "refusal": colours.accent,
        "split": colours.muted, "unread": colours.hairline, "silent": colours.hairline, "unjudged": colours.hairline,
    }  # fmt: skip
    best = frame.filter(pl.col("kind") == "correct").sort("share", "run_id")["run_id"].to_list()
    runs = [*[run for run in dict.fromkeys(frame["run_id"]) if run not in best], *best]
    figure = go.Figure()
    for kind, word in ANSWERS.items():
        rows = [row for run in runs for row in frame.filter(run_id=run, kind=kind).iter_rows(named=True)]
        if not rows:
            continue
        shares = [100 * row["share"] for row in rows]
        figure.add_bar(
            x=shares,
            y=[plain(names[row["run_id"]]) for row in rows],
            orientation="h",
            name=word,
            marker={"color": fills[kind], "line": {"width": 0}},
            text=[f"{share:.0f} %" if share >= 5 else "" for share in shares],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"color": colours.ink if fills[kind] == colours.hairline else colours.surface},
            customdata=[[row["run_id"], kind] for row in rows],
            hovertext=[
                f"<b>{plain(names[row['run_id']])}</b><br>{word}: {format_share(row['share'])} "
                f"({format_share(row['low'])} to {format_share(row['high'])})<br>{format_count(row['n'])} of "
                f"{format_count(row['total'])} answers"
                for row in rows
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    figure.update_layout(barmode="stack")
    figure.update_xaxes(range=[0, 100], title="% of answers")
    order = [plain(names[run]) for run in runs]
    figure.update_yaxes(tickfont={"color": colours.ink}, categoryorder="array", categoryarray=order)
    style_figure(figure, dark, height=_FRAME_PX + _ROW_PX * max(len(runs), 2))
    figure.update_layout(legend={"traceorder": "normal"}, showlegend=True)
    return figure
