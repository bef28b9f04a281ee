"""Where the files lie that come with the product, and what its declarations name: for a checkout and for a wheel.

A checkout has `app.py`, `pages/`, `data/` and `.streamlit/` beside the package; a wheel carries them in `cxlab/_site`.
What users make lies elsewhere, in the store's home (cxlab/store/layout.py).
"""

import functools
import importlib
import os
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parent
SERVED_WITH = {"POLARS_MAX_THREADS": "1"}
"""What the environment of a server of pages has, unless it is set otherwise. A page asks small frames some hundred
questions, each of which takes longer to share among threads than to answer; what is large is asked of DuckDB."""
SERVED_HERE = "CXLAB_SERVED_WITH"
"""The environment variable that holds which of SERVED_WITH the server set: what it starts goes without them."""


def serve_environment() -> dict[str, str]:
    """What a server's environment lacks of SERVED_WITH, and which it is."""
    lacking = {name: value for name, value in SERVED_WITH.items() if name not in os.environ}
    return {**lacking, SERVED_HERE: ",".join(lacking)}


def own_environment() -> dict[str, str]:
    """The environment as it was before a server added to it: for processes that do other work than pages."""
    added = {SERVED_HERE, *os.environ.get(SERVED_HERE, "").split(",")}
    return {name: value for name, value in os.environ.items() if name not in added}


@functools.cache
def site() -> Path:
    """The folder that holds app.py, pages/, data/ and .streamlit/."""
    packed = PACKAGE / "_site"
    return packed if packed.is_dir() else PACKAGE.parent


def data(*parts: str) -> Path:
    """A file or folder below data/."""
    return site().joinpath("data", *parts)


def checkout() -> Path | None:
    """The folder of the source checkout; None where the package was installed as a wheel."""
    return PACKAGE.parent if (PACKAGE.parent / "app.py").is_file() and site() == PACKAGE.parent else None


def default_home() -> Path:
    """Where the store lies unless CXLAB_HOME says otherwise: data/local in a checkout, else the user's own data."""
    if checkout() is not None:
        return data("local")
    own = os.environ.get("XDG_DATA_HOME")
    return Path(own) / "cxlab" if own else Path.home() / ".local" / "share" / "cxlab"


def load_object(name: str) -> Any:
    """What "package.module:name" declares, imported when it is asked for; ImportError or AttributeError without it."""
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def find_object(name: str) -> Any | None:
    """What `load_object` finds; None where its module or folder is not there, as where stand-ins were taken out.

    What is there but cannot be imported still says why.
    """
    module = name.partition(":")[0]
    try:
        return load_object(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        return None
