"""What judges of SAGE are asked of each field and grade, in the words of their prompt."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from cxlab.benchmarks.sage.options import SageOptions
from cxlab.benchmarks.sage.procedures.sop_text import show_field
from cxlab.benchmarks.sage.prompts.scenario_prompts import DIMENSIONS, judge_points
from cxlab.benchmarks.sage.rules import files_by_id, load
from cxlab.errors import CxError


def questions(facets: Mapping[str, str], options: Mapping[str, Any]) -> dict[str, str]:
    """Field or grade → what is asked of it: of the scenario that the facets name, else of all; a field that several
    scenarios have is told as the first of them has it. A scenario whose file is gone or broken asks nothing."""
    named = facets.get("scenario")
    glossary, points = SageOptions.of(options).glossary, judge_points()
    found: dict[str, str] = {}
    for id in [named] if named else files_by_id():
        with suppress(CxError):
            fields = {name: show_field(spec, glossary) for name, spec in load(id).fields.items()}
            found = {**fields, **{name: points[name] for name in DIMENSIONS}, **found}
    return found
