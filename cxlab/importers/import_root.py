"""What a page may read from disk: files and folders below one root, which the owner of the server sets.

The command line reads what its user may read; a page is used by whoever reaches the server.
"""

import os
from pathlib import Path

from cxlab.errors import BadOption
from cxlab.store import home

VARIABLE = "CXLAB_IMPORT_ROOT"
"""The environment variable that names the root; `cxlab app --import-root` sets it."""


def import_root() -> Path:
    """The root, links resolved: what VARIABLE names, else `imports` in the store's folder; it need not exist."""
    chosen = os.environ.get(VARIABLE)
    return (Path(chosen).expanduser() if chosen else home() / "imports").resolve()


def find_below_root(given: str) -> Path:
    """The file or folder that a page names, relative to the root or in full; BadOption for any that lies elsewhere.

    Links are followed before it is looked where it lies, and nothing outside is looked at; the same for links within.
    """
    root = import_root()
    fix = f"put the files below {root}, or start the app with --import-root FOLDER"
    try:
        found = (root / given).resolve()
        if not found.is_relative_to(root):
            raise BadOption(f"{given[:80]!r} is not below the folder that pages may import from; {fix}")
        for path in found.rglob("*"):
            if path.is_symlink() and not path.resolve().is_relative_to(root):
                raise BadOption(f"{given[:80]!r} has a link that leads elsewhere: {path.relative_to(root)}; {fix}")
    except (OSError, ValueError, RuntimeError):  # a name too long, a NUL in it, links in a circle
        raise BadOption(f"{given[:80]!r} is no usable name of a folder") from None
    return found
