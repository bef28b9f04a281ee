"""Real models that are set up here, offered on the page Run in the place of stand-ins."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cxlab.benchmarks.contract import Benchmark
from cxlab.charts.theme import SIMULATED_PREFIX
from cxlab.read.conditions import of_runs
from cxlab.read.runs import run_record
from cxlab.records.benchmark_card import Declaration
from cxlab.ui.address import cached
from cxlab.ui.labels import plain
from cxlab.views.benchmarks import declared

_MOST_NAMED = 3
_MOST_JUDGES = 3


@dataclass(frozen=True)
class RealModels:
    """Who would take which part: models under test, the customer, judges. `as_before`: as the newest run of real models
    had it, rather than in the order in which they are set up."""

    agents: tuple[str, ...]
    customer: str
    judges: tuple[str, ...]
    as_before: bool


def find_real(about: Declaration, ready: Sequence[str]) -> RealModels | None:
    """Who would take part of the real models that are `ready`; None where none is."""
    if not ready:
        return None
    known = [each for each in of_runs(about.card.id, about.switches).values() if each.model in ready]
    if known:
        newest = max(known, key=lambda each: each.created)
        record = cached(run_record, newest.run) or {}
        judges = tuple(each for each in record.get("judges") or () if each in ready)
        customer = str((record.get("setup") or {}).get("customer") or "")
        alike = [each.model for each in known if each.conditions == newest.conditions]
        if customer in ("", *ready) and len(judges) == len(record.get("judges") or ()):
            return RealModels(tuple(dict.fromkeys(alike)), customer, judges, True)
    # Nobody should judge or play the customer of itself where there is somebody else.
    others = [*ready[1:]] or [*ready]
    return RealModels((ready[0],), others[0], tuple(others[:_MOST_JUDGES]), False)


def offer_real(place: DeltaGenerator, benchmark: Benchmark, ready: Sequence[str], chosen: Collection[str]) -> None:
    """In `place`, where stand-ins are among the `chosen`: that they are, which real models are `ready`, and a button
    that takes these. Real ones are never chosen by themselves, since the next button spends money."""
    stand_ins = any(each.startswith(SIMULATED_PREFIX) for each in chosen)
    found = find_real(declared(benchmark.card.id), ready) if stand_ins else None
    if found is None:
        return
    has = {
        "agents": "agent" in benchmark.model_roles,
        "customer": benchmark.with_customer,
        "judges": benchmark.needs_judges or bool(benchmark.default_judges),
    }
    parts = [part for part, there in has.items() if there]
    more = f" and {len(ready) - _MOST_NAMED} more" if len(ready) > _MOST_NAMED else ""
    named = ", ".join(ready[:_MOST_NAMED]) + more
    with place, st.container(horizontal=True, vertical_alignment="center", key="run-real"):
        st.caption(plain(f"◇ Stand-ins take part, which measures no real model. Set up here: {named}."))
        told = {"agents": ", ".join(found.agents), "customer": found.customer, "judges": ", ".join(found.judges)}
        roles = {"agents": "under test", "customer": "as the customer", "judges": "as judges"}
        who = "; ".join(f"{told[each]} {roles[each]}" for each in roles if each in parts and told[each])
        how = "As the newest run of real models here had it" if found.as_before else "As they are set up"
        tip = f"{how}: {who}. Nothing starts by it, and what it would cost stands beside."
        st.button("Take real models", key="run-take-real", help=plain(tip), on_click=_take, args=(found, parts))


def _take(found: RealModels, parts: Collection[str]) -> None:
    given = {"agents": list(found.agents), "customer": found.customer, "judges": list(found.judges)}
    for part in parts:
        if given[part]:
            st.query_params[part] = given[part]
