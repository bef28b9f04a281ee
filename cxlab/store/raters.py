"""The names by which people decide, one a browser: typed once and found again by what the browser is known by."""

import hashlib
import re
from pathlib import Path

from cxlab.store import layout

_ID = re.compile(r"[0-9a-f]{32}")
LONGEST_NAME = 60


def find_rater(browser: str, home: Path | str | None = None) -> str:
    """The name that was typed in this browser; "" where none was, or the id is none of ours."""
    path = _place(browser, home)
    try:
        return path.read_text(encoding="utf-8")[:LONGEST_NAME] if path is not None else ""
    except (FileNotFoundError, UnicodeDecodeError):
        return ""


def remember_rater(browser: str, name: str, home: Path | str | None = None) -> None:
    """Keep a name for this browser; nothing for an id that is none of ours."""
    path = _place(browser, home)
    if path is not None:
        layout.write_whole(path, name[:LONGEST_NAME].encode())


def _place(browser: str, home: Path | str | None) -> Path | None:
    # A digest, so that whoever reads the folder cannot pass for another browser.
    if not _ID.fullmatch(browser):
        return None
    return layout.resolve_home(home) / "raters" / hashlib.sha256(browser.encode()).hexdigest()[:32]
