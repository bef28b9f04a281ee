"""A dialogue as HTML of our own: who said what, how it was heard, and calls of tools with what came back.

Every value is escaped: nothing that anybody said is rendered. A turn is one element, so that long ones stay quick.
"""

import difflib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl
import streamlit as st
from markupsafe import Markup, escape

from cxlab.charts.names import name_id
from cxlab.charts.numbers import format_share
from cxlab.charts.record_words import describe_record, name_records
from cxlab.charts.sent_fields import list_fields, read_sent, say_arguments, say_value
from cxlab.read.attempts import read_object, read_objects
from cxlab.ui.app_frame import colours
from cxlab.ui.render import render
from cxlab.word_forms import NOTHING, Sought

SPEAKERS = {"customer": "Customer", "agent": "Agent", "system": "System", "tool": "Tool", "ivr": "Phone menu"}
_TOKENS = re.compile(r"\w+|\s+|[^\w\s]")
# Two texts with more words than this are told apart as wholes: comparing them word by word takes longer than reading.
_MOST_TOKENS = 1_500
_LONGEST_ARGUMENTS = 90
_FAILED = {"arguments": "bad arguments", "unknown_tool": "unknown tool"}


@dataclass(frozen=True)
class TranscriptCall:
    """A call of a tool: by whom, with which arguments as they were emitted, and what came back (None: nothing)."""

    side: str
    name: str
    arguments: str
    kind: str = ""
    result: str | None = None
    changed: bool = False
    irreversible: bool = False
    id: str | None = None
    names: Mapping[str, str] = field(default_factory=dict, compare=False)
    """What records of the dialogue are called, by their ids."""


@dataclass(frozen=True)
class TranscriptLine:
    """One message with its calls; `text` is what the other side got, `meant` and `ideal` only where they may differ.

    `sound` is the file of what was spoken, in the folder that the run kept its sounds in.
    """

    role: str
    turn: int
    text: str
    calls: tuple[TranscriptCall, ...] = ()
    meant: str | None = None
    ideal: str | None = None
    wer: float = 0.0
    signs: tuple[str, ...] = field(default=())
    sound: str | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two lines the same: who, what was meant, and which calls with which results."""
        said = self.text if self.meant is None else self.meant
        return self.role, said, tuple((call.name, call.arguments, call.kind) for call in self.calls)

    @property
    def words(self) -> str:
        """All of the line as one text, for comparing."""
        said = self.text if self.meant is None else self.meant
        return " ".join([said, *(f"{call.name} {call.arguments}" for call in self.calls)]).strip()


def read_lines(messages: pl.DataFrame | Iterable[Mapping[str, Any]]) -> list[TranscriptLine]:
    """The messages of a dialogue, each result with the call that it answers."""
    rows = list(messages.iter_rows(named=True) if isinstance(messages, pl.DataFrame) else messages)
    lines: list[TranscriptLine] = []
    waiting: list[tuple[int, int]] = []  # calls without a result: line, place in it
    for row in rows:
        data = read_object(row.get("data"))
        if row["role"] == "tool":
            found = _find_call(data, lines, waiting)
            if found is None:
                lines.append(TranscriptLine("tool", int(row["turn"] or 0), str(row["text"] or "")))
            else:
                waiting.remove(found)
                _answer(lines, found, data, str(row["text"] or ""))
            continue
        given = read_objects(row.get("tool_calls"))
        calls = tuple(
            TranscriptCall(
                str(row["role"]), str(each.get("name") or "tool"), str(each.get("arguments") or ""), id=each.get("id")
            )
            for each in given
        )
        waiting += [(len(lines), place) for place in range(len(calls))]
        # A chat notes its transcripts too, all the same; only a voice notes its errors, or hears something else.
        spoken = "errors" in data or "wav" in data or data.get("meant") not in (None, row["text"])
        lines.append(
            TranscriptLine(
                str(row["role"]),
                int(row["turn"] or 0),
                str(row["text"] or ""),
                calls,
                str(data["meant"]) if spoken and data.get("meant") is not None else None,
                str(data["ideal"]) if spoken and data.get("ideal") is not None else None,
                float(data.get("wer") or 0),
                _signs(data, calls, str(row["text"] or "")),
                str(data["wav"]) if data.get("wav") else None,
            )
        )
    return _name_records(lines)


def _name_records(lines: list[TranscriptLine]) -> list[TranscriptLine]:
    """The lines with what tools told of the records that calls name by their ids."""
    if not (names := name_records(read_sent(call.result) for line in lines for call in line.calls if call.result)):
        return lines
    return [
        replace(line, calls=tuple(replace(call, names=names) for call in line.calls)) if line.calls else line
        for line in lines
    ]


def _find_call(data: Mapping[str, Any], lines: Sequence[TranscriptLine], waiting: Sequence[tuple[int, int]]) -> Any:
    """The waiting call that a result belongs to: by its id, else by its tool, else (nothing is noted) the next one."""
    for noted, of_call in (("call", "id"), ("tool", "name")):
        if data.get(noted):
            same = (at for at in waiting if getattr(lines[at[0]].calls[at[1]], of_call) == data[noted])
            return next(same, None)
    return waiting[0] if waiting else None


def _answer(lines: list[TranscriptLine], at: tuple[int, int], data: Mapping[str, Any], text: str) -> None:
    line, (place, number) = lines[at[0]], at
    done = replace(
        line.calls[number],
        side=str(data.get("side") or line.role),
        kind=str(data.get("kind") or ""),
        result=text,
        changed=bool(data.get("changed")),
        irreversible=bool(data.get("irreversible")),
    )
    lines[place] = replace(line, calls=(*line.calls[:number], done, *line.calls[number + 1 :]))


def _signs(data: Mapping[str, Any], calls: Sequence[TranscriptCall], text: str) -> tuple[str, ...]:
    signs = []
    if data.get("by_hand"):
        signs.append("typed by a person")
    if data.get("confirms"):
        signs.append("about a yes to " + str(data["confirms"]).replace("_", " "))
    if data.get("clarifies"):
        signs.append("asks again")
    if data.get("delivered") is False and (text or not calls):
        signs.append("words never delivered")
    if data.get("stop"):
        signs.append(f"ends it: {str(data['stop']).replace('_', ' ')}")
    return tuple(signs)


def style() -> None:
    """The look of the lines; call it once a page."""
    ink = colours()
    st.html(
        f"""<style>
    .cx-line {{border-left: 3px solid {ink.hairline}; padding: .1rem 0 .1rem .7rem; margin: 0 0 .7rem 0;
      overflow-wrap: anywhere; line-height: 1.45;}}
    .cx-line.customer {{border-left-color: #56B4E9;}} .cx-line.agent {{border-left-color: {ink.accent};}}
    .cx-line.asked {{background: {ink.raised}; border-left-width: 6px;}}
    .cx-line p {{margin: 0; white-space: pre-wrap;}}
    .cx-line .who, .cx-line .way {{font-size: .78rem; color: {ink.muted};}}
    .cx-line .sign {{border: 1px solid {ink.hairline}; border-radius: .3rem; padding: 0 .3rem; margin-left: .35rem;}}
    .cx-line .way {{display: inline-block; min-width: 3.4rem;}}
    .cx-line del {{color: {ink.muted};}}
    .cx-line mark {{background: transparent; color: inherit; border-bottom: 2px dotted {ink.warning};}}
    .cx-line mark.cx-sought {{background: Mark; color: MarkText; border: 0;}}
    .cx-line details {{font-size: .82rem; margin: .15rem 0;}}
    .cx-line summary {{cursor: pointer; color: {ink.muted};}} .cx-line summary b {{color: {ink.ink};}}
    .cx-line .bad {{color: {ink.bad}; font-weight: 600;}} .cx-line .good {{color: {ink.good};}}
    .cx-line details table {{border-collapse: collapse; margin: .3rem 0;}}
    .cx-line details td {{padding: 0 .8rem 0 0; vertical-align: top; border: 0;}}
    .cx-line details td:first-child {{color: {ink.muted};}}
    .cx-line pre {{white-space: pre-wrap; font-size: .78rem; background: {ink.raised}; padding: .4rem .6rem;
      border-radius: .3rem; margin: .2rem 0; max-height: 16rem; overflow-y: auto;}}
    </style>"""
    )


def draw(
    lines: Iterable[TranscriptLine], *, asked: int | None = None, transcripts: bool = False, sought: Sought = NOTHING
) -> None:
    """Lines below each other, those of the turn `asked` marked; `transcripts` shows all three of what was spoken.
    What is `sought` is marked in what was heard as it was meant."""
    drawn = []
    for line in lines:
        said = mark_sought(line.text, sought) if sought and line.meant in (None, line.text) else None
        drawn.append(to_html(line, said, asked=line.turn == asked, transcripts=transcripts))
    st.html("".join(drawn))


def mark_sought(text: str, sought: Sought) -> Markup:
    """The text as HTML, escaped, with what was looked for marked."""
    parts, at = [], 0
    for start, end in sought.find(text):
        parts += [escape(text[at:start]), Markup('<mark class="cx-sought">{}</mark>').format(text[start:end])]
        at = end
    return Markup("").join([*parts, escape(text[at:])])


def to_html(
    line: TranscriptLine, said: Markup | None = None, *, asked: bool = False, transcripts: bool = False
) -> Markup:
    """A line as HTML; `said` stands in for its text."""
    name = SPEAKERS.get(line.role, line.role)
    turn = f" · turn {line.turn}" if line.turn else " · greeting"
    signs = [*line.signs, *([f"{format_share(line.wer)} misheard"] if line.wer else [])]
    kind = line.role if line.role in ("customer", "agent") else "other"
    body = said if said is not None else _spoken(line, transcripts)
    calls = [_draw_call(call) for call in line.calls]
    return render("line", kind=kind, asked=asked, who=name + turn, signs=signs, body=body, calls=calls)


def _spoken(line: TranscriptLine, transcripts: bool) -> Markup:
    if line.meant is None:
        return escape(line.text)
    ideal = line.meant if line.ideal is None else line.ideal
    marked = mark_heard(ideal, line.text)
    if not transcripts:
        return marked
    ways = (("meant", line.meant), ("ideal", ideal), ("heard", marked))
    return Markup("<br>").join(Markup('<span class="way">{}</span> {}').format(name, words) for name, words in ways)


def mark_heard(said: str, got: str) -> Markup:
    """What was heard, as HTML: what was said and not heard is struck out, what was heard instead is marked."""
    before, after = said.split(), got.split()
    parts: list[Markup] = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        lost, found = " ".join(before[a:b]), " ".join(after[c:d])
        if kind == "equal":
            parts.append(escape(found))
        else:
            parts += [Markup("<del>{}</del>").format(lost)] if lost else []
            parts += [Markup('<mark title="said: {}">{}</mark>').format(lost or "nothing", found)] if found else []
    return Markup(" ").join(parts)


def mark_changes(first: str, second: str) -> tuple[Markup, Markup]:
    """Two texts as HTML, each with the words marked that the other does not have at this place."""
    one, two = _TOKENS.findall(first), _TOKENS.findall(second)
    if len(one) + len(two) > _MOST_TOKENS:
        return (escape(first), escape(second)) if first == second else (_marked(first), _marked(second))
    left: list[tuple[bool, str]] = []
    right: list[tuple[bool, str]] = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        left.append((kind != "equal", "".join(one[a:b])))
        right.append((kind != "equal", "".join(two[c:d])))
    return _join(left), _join(right)


def _join(parts: Sequence[tuple[bool, str]]) -> Markup:
    """The parts as HTML; a space between two marks is marked with them, so that a changed phrase is one mark."""
    found: list[tuple[bool, str]] = []
    for place, (changed, text) in enumerate(parts):
        between = text.isspace() and 0 < place < len(parts) - 1
        if found and found[-1][0] == (changed or between):
            found[-1] = (found[-1][0], found[-1][1] + text)
        else:
            found.append((changed or between, text))
    return Markup("").join(_marked(text) if changed else escape(text) for changed, text in found)


def _marked(text: str) -> Markup:
    return Markup("<mark>{}</mark>").format(text) if text.strip() else escape(text)


def _draw_call(call: TranscriptCall) -> Markup:
    """A call in a line that opens: who, which, how it went; inside, arguments and result in full, field by field, and
    as they were sent behind one more line."""
    failed = call.kind not in ("", "ok")
    shown = say_arguments(call.arguments, call.names)
    short = shown if len(shown) <= _LONGEST_ARGUMENTS else shown[: _LONGEST_ARGUMENTS - 1] + "…"
    came, told = "ok", _count(call.result or "")
    if call.result is None:
        came, told = "nothing", ""
    elif failed:
        came, told = "failed", f"{_FAILED.get(call.kind, call.kind)}: {call.result.removeprefix('Error: ')}"
    return render(
        "call",
        side=SPEAKERS.get(call.side, call.side).lower(),
        name=name_id(call.name),
        arguments=f" ({short})" if short else "",
        came=came,
        told=told,
        signs=[word for word, on in (("changed something", call.changed), ("irreversible", call.irreversible)) if on],
        given=list(list_fields(read_sent(call.arguments))),
        came_back=list(list_fields(read_sent(call.result))),
        sent=_pretty(call.arguments),
        result=_pretty(call.result or ""),
    )


def _count(result: str) -> str:
    """A short result in words, a long one by its size."""
    value = read_sent(result)
    if told := describe_record(value):
        return told
    flat = say_value(value) if isinstance(value, dict | list) else " ".join(result.split())
    if len(flat) <= 60:
        return flat
    what = "fields" if isinstance(value, dict) else "entries"
    return f"{len(value)} {what}" if isinstance(value, dict | list) else flat[:59] + "…"


def _pretty(text: str) -> str:
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
