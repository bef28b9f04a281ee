"""The form on the page Run as a stored run was ordered: to run the same with other models, or again."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from cxlab.benchmarks import REGISTRY
from cxlab.read.conditions import Conditions, of_runs
from cxlab.read.runs import run_record
from cxlab.records.benchmark_card import Declaration
from cxlab.records.settings import Switch, write_word
from cxlab.ui.address import cached, link
from cxlab.views.switches import name_choice

# What the form has at once, and therefore not in the address.
_USUAL = {"trials": "1", "seed": "0", "at_once": "32"}

Address = dict[str, str | list[str]]


def form_of(run_id: str, models: Sequence[str] = ()) -> Address:
    """The parameters of the page Run that order what this run was ordered to do; of `models` where any are named. {}
    where there is no such run, or its benchmark is not here."""
    row = cached(run_record, run_id)
    if row is None or row["benchmark"] not in REGISTRY:
        return {}
    setup, benchmark = row["setup"], REGISTRY[row["benchmark"]]
    choice = setup.get("choice") or {}
    form: dict[str, str | list[str] | None] = {
        "bench": row["benchmark"],
        "dataset": row["dataset_id"],
        "agents": list(models) or [setup.get("model") or row["model"]],
        "judges": list(row["judges"] or ()),
        "customer": setup.get("customer"),
        "limit": write_word(choice.get("limit")),
        "trials": write_word(row["trials"]),
        "seed": write_word(row["seed"]),
        "budget": write_word(setup.get("budget_usd")),
        "at_once": write_word(setup.get("concurrency")),
        "cache": "true" if setup.get("cache") else "",
    }
    for facet, value in choice.get("where") or ():
        picked = form.setdefault(f"only-{facet}", [])
        assert isinstance(picked, list)
        picked.append(value)
    form |= _write_options(benchmark.Options.switches(), setup.get("options") or {})
    return {name: value for name, value in form.items() if value and value != _USUAL.get(name)}


def _write_options(switches: Sequence[Switch], options: Mapping[str, Any]) -> Address:
    """Switch by switch what its widget stands at, as it writes itself into the address."""
    told: Address = {}
    for switch in switches:
        value = options.get(switch.name)
        if not switch.on_page or value in (None, "", [], ()) or value == switch.default:
            continue
        many = switch.kind == "choices"
        told[f"option-{switch.name}"] = [name_choice(switch, each) for each in value] if many else write_word(value)
    return told


def link_floors(about: Declaration, conditions: Conditions | None) -> None:
    """A link to the page Run, filled in to run the benchmark's constant agents as the newest run under these conditions
    was ordered; nothing where there is none."""
    newest = _find_newest(about, conditions)
    if newest and (form := form_of(newest, about.floor_models)):
        link("Run the constant agents on the same", "run", also=form)


def link_estimate(about: Declaration, conditions: Conditions | None, run: str = "") -> None:
    """A link to the page Run, filled in as a run of stand-ins was ordered, where real models can be added and what they
    would cost is told before anything is sent: `run`, or the newest under these conditions; nothing where there is
    none."""
    wanted = run or _find_newest(about, conditions)
    if wanted and (form := form_of(wanted)):
        words = "Add a model to the same settings on Run: what it would cost and take is told before it starts."
        link("What would real models cost? Estimate it on Run", "run", help=words, also=form)


def _find_newest(about: Declaration, conditions: Conditions | None) -> str:
    """The newest run under these conditions that is of no constant agent, else of one; "" where there is none."""
    known = [each for each in of_runs(about.card.id, about.switches).values() if each.conditions == conditions]
    newest = max(known, key=lambda each: (each.model not in about.floor_models, each.created), default=None)
    return newest.run if newest else ""


def offer_form(run_ids: Sequence[str]) -> None:
    """On the page Run: the same page in a new tab, filled in as the one run was ordered.

    Here it cannot be filled in: what a field is bound to in the address is the field's alone as long as it is drawn.
    """
    form = form_of(run_ids[0]) if len(run_ids) == 1 else {}
    st.link_button(
        "Use these settings", f"?{urlencode(form, doseq=True)}", disabled=not form, icon=":material/open_in_new:",
        help="Opens this form filled in as the run was ordered: to run it again, or with another model.",
    )  # fmt: skip
