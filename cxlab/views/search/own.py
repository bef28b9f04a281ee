"""Conversations of one's own: dropped as a file, guessed, looked at, corrected and stored with a report."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import streamlit as st

from cxlab.benchmarks.cdr.importers.conversations import CdrImport
from cxlab.charts.numbers import format_count
from cxlab.errors import BadFile, CxError, UnknownName
from cxlab.importers.conversations import ConversationMapping, ReadConversations, correct, guess, preview
from cxlab.importers.conversations.folder import NONE
from cxlab.importers.conversations.mapping import SAMPLE
from cxlab.importers.conversations.rows import SUFFIXES, read_rows
from cxlab.records import content_id
from cxlab.store import write
from cxlab.ui.address import cached
from cxlab.ui.app_frame import guarded
from cxlab.ui.labels import error, plain, section, show_code
from cxlab.ui.tables import column, show_table
from cxlab.ui.transcript_html import style
from cxlab.views.search import queries
from cxlab.views.search.place import SearchPlace
from cxlab.views.search.results import draw_messages
from cxlab.views.search.uploads import keep_upload
from cxlab.views.search.work import REPORT, SearchJobs

MOST_MB = 200
_SHAPES = {
    "messages": "a conversation, with a list of messages",
    "transcript": "a conversation, as one text with speakers in front of lines",
    "exchange": "a question with its answer",
    "rows": "one message",
}
_FIELDS = {
    "messages": ("id", "messages", "role", "text"), "transcript": ("id", "text"), "exchange": ("id", "text", "reply"),
    "rows": ("id", "role", "text", "order"),
}  # fmt: skip
_TITLES = {
    "id": "The conversation's id", "messages": "The list of messages", "role": "Who speaks", "text": "What is said",
    "reply": "What is answered",
    "order": "In the order of",
}  # fmt: skip
_ROLES = {"": "nobody: left out", "customer": "the customer", "agent": "the agent", "system": "the system",
          "tool": "a tool"}  # fmt: skip
_NONE = ""
_LONGEST_NAME = 80
_LONGEST_STEM = 40
_SPEAKERS_A_ROW = 4


def show_own(jobs: SearchJobs) -> None:
    """The two ways to conversations that are not searchable yet; none while a file is being read, as that is what is
    waited for."""
    if jobs.is_working("import"):
        return
    section(
        "Search conversations of your own",
        "JSON Lines, JSON, CSV or Parquet, with a conversation or a message a row; or transcripts as text. "
        "The file stays on this machine.",
    )
    given = st.file_uploader(
        "A file with conversations", type=[each.lstrip(".") for each in SUFFIXES], key="search-file",
        max_upload_size=MOST_MB,
    )  # fmt: skip
    if given is not None:
        with guarded():
            _show_file(jobs, given.name, given.getvalue())
    _show_runs(jobs)


def _show_file(jobs: SearchJobs, name: str, content: bytes) -> None:
    """Preview and mapping of the bytes, then a job that reads them all. The name is a label: of it, only a known ending
    and plain characters are used, as conversations without an id are named after the file."""
    suffix = next((each for each in SUFFIXES if name.lower().endswith(each)), ".jsonl")
    stem = re.sub(r"[^A-Za-z0-9]+", "-", Path(name).stem).strip("-")[:_LONGEST_STEM] or "conversations"
    key = content_id(name, len(content), content_id(content.hex() if len(content) < 4096 else hash(content)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{stem}{suffix}"
        path.write_bytes(content)
        try:
            first = guess(path)
        except CxError as problem:
            if not content.strip():
                error("The file is empty.", "Give a file with conversations in it.")
                return
            _say_unrecognised(problem)
            first = ConversationMapping(shape="messages", role="role", text="content")
        mapping = _correct_mapping(first, _columns(path), key)
        mapping = _name_speakers(mapping, preview(path, mapping), key)
        found = preview(path, mapping)
        _show_preview(found)
        title, licence, filtered = _ask_about(name, key)
        if st.button("Import and search", type="primary", key="search-import-now", disabled=not found.conversations):
            kept = keep_upload(key, path.name, content)
            words = _options(mapping, title, licence, filtered).to_words()
            jobs.start(["import", "cdr", str(kept), *(f"--{word}" for word in words)])


def _say_unrecognised(problem: CxError) -> None:
    """What was wrong, without the place on this machine where the file lies for the moment."""
    where = f"line {problem.line}: " if isinstance(problem, BadFile) and problem.line else ""
    told = where + problem.problem if isinstance(problem, BadFile) else str(problem)
    st.warning(plain(f"{told[:1].upper()}{told[1:]}. Say below which column is what."))


def _columns(path: Path) -> list[str]:
    """Columns of the first rows, and the keys of messages in them."""
    names: dict[str, None] = {}
    for _, row in zip(range(SAMPLE), read_rows(path), strict=False):
        cells = row.cells
        for each in (cells, *(_first_message(cells))):
            if isinstance(each, dict):
                names.update(dict.fromkeys(map(str, each)))
    return list(names)


def _first_message(cells: Any) -> list[Any]:
    lists = [value for value in cells.values() if isinstance(value, list)] if isinstance(cells, dict) else [cells]
    return [each[0] for each in lists if isinstance(each, list) and each]


def _correct_mapping(first: ConversationMapping, columns: list[str], key: str) -> ConversationMapping:
    """The guess as fields to correct."""
    with st.container(border=True):
        st.markdown("**How the file is read**")
        shapes = list(_SHAPES)
        shape = st.selectbox(
            "A row is", shapes, index=shapes.index(first.shape), format_func=_SHAPES.__getitem__, key=f"{key}-shape"
        )
        fields = _FIELDS[shape]
        changes: dict[str, Any] = {"shape": shape}
        for name, box in zip(fields, st.columns(len(fields)), strict=True):
            now = getattr(first, name)
            options = [_NONE, *columns, *([now] if now and now not in columns else [])]
            picked = box.selectbox(
                _TITLES[name], options, index=options.index(now) if now in options else 0, key=f"{key}-{shape}-{name}",
                format_func=lambda each: each or "–",
            )  # fmt: skip
            changes[name] = picked or None
        return correct(first, **changes)


def _show_preview(found: ReadConversations) -> None:
    style()
    count = len(found.conversations)
    st.markdown(f"**Preview**: {format_count(count)} conversations from the first {format_count(found.rows)} rows")
    talk = next(iter(found.conversations.values()), None)
    if talk is not None:
        with st.container(border=True):
            show_code(talk.id)
            st.html(draw_messages(talk.messages, range(min(4, len(talk.messages)))))
    problems = [("left out", each) for each in found.rejected] + [("note", each) for each in found.notices]
    if problems:
        rows = [(kind, each.row, each.column, each.problem) for kind, each in problems]
        _show_problems(rows, "search-preview")


def _show_problems(rows: list[tuple[str, int | None, str | None, str]], key: str) -> None:
    schema = {"kind": pl.String, "row": pl.Int64, "column": pl.String, "problem": pl.String}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    left = frame.filter(kind="left out").height
    notes = f", {frame.height - left} to note" if frame.height > left else ""
    with st.expander(f"{format_count(left)} left out{notes}", type="compact"):
        columns = {"kind": column(""), "row": column("Row", "count"), "column": column("Column"),
                   "problem": column("What is wrong", width="large")}  # fmt: skip
        show_table(frame, columns, key=key, alt="What was not taken, with its row.", search=True)


def _name_speakers(mapping: ConversationMapping, found: ReadConversations, key: str) -> ConversationMapping:
    """The mapping with who speaks behind names that mean nobody yet; of two alone, who speaks first is offered as the
    customer."""
    names = list(found.unknown_roles.items())
    if not names:
        return mapping
    guessed = ("customer", "agent") if len(names) == 2 and not found.conversations else ()
    st.markdown("**Who are these?**")
    if guessed:
        st.caption("Who speaks first was taken for the customer; say so if it is the other way round.")
    roles: dict[str, str] = dict(mapping.roles)
    options = list(_ROLES)
    boxes = st.columns(min(len(names), _SPEAKERS_A_ROW))
    for place, (name, count) in enumerate(names[:12]):
        picked = boxes[place % len(boxes)].selectbox(
            plain(f"{name[:60]} ({count} messages)"), options, format_func=_ROLES.__getitem__,
            index=options.index(guessed[place]) if guessed else 0, key=f"{key}-{mapping.role}-role-{place}",
        )  # fmt: skip
        if picked:
            roles[name] = picked
    return correct(mapping, roles=roles)


def _ask_about(name: str, key: str) -> tuple[str, str, bool]:
    titled, licensed = st.columns(2)
    usual = " ".join(Path(name).stem.split())[:_LONGEST_NAME] or "Conversations"
    title = titled.text_input("Name", usual, max_chars=_LONGEST_NAME, key=f"{key}-name").strip()
    licence = licensed.text_input(
        "What may be done with them", max_chars=200, key=f"{key}-licence", placeholder="for example: ours, internal"
    )
    filtered = st.toggle(
        "Leave out duplicates and what cannot be searched, and take personal data out", True, key=f"{key}-filter",
        help="What is left out keeps its reason in the dataset. E-mail addresses, telephone, card and social security "
        "numbers are replaced; names of people and streets are not seen.",
    )  # fmt: skip
    return title or usual, licence, filtered


def _options(mapping: ConversationMapping, title: str, licence: str, filtered: bool) -> CdrImport:
    given: dict[str, Any] = {
        # What is said to be none must not be guessed again.
        name: getattr(mapping, name) or NONE
        for name in ("shape", *_FIELDS[mapping.shape])
    }
    if mapping.roles:
        given["speakers"] = json.dumps(mapping.roles, ensure_ascii=False)
    return CdrImport.read({**given, "name": title, "filter": filtered, "licence": licence})


def show_report(place: SearchPlace) -> None:
    """What the import that brought these conversations came to, until it is put away."""
    if st.session_state.get(REPORT) != place.dataset or not place.dataset:
        return
    dataset = write.load_dataset(place.dataset)
    with st.container(border=True):
        count = format_count(dataset.config.get("corpus"))
        st.markdown(f"**Imported: {count} conversations**")
        st.caption(plain(f"Licence: {dataset.licence}"))
        filtered = dataset.config.get("filter") or {}
        if steps := filtered.get("steps"):
            with st.expander("What was filtered", type="compact"):
                for each in steps:
                    note = f" ({each['note']})" if each["note"] else ""
                    st.text(f"{each['step']}: {each['kept']:,} of {each['given']:,} kept{note}")
                if taken := filtered.get("redacted"):
                    st.text("personal data taken out: " + ", ".join(f"{n:,} × {what}" for what, n in taken.items()))
        if rows := _list_problems(place.dataset):
            _show_problems(rows, "search-report")
        if st.button("Put this away", key="search-report-away", type="tertiary"):
            del st.session_state[REPORT]
            st.rerun()


def _list_problems(dataset: str) -> list[tuple[str, int | None, str | None, str]]:
    """What was left out and what is to note, as the dataset's own tables have it."""
    found: list[tuple[str, int | None, str | None, str]] = []
    for table, kind in (("rejected", "left out"), ("notices", "note")):
        rows = _load_table(dataset, table).select("row", "column", "problem").iter_rows()
        found += [(kind, row, column, problem) for row, column, problem in rows]
    left = _load_table(dataset, "filtered_out")
    if left.height:
        rows = left.select("conversation_id", "step", "reason").iter_rows()
        found += [("left out", None, step, f"{name}: {reason}") for name, step, reason in rows]
    return found


def _load_table(dataset: str, name: str) -> pl.DataFrame:
    try:
        return write.load_table(dataset, name)
    except UnknownName:
        return pl.DataFrame(schema={"row": pl.Int64, "column": pl.String, "problem": pl.String})


def _show_runs(jobs: SearchJobs) -> None:
    """Dialogues of a run, as a dataset to search."""
    runs = cached(queries.runs_with_dialogues)
    if not runs:
        return
    section("Or search the dialogues of a run", "They are copied into a dataset of their own; the run stays as it is.")
    chosen = st.selectbox("Run", list(runs), format_func=runs.__getitem__, key="search-run")
    if st.button("Make searchable", key="search-run-now") and chosen:
        jobs.start(["import", "cdr", f"--run={chosen}", "--filter=false"])
