"""A YAML file as a pydantic model, or a complaint for each place that does not fit."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from cxlab.errors import BadFile
from cxlab.files.complaints import Complaint, line_of, plain
from cxlab.files.strict_yaml import lines_of, read_yaml

Model = TypeVar("Model", bound=BaseModel)
MOST = 100  # complaints of one file: nobody reads more
_FIXES = {"missing": "add the key", "extra_forbidden": "remove the key or correct its spelling"}


def load_model(path: Path, model: type[Model], form: str) -> Model:
    """The file as a model; BadFile for the first thing that is wrong with it."""
    found, complaints = read_model(path, model, form)
    if found is None:
        first = complaints[0]
        raise BadFile(path, first.line, first.problem, first.fix)
    return found


def read_model(path: Path, model: type[Model], form: str) -> tuple[Model | None, list[Complaint]]:
    """The file as a model, or complaints; `form` says where a writer finds the right form."""
    try:
        data = read_yaml(path)
    except BadFile as error:
        return None, [Complaint(path.name, error.line, error.problem, error.fix)]
    if not isinstance(data, dict):
        return None, [Complaint(path.name, 1, "the file is empty or not a mapping", "begin with id: …")]
    try:
        return model.model_validate(data), []
    except ValidationError as error:
        lines = lines_of(path)
        found = error.errors(include_url=False, include_context=False, include_input=False)
        return None, [
            Complaint(
                path.name,
                line_of(lines, e["loc"]),
                plain(f"{'.'.join(map(str, e['loc']))}: {e['msg']}"),
                _FIXES.get(e["type"], form),
            )
            for e in found[:MOST]
        ]
