"""Article noise: a clean text served as a table, HTML, Markdown or PDF, with every value still in it.

    plan = plan_formats(ids, seed)                       # {article id: "text" | "table" | "html" | ...}
    served = apply_format(article, plan[id], seed, values=["£89.99", "36 months"], folder=files)
    served.body                                          # what readers get; served.clean stays beside it
    missing_values(values, served.clean, served.body)    # [] or apply_format would have refused

Markup is data: nothing here runs it, and what the clean text holds of it is escaped.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Literal

import numpy as np

from cxlab.benchmarks.cxmarena.knowledge.acronyms import substitute
from cxlab.benchmarks.cxmarena.knowledge.blocks import Block, read_blocks, split_sentences
from cxlab.benchmarks.cxmarena.knowledge.pdf import LAYOUTS, read_pdf, typable, write_pdf
from cxlab.benchmarks.cxmarena.text import word_set
from cxlab.benchmarks.generation import rng_for
from cxlab.errors import BadOption, CxError, UnknownName
from cxlab.records import Article
from cxlab.records.base import Record

Format = Literal["text", "table", "html", "markdown", "pdf"]
FORMATS: tuple[Format, ...] = ("text", "table", "html", "markdown", "pdf")
# Half of the articles keep their text; the paper gives no shares.
SHARES: Mapping[str, float] = {"text": 0.4, "table": 0.15, "html": 0.15, "markdown": 0.15, "pdf": 0.15}
STYLES: Mapping[str, tuple[str, ...]] = {
    "text": ("plain",),
    "table": ("pipes", "grid", "wide"),
    "html": ("page", "fragment", "wiki"),
    "markdown": ("stars", "dashes", "tables"),
    "pdf": LAYOUTS,
}
HEADS = {
    "en": (("Item", "Value"), ("Step", "What to do"), ("No.", "Note")),
    "de": (("Angabe", "Wert"), ("Schritt", "Was zu tun ist"), ("Nr.", "Hinweis")),
    "fr": (("Donnée", "Valeur"), ("Étape", "À faire"), ("N°", "Remarque")),
}
# Signs that layouts write in another way; for comparing only.
_SAME = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "−": "-", "‑": "-", "‐": "-", "\xad": None, "\u200b": None, "\ufeff": None}
)


class LostValue(CxError):
    """A format in which a value of the article could no longer be found."""


class NoisyArticle(Record):
    """An article as it is served, its clean text beside it.

    `file` is the kept PDF's name, `replaced` the characters that its fonts lack and what stands for them,
    `acronyms` how often each phrase of the glossary was shortened.
    """

    article_id: str
    body: str
    clean: str
    format: Format
    style: str
    file: str | None = None
    replaced: dict[str, str] = {}
    acronyms: dict[str, int] = {}


def plan_formats(ids: Iterable[str], seed: int, shares: Mapping[str, float] = SHARES) -> dict[str, Format]:
    """A format for each article, by the article's own id: adding articles changes no other one's."""
    known = {name: float(share) for name, share in shares.items()}
    for name in known:
        if name not in FORMATS:
            raise UnknownName("article format", name, FORMATS)
    if not known or min(known.values()) < 0 or sum(known.values()) <= 0:
        raise BadOption(f"format shares {dict(shares)!r}; give numbers of at least 0, such as text=0.5 pdf=0.5")
    names = [name for name in FORMATS if known.get(name)]
    edges = np.cumsum([known[name] for name in names]) / sum(known[name] for name in names)
    return {
        each: names[min(int(np.searchsorted(edges, rng_for(seed, each, "format").random(), "right")), len(names) - 1)]
        for each in ids
    }


def apply_format(
    article: Article,
    format: Format,
    seed: int,
    *,
    values: Sequence[str] = (),
    acronyms: Mapping[str, str] | None = None,
    style: str | None = None,
    folder: Path | None = None,
    language: str = "en",
    publisher: str = "",
) -> NoisyArticle:
    """The article in a format; the style is drawn by seed and article unless given.

    `acronyms` (phrase -> acronym) are put in first. `values` are the fact values as the text writes them:
    each one that stands in the clean text is found in the served one, or LostValue is raised. A PDF is kept
    in `folder` and what pypdf reads from it is served; characters that its fonts lack are replaced
    (`replaced` says which) or refused (Untypable).
    """
    if format not in FORMATS:
        raise UnknownName("article format", format, FORMATS)
    styles = STYLES[format]
    if style is not None and style not in styles:
        raise UnknownName(f"style of {format}", style, styles)
    if language not in HEADS:
        raise UnknownName("language", language, HEADS)
    rng = rng_for(seed, article.id, "style")
    chosen = style or styles[int(rng.integers(len(styles)))]
    values = [value for value in dict.fromkeys(values) if value.strip()]
    clean = article.body
    short = substitute(clean, acronyms or {}, seed, keep=values)
    blocks = read_blocks(short.text)
    # The title stands above a page or a sheet by itself, so a body that begins with it would say it twice.
    rest = blocks[1:] if blocks and blocks[0] == Block("heading", article.title) else blocks
    file: str | None = None
    replaced: dict[str, str] = {}
    lost: list[str] = []
    if format == "text":
        body = short.text
    elif format == "table":
        body = _table_text(blocks, chosen, HEADS[language])
    elif format == "html":
        body = _html_text(article, rest, chosen, values)
    elif format == "markdown":
        body = _markdown_text(article.title, rest, chosen, values, HEADS[language])
    else:
        if folder is None:
            raise BadOption(f"article {article.id!r} as PDF: say in which folder the file is kept")
        file = f"{re.sub(r'[^A-Za-z0-9_.-]+', '_', article.id)}.pdf"
        path = folder / file
        # A long value may fall on a page's end in one layout and not in the next.
        for layout in (chosen, *(other for other in styles if other != chosen and style is None)):
            chosen = layout
            replaced = write_pdf(
                path, article.title, rest, layout, rng, keep=values, language=language, publisher=publisher
            )
            body = read_pdf(path)
            lost = missing_values((typable(v, file)[0] for v in values), typable(short.text, file)[0], body)
            if not lost:
                break
    if format != "pdf":
        lost = missing_values(values, clean, body)
    if lost:
        raise LostValue(f"article {article.id!r} as {format} ({chosen}) loses {', '.join(map(repr, lost))}")
    return NoisyArticle(
        article_id=article.id,
        body=body,
        clean=clean,
        format=format,
        style=chosen,
        file=file,
        replaced=replaced,
        acronyms=short.uses,
    )


def missing_values(values: Iterable[str], clean: str, noisy: str) -> list[str]:
    """Values of the clean text that the noisy one does not hold, markup and line breaks apart."""
    before, after = comparable(clean), comparable(noisy)
    bare = comparable(re.sub(r"\*\*|\\(?=[|*_`#])", "", html_text(noisy) if _looks_like_html(noisy) else noisy))
    return [v for v in values if comparable(v) in before and comparable(v) not in after and comparable(v) not in bare]


def comparable(text: str) -> str:
    """Text with any white space as one blank and typographic signs as plain ones."""
    return " ".join(unicodedata.normalize("NFC", text).translate(_SAME).split())


def _looks_like_html(text: str) -> bool:
    return re.search(r"</(?:p|div|h[1-6]|ul|ol|dl|table|body|td)>", text) is not None


class _Reader(HTMLParser):
    BREAKS = word_set("p br li tr div h1 h2 h3 h4 h5 h6 ul ol dl dt dd table section article nav title")

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "style"):
            self.hidden += 1
        self.parts.append("\n" if tag in self.BREAKS else " " if tag in ("td", "th") else "")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style") and self.hidden:
            self.hidden -= 1
        self.parts.append("\n" if tag in self.BREAKS else "")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.parts.append(data)


def html_text(markup: str) -> str:
    """The text of HTML, scripts and styles left out; broken markup is read as far as it goes."""
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.parts).splitlines())
    return "\n".join(line for line in lines if line)


# Tables -----------------------------------------------------------------------------------------------


def _table_text(blocks: Sequence[Block], style: str, heads: Sequence[tuple[str, str]]) -> str:
    """Facts and lists as text tables; an article that has neither gets its longest paragraph as one."""
    listed = any(block.kind in ("facts", "steps", "points") for block in blocks)
    longest = max((b for b in blocks if b.kind == "paragraph"), key=lambda b: len(b.text), default=None)
    parts: list[str] = []
    for block in blocks:
        if block.kind == "facts":
            parts.append(_table(block.rows, heads[0], style))
        elif block.kind in ("steps", "points"):
            numbered = tuple((str(i), item) for i, item in enumerate(block.items, 1))
            parts.append(_table(numbered, heads[1] if block.kind == "steps" else heads[2], style))
        elif not listed and block is longest:
            rows = tuple((str(i), sentence) for i, sentence in enumerate(split_sentences(block.text), 1))
            parts.append(_table(rows, heads[2], style))
        else:
            parts.append(block.text)
    return "\n\n".join(parts)


def _table(rows: Sequence[tuple[str, str]], head: tuple[str, str], style: str) -> str:
    # A cell's own bar would open a column.
    cells = [tuple(cell.replace("|", "¦") for cell in row) for row in (head, *rows)]
    if style == "wide":
        if len(rows) <= 4 and all(len(cell) <= 24 for row in cells for cell in row):
            return "\n".join(" | ".join(row[i] for row in cells) for i in (0, 1))
        return "\n".join(" | ".join(row) for row in cells)
    width = [max(len(row[i]) for row in cells) for i in (0, 1)]
    lines = [f"| {row[0]:<{width[0]}} | {row[1]:<{width[1]}} |" for row in cells]
    if style == "grid":
        rule = f"+{'-' * (width[0] + 2)}+{'-' * (width[1] + 2)}+"
        return "\n".join([rule, lines[0], rule, *lines[1:], rule])
    return "\n".join([lines[0], f"|{'-' * (width[0] + 2)}|{'-' * (width[1] + 2)}|", *lines[1:]])


# HTML -------------------------------------------------------------------------------------------------


def _html_text(article: Article, blocks: Sequence[Block], style: str, values: Sequence[str]) -> str:
    def esc(text: str) -> str:
        return html.escape(text, quote=False)

    def strong(text: str) -> str:
        return _wrap(esc(text), [esc(value) for value in values], "<b>", "</b>") if style == "wiki" else esc(text)

    tags = {"page": ("h2", "p"), "fragment": ("div", "div"), "wiki": ("h3", "p")}[style]
    head, para = tags
    look = {"div": ' class="hd"'} if style == "fragment" else {}
    parts: list[str] = []
    for block in blocks:
        if block.kind == "heading":
            parts.append(f"<{head}{look.get(head, '')}>{esc(block.text)}</{head}>")
        elif block.kind == "paragraph":
            opened = f'<{para} style="margin:0 0 8px">' if style == "fragment" else f"<{para}>"
            parts.append(f"{opened}{strong(block.text)}</{para}>")
        elif block.kind == "facts" and style == "wiki":
            rows = "".join(f"<dt>{esc(label)}</dt><dd>{esc(value)}</dd>" for label, value in block.rows)
            parts.append(f"<dl>{rows}</dl>")
        elif block.kind == "facts":
            rows = "\n".join(f"<tr><th>{esc(label)}</th><td>{esc(value)}</td></tr>" for label, value in block.rows)
            parts.append(f'<table border="1">\n{rows}\n</table>')
        elif style == "fragment":
            parts.append("<br>\n".join(f"{i}) {esc(item)}" for i, item in enumerate(block.items, 1)))
        else:
            tag = "ol" if block.kind == "steps" else "ul"
            items = "\n".join(f"<li>{strong(item)}</li>" for item in block.items)
            parts.append(f"<{tag}>\n{items}\n</{tag}>")
    content, title = "\n".join(parts), esc(article.title)
    if style == "page":
        way = " &gt; ".join(esc(step) for step in article.topic)
        return (
            f'<!DOCTYPE html>\n<html>\n<head><meta charset="utf-8"><title>{title}</title></head>\n<body>\n'
            f'<nav class="crumbs">{way}</nav>\n<h1>{title}</h1>\n{content}\n</body>\n</html>'
        )
    if style == "fragment":
        return f'<div class="kb" id="a-{html.escape(article.id)}">\n<div class="ttl">{title}</div>\n{content}\n</div>'
    return f"<h2>{title}</h2>\n{content}"


def _wrap(text: str, values: Sequence[str], before: str, after: str) -> str:
    """Each whole value between two marks, longer ones first, none twice."""
    if not values:
        return text
    form = "|".join(re.escape(value) for value in sorted(values, key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{form})(?!\w)", lambda found: f"{before}{found[0]}{after}", text)


# Markdown ---------------------------------------------------------------------------------------------


def _markdown_text(
    title: str, blocks: Sequence[Block], style: str, values: Sequence[str], heads: Sequence[tuple[str, str]]
) -> str:
    bullet = "-" if style == "dashes" else "*"
    parts = [f"# {title}"]
    for block in blocks:
        if block.kind == "heading":
            if style == "dashes":
                parts.append("---")
            parts.append(f"{'##' if style != 'stars' else '###'} {block.text}")
        elif block.kind == "paragraph":
            parts.append(_wrap(block.text, values, "**", "**") if style == "stars" else block.text)
        elif block.kind == "facts" and style == "tables":
            parts.append(_table(block.rows, heads[0], "pipes"))
        elif block.kind == "facts":
            parts.append("\n".join(f"{bullet} **{label}:** {value}" for label, value in block.rows))
        else:
            marks = [f"{i}." if block.kind == "steps" else bullet for i in range(1, len(block.items) + 1)]
            parts.append("\n".join(f"{mark} {item}" for mark, item in zip(marks, block.items, strict=True)))
    return "\n\n".join(parts)
