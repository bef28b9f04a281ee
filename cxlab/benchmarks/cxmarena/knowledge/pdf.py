"""Articles as PDF files in three layouts, and the text that a reader of such files gets.

fpdf2's built-in fonts write Windows-1252: all of English, French and German with typographic signs and
the euro sign, no other script. What has a plain equivalent is replaced and reported; the rest is refused.
"""

from __future__ import annotations

import functools
import io
import os
import re
import unicodedata
import zlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from cxlab.benchmarks.cxmarena.knowledge.blocks import Block
from cxlab.errors import BadFile, CxError, UnknownName

LAYOUTS = ("one_column", "two_columns", "form")
ENCODING = "windows-1252"
PAGE = {"en": "Page", "de": "Seite", "fr": "Page"}
# A value up to this length is kept on one line, so that no line or page break can cut it.
GLUED = 40
# The same for everybody, because the same seed has to give the same file.
WRITTEN = datetime(2025, 1, 1, tzinfo=UTC)
PLAIN = {
    "→": "->", "←": "<-", "⇒": "=>", "≥": ">=", "≤": "<=", "≠": "!=", "≈": "~", "−": "-", "‐": "-", "‑": "-", "‒": "-",
    "―": "-", "′": "'", "″": '"', "\u202f": "\xa0", "\u2007": "\xa0", "\u2009": " ", "\u200a": " ", "\u2002": " ",
    "\u2003": " ", "\u2028": "\n", "\u2029": "\n", "\u200b": "", "\u200d": "", "\u2060": "", "\ufeff": "", "\xad": "",
    "Ω": "Ohm", "₂": "2", "⅓": "1/3", "⅔": "2/3", "✓": "x", "✔": "x", "●": "•", "■": "•", "▪": "•", "ł": "l", "Ł": "L",
    "đ": "d", "Đ": "D", "ı": "i", "ﬁ": "fi", "ﬂ": "fl",
}  # fmt: skip


class Untypable(CxError):
    """A character that the PDF's built-in fonts do not have."""


def typable(text: str, name: str = "text") -> tuple[str, dict[str, str]]:
    """The text in the fonts' characters, and what was replaced by what; raises Untypable."""
    replaced: dict[str, str] = {}
    for char in dict.fromkeys(text):
        plain = PLAIN.get(char)
        if plain is None:
            if char in "\n\t" or (char >= " " and _encodes(char)):
                continue
            # An accent that the fonts lack goes; its letter stays.
            plain = "".join(c for c in unicodedata.normalize("NFKD", char) if not unicodedata.combining(c))
            if unicodedata.category(char) == "Cc" or unicodedata.combining(char):
                plain = ""
            elif not plain or not all(_encodes(c) for c in plain):
                called = unicodedata.name(char, "a character without a name")
                raise Untypable(
                    f"{name}: {char!r} (U+{ord(char):04X}, {called}) is not in the PDF's built-in fonts, which cover "
                    "Western European letters (Windows-1252); replace it or give the article another format"
                )
        replaced[char] = plain
    for char, plain in replaced.items():
        text = text.replace(char, plain)
    return text, replaced


def _encodes(char: str) -> bool:
    try:
        char.encode(ENCODING)
    except UnicodeEncodeError:
        return False
    return True


def write_pdf(
    path: Path,
    title: str,
    blocks: Sequence[Block],
    layout: str,
    rng: np.random.Generator,
    *,
    keep: Iterable[str] = (),
    language: str = "en",
    publisher: str = "",
) -> dict[str, str]:
    """Write an article as a PDF file, whole or not at all; returns the characters that were replaced.

    `layout` is "one_column" (header and footer on each page), "two_columns" or "form" (facts in boxes).
    `keep` are values that must not be broken over two lines.
    """
    if layout not in LAYOUTS:
        raise UnknownName("PDF layout", layout, LAYOUTS)
    # A combining accent becomes one character with its letter before the fonts are asked for it.
    whole = unicodedata.normalize("NFC", "\n".join([title, publisher, *(_all_text(block) for block in blocks)]))
    _, replaced = typable(whole, path.name)
    glued = [(value, value.replace(" ", "\xa0")) for value in keep if " " in value and len(value) <= GLUED]

    def typed(text: str) -> str:
        for value, fast in sorted(glued, key=lambda pair: -len(pair[0])):
            text = text.replace(value, fast)
        return typable(unicodedata.normalize("NFC", text), path.name)[0]

    typed_blocks = [
        Block(
            block.kind,
            typed(block.text),
            tuple(typed(item) for item in block.items),
            tuple((typed(label), typed(value)) for label, value in block.rows),
        )
        for block in blocks
    ]
    family = ("Helvetica", "Times")[int(rng.integers(2))]
    size = (9.5, 10.0, 10.5, 11.0)[int(rng.integers(4))]
    sheet = _sheet_class()(family, size, typed(publisher or title), path.stem, PAGE.get(language, "Page"))
    sheet.set_creation_date(WRITTEN)
    sheet.set_title(typed(title))
    sheet.add_page()
    {"one_column": _one_column, "two_columns": _two_columns, "form": _form}[layout](sheet, typed(title), typed_blocks)
    data = bytes(sheet.output())
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_bytes(data)
    part.replace(path)
    return replaced


def _all_text(block: Block) -> str:
    return "\n".join([block.text, *block.items, *(part for row in block.rows for part in row)])


@functools.cache
def _sheet_class() -> Any:
    # Late: fpdf2 takes most of a second to import, and only writing needs it.
    from fpdf import FPDF

    class Sheet(FPDF):
        """A page with the publisher's name above and the page number below."""

        def __init__(self, family: str, size: float, above: str, below: str, page: str) -> None:
            super().__init__()
            self.core_fonts_encoding = ENCODING
            self.family, self.size, self.above, self.below, self.page_word = family, size, above, below, page
            self.widths: dict[tuple[str, str, float, str], float] = {}
            self.set_margins(20, 20)
            self.set_auto_page_break(True, 20)

        def use(self, style: str = "", factor: float = 1.0) -> None:
            self.set_font(self.family, style, self.size * factor)

        def header(self) -> None:
            self.use("I", 0.8)
            self.cell(0, 6, self.above[:90], new_x="LMARGIN", new_y="NEXT", align="R")
            self.ln(3)

        def footer(self) -> None:
            self.set_y(-14)
            self.use("I", 0.8)
            self.cell(0, 6, f"{self.below} - {self.page_word} {self.page_no()}", align="C")

        def put(self, text: str, style: str = "", factor: float = 1.0, after: float = 1.5, **more: Any) -> None:
            self.use(style, factor)
            if more:
                self.multi_cell(0, self.font_size * 1.35, text, new_x="LMARGIN", new_y="NEXT", align="L", **more)
            else:
                for line in self.wrap(text, self.epw):
                    self.cell(0, self.font_size * 1.35, line, new_x="LMARGIN", new_y="NEXT")
            self.ln(after)

        def wrap(self, text: str, width: float) -> list[str]:
            """The text in lines that fit; a word that is too long for any is cut.

            fpdf2's own way measures a line again with each of its characters, which took most of the time.
            """
            room, lines = width - 2 * self.c_margin, [""]
            blank, used = self.measure(" "), 0.0
            for word in text.split(" "):
                size = self.measure(word)
                if lines[-1] and used + blank + size <= room:
                    lines[-1], used = f"{lines[-1]} {word}", used + blank + size
                    continue
                while size > room and len(word) > 1:
                    fits = max(int(len(word) * room / size) - 1, 1)
                    lines.append(word[:fits])
                    word, size = word[fits:], self.measure(word[fits:])
                lines.append(word)
                used = size
            return [line for line in lines if line] or [""]

        def measure(self, text: str) -> float:
            key = (self.family, self.font_style, self.font_size_pt, text)
            if key not in self.widths:
                self.widths[key] = self.get_string_width(text)
            return self.widths[key]

    return Sheet


def _one_column(sheet: Any, title: str, blocks: Sequence[Block]) -> None:
    sheet.put(title, "B", 1.5, 3)
    for block in blocks:
        if block.kind == "heading":
            sheet.put(block.text, "B", 1.15)
        elif block.kind == "paragraph":
            sheet.put(block.text)
        for text in _listed(block):
            sheet.put(text, after=0.8)


def _two_columns(sheet: Any, title: str, blocks: Sequence[Block]) -> None:
    sheet.put(title, "B", 1.5, 3)
    gutter = 8
    width = (sheet.epw - gutter) / 2
    column, top = 0, sheet.get_y()
    y = top
    for block in blocks:
        for text in [block.text] if block.text else _listed(block):
            sheet.use("B" if block.kind == "heading" else "")
            height = sheet.font_size * 1.2
            for line in sheet.wrap(text, width):
                if y + height > sheet.page_break_trigger:
                    column = 1 - column
                    if column == 0:
                        sheet.add_page()
                        sheet.use("B" if block.kind == "heading" else "")
                        top = sheet.get_y()
                    y = top
                sheet.set_xy(sheet.l_margin + column * (width + gutter), y)
                sheet.cell(width, height, line)
                y += height
            y += 1.5


def _form(sheet: Any, title: str, blocks: Sequence[Block]) -> None:
    sheet.set_fill_color(225, 225, 225)
    sheet.put(title, "B", 1.3, 3, fill=True, border=1)
    for block in blocks:
        if block.kind == "facts":
            _boxes(sheet, [f"{label}:\n{value}" for label, value in block.rows], 2)
        elif block.items:
            _boxes(sheet, _listed(block), 1)
        elif block.kind == "heading":
            sheet.put(block.text, "BU")
        else:
            sheet.put(block.text)


def _boxes(sheet: Any, texts: Sequence[str], columns: int) -> None:
    sheet.use()
    rows = [texts[i : i + columns] for i in range(0, len(texts), columns)]
    with sheet.table(first_row_as_headings=False, text_align="LEFT", line_height=sheet.font_size * 1.35) as table:
        for row in rows:
            line = table.row()
            for text in row:
                line.cell(text, colspan=columns - len(row) + 1 if text is row[-1] else 1)
    sheet.ln(2)


def _listed(block: Block) -> list[str]:
    if block.kind == "steps":
        return [f"{i}. {item}" for i, item in enumerate(block.items, 1)]
    return [f"• {item}" for item in block.items] + [f"{label}: {value}" for label, value in block.rows]


def read_pdf(path: Path) -> str:
    """The text of a PDF file, page after page; raises BadFile with the reason and the fix.

    Non-breaking spaces come as plain ones: readers of such files hand them on that way.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise BadFile(path, None, "there is no such file") from None
    except OSError as error:
        raise BadFile(path, None, f"cannot be read ({error.strerror})") from None
    return read_pdf_bytes(data, path)


def read_pdf_bytes(data: bytes, name: object) -> str:
    """`read_pdf` of bytes that are already there; `name` is what messages call the file."""
    import logging

    from pypdf import PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    # What pypdf mends on the way is of no use to the person who reads our one line.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    if not data.startswith(b"%PDF") and b"%PDF" not in data[:1024]:
        raise BadFile(name, None, "is no PDF file" if data else "is empty", "export the article as PDF again")
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise BadFile(name, None, "is encrypted", "save it without a password")
        pages = [page.extract_text() for page in reader.pages]
    except DependencyError:
        raise BadFile(name, None, "is encrypted with AES", "save it without a password") from None
    except BadFile:
        raise
    # A broken file takes pypdf's parser to places that it does not foresee.
    except (PyPdfError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise _corrupt(name, error) from None
    except (AssertionError, NotImplementedError, UnicodeError, OSError, zlib.error) as error:
        raise _corrupt(name, error) from None
    text = re.sub(r"[\xa0\u202f]", " ", "\n".join(pages)).strip()
    if not text:
        raise BadFile(name, None, "holds no text (a scan?)", "run text recognition on it first")
    return text


def _corrupt(name: object, error: Exception) -> BadFile:
    reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
    return BadFile(name, None, f"is a corrupt PDF file ({reason})", "export the article as PDF again")
