"""What a real model is asked: a benchmark's prompts for a usual sample, message by message, as text."""

import json

import streamlit as st

from cxlab.benchmarks import REGISTRY, get
from cxlab.benchmarks.prompt_renderings import Rendering, render
from cxlab.errors import NotConfigured
from cxlab.ui.address import cached
from cxlab.ui.choices import choose_id
from cxlab.ui.labels import empty, plain, section, show_code

ROLES = {"agent": "the model under test", "customer": "the customer", "judge": "a judge", "writer": "who writes"}


def show_prompts() -> None:
    """A benchmark, one of its prompts, and that prompt's messages with tools and schema."""
    note = "Word for word what is sent for one usual sample, in the middle of a dialogue where there is one."
    section("What a real model is asked", note)
    names = list(REGISTRY)
    with st.container(horizontal=True):
        benchmark = choose_id("prompts", "Benchmark", names, lambda name: get(name).card.title)
        try:
            with st.spinner("Asking simulated models"):
                found = {one.name: one for one in cached(render_prompts, benchmark)}
        except NotConfigured:
            command = f"python -m cxlab generate {benchmark}"
            empty("Prompts are shown for a stored sample, and this benchmark has none yet.", command=command)
            return
        name = choose_id("prompt", "Prompt", list(found), lambda name: f"{name} · {ROLES[found[name].role]}")
    show_rendering(found[name])


def render_prompts(benchmark: str) -> list[Rendering]:
    """The renderings of a benchmark, made anew when the store changes."""
    return render(get(benchmark), make=False)


def show_rendering(one: Rendering) -> None:
    """Messages as text, never as markup."""
    for number, message in enumerate(one.messages, 1):
        st.caption(plain(f"{number} · {message['role']}"))
        show_code(message["content"])
    if one.tools:
        with st.expander(f"{len(one.tools)} tools offered"):
            show_code(json.dumps(list(one.tools), indent=2, ensure_ascii=False))
    if one.schema is None:
        st.caption("No schema: the reply is plain text" + (" or a call." if one.tools else "."))
        return
    with st.expander("Schema of the reply"):
        show_code(json.dumps(one.schema, indent=2, ensure_ascii=False))
