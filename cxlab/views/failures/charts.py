"""Groups of alike failures: what they are called, and how many there are as bars that can be clicked."""

import re
import textwrap
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import polars as pl

from cxlab.charts.names import name_id
from cxlab.charts.numbers import format_count, format_points, format_share, largest
from cxlab.charts.theme import palette, plain, short_model, style_figure
from cxlab.read import failure_kinds, procedures

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

# Of a bar, and of each line of words above it.
_BAR_PX = 26
_LINE_PX = 18
_FRAME_PX = 16
# Characters beside each other at 1024 pixels.
_LINE = 108
_FORMS = {
    "not_json": "the reply held no JSON object that can be read",
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
    several = row.get("scenarios") or 0
    scenario = f"{several} procedures or tasks" if several > 1 else _name(row["scenario"], titles)
    step, took, due = (name_step(row["scenario"], row[name]) for name in ("stage", "took", "due"))
    misread = failure_kinds.misread()
    if kind in misread and row["field"]:
        what = f"Read {name_id(row['field'])} as {name_id(row['given'])}, it was {name_id(row['wanted'])}"
        where = f"at {step}: leads to {_lead(row, 'took')}, not {_lead(row, 'due')}"
        # The first class is the plain one.
        return what, ("" if kind == next(iter(misread)) else f"{misread[kind]} · ") + f"{scenario} · {where}"
    if kind in misread:
        return f"Fields lead to {_lead(row, 'took')}, not {_lead(row, 'due')}", f"{scenario} · from {step}"
    if kind in failure_kinds.deviations():
        known = procedures.find(row["scenario"])
        if known and {known.node(row["took"] or ""), known.node(row["due"] or "")} <= {*known.actions}:
            return f"Handed out {took}, due was {due}", f"{scenario} · right path, wrong action at {step}"
        went = f"Went to {took}" if row["took"] else "Stopped"
        due_words = f"due was {due}" if row["due"] else "the path was over"
        return f"{went}, {due_words}", f"{scenario} · after {step}; by the panel it read the fields right"
    detail = str(row["detail"] or "")
    if kind in ("answer", "unmarked"):
        # Told by the verdict alone: its reason, and as much as it says of the place.
        places = [(name, row.get(name)) for name in ("stage", "field", "tool")]
        # "Policy: ..." has named the field already.
        said = [scenario] + [
            f"{name} {_place(row['scenario'], name, value)}"
            for name, value in places
            if value and not detail.lower().startswith(f"{value}:".lower())
        ]
        detail = spell_programs(detail)
        return f"{detail[:1].upper()}{detail[1:]}" or failure_kinds.name_kind(kind).capitalize(), " · ".join(said)
    form, _, part = detail.partition(" ")
    if kind == "format" and form == "invalid":
        name = part.removeprefix("fields.")
        what = f"Unreadable reply: {name_id(name) if name else 'something'} missing or outside the options"
    else:
        what = f"{failure_kinds.name_kind(kind).capitalize()}: {_FORMS.get(form, form.replace('_', ' '))}"
    # What a provider's server said is the quickest way to what is wrong with it.
    return what, f"{scenario} · “{part}”" if kind == "provider" and part else scenario


def _lead(row: Mapping[str, Any], name: str) -> str:
    """What a field leads to: a stage by its title, or the action "…"."""
    known, step = procedures.find(row["scenario"]), row[name]
    told = name_step(row["scenario"], step)
    return f"the action “{told}”" if known and step and known.node(step) in known.actions else told


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


def name_step(scenario: str | None, step: str | None) -> str:
    """A stage of a procedure by its title, an action in words; "the end" behind a way that is over."""
    if not step:
        return "the end" if step is None else "nothing"
    if step == "start":
        return "the start"
    known = procedures.find(scenario)
    return f"“{known.stages[step]}”" if known and step in known.stages else name_id(step)


def spell_programs(text: str) -> str:
    """A text with the names that programs have in it as words, “find user id by email” of find_user_id_by_email;
    its lines in one."""
    in_one = text.replace("\n", " · ")
    return re.sub(r"\b[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+\b", lambda found: f"“{found[0].replace('_', ' ')}”", in_one)


def _place(scenario: str | None, kind: str, value: str) -> str:
    """Where an attempt was decided; a tool is named in words."""
    return (
        spell_programs(value) if kind == "tool" else name_step(scenario, value) if kind == "stage" else name_id(value)
    )


def say_owner(owner: object) -> str:
    """Whose doing it was: "the agent's doing"; "" where nobody said."""
    return f"the {owner}'s doing" if owner else ""


def say_doing(row: Mapping[str, Any]) -> str:
    """Whose doing a group was, and in how many of its attempts people say that it was another's: "the agent's doing,
    2 disputed"; "" where nobody said."""
    doing, disputed = say_owner(row["owner"]), row.get("disputed") or 0
    return f"{doing or 'nobody says whose doing'}, {format_count(disputed)} disputed" if disputed else doing


def say_size(n: int, attempts: int, things: tuple[str, str]) -> str:
    """How many attempts failed alike, and how often where that is more: "35 failures in 19 dialogues"."""
    held = f"{format_count(attempts)} {things[attempts != 1]}"
    return held if n == attempts else f"{format_count(n)} failure{'s' if n != 1 else ''} in {held}"


def say_typical(row: Mapping[str, Any]) -> str:
    """By what an attempt of `failures.typical` stands for its group: "Typical: 6 turns, 2 failures, 40.0 points lost;
    the group's medians are 6, 2 and 38.5, and no other one is nearer to them.". Of what all have alike nothing."""
    told = [name for name in _MIDDLES if row[f"reach_{name}"] or (row[f"mid_{name}"] is not None and row[name] is None)]
    if not told:
        alike = [words[1] for name, words in _MIDDLES.items() if row[f"mid_{name}"] is not None]
        alike_in = " and ".join(filter(None, (", ".join(alike[:-1]), *alike[-1:])))
        return f"All of this group are alike in {alike_in}, so any of them stands for it."
    own = ", ".join("no score" if row[name] is None else _write_middle(name, row[name], True) for name in told)
    *first, last = [_write_middle(name, row[f"mid_{name}"]) for name in told]
    middles = f"medians are {', '.join(first)} and {last}" if first else f"median is {last}"
    return f"Typical: {own}; the group's {middles}, and no other one is nearer to {'them' if first else 'it'}."


_MIDDLES = {"turns": ("turn", "turns"), "failures": ("failure", "failures"), "lost": ("point lost", "points lost")}


def _write_middle(name: str, value: float, named: bool = False) -> str:
    words = format_points(value) if name == "lost" or value % 1 else format_count(int(value))
    return f"{words} {_MIDDLES[name][value != 1]}" if named else words


def say_lost(row: Mapping[str, Any], things: tuple[str, str]) -> str:
    """The points that a group's attempts lost: "402 points lost"; over how many where not all are scored."""
    if row["lost"] is None:
        return "points lost unknown"
    told = f"{format_points(row['lost'])} points lost"
    if row["scored"] == row["attempts"]:
        return told
    return f"{told} in the {format_count(row['scored'])} scored {things[row['scored'] != 1]}"


def say_total(row: Mapping[str, Any], things: tuple[str, str]) -> str:
    """All points lost, and whether the groups add up to them: those of an attempt in several groups count in each;
    "" where no points are told."""
    whole, added = row["lost_in_all"], row["lost_in_groups"]
    if whole is None:
        return ""
    told = f"{format_points(whole)} points are lost in all"
    if format_points(whole) == format_points(added):
        return f"{told}, and the groups add up to it. "
    return (
        f"{told}; the groups add up to {format_points(added)}, as {things[1]} that failed in several ways count in "
        "each of their groups. "
    )


def say_commonest(
    row: Mapping[str, Any], things: tuple[str, str], titles: Mapping[str, str] = MappingProxyType({})
) -> str:
    """What is most often and whose doing, of the first row of `failures.groups`; that several are level, if they are:
    "read x as no, it was yes (the agent's doing)"."""
    if row["level"] > 1:
        size = f"{format_count(row['attempts'])} {things[row['attempts'] != 1]}"
        return f"Nothing stands out: {format_count(row['level'])} kinds of failure in {size} each"
    what, doing = describe_group(row, titles)[0], say_doing(row)
    return f"{what[:1].lower()}{what[1:]}" + (f" ({doing})" if doing else "")


def _lines(words: tuple[str, str], doing: str) -> tuple[list[str], list[str]]:
    """What stands above a bar in lines of 1024 pixels: what happened; and where, and whose doing it was."""
    # Whose doing stays in one line.
    about = " · ".join(filter(None, (words[1], doing.replace(" ", "\u00a0"))))
    # Two bars that differ in the last word must not look alike, so nothing is cut but what no window could hold.
    what = textwrap.wrap(words[0], _LINE, max_lines=3, placeholder="…")
    return what, textwrap.wrap(about, _LINE, max_lines=6, placeholder="…")


def draw_groups(
    frame: pl.DataFrame, dark: bool, titles: Mapping[str, str], things: tuple[str, str], by_points: bool = False
) -> "Figure":
    """One bar a group of `failures.groups`, largest on top, as long as attempts are many, or as points were lost
    (`by_points`), its words above it; customdata of a bar is [alike].

    `titles` of tasks; `things`: what an attempt is called, and several.
    """
    from cxlab.charts.lazy_figure import LazyFigure

    colours = palette(dark)
    rows = frame.reverse()
    places = list(range(rows.height))
    words = [describe_group(row, titles) for row in rows.iter_rows(named=True)]
    told = list(rows.iter_rows(named=True))
    sizes = [f"{say_size(row['n'], row['attempts'], things)} · {format_share(row['share'])}" for row in told]
    if by_points:
        sizes = [f"{say_lost(row, things)} · {say_size(row['n'], row['attempts'], things)}" for row in told]
    long = rows["lost"].fill_null(0.0) if by_points else rows["attempts"]
    hovers = [
        f"<b>{plain(what)}</b><br>{plain(where)}<br>{say_doing(row)}<br>"
        f"{size} of {format_count(row['of_attempts'])}<br>"
        f"{plain(', '.join(short_model(model) for model in row['models']))}"
        for (what, where), row, size in zip(words, told, sizes, strict=True)
    ]
    lines = [_lines(each, say_doing(row)) for each, row in zip(words, told, strict=True)]
    counts = [len(what) + len(where) for what, where in lines]
    tall = max(counts, default=1)
    row_px = _BAR_PX + _LINE_PX * tall
    top = largest(long, 1)
    figure = LazyFigure()
    # All of a row answers to a click, its words, too, and not the thin bar alone.
    figure.add_bar(
        x=[top * 1.35] * rows.height,
        y=[place + 0.35 for place in places],
        orientation="h",
        width=0.96,
        marker={"color": "rgba(0,0,0,0)", "line": {"width": 0}},
        customdata=[[alike] for alike in rows["alike"]],
        hovertext=hovers,
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
    )
    figure.add_bar(
        x=long.to_list(),
        y=places,
        orientation="h",
        width=12 / row_px,
        marker={"color": colours.accent, "line": {"width": 0}},
        customdata=[[alike] for alike in rows["alike"]],
        text=sizes,
        textposition="outside",
        textfont={"color": colours.ink, "size": 12},
        hovertext=hovers,
        hovertemplate="%{hovertext}<extra></extra>",
        cliponaxis=False,
        showlegend=False,
    )
    figure.add_scatter(
        x=[0] * rows.height,
        y=[place + (10 + _LINE_PX * count / 2) / row_px for place, count in zip(places, counts, strict=True)],
        mode="text",
        text=[
            "<br>".join(
                [*map(plain, what), *(f"<span style='color:{colours.muted}'>{plain(line)}</span>" for line in where)]
            )
            for what, where in lines
        ],
        textposition="middle right",
        textfont={"color": colours.ink, "size": 12.5},
        customdata=[[alike] for alike in rows["alike"]],
        hovertext=hovers,
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
        cliponaxis=False,
    )
    # Each bar says its number, so an axis would say it twice.
    figure.update_layout(barmode="overlay")
    figure.update_xaxes(range=[0, top * 1.35], visible=False)
    figure.update_yaxes(showticklabels=False, range=[-0.3, rows.height - 0.05])
    return style_figure(figure, dark, values="none", height=_FRAME_PX + row_px * max(rows.height, 2))
