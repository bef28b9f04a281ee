"""What groups of alike failures are called, on pages and in reports."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from cxlab.charts.names import begin, name_id
from cxlab.charts.numbers import format_count
from cxlab.charts.theme import short_model
from cxlab.read import failure_kinds, procedures
from cxlab.records.fault_words import name_fault_type

_FORMS = {
    "not_json": "the reply held no JSON object that can be read",
    "empty": "the reply was empty",
    "length": "the reply was cut off at its length limit",
}

# Of single replies these say more themselves; of many that are alike, what they have in common.
_ALIKE = {
    **_FORMS,
    "truncated": "the reply was cut off at its token limit",
    "refusal": "the model declined",
    "filtered": "the provider's content filter held the reply back",
    "bad_arguments": "a tool call's arguments are no JSON object",
    "no_action": "no action that can be read",
}

# What the parser of replies says of a value outside a field's options.
_OUTSIDE = re.compile(r"field '(?:\w+\.)*(\w+)': '(.*?)': Input should be (.+)", re.DOTALL)

_EVENTS = {
    "refused": "Refused",
    "arguments": "Bad arguments",
    "unknown_tool": "Unknown tool",
    "tool": "Tool error",
    "customer_tool": "Refused to the customer",
    "agent": "Slip of the agent",
}


def describe_group(row: Mapping[str, Any], titles: Mapping[str, str] = MappingProxyType({})) -> tuple[str, str]:
    """A group in words: what happened ("Read info completeness as no, it was yes"), and where; `titles` of tasks."""
    kind = row["kind"]
    if kind in _EVENTS:
        return describe_event(row, titles)
    several = row.get("scenarios") or 0
    scenario = f"{several} procedures or tasks" if several > 1 else _name(row["scenario"], titles)
    step, took, due = (name_step(row["scenario"], row[name]) for name in ("stage", "took", "due"))
    misread = failure_kinds.misread()
    if kind in misread and row["field"]:
        what = f"Read {name_id(row['field'])} as {name_id(row['given'])}, it was {name_id(row['wanted'])}"
        where = f"at {step}: leads to {_lead(row, 'took')}, not {_lead(row, 'due')}"
        # The first class is the plain one.
        return what, ("" if kind == next(iter(misread)) else f"{misread[kind]} · ") + f"{scenario} · {where}"
    if kind in misread:
        return f"Fields lead to {_lead(row, 'took')}, not {_lead(row, 'due')}", f"{scenario} · from {step}"
    if kind in failure_kinds.deviations():
        known = procedures.find(row["scenario"])
        if known and {known.node(row["took"] or ""), known.node(row["due"] or "")} <= {*known.actions}:
            return f"Handed out {took}, due was {due}", f"{scenario} · right path, wrong action at {step}"
        went = f"Went to {took}" if row["took"] else "Stopped"
        due_words = f"due was {due}" if row["due"] else "the path was over"
        return f"{went}, {due_words}", f"{scenario} · after {step}; by the panel it read the fields right"
    detail = str(row["detail"] or "")
    if kind in ("answer", "unmarked"):
        # Told by the verdict alone: its reason, and as much as it says of the place.
        places = [(name, row.get(name)) for name in ("stage", "field", "tool")]
        # "Policy: ..." has named the field already.
        said = [scenario] + [
            f"{name} {_place(row['scenario'], name, value)}"
            for name, value in places
            if value and not detail.lower().startswith(f"{value}:".lower())
        ]
        detail = spell_programs(detail)
        return f"{detail[:1].upper()}{detail[1:]}" or failure_kinds.name_kind(kind).capitalize(), " · ".join(said)
    form, _, part = detail.partition(" ")
    if kind == "format" and form == "invalid":
        name = part.removeprefix("fields.")
        what = f"Unreadable reply: {name_id(name) if name else 'something'} missing or outside the options"
    else:
        words = name_fault_type(form) if kind == "provider" else _ALIKE.get(form, form.replace("_", " "))
        what = f"{failure_kinds.name_kind(kind).capitalize()}: {words}"
    # What a provider's server said is the quickest way to what is wrong with it.
    return what, f"{scenario} · “{part}”" if kind == "provider" and part else scenario


def name_group(row: Mapping[str, Any], titles: Mapping[str, str] = MappingProxyType({})) -> str:
    """What happened in a group, and in which scenario where the same happened in others too (`elsewhere`, of
    `failures.groups`): "Handed over without need, in “Serve an order”"."""
    what = describe_group(row, titles)[0]
    return f"{what}, in “{_name(row['scenario'], titles)}”" if row.get("elsewhere") and row["scenario"] else what


def say_unread(form: str, message: str) -> str:
    """Why a reply could not be used, in words: "risk status is “SafeRequest”, outside its options (risk, safe)"."""
    found = _OUTSIDE.fullmatch(message)
    if form == "invalid" and found:
        field, value, wanted = found.groups()
        options = [name_id(each) for each in re.findall(r"'([^']*)'", wanted)]
        due = "yes, no" if "boolean" in wanted else ", ".join(options) or wanted
        return f"{name_id(field)} is “{value}”, outside its options ({due})"
    return _FORMS.get(form, message)


def _lead(row: Mapping[str, Any], name: str) -> str:
    """What a field leads to: a stage by its title, the action "…" or the plan "…"."""
    known, step = procedures.find(row["scenario"]), row[name]
    told = name_step(row["scenario"], step)
    if known and step in known.plans:
        return f"the {told}"
    return f"the action “{told}”" if known and step and known.node(step) in known.actions else told


def say_owner(owner: object) -> str:
    """Whose doing it was: "the agent's doing"; "" where nobody said."""
    return f"the {owner}'s doing" if owner else ""


def say_doing(row: Mapping[str, Any]) -> str:
    """Whose doing a group was, and in how many of its attempts people say that it was another's: "the agent's doing,
    2 disputed"; "" where nobody said."""
    doing, disputed = say_owner(row["owner"]), row.get("disputed") or 0
    return f"{doing or 'nobody says whose doing'}, {format_count(disputed)} disputed" if disputed else doing


def say_size(n: int, attempts: int, things: tuple[str, str]) -> str:
    """How many attempts failed alike, and how often where that is more: "35 failures in 19 dialogues"."""
    held = f"{format_count(attempts)} {things[attempts != 1]}"
    return held if n == attempts else f"{format_count(n)} failure{'s' if n != 1 else ''} in {held}"


def say_commonest(
    row: Mapping[str, Any], things: tuple[str, str], titles: Mapping[str, str] = MappingProxyType({})
) -> str:
    """What is most often and whose doing, of the first row of `failures.groups`; that several are level, if they are:
    "read x as no, it was yes (the agent's doing)"."""
    if row["level"] > 1:
        size = f"{format_count(row['attempts'])} {things[row['attempts'] != 1]}"
        return f"Nothing stands out: {format_count(row['level'])} kinds of failure in {size} each"
    what, doing = name_group(row, titles), say_doing(row)
    return f"{what[:1].lower()}{what[1:]}" + (f" ({doing})" if doing else "")


def say_worst(
    row: Mapping[str, Any], things: tuple[str, str], of: str, titles: Mapping[str, str] = MappingProxyType({})
) -> tuple[str, str]:
    """What breaks most, of the first row of `failures.groups`: what and whose doing; and how many, `of` how many, whose
    they are most often, and one of several that are level."""
    what, where = name_group(row, titles), describe_group(row, titles)[1]
    said = f" {where}." if row["kind"] == "provider" and row["level"] == 1 else ""
    first = f"One of them: {what}. " if row["level"] > 1 else ""
    size = f"{say_size(row['n'], row['attempts'], things)}, {of}. {_say_mostly(row['by_model'])}."
    return begin(say_commonest(row, things, titles)), f"{first}{size}{said}"


def _say_mostly(by_model: Mapping[str, int]) -> str:
    """Whose failures a group's are most often: "130 of the 239 are weak's", "All are weak's"."""
    model, most = max(by_model.items(), key=lambda each: (each[1], each[0]))
    every = sum(by_model.values())
    of = f"{format_count(most)} of the {format_count(every)} are" if len(by_model) > 1 else "All are"
    return f"{of if every > 1 else 'It is'} {short_model(model)}'s"


def describe_event(row: Mapping[str, Any], titles: Mapping[str, str] = MappingProxyType({})) -> tuple[str, str]:
    """What failed on the way, in words ("Refused: no user has this e-mail address"), and where."""
    detail = str(row["detail"] or "").strip().rstrip(".")
    if row["kind"] not in _EVENTS:
        return describe_group({**dict.fromkeys(("stage", "took", "due", "field")), **row}, titles)
    unknown = re.fullmatch(r"There is no tool named '([^']+)' here", detail)
    said = unknown.group(1) if unknown else detail
    words = f"{_EVENTS[row['kind']]}: {said}" if said else _EVENTS[row["kind"]]
    return words, _name(row["scenario"], titles)


def _name(place: str | None, titles: Mapping[str, str]) -> str:
    return titles.get(place or "") or (place or "any scenario").replace("_", " ").capitalize()


def name_step(scenario: str | None, step: str | None) -> str:
    """A stage of a procedure by its title, an action in words, a plan by what it is, for its letter says nothing; "the
    end" behind a way that is over."""
    if not step:
        return "the end" if step is None else "nothing"
    if step == "start":
        return "the start"
    known = procedures.find(scenario)
    if known and step in known.plans:
        return f"plan “{known.plans[step]}”"
    return f"“{known.stages[step]}”" if known and step in known.stages else name_id(step)


def spell_programs(text: str) -> str:
    """A text with the names that programs have in it as words, “find user id by email” of find_user_id_by_email;
    its lines in one."""
    in_one = text.replace("\n", " · ")
    return re.sub(r"\b[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+\b", lambda found: f"“{found[0].replace('_', ' ')}”", in_one)


def _place(scenario: str | None, kind: str, value: str) -> str:
    """Where an attempt was decided; a tool is named in words."""
    return (
        spell_programs(value) if kind == "tool" else name_step(scenario, value) if kind == "stage" else name_id(value)
    )
