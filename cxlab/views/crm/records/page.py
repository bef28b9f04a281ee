"""Records: the objects of an organisation and how they hang together, the records of one, and one as a form."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import streamlit as st
from markupsafe import Markup

from cxlab.benchmarks.crmarena.organisation.schema import FieldInfo, ObjectInfo
from cxlab.charts.numbers import format_count
from cxlab.ui.app_frame import dark
from cxlab.ui.labels import chip, error, plain, say, section
from cxlab.ui.paging import show_pages
from cxlab.ui.place import find_words, go, show_link
from cxlab.ui.render import render
from cxlab.ui.tables import Kind, column, show_chart, show_table
from cxlab.views.crm.console import queries_examples
from cxlab.views.crm.organisation import Organisation, OrganisationRecord, count_records, write_value
from cxlab.views.crm.place import Place
from cxlab.views.crm.records.charts import draw_objects
from cxlab.views.crm.records.timeline import Event, read_chat, tell

ROWS_A_PAGE = 500
_MOST_COLUMNS = 8
_MOST_LINKS = 5
_MOST_EVENTS = 60
_LONGEST_LINK = 72
_KINDS: dict[str, Kind] = {"currency": "usd", "integer": "count", "boolean": "flag"}


def show_records(place: Place, organisation: Organisation) -> None:
    """All objects, the records of one, or one record, by the address."""
    if place.record:
        record = organisation.find(place.record)
        if record is None:
            error(f"There is no record {place.record} in this organisation.", "Ids have 15 or 18 characters.")
            show_link("All objects", Place(place.view).change(tab=""))
            return
        _show_record(place, organisation, record)
    elif info := organisation.schema.object(place.object):
        _show_object(place, organisation, info)
    else:
        if place.object:
            error(f"There is no object {place.object} in this organisation.")
        _show_objects(place, organisation)


def _show_objects(place: Place, organisation: Organisation) -> None:
    size = organisation.schema.size
    total = sum(organisation.count(name) for name in organisation.schema.objects)
    title = f"{count_records(total)} of {size.objects} objects"
    section(
        title,
        f"{format_count(size.fields)} fields, {size.references} declared references. A line leads from an object to "
        "those on its right that refer to it, dotted where the benchmark's metadata declares no reference. Click an "
        "object, or pick it in the table, to read its records.",
    )
    counts = {name: organisation.count(name) for name in organisation.schema.objects}
    clicked = show_chart(
        draw_objects(organisation.schema, counts, dark()), pl.DataFrame(), key="crm-map", table=False, select=True,
        alt=f"A map of the objects and their references: {title}.",
    )  # fmt: skip
    if clicked and clicked[0]:
        go(place.change(object=str(clicked[0][0]), find=""))
    rows = []
    for name, info in organisation.schema.objects.items():
        rows.append(
            {
                "name": name, "about": info.about, "records": organisation.count(name),
                "fields": sum(field.listed and field.type != "id" for field in info.fields.values()),
                "leads_to": ", ".join(dict.fromkeys(each.reference.to for each in info.references if each.reference)),
                "led_to_by": ", ".join(dict.fromkeys(each.name for each, _ in organisation.references_to(name))),
            }
        )  # fmt: skip
    columns = {
        "name": column("Object"),
        "records": column("Records", "count"),
        "fields": column("Fields", "count", "That agents are told of, without Id."),
        "about": column("What it is"),
        "leads_to": column("Leads to", help="Objects that its fields refer to."),
        "led_to_by": column("Referred to by", help="Objects with a field that refers to it."),
    }
    picked = show_table(
        pl.DataFrame(rows), columns, key="crm-objects", alt="Objects of the organisation.", select="single",
        search=True, downloads=False,
    )  # fmt: skip
    if picked:
        go(place.change(object=picked[0]["name"], find=""))


def _show_object(place: Place, organisation: Organisation, info: ObjectInfo) -> None:
    show_trail([("Objects", place.change(object="", find=""))], info.name)
    section(info.name, plain(info.about))
    _show_relations(place, organisation, info)
    words = find_words(place, f"Search in all texts of {info.name}")
    rows = organisation.search(info.name, words)
    if rows.is_empty():
        st.info("No record has all of these words." if words else "This organisation has no record of this object.")
        return
    if words:
        st.caption(f"{format_count(rows.height)} of {format_count(organisation.count(info.name))} records")
    page = min(place.view.page, -(-rows.height // ROWS_A_PAGE))
    shown = organisation.readable(rows.slice((page - 1) * ROWS_A_PAGE, ROWS_A_PAGE), info.name)
    picked = show_table(
        shown, table_columns(info), key=f"crm-rows-{info.name}", alt=f"Records of {info.name}.", select="single"
    )  # fmt: skip
    show_pages(place.view, rows.height, ROWS_A_PAGE, "crm-pages")
    if picked:
        go(place.open(picked[0]["Id"]))


def table_columns(info: ObjectInfo) -> dict[str, object]:
    """How a table of an object's records shows them: what each is called, then its shorter fields, then its id."""
    named = {"Name", "Title", "Subject", "FirstName", "LastName"}
    fields = [each for each in info.fields.values() if each.filterable and each.name not in named | {"Id"}]
    shown = {field.name: column(field.name, _kind(field), field.about or None) for field in fields[:_MOST_COLUMNS]}
    return {"record": column("Record"), **shown, "Id": column("Id", "id")}


def _kind(field: FieldInfo) -> Kind:
    return _KINDS.get(field.type, "text")


def _show_relations(place: Place, organisation: Organisation, info: ObjectInfo) -> None:
    """The ways from an object to others and back, as links."""
    ways = [(f"{each.name} → {each.reference.to}", each.reference.to) for each in info.references if each.reference]
    back = [(f"{each.name}.{field.name} →", each.name) for each, field in organisation.references_to(info.name)]
    for title, links in (("Leads to", ways), ("Referred to by", back)):
        if links:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.caption(title, width="content")
                for label, name in links:
                    show_link(label, place.change(object=name, find=""))


def shorten(words: str) -> str:
    """Words for a link: a subject may be as long as somebody likes."""
    flat = " ".join(words.split())
    return flat if len(flat) <= _LONGEST_LINK else f"{flat[: _LONGEST_LINK - 1]}…"


def _whole(words: str) -> str | None:
    """The tooltip of a link that was shortened."""
    return plain(words) if shorten(words) != words else None


def show_trail(steps: Sequence[tuple[str, Place]], now: str) -> None:
    """The way back up as links, and where one is."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for label, target in steps:
            show_link(label, target)
            st.text("›", width="content")
        st.text(shorten(now), width="content")


def _show_record(place: Place, organisation: Organisation, record: OrganisationRecord) -> None:
    name = record.object.name
    up = Place(place.view.change(tab=""))
    show_trail([("Objects", up), (name, up.change(object=name))], record.title)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(plain(record.title), anchor=False, width="content")
        chip(name)
    timed = bool(tell(organisation, record))
    form, beside = st.columns([2, 3] if timed else 2, gap="large")
    with form:
        _show_form(place, organisation, record)
    with beside:
        if timed:
            st.markdown("**What happened**")
            draw_timeline(place, organisation, record)
        _show_texts(record, told=timed)
        _show_ways_back(place, organisation, record)


def _show_form(place: Place, organisation: Organisation, record: OrganisationRecord) -> None:
    leads = {lead.field.name: lead for lead in organisation.leads(record)}
    rows = [
        (field.name, write_value(record.values[field.name], field), field.about)
        for field in record.object.fields.values()
        if field.name not in leads and field.name != "Id" and field.type != "long_text"
    ]
    st.html(render("cxlab.views.crm:form", rows=[("Id", record.id, "Id of the record"), *rows]))
    if leads:
        st.markdown("**Leads to**")
        for lead in leads.values():
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                note = "" if lead.declared else " (no declared reference)"
                st.caption(plain(f"{lead.field.name}{note}"), width="content")
                for each in lead.to:
                    show_link(shorten(each.title), place.open(each.id), help=f"{each.object.name} {each.id}")
    show_link("Ask for it in the console", place.ask(queries_examples.for_record(record)))


def draw_timeline(place: Place, organisation: Organisation, record: OrganisationRecord) -> None:
    """What happened around a record, each event a link to the record that tells of it."""
    events = tell(organisation, record)
    shown = events
    if len(events) > _MOST_EVENTS and not st.toggle(f"Show all {format_count(len(events))} events"):
        shown = events[-_MOST_EVENTS:]
        st.caption(f"The last {_MOST_EVENTS}.")
    with st.container(gap=None):
        for number, event in enumerate(shown):
            _show_event(place, event, number, here=event.id == record.id)
    st.caption("Times are the organisation's, UTC.")


def _show_event(place: Place, event: Event, number: int, here: bool) -> None:
    """One event: when, what as a link to the record that tells of it, and what was written."""
    with st.container(key=f"cx-event-{event.kind.replace(' ', '-')}-{number}", gap=None):
        with st.container(horizontal=True, vertical_alignment="top", gap="small"):
            st.text(event.when, width=132)
            if here:
                st.text(f"{event.words} (this record)", width="content")
            else:
                show_link(shorten(event.words), place.open(event.id), help=_whole(event.words))
        if event.text:
            st.html(draw_text(event))


def draw_text(event: Event) -> Markup:
    """What was written, as HTML; a chat line by line."""
    messages = read_chat(event.text) if event.kind == "chat" else []
    lines = [{"who": f"{each.name} · {each.time}", "side": _side(each.role), "text": each.text} for each in messages]
    return render("cxlab.views.crm:said", lines=lines or [{"who": "", "side": "", "text": event.text}])


def _side(role: str) -> str:
    return "agent" if "agent" in role.lower() else "customer" if role else ""


def _show_texts(record: OrganisationRecord, told: bool) -> None:
    """The long texts of a record; what the timeline tells already is left out."""
    for field in record.object.fields.values():
        text = record.values[field.name]
        if field.type == "long_text" and text and not (told and field.name in ("TextBody", "Body")):
            st.markdown(f"**{plain(field.name)}**")
            say(str(text))


def _show_ways_back(place: Place, organisation: Organisation, record: OrganisationRecord) -> None:
    """The records that refer to this one, by object and field."""
    for way in organisation.ways_back(record):
        head = f"{format_count(len(way.ids))} {way.object.name} by {way.field.name}"
        with st.expander(plain(head), expanded=len(way.ids) <= _MOST_LINKS, type="compact"):
            for id in way.ids[:_MOST_LINKS]:
                show_link(shorten(organisation.title(id)), place.open(id), help=f"{way.object.name} {id}")
            if len(way.ids) > _MOST_LINKS:
                show_link(f"All {format_count(len(way.ids))} in a table", _table_of(place, way.object, record))


def _table_of(place: Place, info: ObjectInfo, record: OrganisationRecord) -> Place:
    return Place(place.view.change(tab="", page=1), object=info.name, find=record.id)
