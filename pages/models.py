"""Models: which models can I use?"""

import asyncio

import polars as pl
import streamlit as st

from cxlab import llm, ui
from cxlab.benchmarks import list_models
from cxlab.charts.numbers import format_seconds
from cxlab.llm.probe import Capabilities, probe
from cxlab.llm.registry import user_file
from cxlab.llm.simulated import list_profiles
from cxlab.views.models.adding_models import show_how_to_add
from cxlab.views.models.known_models import say_known
from cxlab.views.models.prompt_texts import show_prompts

ui.routed()

KINDS = {"simulated": "simulated", "openai": "OpenAI", "endpoint": "own server", "langchain": "LangChain"}
KNOBS: dict[str, tuple[str, ui.Kind, str]] = {
    "comprehension": ("Plain words", "share", "Share of the obvious signals that it knows."),
    "subtlety": ("Hints", "share", "Share of the oblique signals that it knows."),
    "rule_following": ("Rules", "share", "How often a rule that applies is applied."),
    "joint_conditions": ("Conditions", "share", "How often all conditions of a rule are checked."),
    "format_reliability": ("Form", "share", "How often a reply has the form that was asked for."),
    "empathy": ("Empathy", "share", "How often a feeling that was shown is answered."),
    "hostility_sensitivity": ("Rattled", "share", "What an aggressive tone costs in rule following."),
    "tool_skill": ("Tools", "share", "How often a tool is chosen and filled in correctly."),
    "words": ("Words", "count", "Typical length of a reply."),
    "fatigue": ("Forgets after", "count", "Turn after which early context is lost."),
    "strictness": ("Strictness", "ratio", "-1 forgives all, 0 reads as written, 1 forgives nothing."),
    "self_preference": ("Favours its own", "share", "How much the style of its own family is favoured."),
}
JUDGING = ("comprehension", "subtlety", "rule_following", "format_reliability", "strictness", "self_preference")
TALKING = tuple(name for name in KNOBS if name not in ("strictness", "self_preference"))
READY = {0: "✓ ready", 1: "✓ ready", 2: "if its server runs"}
FOUND = {True: "✓ yes", False: "✕ no", None: "– not applicable"}


def needs(told: str) -> str:
    """What a model still needs, as short as a table wants it."""
    return f"needs {told.removesuffix(' in the environment').removeprefix('set ').replace(' and set ', ', ')}"


def show_list() -> str:
    """All models that have a name; the one that was picked, else a real one that is set up, or ""."""
    known = sorted(list_models(), key=lambda row: row.rank)
    # What stand-ins cost says nothing of real models.
    prices = [None if row.simulated else row.prices for row in known]
    rows = pl.DataFrame(
        {
            "name": [row.name for row in known],
            "kind": [KINDS.get(row.kind, row.kind) for row in known],
            "ready": [READY.get(row.rank) or needs(row.needs) for row in known],
            "price": [f"${each.prompt_usd:.2f} and ${each.completion_usd:.2f}" if each else "–" for each in prices],
            "prompt": [each.prompt_usd if each else None for each in prices],
            "completion": [each.completion_usd if each else None for each in prices],
            "description": [row.description for row in known],
            "as_of": [row.prices.as_of if row.prices else "" for row in known],
            "source": [row.prices.source if row.prices else "" for row in known],
        },
        schema_overrides={"prompt": pl.Float64, "completion": pl.Float64},
    )
    columns = {
        "name": ui.column("Name", help="Use it so on the page Run and on the command line."),
        "ready": ui.column("Ready", help="Keys are read from the environment only and shown nowhere."),
        "price": ui.column("Price", help="USD per million tokens of prompts and of completions."),
        "description": ui.column("What it is"),
    }
    for complaint in llm.complaints():
        st.warning(ui.plain(str(complaint)), icon="⚠")
    ui.section(*say_known(sum(row.rank == 0 for row in known), sum(row.simulated for row in known)))
    alt = "All known models."
    picked = ui.show_table(rows, columns, key="models", alt=alt, select="single", search=True, height=320)
    # Whoever set one up comes to test it.
    return str(picked[0]["name"]) if picked else next((row.name for row in known if row.rank == 0), "")


def show_test(picked: str) -> None:
    ui.section("Does it answer, and what does it understand?", "Up to four small calls, some tens of tokens.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        tip = "Any name, for example endpoint:local/my-model."
        name = st.text_input("Model", picked or "simulated:strong", key=f"test-name-{picked}", help=tip, width=420)
        pressed = st.button("Test connection", type="primary", key="test")
    if pressed:
        # What was found stays until another model is asked: the next click elsewhere must not wipe it away.
        st.session_state.pop("test-found", None)
        with ui.guarded(), st.spinner("Asking"):
            st.session_state["test-found"] = asyncio.run(ask(name.strip()))
    if found := st.session_state.get("test-found"):
        show_capabilities(found)


async def ask(name: str) -> Capabilities:
    model = llm.load(name)
    try:
        return await probe(model)
    finally:
        await model.aclose()


def show_capabilities(found: Capabilities) -> None:
    if not found.answers:
        fix = "Check that the server runs, its address and its key."
        ui.error(f"{found.name} does not answer: {found.problem}", fix)
        return
    st.success(ui.plain(f"{found.name} answers in {format_seconds(found.latency_s)}."))
    rows = [
        ("Structured output", found.json_schema, "The server holds a reply to the form (json_schema)."),
        ("JSON mode", found.json_object, "The server promises JSON; the form is checked here (json_object)."),
        ("Tools", found.tools, "Agents that call functions can use it."),
        ("Reports tokens", found.usage, "Costs can be told; without it they stay unknown."),
    ]
    titles = {"what": "Capability", "found": "Found", "why": "What for"}
    frame = pl.DataFrame([(what, FOUND[value], why) for what, value, why in rows], list(titles), orient="row")
    columns = {name: ui.column(title) for name, title in titles.items()}
    ui.show_table(frame, columns, key="capabilities", alt="What the model can do.", downloads=False)
    for note in found.notes:
        st.caption(ui.plain(note))


def show_profiles() -> None:
    note = (
        "They do each task by plain means (rules, likeness of words) and are made worse by these numbers. They never "
        "see the expected answer; same seed, same bytes. Change a number in the name: `simulated:strong?empathy=0.2`"
    )
    ui.section("Simulated models, in words and numbers", note, badges=["simulated"])
    profiles = list_profiles().values()
    roles = list(dict.fromkeys(profile.role for profile in profiles))
    role = st.segmented_control("Role", roles, default="agent", required=True, key="role", bind="query-params")
    shown = [profile for profile in profiles if profile.role == role]
    names = JUDGING if role == "judge" else TALKING
    rows = [{"name": p.name, "explains": p.explains, **{name: getattr(p, name) for name in names}} for p in shown]
    columns = {"name": ui.column("Name")} | {name: ui.column(*KNOBS[name]) for name in names}
    for profile in shown:
        st.markdown(f"**{ui.plain(profile.title)}** · {ui.plain(profile.explains)}")
    ui.show_table(pl.DataFrame(rows), columns, key=f"profiles-{role}", alt="Simulated models and their settings.")


ui.header("Models", "Which models can I use, and what would they cost?")
show_test(show_list())
show_profiles()
show_prompts()
show_how_to_add(user_file())
