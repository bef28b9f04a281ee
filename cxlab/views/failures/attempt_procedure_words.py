"""What is said of a turn of a procedure: how the customer spoke, and where the ways part."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from cxlab.charts.failure_names import name_step, say_unread
from cxlab.charts.names import begin, name_id
from cxlab.read import StoredAttempt, failure_kinds, procedures
from cxlab.read.attempts import read_object
from cxlab.read.failure_kinds import name_kind

DELIVERY = {
    "opening": "in the first message",
    "asked": "when asked",
    "second": "when asked twice",
    "contrast": "by denying another value first",
    "corrected": "wrong at first, then corrected",
}
WORDING = {"says": "plainly", "heated": "in anger", "oblique": "indirectly"}


def list_unread(whole: StoredAttempt) -> dict[int, str]:
    """Turn → why the agent's reply there could not be used, in words."""
    found = whole.failures.filter((pl.col("where_") == "format") & pl.col("turn").is_not_null())
    rows = found.select("turn", "type", "message").iter_rows()
    return {turn: say_unread(form, str(message)) for turn, form, message in rows}


def explain_trace(trace: Mapping[str, Any], message: Mapping[str, Any] | None, unread: str = "") -> str:
    """What went wrong on a turn in plain words: "Read 'call it a day' as demand: enquiry; the panel says change".
    `unread`: why the reply could not be used, where it could not and nothing above says so."""
    kind = trace["error"]
    said, panel = read_object(trace["predicted_fields"]), read_object(trace["panel_fields"])
    wrong = [name for name, value in panel.items() if value is not None and name in said and said[name] != value]
    if kind == "none":
        return "Followed the procedure" + (
            f"; misread {', '.join(map(name_id, wrong))}, which did not matter" if wrong else ""
        )
    if kind == "unscored":
        return "The judges are tied on a field that the path needs: no reference, not scored"
    if kind == "format":
        return f"{unread[:1].upper()}{unread[1:]}, so nothing is scored" if unread else "Nothing is scored"
    if kind in failure_kinds.misread():
        asked = _asked_where_ways_part(trace)
        name = next((field for field in asked if field in wrong), wrong[0] if wrong else "")
        luck = _say_luck(trace)
        if not name:
            return f"The fields that it read lead another way{luck}"
        words = _quoted(str((message or {}).get("reasoning") or ""), name)
        given, wanted = name_id(show_value(said[name])), name_id(show_value(panel[name]))
        read = f"Read “{words}” as {name_id(name)}: {given}" if words else f"Read {name_id(name)} as {given}"
        rest = _list_misread([field for field in wrong if field != name], said, panel)
        return f"{read}; the panel says {wanted}{rest and f'; it misread {rest}, too'}{luck}"
    if kind in failure_kinds.deviations():
        if list(trace["predicted_path"]) == list(trace["reference_path"]):
            given, due = (name_id(trace[f"{who}_action"]) for who in ("predicted", "reference"))
            return f"Right path, wrong action: gave {given}, due was {due}"
        rest = _list_misread(wrong, said, panel)
        return f"{_say_parting(trace)}. " + (f"It misread {rest}" if rest else "By the panel it read the fields right")
    if kind in failure_kinds.disputed():
        return _say_dispute(trace, said, panel)
    return name_kind(str(kind))


def _list_misread(names: Sequence[str], said: Mapping[str, Any], panel: Mapping[str, Any]) -> str:
    """Fields as they were read and as they were: "mood (calm, not angry), urge (no, not yes)"."""
    values = {name: [name_id(show_value(each[name])) for each in (said, panel)] for name in names}
    return ", ".join(f"{name_id(name)} ({read}, not {due})" for name, (read, due) in values.items())


def define_fields(trace: Mapping[str, Any], questions: Mapping[str, str]) -> list[str]:
    """What is meant by each field that agent and panel read otherwise, as judges were asked: "Mood: how …. Calm: …;
    angry: …"."""
    said, panel = read_object(trace["predicted_fields"]), read_object(trace["panel_fields"])
    told = []
    for name in (name for name in said if panel.get(name) not in (None, said[name]) and questions.get(name)):
        first, *lines = questions[name].splitlines()
        options = [line.strip().removeprefix("* ").partition(":") for line in lines]
        meant = "; ".join(f"{name_id(value)}: {words.strip().rstrip('.')}" for value, _, words in options if words)
        told.append(f"{begin(name_id(name))}: {first}" + (f" {begin(meant)}." if meant else ""))
    return told


def list_passing(whole: StoredAttempt) -> list[int]:
    """The turns with an unreadable reply on which nothing is evaluated and no failure stands, as
    `read.kept.troubles` counts them: on the way."""
    decides = whole.attempt["verdict_turn"] if whole.attempt["verdict"] == "failed" else None
    return sorted(list_unread(whole).keys() - {*whole.traces["turn"], decides}) if whole.traces.height else []


def _say_luck(trace: Mapping[str, Any]) -> str:
    """That the action is right all the same, or right by the panel alone."""
    if trace["predicted_action"] != trace["reference_action"]:
        return ""
    if trace["error"] == "field":
        return "; the panel calls the action right, by the customer's own account it is wrong"
    return "; all the same the action is right"


def _say_dispute(trace: Mapping[str, Any], said: Mapping[str, Any], panel: Mapping[str, Any]) -> str:
    """Where panel, agent and the customer's card read otherwise, on a turn for which nobody can hold the agent to
    account: the field that parts the ways first."""
    gold = read_object(trace["gold_fields"])
    asked = _asked_where_ways_part(trace, "gold")
    off = [name for name, value in panel.items() if value is not None and name in gold and value != gold[name]]
    name = next((field for field in asked if field in off), off[0] if off else "")
    not_scored = "so the turn is not scored"
    if name:
        read, holds = name_id(show_value(panel[name])), name_id(show_value(gold[name]))
        alike = panel[name] == said.get(name)
        agent = ", as the agent does" if alike else ", as the agent read it" if said.get(name) == gold[name] else ""
        between = (agent, "") if alike else ("", agent)
        return (
            f"The panel reads {name_id(name)} as {read}{between[0]}; the customer's card holds {holds}{between[1]}, "
            + not_scored
        )
    other = [field for field, value in panel.items() if value is not None and field in said and said[field] != value]
    if other:
        name = next((field for field in _asked_where_ways_part(trace) if field in other), other[0])
        given, wanted = name_id(show_value(said[name])), name_id(show_value(panel[name]))
        return (
            f"The agent read {name_id(name)} as {given}, the panel and the customer's card say {wanted}; by the "
            f"customer's own account it had not said so by then, {not_scored}"
        )
    return f"Agent, panel and card agree; by the customer's own account it had not said all of it by then, {not_scored}"


def _say_parting(trace: Mapping[str, Any]) -> str:
    """Where a way leaves the one that was due, in the words of the groups on the page Failures."""
    took, due = ([*trace[f"{who}_path"], trace[f"{who}_action"]] for who in ("predicted", "reference"))
    common = 0
    while common < min(len(took), len(due)) and took[common] == due[common]:
        common += 1
    scenario = trace.get("procedure")
    after = name_step(scenario, took[common - 1]) if common else "the start"
    went = f"Went to {name_step(scenario, took[common])}" if common < len(took) and took[common] else "Stopped"
    due_words = f"due was {name_step(scenario, due[common])}" if common < len(due) else "the path was over"
    return f"{went} after {after}, {due_words}"


def _asked_where_ways_part(trace: Mapping[str, Any], who: str = "own") -> tuple[str, ...]:
    """The fields that the stage asks for at which the way of `who` (the agent's own fields, or the card's gold) leaves
    the reference."""
    own, due = ([*trace[f"{each}_path"], trace[f"{each}_action"]] for each in (who, "reference"))
    common = [mine for mine, theirs in zip(own, due, strict=False) if mine == theirs]
    place = next((i for i, (a, b) in enumerate(zip(own, due, strict=False)) if a != b), len(common))
    known = procedures.find(trace.get("procedure"))
    if not place or known is None:
        return ()
    return tuple(
        dict.fromkeys(
            field
            for edge in known.edges
            if edge.source == own[place - 1]
            for branch in edge.branches
            for field, _ in branch.conditions
        )
    )


def _quoted(reasoning: str, field: str) -> str:
    """The words that the agent quotes for a field: `FIELD is VALUE ("words")`."""
    found = re.search(rf"{re.escape(field)} (?:is|=) [^(;.]*\(\"([^\"]{{1,120}})\"\)", reasoning)
    return found.group(1) if found else ""


def show_value(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
