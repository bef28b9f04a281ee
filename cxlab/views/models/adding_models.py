"""How a model of one's own is made known."""

from pathlib import Path

import streamlit as st

from cxlab.ui.labels import plain, section, show_code

EXAMPLE = """[endpoints.mine]
description = "Our own server"
base_url = "http://127.0.0.1:8000/v1"
model = "my-model"   # else the first that it lists
# The name of a variable, never the key itself:
key_variable = "MY_SERVER_KEY"
key_required = false
# USD per million tokens; left out: cost unknown.
prompt_usd = 0.15
completion_usd = 0.60
as_of = "2026-11-21"
source = "our contract"
"""
SESSION = """export CXLAB_ENDPOINT_URL=http://127.0.0.1:8000/v1
export CXLAB_ENDPOINT_MODEL=my-model
export CXLAB_ENDPOINT_KEY=...   # if it wants one
python -m cxlab app"""


def show_how_to_add(file: Path) -> None:
    """Two ways: for good by a file, for one session by the environment."""
    note = "Any server that speaks OpenAI's protocol: llama.cpp, vLLM, Ollama, a gateway."
    section("Add a model of your own", note)
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("For good: write this to the file below, then use `endpoint:mine`.")
        show_code(EXAMPLE)
        st.caption(plain(file))
    with right:
        st.markdown("For one session: set the environment, start the app, use `endpoint:env`.")
        show_code(SESSION)
        st.markdown("OpenAI's models need only a key. Others come through LangChain: `anthropic:…`, `google_genai:…`.")
        show_code("export OPENAI_API_KEY=...\nexport ANTHROPIC_API_KEY=...")
