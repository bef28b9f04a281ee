"""A person's own words on the page Datasets: what was understood of them, to correct and confirm first.

Reading asks a model once; confirming has it write an article and a conversation to look at. Both are kept for as long
as the words, the settings and the corrections are the same.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from cxlab.benchmarks.contract import Benchmark, Correction, Excerpt, Understanding
from cxlab.benchmarks.generation import GenerationContext
from cxlab.errors import CxError
from cxlab.ui.labels import label, plain, section

_READ, _SAMPLE = "cx-own-words-read", "cx-own-words-sample"


def confirm_words(benchmark: Benchmark, given: Mapping[str, Any], seed: int) -> tuple[dict[str, Any], str]:
    """The settings with a person's corrections, and what is still to be done before a dataset can be made; "" when it
    was read, answered and confirmed."""
    understand, excerpts = benchmark.understand, benchmark.excerpts
    if understand is None or excerpts is None or not given.get(benchmark.told_by):
        return dict(given), ""
    context = GenerationContext(seed)
    writer = given.get("model") or benchmark.GenerateOptions.model_fields["model"].default
    # How much is made, and what is done to it, is no matter of what the words mean.
    asked = _key({name: given.get(name) for name in (benchmark.told_by, "model")}, 0)
    with st.container(border=True):
        section("What is understood", "Nothing is made before you have confirmed it.")
        if st.button("Read the paragraph", key="own-words-read", help=plain(f"Asks {writer} once.")):
            _keep(_READ, asked, lambda: understand(benchmark.GenerateOptions.read(given), context), "Reading")
        read: Understanding | None = _kept(_READ, asked)
        if read is None:
            return dict(given), "Have the paragraph read first, and confirm what is understood of it."
        settings, pressed = _correct(given, read.corrections(), asked[:8])
        try:
            asks = read.correct(settings).asks
        except CxError as mistake:
            return settings, str(mistake)
        for question in asks:
            st.warning(plain(question))
        if asks:
            return settings, "Answer what is open, or choose another model to read the paragraph."
        confirmed = _key(settings, seed)
        if pressed:
            options = benchmark.GenerateOptions.read(settings)
            _keep(_SAMPLE, confirmed, lambda: list(excerpts(options, context)), f"{writer} writes a sample")
        shown: list[Excerpt] | None = _kept(_SAMPLE, confirmed)
        if shown is None:
            return settings, "Confirm what is understood; a sample of the texts comes with it."
        show_excerpts(shown)
    return settings, ""


def _correct(given: Mapping[str, Any], corrections: Sequence[Correction], mark: str) -> tuple[dict[str, Any], bool]:
    """The form; the settings with what was put right, and whether it was confirmed. Another reading (`mark`) begins
    anew: what was typed into the form of the last one is not taken along."""
    said: dict[str, str] = {}
    with st.form("own-words", border=False):
        short = [one for one in corrections if not one.separator]
        places = [*st.columns(max(1, len(short))), *st.columns(max(1, len(corrections) - len(short)))]
        for place, one in zip(places, sorted(corrections, key=lambda one: bool(one.separator)), strict=False):
            key = f"own-words-{one.setting}-{mark}"
            if one.choices:
                index = one.choices.index(one.value) if one.value in one.choices else None
                said[one.setting] = place.selectbox(one.title, one.choices, index, key=key, placeholder="choose") or ""
            elif one.separator:
                said[one.setting] = place.text_area(f"{one.title}, {one.hint}", one.value, key=key, height=120)
            else:
                title = f"{one.title} ({one.hint})" if one.hint and one.value else one.title
                said[one.setting] = place.text_input(plain(title), one.value, key=key)
        pressed = st.form_submit_button("That is right: show me a sample", type="primary")
    settings = dict(given)
    for one in corrections:
        parts = [part.strip() for part in said[one.setting].splitlines() if part.strip()]
        value = one.separator.join(parts) if one.separator else said[one.setting].strip()
        if value != one.separator.join(one.value.splitlines()) and (value or one.none):
            settings[one.setting] = value or one.none
    return settings, bool(pressed)


def _key(given: Mapping[str, Any], seed: int) -> str:
    words = json.dumps([seed, sorted(given.items())], default=str)
    return hashlib.sha256(words.encode()).hexdigest()


def _keep(name: str, key: str, make: Callable[[], Any], words: str) -> None:
    try:
        with st.spinner(words):
            st.session_state[name] = (key, make())
    except CxError as mistake:
        st.session_state.pop(name, None)
        st.warning(plain(str(mistake)))


def _kept(name: str, key: str) -> Any:
    found = st.session_state.get(name)
    return found[1] if found is not None and found[0] == key else None


def show_excerpts(found: Sequence[Excerpt]) -> None:
    """The texts beside each other, as they are: text and never markup."""
    columns = st.columns(max(1, len(found)))
    for column, one in zip(columns, found, strict=False):
        with column:
            st.markdown(f"**{plain(label(one.kind).capitalize())}: {plain(one.title)}**")
            with st.container(height=320, border=True):
                for line in one.text.splitlines():
                    if line.strip():
                        st.text(line)
