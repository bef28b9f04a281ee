"""The overview of a brand made of a brief: what the brief says, quoted, and its figures that belong to nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cxlab.benchmarks.cxmarena.brand import value_format
from cxlab.benchmarks.cxmarena.brand.brand_pack import load_language
from cxlab.benchmarks.cxmarena.brand.value_format import ValueMention
from cxlab.benchmarks.cxmarena.simulated.brief import BriefFigure, sentences
from cxlab.benchmarks.cxmarena.simulated.industry_archetypes import CommonArchetype

Pack = dict[str, Any]
# Kinds of figures that are told as they are written.
WORDED = ("date", "time", "written")
PERIODS = ("minute", "hour", "day", "working_day", "week", "month", "year")
FOUNDED = re.compile(r"\b(since|founded|established|seit|gegründet|depuis|fondée?|née?)\b", re.IGNORECASE)
YEARS = range(1700, 2101)
# Small words that lead to a figure.
LEADING = re.compile(
    r"(?:\b(?:from|of|at|within|in|for|by|till|until|to|von|ab|um|bis|binnen|für|de|à|en|dès|sous|d[’'])\s*)$",
    re.IGNORECASE,
)

DATIVE = re.compile(r"\d (?:Tagen|Werktagen|Monaten|Jahren)$")


def make_overview(
    pack: Pack, known: CommonArchetype, brief: str, rest: list[BriefFigure], language: str
) -> dict[str, Any]:
    """A family with one subject: what the brief says, quoted, and its figures that nothing else has."""
    form = known.overview
    subject = form["name"].format(name=pack["name"])
    own: dict[str, Any] = {} if rest else {form["opened"]: {}}
    rest = [_apart(each, rest[:place]) for place, each in enumerate(rest)]
    for number, each in enumerate(rest, start=1):
        key, spec = _told_property(known, each, number, language)
        pack["properties"][key] = spec
        own[key] = {}
    return {
        **{part: form[part] for part in ("root", "title", "one", "the", "many", "description")},
        **{part: form[part] for part in ("acc", "dat") if part in form},
        "models": [subject],
        "properties": own,
        "aspects": [],
        "about": [form["says"].format(sentence=one) for one in sentences(brief)],
        "use": [form["use"]],
    }


def _apart(each: BriefFigure, earlier: list[BriefFigure]) -> BriefFigure:
    """The figure without what its clause shares with an earlier one of its kind: "£6 for children" of tickets."""
    before, _, after = each.clause.partition(each.text)
    shared = before.strip() and any(
        (one.kind, one.unit) == (each.kind, each.unit) and one.clause.startswith(before) for one in earlier
    )
    if not shared or not re.search(r"[^\W\d_]{4,}", after):
        return each
    clause = f"{each.text}{after}"
    return each._replace(clause=clause, what=" ".join(word for word in each.what.split() if word in clause))


def _as_quoted(each: BriefFigure, language: str) -> tuple[str, str]:
    """The clause with a gap for the figure and without others like it, and its longest piece without a figure."""
    # What a person put right is no clause of the brief.
    if not all(word in each.clause for word in each.what.split()):
        return each.what, each.what.lower() or "figure"
    at = each.clause.find(each.text) if each.text in each.clause else len(each.clause)
    if not (others := _beside(each, language)) or not any(_alike(each, other) for other in others):
        ends = sorted([(at, at + len(each.text)), *((o.start, o.end) for o in others)])
        starts = [0, *(end for _, end in ends)]
        pieces = [each.clause[a:b] for a, (b, _) in zip(starts, [*ends, (len(each.clause), 0)], strict=True)]
        cue = max((LEADING.sub("", piece).strip(" ,") for piece in pieces), key=len)
        return each.clause.replace(each.text, "…", 1), cue.lower() or "figure"
    before = _without_figures(each.clause, language, 0, at)
    after = _without_figures(each.clause, language, at + len(each.text), len(each.clause))
    after = after if re.search(r"[^\W\d_]{4,}", after) else ""
    side = max(before.strip(" ,"), after.strip(" ,"), key=len)
    return f"{before} …{' ' * bool(after) + after}".strip(), side.lower() or "figure"


def _as_told(form: Mapping[str, str], each: BriefFigure, what: str, language: str) -> str:
    """How the overview gives the figure: in the clause as it was written, or, where that was put right or holds others
    that could be taken for it, as what it belongs to."""
    before, found, after = each.clause.partition(each.text)
    others = any(_alike(each, other) for other in _beside(each, language))
    if others or not found or what == each.what or set("(|)<>") & set(before + after):
        return form["says"].format(what=what)
    # German declines what is counted: "innerhalb von 14 Tagen".
    value = "<value_dat>" if DATIVE.search(found) else "<value>"
    return form["quotes"].format(clause=f"{before}{value}{after}".strip())


def _beside(each: BriefFigure, language: str) -> list[ValueMention]:
    """The other figures of its clause."""
    at = each.clause.find(each.text)
    found = value_format.find(each.clause, load_language(language))
    return [one for one in found if at < 0 or one.end <= at or at + len(each.text) <= one.start]


def _alike(each: BriefFigure, other: ValueMention) -> bool:
    """Whether a reader could take the one figure for the other; what is told in words is known by them."""
    return (each.kind, each.unit) == (other.kind, other.unit) and each.kind not in WORDED


def _without_figures(clause: str, language: str, start: int, end: int) -> str:
    """A side of a clause without its figures and the small words that lead to them ("from 6 am").

    Figures are looked for in the whole clause: what stands beside one may tell a time of day from a length of time.
    """
    kept, at = "", start
    for figure in value_format.find(clause, load_language(language)):
        if at <= figure.start and figure.end <= end:
            kept += LEADING.sub("", clause[at : figure.start])
            at = figure.end
    return " ".join((kept + clause[at:end]).split())


def _told_property(known: CommonArchetype, each: BriefFigure, number: int, language: str) -> tuple[str, dict[str, Any]]:
    """A property that holds one figure of the brief."""
    kind = {"size": "period" if each.unit in PERIODS else "size"}.get(each.kind, each.kind)
    year = each.kind == "count" and float(each.value) in YEARS and FOUNDED.search(each.clause)
    form = known.founded if year else known.told
    what, cue = _as_quoted(each, language)
    spec: dict[str, Any] = {
        "name": form["name"] if year else " ".join(what.replace("…", "").split()).strip(" ,") or each.text,
        "the": form["the"],
        "kind": kind,
        "cues": [form["cue"] if year else cue],
        "says": [form["says"].format(what=what) if year else _as_told(form, each, what, language)],
        "asks": [form["asks"].format(what=what)],
    }
    if kind in WORDED:
        spec |= {"kind": "choice", "options": [each.text]}
    else:
        spec |= {"range": [each.value, each.value]}
    if each.unit:
        spec["unit"] = each.unit
    return ("founded" if year else f"told_{number}"), spec


__all__ = ["PERIODS", "make_overview"]
