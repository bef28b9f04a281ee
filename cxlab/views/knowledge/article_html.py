"""Articles as HTML of our own: whatever an article holds comes out as text between the few tags that are let through.

    show_text(to_html(body, "markdown", {"HCP": "Home Care Plan"}))

markdown-it-py reads Markdown, nh3 lets through what may be shown: articles are anybody's text, so no attribute, link,
picture or script of theirs is kept. Acronyms and passages are marked in what is left.
"""

import difflib
import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import nh3
import streamlit as st
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from cxlab.ui.app_frame import colours

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
# Kept without attributes (but where a list begins); everything else loses its tag and keeps its text.
_KEPT = {
    "p", "div", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "strong", "b", "em", "i", "s", "code",
    "hr", "br", "blockquote", "dl", "dt", "dd", "pre", *_HEADINGS,
}  # fmt: skip
_DROPPED = {"script", "style", "template", "iframe", "object", "noscript", "svg", "math", "title"}
_RULE = re.compile(r"^\s*(?:\+[-+=]+\+|\|?[\s:|-]*-{3,}[\s:|-]*\|?|\*{3,}|_{3,})\s*$")
_ITEM = re.compile(r"^\s*(?:[*+•-]|\d{1,3}[.)])\s+")
_ACRONYM = re.compile(r"(?<![\w-])[^\W\d_a-zà-ÿ]{2,5}(?![\w-])")
_TAG = re.compile(r"(<[^<>]*>)")


def style() -> None:
    """The look of articles; once a page."""
    ink = colours()
    st.html(
        f"""<style>
    .cx-article {{font-size: .92rem; line-height: 1.55; overflow-wrap: anywhere;}}
    .cx-article p {{margin: 0 0 .6rem; white-space: pre-line;}}
    .cx-article :is(h1, h2, h3, h4) {{font-size: 1rem; margin: .9rem 0 .3rem; padding: 0; font-weight: 600;}}
    .cx-article :is(h5, h6) {{font-size: .95rem; margin: .7rem 0 .2rem; padding: 0; font-weight: 600;}}
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


def show_text(made: Markup) -> None:
    """Show what `to_html` made."""
    st.html(Markup('<div class="cx-article">{}</div>').format(made))


def to_html(text: str, form: str, acronyms: Mapping[str, str] | None = None, marked: Iterable[str] = ()) -> Markup:
    """The text of a format as safe HTML; acronyms get what they stand for, `marked` passages are highlighted."""
    words = dict(acronyms or {})
    passages = [each for each in marked if each.strip()]
    read = text if form == "html" else _reader().render(text if form == "markdown" else _to_markdown(text))
    safe = nh3.clean(read, tags=_KEPT, clean_content_tags=_DROPPED, attributes={"ol": {"start"}}, link_rel=None)
    return Markup("").join(
        Markup(part) if part.startswith("<") else _words(html.unescape(part), words, passages)
        for part in _TAG.split(safe)
    )


class _Reader(MarkdownIt):
    def validateLink(self, url: str) -> bool:
        """No link is made of it, so each may be read."""
        return True


@lru_cache(maxsize=1)
def _reader() -> MarkdownIt:
    """Markdown with tables, without HTML; targets of links and pictures stand beside their words and lead nowhere."""
    reader = _Reader("commonmark", {"html": False}).enable("table")

    # `env` is the text's own, as several texts may be read at once.
    def open_link(self: Any, tokens: Sequence[Any], place: int, options: Any, env: dict[str, Any]) -> str:
        env.setdefault("targets", []).append(str(tokens[place].attrGet("href")))
        return ""

    def close_link(self: Any, tokens: Sequence[Any], place: int, options: Any, env: dict[str, Any]) -> str:
        return f" ‹{html.escape(env['targets'].pop())}›"

    def draw_image(self: Any, tokens: Sequence[Any], place: int, *_: Any) -> str:
        return html.escape(f"{tokens[place].content} ‹{tokens[place].attrGet('src')}›")

    for name, rule in {"link_open": open_link, "link_close": close_link, "image": draw_image}.items():
        reader.add_render_rule(name, rule)
    return reader


def _to_markdown(text: str) -> str:
    """Plain text with its tables, lists and headings as Markdown; every other sign stands for itself."""
    parts: list[str] = []
    lines = text.splitlines()
    place = 0
    while place < len(lines):
        line = lines[place]
        if found := _table_at(lines, place):
            rows, place = found
            head, *body = ["| " + " | ".join(map(_literal, row)) + " |" for row in rows]
            parts += ["", head, "|" + "---|" * len(rows[0]), *body, ""]
            continue
        if not _RULE.match(line):
            parts.append(_line(lines, place))
        place += 1
    return "\n".join(parts)


def _line(lines: Sequence[str], place: int) -> str:
    """A line as itself; an item keeps its sign, a short line alone and without a stop is a heading."""
    line = lines[place].strip()
    if item := _ITEM.match(line):
        sign = item[0].strip()
        return f"{'-' if sign in '*+•-' else sign} {_literal(line[item.end() :])}"
    before, after = lines[place - 1 : place], lines[place + 1 : place + 2]
    alone = not any(each.strip() for each in (*(before if place else ()), *after))
    heading = line and alone and len(line) <= 70 and line[-1] not in ".!?:;,)"
    return f"##### {_literal(line)}" if heading else _literal(line)


def _literal(text: str) -> str:
    """Text in which no sign is Markdown's."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|<>~&=:\"'])", r"\\\1", text)


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


def _words(text: str, words: Mapping[str, str], marked: Sequence[str]) -> Markup:
    """Escaped text with acronyms explained and passages marked."""
    spans = sorted({found.span() for each in marked for found in re.finditer(re.escape(each), text)})
    parts: list[Markup] = []
    at = 0
    for start, end in spans:
        if start < at:
            continue
        passage = Markup("").join(_explain(text[start:end], words))
        parts += [*_explain(text[at:start], words), Markup("<mark>{}</mark>").format(passage)]
        at = end
    return Markup("").join([*parts, *_explain(text[at:], words)])


def _explain(text: str, words: Mapping[str, str]) -> Iterator[Markup]:
    at = 0
    for found in _ACRONYM.finditer(text):
        if meaning := words.get(found[0]):
            yield escape(text[at : found.start()])
            yield Markup('<abbr title="{}">{}</abbr>').format(meaning, found[0])
            at = found.end()
    yield escape(text[at:])


def mark_differences(one: str, other: str) -> tuple[Markup, Markup]:
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
    return Markup("").join(left), Markup("").join(right)


def _spans(parts: Sequence[str], differs: bool, values: Iterable[str] | None) -> Markup:
    """Words as HTML; `values` are the only ones to mark, None: all that differ, as one stretch."""
    if not differs or not "".join(parts).strip():
        return escape("".join(parts))
    if values is None:
        return _other("".join(parts))
    return Markup("").join(_other(one) if one in values else escape(one) for one in parts)


def _other(text: str) -> Markup:
    return Markup('<mark class="other">{}</mark>').format(text)
