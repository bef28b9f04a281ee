"""A person's own words on the page Datasets: what was understood of them, to correct and confirm first.

Reading asks a model once, and is kept for as long as the words are the same. Confirming starts a job that has it write
an article and a conversation to look at; the job is found again by its settings, after a reload, too.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from cxlab.benchmarks.contract import Benchmark, Correction, Excerpt, Understanding
from cxlab.benchmarks.generation import GenerationContext
from cxlab.errors import CxError
from cxlab.records.settings import write_word
from cxlab.ui.jobs.job_panel import Job
from cxlab.ui.labels import label, plain, section

_READ = "cx-own-words-read"
SAMPLE = "--sample"
_ANY_WAY = ("--quiet", "--budget=")
BUDGET_HELP = (
    "What the sample may cost. When it is spent, the job stops, and goes on with a higher one; what it took is counted "
    "with the first dataset made of these words. Needs a price of the model, as the page Models shows it."
)


@dataclass(frozen=True)
class SampleJobs:
    """How a page starts a job and stays with it, which jobs there are, newest first, and what one wrote to look at."""

    start: Callable[[Sequence[str]], None]
    list_jobs: Callable[[], Sequence[Job]]
    texts_of: Callable[[str], Sequence[Mapping[str, str]]]


def write_args(benchmark: Benchmark, given: Mapping[str, Any], seed: int) -> list[str]:
    """The settings as arguments of the command line."""
    flags = [f"--{name.replace('_', '-')}={write_word(value)}" for name, value in given.items()]
    return ["generate", benchmark.card.id, f"--seed={seed}", *flags]


def confirm_words(
    benchmark: Benchmark, given: Mapping[str, Any], seed: int, work: SampleJobs
) -> tuple[dict[str, Any], str]:
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
        paid = benchmark.plan is not None and benchmark.plan(benchmark.GenerateOptions.read(given), context) is not None
        # What is open is asked above the fields that answer it; what they say is known once they are drawn.
        still_open = st.container()
        settings, pressed, budget = _correct(given, read.corrections(), asked[:8], paid)
        try:
            asks = read.correct(settings).asks
        except CxError as mistake:
            return settings, str(mistake)
        for question in asks:
            still_open.warning(plain(question))
        if asks:
            return settings, "Answer what is open, or choose another model to read the paragraph."
        order = [*write_args(benchmark, settings, seed), SAMPLE]
        job = _find(work.list_jobs(), order)
        if pressed and (job is None or job.state != "running"):
            work.start([*order, *([] if budget is None else [f"--budget={budget:g}"])])
        if job is None:
            return settings, "Confirm what is understood; a sample of the texts comes with it."
        if job.state != "done":
            unfinished = "The sample is not finished: see its job above."
            return settings, f"{writer} writes a sample." if job.state == "running" else unfinished
        show_excerpts([Excerpt(one["kind"], one["title"], one["text"]) for one in work.texts_of(job.id)])
    return settings, ""


def _find(jobs: Sequence[Job], order: Sequence[str]) -> Job | None:
    """The newest job with these arguments, whatever it may cost."""
    return next((job for job in jobs if {a for a in job.args if not a.startswith(_ANY_WAY)} == {*order}), None)


def _correct(
    given: Mapping[str, Any], corrections: Sequence[Correction], mark: str, paid: bool
) -> tuple[dict[str, Any], bool, float | None]:
    """The form; the settings with what was put right, whether it was confirmed, and what the sample may cost. Another
    reading (`mark`) begins anew: what was typed into the form of the last one is not taken along."""
    budget = None
    said: dict[str, str] = {}
    with st.form("own-words", border=False):
        short = [one for one in corrections if not one.separator]
        # Figures say what they belong to, and need the room.
        long = len(corrections) - len(short)
        places = [*st.columns(max(1, len(short))), *st.columns([2, *[3] * (long - 1)] if long > 1 else 1)]
        for place, one in zip(places, sorted(corrections, key=lambda one: bool(one.separator)), strict=False):
            key = f"own-words-{one.setting}-{mark}"
            if one.choices:
                index = one.choices.index(one.value) if one.value in one.choices else None
                said[one.setting] = place.selectbox(one.title, one.choices, index, key=key, placeholder="choose") or ""
            elif one.separator:
                hint = plain(f"{one.hint[:1].upper()}{one.hint[1:]}.") if one.hint else None
                said[one.setting] = place.text_area(one.title, one.value, key=key, height=140, help=hint)
            else:
                title = f"{one.title} ({one.hint})" if one.hint and one.value else one.title
                said[one.setting] = place.text_input(plain(title), one.value, key=key)
        if paid:
            budget = st.number_input(
                "Budget of the sample in USD", 0.01, value=None, key=f"own-words-budget-{mark}", placeholder="none",
                help=BUDGET_HELP,
            )  # fmt: skip
        pressed = st.form_submit_button("That is right: show me a sample", type="primary")
    settings = dict(given)
    for one in corrections:
        parts = [part.strip() for part in said[one.setting].splitlines() if part.strip()]
        value = one.separator.join(parts) if one.separator else said[one.setting].strip()
        if value != one.separator.join(one.value.splitlines()) and (value or one.none):
            settings[one.setting] = value or one.none
    return settings, bool(pressed), budget


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
