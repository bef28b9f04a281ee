"""Articles as HTML of our own: whatever an article holds comes out as escaped text between tags that we chose.

    show_text(to_html(body, "markdown", {"HCP": "Home Care Plan"}))

Markdown, tables and HTML are read here rather than handed to a renderer, because articles are anybody's text: no
attribute, link, picture or script of theirs is kept.
"""

import difflib
import html
import re
from collections.abc import Iterable, Mapping, Sequence
from html.parser import HTMLParser

import streamlit as st

from cxlab.ui.app_frame import colours

# Kept of HTML, without attributes; everything else loses its tag and keeps its text.
_KEPT = frozenset(
    ("p", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "strong", "em", "code", "hr", "br", "h4", "h5",
     "blockquote", "dl", "dt", "dd", "pre")
)  # fmt: skip
_SAME = {
    "b": "strong", "i": "em", "h1": "h4", "h2": "h4", "h3": "h5", "h6": "h5", "div": "p", "section": "p",
    "article": "p", "tt": "code",
}  # fmt: skip
_VOID = frozenset({"hr", "br"})
_DROPPED = frozenset({"script", "style", "head", "template", "iframe", "object", "noscript", "svg", "math"})
_RULE = re.compile(r"^\s*(?:\+[-+=]+\+|\|?[\s:|-]*-{3,}[\s:|-]*\|?|\*{3,}|_{3,})\s*$")
_ITEM = re.compile(r"^\s*(?:([*+•-])|(\d{1,3})[.)])\s+(.*)$")
_ACRONYM = re.compile(r"(?<![\w-])[^\W\d_a-zà-ÿ]{2,5}(?![\w-])")


def style() -> None:
    """The look of articles; once a page."""
    ink = colours()
    st.html(
        f"""<style>
    .cx-article {{font-size: .92rem; line-height: 1.55; overflow-wrap: anywhere;}}
    .cx-article p {{margin: 0 0 .6rem; white-space: pre-line;}}
    .cx-article h4 {{font-size: 1rem; margin: .9rem 0 .3rem;}}
    .cx-article h5 {{font-size: .95rem; margin: .7rem 0 .2rem;}}
    .cx-article table {{border-collapse: collapse; margin: .2rem 0 .8rem; font-size: .86rem;
      font-variant-numeric: tabular-nums;}}
    .cx-article th, .cx-article td {{text-align: left; vertical-align: top; padding: 3px 14px 3px 0;
      border-bottom: 1px solid {ink.hairline};}}
    .cx-article th {{font-weight: 600; overflow-wrap: normal;}}
    .cx-article hr {{border: 0; border-top: 1px solid {ink.hairline}; margin: .7rem 0;}}
    .cx-article ul, .cx-article ol {{margin: 0 0 .6rem 1.2rem; padding: 0;}}
    .cx-article abbr {{text-decoration: underline dotted {ink.warning}; text-underline-offset: 3px; cursor: help;}}
    .cx-article mark, .cx-marked mark {{background: {ink.warning}55; color: inherit; padding: 0 2px;
      border-radius: 2px;}}
    .cx-article mark.other, .cx-marked mark.other {{background: {ink.bad}44; text-decoration: underline;}}
    .cx-quote {{border-left: 3px solid {ink.hairline}; padding: .2rem 0 .2rem .8rem; margin: .2rem 0 .7rem;
      font-size: .95rem; line-height: 1.5; white-space: pre-line; overflow-wrap: anywhere;}}
    .cx-line {{display: grid; grid-template-columns: 2rem 6.2rem 1fr; gap: .5rem; padding: .25rem .5rem;
      font-size: .9rem; border-left: 3px solid transparent; overflow-wrap: anywhere;}}
    .cx-line.found {{border-left-color: {ink.good}; background: {ink.good}18;}}
    .cx-line.missed {{border-left-color: {ink.bad}; background: {ink.bad}18;}}
    .cx-line.extra {{border-left-color: {ink.warning}; background: {ink.warning}18;}}
    .cx-line .who {{color: {ink.muted};}} .cx-line .no {{color: {ink.muted}; text-align: right;}}
    @media (max-width: 1180px) {{
      [data-testid="stHorizontalBlock"]:has(> [data-testid="stColumn"] .st-key-cx-beside) {{flex-wrap: wrap;}}
      [data-testid="stHorizontalBlock"]:has(> [data-testid="stColumn"] .st-key-cx-beside)
        > [data-testid="stColumn"] {{min-width: 100%;}}
    }}
    .cx-line .sign {{font-size: .78rem; color: {ink.muted}; margin-left: .5rem;}}
    </style>"""
    )


def show_text(made: str) -> None:
    """Show what `to_html` made."""
    st.html(f'<div class="cx-article">{made}</div>')


def to_html(text: str, form: str, acronyms: Mapping[str, str] | None = None, marked: Iterable[str] = ()) -> str:
    """The text of a format as safe HTML; acronyms get what they stand for, `marked` passages are highlighted."""
    words = dict(acronyms or {})
    passages = [each for each in marked if each.strip()]
    if form == "html":
        return _from_html(text, words, passages)
    return _from_lines(text, words, passages, signs=form == "markdown")


def mark_differences(one: str, other: str) -> tuple[str, str]:
    """Two sentences as safe HTML in which the values are marked that the other one lacks; a number is one word.

    Where no number differs, every word that differs is marked.
    """
    a, b = (re.findall(r"\s+|[\d]+(?:[.,]\d+)*|\w+|[^\w\s]", each) for each in (one, other))
    blocks = difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    numbers = {each for each in (*a, *b) if each[0].isdigit()}
    mine, theirs = numbers & set(a), numbers & set(b)
    values = (mine ^ theirs) if mine != theirs and mine and theirs else None
    left, right = [], []
    for kind, i, j, k, m in blocks:
        left.append(_spans(a[i:j], kind != "equal", values))
        right.append(_spans(b[k:m], kind != "equal", values))
    return "".join(left), "".join(right)


def _spans(parts: Sequence[str], differs: bool, values: Iterable[str] | None) -> str:
    """Words as HTML; `values` are the only ones to mark, None: all that differ, as one stretch."""
    if not differs or not "".join(parts).strip():
        return _safe("".join(parts))
    if values is None:
        return f"<mark class='other'>{_safe(''.join(parts))}</mark>"
    return "".join(f"<mark class='other'>{_safe(one)}</mark>" if one in values else _safe(one) for one in parts)


def _from_lines(text: str, words: Mapping[str, str], marked: Sequence[str], signs: bool) -> str:
    """Plain text, text tables and (with `signs`) Markdown, line by line."""
    parts: list[str] = []
    lines = text.splitlines()
    place = 0
    while place < len(lines):
        line = lines[place]
        if not line.strip():
            place += 1
        elif rows := _table_at(lines, place):
            parts.append(_table(rows[0], words, marked, signs))
            place = rows[1]
        elif _RULE.match(line):
            parts.append("<hr>" if signs else "")
            place += 1
        elif signs and (head := re.match(r"^\s*(#{1,6})\s+(.*)$", line)):
            level = "h4" if len(head[1]) <= 2 else "h5"
            parts.append(f"<{level}>{_inline(head[2], words, marked, signs)}</{level}>")
            place += 1
        elif item := _ITEM.match(line):
            items: list[str] = []
            kind = "ul" if item[1] else "ol"
            start = int(item[2] or 1)
            while place < len(lines) and (each := _ITEM.match(lines[place])) and bool(each[1]) == (kind == "ul"):
                items.append(f"<li>{_inline(each[3], words, marked, signs)}</li>")
                place += 1
            opened = f'<ol start="{start}">' if kind == "ol" else "<ul>"
            parts.append(f"{opened}{''.join(items)}</{kind}>")
        else:
            end = place + 1
            while end < len(lines) and lines[end].strip() and not _starts_block(lines, end, signs):
                end += 1
            paragraph = chr(10).join(lines[place:end])
            # A short line by itself without a stop is a heading, as articles in plain text have them.
            alone = end == place + 1 and len(paragraph) <= 70 and paragraph.rstrip()[-1:] not in ".!?:;,)"
            tag = "h5" if alone and (end == len(lines) or not lines[end].strip()) else "p"
            parts.append(f"<{tag}>{_inline(paragraph, words, marked, signs)}</{tag}>")
            place = end
    return "".join(parts)


def _starts_block(lines: Sequence[str], place: int, signs: bool) -> bool:
    line = lines[place]
    heading = signs and re.match(r"^\s*#{1,6}\s", line)
    return bool(heading or _RULE.match(line) or _ITEM.match(line) or _table_at(lines, place))


def _table_at(lines: Sequence[str], place: int) -> tuple[list[list[str]], int] | None:
    """The rows of a text table that begins here and the line after it: bars around, a grid, or bars between."""
    rows: list[list[str]] = []
    end = place
    while end < len(lines) and lines[end].strip():
        line = lines[end]
        if _RULE.match(line) and ("|" in line or "+" in line):
            end += 1
            continue
        if " | " not in line and not line.strip().startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        end += 1
    # One line with a bar in it is a sentence with a bar in it.
    return (rows, end) if len(rows) >= 2 and len({len(row) for row in rows}) == 1 and len(rows[0]) > 1 else None


def _table(rows: Sequence[Sequence[str]], words: Mapping[str, str], marked: Sequence[str], signs: bool) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{_inline(cell, words, marked, signs)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows[1:])
    return f"<table><thead>{line(rows[0], 'th')}</thead><tbody>{body}</tbody></table>"


def _inline(text: str, words: Mapping[str, str], marked: Sequence[str], signs: bool) -> str:
    made = _words(text, words, marked)
    if not signs:
        return made
    # Targets of links and pictures are shown beside their words and lead nowhere.
    made = re.sub(r"(!?)\[([^\[\]\n]*)\]\(([^()\s]*)[^()\n]*\)", r"\2 ‹\3›", made)
    made = re.sub(r"`([^`\n]+)`", r"<code>\1</code>", made)
    made = re.sub(r"\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*", r"<strong>\1</strong>", made)
    return re.sub(r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])", r"<em>\1</em>", made)


def _words(text: str, words: Mapping[str, str], marked: Sequence[str]) -> str:
    """Escaped text with acronyms explained and passages marked."""
    spans = sorted({found.span() for each in marked for found in re.finditer(re.escape(each), text)})
    parts, at = [], 0
    for start, end in spans:
        if start < at:
            continue
        parts += [_short(text[at:start], words), f"<mark>{_short(text[start:end], words)}</mark>"]
        at = end
    return "".join([*parts, _short(text[at:], words)])


def _short(text: str, words: Mapping[str, str]) -> str:
    parts, at = [], 0
    for found in _ACRONYM.finditer(text):
        if meaning := words.get(found[0]):
            parts += [_safe(text[at : found.start()]), f'<abbr title="{_safe(meaning)}">{_safe(found[0])}</abbr>']
            at = found.end()
    return "".join([*parts, _safe(text[at:])])


class _Reader(HTMLParser):
    """Writes the tags that are kept, bare, and the text between them, escaped."""

    def __init__(self, words: Mapping[str, str], marked: Sequence[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.words, self.marked = words, marked
        self.parts: list[str] = []
        self.open: list[str] = []
        self.dropped = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        name = _SAME.get(tag, tag)
        if tag in _DROPPED:
            self.dropped += 1
        elif name in _VOID:
            self.parts.append(f"<{name}>")
        elif name in _KEPT:
            self.parts.append(f"<{name}>")
            self.open.append(name)

    def handle_endtag(self, tag: str) -> None:
        name = _SAME.get(tag, tag)
        if tag in _DROPPED:
            self.dropped = max(0, self.dropped - 1)
        elif name in self.open:
            while (last := self.open.pop()) != name:
                self.parts.append(f"</{last}>")
            self.parts.append(f"</{name}>")

    def handle_data(self, data: str) -> None:
        if not self.dropped:
            self.parts.append(_words(data, self.words, self.marked))


def _from_html(text: str, words: Mapping[str, str], marked: Sequence[str]) -> str:
    reader = _Reader(words, marked)
    reader.feed(text)
    reader.close()
    return "".join([*reader.parts, *(f"</{name}>" for name in reversed(reader.open))])


def _safe(text: str) -> str:
    return html.escape(text, quote=True)
