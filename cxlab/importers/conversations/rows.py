"""The rows of somebody's file, one at a time, each with its place."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from cxlab.errors import BadFile
from cxlab.files import read_json_lines, read_json_list
from cxlab.importers.conversations.abcd import is_abcd, read_dialogue
from cxlab.importers.conversations.plain_text import read_text_rows
from cxlab.importers.folders import count_table, iterate_table

SUFFIXES = (".jsonl", ".ndjson", ".json", ".parquet", ".csv", ".txt")


class Row(NamedTuple):
    """`number`: the line of JSON Lines or of ParlAI's text, else the row, the list's entry or the transcript from 1,
    without the header.

    `cells`: an object, a list, or what is wrong with the line.
    """

    number: int
    cells: Any


def read_rows(path: Path) -> Iterator[Row]:
    """All rows; BadFile for a file that cannot be read at all."""
    if not path.is_file():
        raise BadFile(path, None, "is no file", "give a file with conversations")
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise BadFile(path, None, f"{suffix or 'no ending'!r} is not known", f"give one of {', '.join(SUFFIXES)}")
    if suffix in (".jsonl", ".ndjson"):
        for number, found in read_json_lines(path):
            yield Row(number, read_dialogue(found) if is_abcd(found) else found)
        return
    if suffix == ".json":
        for number, (_, cells) in enumerate(read_json_list(path, parts=True), 1):
            yield Row(number, read_dialogue(cells) if is_abcd(cells) else cells)
        return
    if suffix in (".csv", ".txt"):
        _check_utf8(path)
    if suffix == ".txt":
        yield from (Row(number, cells) for number, cells in read_text_rows(path))
        return
    for number, cells in enumerate(iterate_table(path), 1):
        yield Row(number, cells)


def count_rows(path: Path) -> int:
    """How many rows there are to read, for progress alone: lines of a text file, blank ones and headers with them."""
    if path.suffix.lower() == ".parquet":
        return count_table(path)
    with path.open("rb") as file:
        lines = 0
        while block := file.read(1 << 20):
            lines += block.count(b"\n")
    return lines


def _check_utf8(path: Path) -> None:
    """BadFile with the line of the first byte that is no UTF-8."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise BadFile(path, number, f"byte {error.start + 1} is no UTF-8", "save the file as UTF-8") from None
