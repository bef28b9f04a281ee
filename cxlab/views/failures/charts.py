"""Groups of alike failures: what they are called, and how many there are as bars that can be clicked."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import polars as pl

from cxlab.charts.names import name_id, shorten
from cxlab.charts.numbers import format_count, format_share, largest
from cxlab.charts.theme import palette, plain, short_model, style_figure
from cxlab.read import failure_kinds, procedures

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_ROW_PX = 44
_FRAME_PX = 16
# Characters beside each other at 1024 pixels.
_LINE = 108
_FORMS = {
    "not_json": "the reply held no JSON object",
    "empty": "the reply was empty",
    "length": "the reply was cut off at its length limit",
}

_EVENTS = {
    "refused": "Refused",
    "arguments": "Bad arguments",
    "unknown_tool": "Unknown tool",
    "tool": "Tool error",
    "customer_tool": "Refused to the customer",
    "agent": "Slip of the agent",
}


def describe_group(row: Mapping[str, Any], titles: Mapping[str, str] = MappingProxyType({})) -> tuple[str, str]:
    """A group in words: what happened ("Read info completeness as no, it was yes"), and where; `titles` of tasks."""
    kind = row["kind"]
    if kind in _EVENTS:
        return describe_event(row, titles)
    scenario = _name(row["scenario"], titles)
    step, took, due = (_step(row["scenario"], row[name]) for name in ("stage", "took", "due"))
    misread = failure_kinds.misread()
    if kind in misread and row["field"]:
        what = f"Read {name_id(row['field'])} as {name_id(row['given'])}, it was {name_id(row['wanted'])}"
        where = f"at {step}: leads to {took}, not {due}"
        # The first class is the plain one.
        return what, f"{scenario} · {where}" + ("" if kind == next(iter(misread)) else f" · {misread[kind]}")
    if kind in misread:
        return f"Fields lead to {took}, not {due}", f"{scenario} · from {step}"
    if kind in failure_kinds.deviations():
        known = procedures.find(row["scenario"])
        if known and {known.node(row["took"] or ""), known.node(row["due"] or "")} <= {*known.actions}:
            return f"Handed out {took}, due was {due}", f"{scenario} · right path, wrong action at {step}"
        went = f"Went to {took}" if row["took"] else "Stopped"
        due_words = f"due was {due}" if row["due"] else "the path was over"
        return f"{went}, {due_words}", f"{scenario} · after {step}; its fields lead the right way"
    detail = str(row["detail"] or "")
    if kind in ("answer", "unmarked"):
        # Told by the verdict alone: its reason, and as much as it says of the place.
        places = [(name, row.get(name)) for name in ("stage", "field", "tool")]
        said = [scenario, *(f"{name} {value}" for name, value in places if value)]
        if row.get("owner") not in (None, "", "agent"):
            said.append(f"the {row['owner']}'s doing")
        return f"{detail[:1].upper()}{detail[1:]}" or failure_kinds.name_kind(kind).capitalize(), " · ".join(said)
    form, _, part = detail.partition(" ")
    if kind == "format" and form == "invalid":
        name = part.removeprefix("fields.")
        what = f"Unreadable reply: {name_id(name) if name else 'something'} missing or outside the options"
    else:
        what = f"{failure_kinds.name_kind(kind).capitalize()}: {_FORMS.get(form, form.replace('_', ' '))}"
    return what, scenario


def describe_event(row: Mapping[str, Any], titles: Mapping[str, str] = MappingProxyType({})) -> tuple[str, str]:
    """What failed on the way, in words ("Refused: no user has this e-mail address"), and where."""
    detail = str(row["detail"] or "").strip().rstrip(".")
    if row["kind"] not in _EVENTS:
        return describe_group({**dict.fromkeys(("stage", "took", "due", "field")), **row}, titles)
    unknown = re.fullmatch(r"There is no tool named '([^']+)' here", detail)
    said = unknown.group(1) if unknown else detail
    words = f"{_EVENTS[row['kind']]}: {said}" if said else _EVENTS[row["kind"]]
    return words, _name(row["scenario"], titles)


def _name(place: str | None, titles: Mapping[str, str]) -> str:
    return titles.get(place or "") or (place or "any scenario").replace("_", " ").capitalize()


def _step(scenario: str | None, step: str | None) -> str:
    """A stage of a procedure by its title, an action in words."""
    if not step:
        return "the end" if step is None else "nothing"
    if step == "start":
        return "the start"
    known = procedures.find(scenario)
    return f"“{known.stages[step]}”" if known and step in known.stages else name_id(step)


def _say_owner(row: Mapping[str, Any]) -> str:
    return f"<br>the {plain(row['owner'])}'s doing" if row.get("owner") else ""


def _crop(words: tuple[str, str]) -> tuple[str, str]:
    """As much of the words as one line of a narrow chart holds; the rest is in the hover and in the table."""
    what, where = (shorten(words[0], _LINE - 20), words[1])
    return what, shorten(where, _LINE - len(what))


def draw_groups(frame: pl.DataFrame, dark: bool, titles: Mapping[str, str], things: str) -> "Figure":
    """One bar a group of `failures.groups`, largest on top, its words above it; customdata of a bar is [alike].

    `titles` of tasks; `things`: what attempts are called.
    """
    from cxlab.charts.lazy_figure import LazyFigure

    colours = palette(dark)
    rows = frame.reverse()
    places = list(range(rows.height))
    words = [describe_group(row, titles) for row in rows.iter_rows(named=True)]
    hovers = [
        f"<b>{plain(what)}</b><br>{plain(where)}{_say_owner(row)}<br>"
        f"{format_count(row['n'])} failures, {format_share(row['share'])} of "
        f"{format_count(row['of'])}<br>in {format_count(row['attempts'])} {plain(things)}<br>"
        f"{plain(', '.join(short_model(model) for model in row['models']))}"
        for (what, where), row in zip(words, rows.iter_rows(named=True), strict=True)
    ]
    figure = LazyFigure()
    figure.add_bar(
        x=rows["n"].to_list(),
        y=places,
        orientation="h",
        width=0.28,
        marker={"color": colours.accent, "line": {"width": 0}},
        customdata=[[alike] for alike in rows["alike"]],
        text=[f"{format_count(n)} · {format_share(share)}" for n, share in rows.select("n", "share").iter_rows()],
        textposition="outside",
        textfont={"color": colours.ink, "size": 12},
        hovertext=hovers,
        hovertemplate="%{hovertext}<extra></extra>",
        cliponaxis=False,
        showlegend=False,
    )
    figure.add_scatter(
        x=[0] * rows.height,
        y=[place + 0.36 for place in places],
        mode="text",
        text=[
            f"{plain(what)}&nbsp;&nbsp; <span style='color:{colours.muted}'>{plain(where)}</span>"
            for what, where in map(_crop, words)
        ],
        textposition="middle right",
        textfont={"color": colours.ink, "size": 12.5},
        customdata=[[alike] for alike in rows["alike"]],
        hovertext=hovers,
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
        cliponaxis=False,
    )
    top = largest(rows["n"], 1)
    # Each bar says its number, so an axis would say it twice.
    figure.update_xaxes(range=[0, top * 1.2], visible=False)
    figure.update_yaxes(showticklabels=False, range=[-0.5, rows.height - 0.3])
    return style_figure(figure, dark, values="none", height=_FRAME_PX + _ROW_PX * max(rows.height, 2))
