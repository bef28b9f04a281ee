"""A YAML file that a model has just written: taken out of its reply, and checked before it is stored anywhere."""

import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from cxlab.files.complaints import Complaint


def strip_fence(text: str) -> str:
    """The YAML without a code fence around it."""
    fenced = re.search(r"```(?:ya?ml)?\n(.*?)```", text, re.DOTALL)
    return (fenced[1] if fenced else text).strip() + "\n"


def find_id(yaml: str, otherwise: str) -> str:
    """The id that the file gives itself, as far as it can name a file; `otherwise` where it gives none."""
    found = re.search(r"^id: *['\"]?([A-Za-z_]\w{0,60})", yaml, re.MULTILINE | re.ASCII)
    return found[1] if found else otherwise


def check_text(yaml: str, name: str, check_file: Callable[[Path], Sequence[Complaint]]) -> list[Complaint]:
    """What `check_file` complains of in a file of that name with this text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.yaml"
        path.write_text(yaml, encoding="utf-8")
        return list(check_file(path))
