"""What the Persona lab plays, as it stands in the address: one task, one seed, one to three variants."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from cxlab.benchmarks.mmtaup2.conversation import personas
from cxlab.benchmarks.mmtaup2.conversation.exposure import IN_WORDS as EXPOSURES
from cxlab.ui.labels import empty, plain
from cxlab.ui.unknown import describe

PERSONAS = {name: words.capitalize() for name, words in personas.IN_WORDS.items()}
LINES = {"text": "text", "voice": "voice", "sound": "voice, real audio", "openai": "voice, OpenAI"}
_BRIEF = {"text": "text", "sound": "audio"}
PACES = {"calm": ("Calm", 2.5), "brisk": ("Brisk", 1.0), "once": ("At once", 1.0)}
LOSSES = (5, 10, 15, 20, 30)
MOST = 3
_FITS = 18
MANY_BEATS = 400
# The parameters of the page's address
KEYS = frozenset(
    {"from", "domain", "case", "seed", "agent", "customer", "variant", "pace", "show", "beats", "play", "held"}
)
LARGEST_SEED = 2**32 - 1


@dataclass(frozen=True)
class VariantChoice:
    """One variant; `wer` in per cent, of voice only."""

    persona: str = "none"
    exposure: int = 0
    modality: str = "text"
    wer: int = 15

    @property
    def code(self) -> str:
        """As in the address: hard-2-voice-15."""
        voice = f"-{self.wer}" if self.modality == "voice" else ""
        return f"{self.persona}-{self.exposure}-{self.modality}{voice}"

    @property
    def words(self) -> tuple[str, str, str]:
        """Persona, exposure and line in words."""
        line = f"voice, {self.wer} % misheard" if self.modality == "voice" else name_line(self.modality)
        return PERSONAS[self.persona], f"agent {EXPOSURES[self.exposure]}", line

    def brief(self, losses: bool) -> tuple[str, str, str]:
        """The same in as few words; `losses`: with the word error rate, where it tells columns apart."""
        persona = "no persona" if self.persona == "none" else self.persona
        line = f"voice {self.wer} %" if losses and self.modality == "voice" else _BRIEF.get(self.modality, "voice")
        return persona, ("not told", "told", "infers")[self.exposure], line

    @property
    def title(self) -> str:
        return " · ".join(self.words)

    @classmethod
    def knows(cls, code: str) -> bool:
        """Whether a code means something, part by part."""
        persona, exposure, line = [*code.split("-", 2), "", "", ""][:3]
        kind, _, wer = line.partition("-") if line.startswith("voice") else (line, "", "")
        loss = not wer or (len(wer) <= 3 and wer.isascii() and wer.isdigit() and int(wer) <= 100)
        return persona in PERSONAS and exposure in ("0", "1", "2") and (kind in LINES or _is_own(kind)) and loss

    @classmethod
    def read(cls, code: str) -> "VariantChoice":
        """What can be read of it; the rest is as usual."""
        persona, exposure, line = [*code.split("-", 2), "", "", ""][:3]
        kind, _, wer = line.partition("-") if line.startswith("voice") else (line, "", "")
        return cls(
            persona if persona in PERSONAS else "none",
            int(exposure) if exposure in ("0", "1", "2") else 0,
            kind if kind in LINES or _is_own(kind) else "text",
            min(_number(wer, 999), 100) if wer else 15,
        )


def _is_own(line: str) -> bool:
    """Whether it is a server of one's own that speaks."""
    return line.startswith("endpoint:") and len(line) < 100


def name_line(line: str) -> str:
    """A line in words: "voice, real audio"; a server of one's own by its name."""
    return LINES.get(line) or f"voice, {line.partition(':')[2]}"


SETS: dict[str, tuple[VariantChoice, ...]] = {
    "Personas": (VariantChoice("none"), VariantChoice("easy"), VariantChoice("hard")),
    "What the agent knows": (VariantChoice("hard", 0), VariantChoice("hard", 1), VariantChoice("hard", 2)),
    "Three hard ones": (VariantChoice("hard"), VariantChoice("hurried"), VariantChoice("wary")),
    "Text and voice": (VariantChoice("hard", 0), VariantChoice("hard", 0, "voice")),
    "One of them aloud": (VariantChoice("hard", 0), VariantChoice("hard", 1), VariantChoice("hard", 2, "sound")),
}
SET_WORDS = {
    "Personas": "The same task by three customers; the agent is told nothing.",
    "What the agent knows": "A hard customer: the agent is told nothing, is told the persona, or infers a profile.",
    "Three hard ones": "A beginner, somebody in a hurry, and somebody who trusts nobody.",
    "Text and voice": "A hard customer in a chat and on the telephone.",
    "One of them aloud": "As What the agent knows, the last one in real audio, made on this machine.",
}
USUAL = SETS["Personas"]


@dataclass(frozen=True)
class AvailableChoices:
    """What there is to choose from. `cases`: by domain the titles of tasks; `lines`: text and the ways to speak that
    are to be had here, in words; `lacks`: what the others need; `absent`: agents and customers that only
    stored conversations know."""

    sources: Mapping[str, str]
    domains: Mapping[str, str]
    cases: Mapping[str, Mapping[str, str]]
    usual: Mapping[str, str]
    agents: Mapping[str, str]
    customers: Mapping[str, str]
    lines: Mapping[str, str]
    lacks: Mapping[str, str]
    absent: frozenset[str]


@dataclass(frozen=True)
class Choices:
    """All choices of the page; `source` is the dataset of the task, "" for our own; `beats` is how far a shared
    address has been played; `anew`: models are asked also where the same play is stored; `held`: under which name this
    process holds a play that the seed alone does not repeat."""

    source: str
    domain: str
    case: str
    seed: int
    agent: str
    customer: str
    columns: tuple[VariantChoice, ...]
    pace: str
    large: bool
    beats: int
    anew: bool = False
    held: str = ""

    @property
    def play(self) -> tuple[Any, ...]:
        """What makes it another play: all but how it is shown."""
        return self.source, self.domain, self.case, self.seed, self.agent, self.customer, self.columns, self.anew


def read_source() -> str:
    """The dataset in the address whose tasks are to be played; "" for our own."""
    return st.query_params.get("from", "")


def is_bare() -> bool:
    """Whether the address says nothing of what is to be played."""
    return not any(name in st.query_params for name in KEYS - {"pace", "show", "play"})


def read(offer: AvailableChoices) -> Choices:
    """The choices in the address; what is not to be had is as usual, and any real audio voice without sound."""
    given = st.query_params
    domain = given.get("domain", "")
    domain = domain if domain in offer.cases else next(iter(offer.cases))
    case, agent, customer = (given.get(name, "") for name in ("case", "agent", "customer"))
    columns = tuple(map(VariantChoice.read, given.get_all("variant")[:MOST])) or USUAL
    columns = tuple(each if each.modality in offer.lines else replace(each, modality="voice") for each in columns)
    return Choices(
        read_source(),
        domain,
        case if case in offer.cases[domain] else offer.usual[domain],
        _number(given.get("seed", ""), LARGEST_SEED),
        agent if agent in offer.agents else next(iter(offer.agents)),
        customer if customer in offer.customers else next(iter(offer.customers)),
        columns,
        given["pace"] if given.get("pace") in PACES else "brisk",
        given.get("show") == "large",
        _number(given.get("beats", ""), MANY_BEATS),
        given.get("play") == "live",
        given.get("held", "")[:40],
    )


def find_unknown(offer: AvailableChoices) -> list[str]:
    """What the address asks for and there is not, described; a play that was shared is not played in another way."""
    given = st.query_params
    domain = given.get("domain", "") or next(iter(offer.cases))
    known = {
        "domain": offer.cases,
        "case": offer.cases.get(domain, {}),
        "agent": offer.agents,
        "customer": offer.customers,
    }
    words = {"case": "task"}
    lost = [
        describe(words.get(key, key), each) for key in known if (each := given.get(key, "")) and each not in known[key]
    ]
    return lost + [
        describe("variant", each) for each in given.get_all("variant") if each and not VariantChoice.knows(each)
    ]


def leave_out() -> None:
    """Go on with the usual play."""
    st.query_params.from_dict({name: st.query_params.get_all(name) for name in st.query_params if name not in KEYS})


def find_replaced(chosen: Choices) -> list[str]:
    """Which ways to speak cannot be had on this machine, in words; such a line is played without sound."""
    words = []
    for code, column in zip(st.query_params.get_all("variant"), chosen.columns, strict=False):
        line = VariantChoice.read(code).modality
        if line != column.modality:
            words.append(f"{name_line(line).capitalize()} is not to be had here; in its place: voice without sound.")
    return words


def tell_replaced(choices: Choices, words: list[str]) -> None:
    """What is played in place of what the address asked for, as long as it is played."""
    if words:
        st.session_state["persona-replaced"] = (choices.play, words)
    of, told = st.session_state.get("persona-replaced", (None, []))
    if told and of == choices.play:
        st.warning(plain(" ".join(told)), icon="⚠")


def _number(text: str, largest: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 and int(text) <= largest else 0


def write(choices: Choices) -> None:
    """Put all choices into the address, so that it plays the same wherever it is opened."""
    told = query_of(choices)
    if {name: st.query_params.get_all(name) for name in st.query_params} != told:
        st.query_params.from_dict(told)


def query_of(choices: Choices) -> dict[str, list[str]]:
    """The address of these choices, as parameters."""
    told = {
        "from": [choices.source] if choices.source else [],
        "domain": [choices.domain] if choices.domain else [],
        "case": [choices.case] if choices.case else [],
        "seed": [str(choices.seed)],
        "agent": [choices.agent],
        "customer": [choices.customer],
        "variant": [column.code for column in choices.columns],
        "pace": [choices.pace],
        "show": ["large"] if choices.large else [],
        "beats": [str(choices.beats)] if choices.beats else [],
        "play": ["live"] if choices.anew else [],
        "held": [choices.held] if choices.held else [],
    }
    return {name: values for name, values in told.items() if values}


def tell_lost(source: str) -> None:
    """The address names tasks that this store does not have: say so, and how to get them."""

    def play_own() -> None:
        st.query_params.from_dict({})
        st.rerun()

    empty(
        f"This address plays a task of the dataset {plain(source)}, which is not in this store. It was imported from "
        "tau2-bench's files: import the same files here, and the address works here too.",
        "Play our own tasks",
        play_own,
        "python -m cxlab import tau2 FOLDER",
    )


def choose_play(now: Choices, offer: AvailableChoices) -> None:
    """What is played, in the sidebar; a change starts anew."""

    def set_domain(value: Any) -> Choices:
        return replace(now, domain=value, case="", beats=0, held="")

    if len(offer.sources) > 1:
        _list(
            "Tasks from", "source", list(offer.sources), now.source, lambda each: offer.sources[each],
            lambda value: replace(now, source=value, domain="", case="", beats=0, held=""),
            "Tasks of our own, or a dataset that was imported with `python -m cxlab import tau2 FOLDER`.",
        )  # fmt: skip
    _list("Domain", "domain", list(offer.cases), now.domain, lambda each: offer.domains[each], set_domain)
    titles = offer.cases[now.domain]
    _list(
        "Task", "case", list(titles), now.case, lambda each: titles[each],
        lambda value: replace(now, case=value, beats=0, held=""),
        "What is wrong. The customer does not know it; the agent has to find out.",
    )  # fmt: skip
    key = "persona-seed"
    st.session_state[key] = now.seed
    st.number_input(
        "Seed", 0, LARGEST_SEED, key=key, help="The same seed plays the same conversation with a simulated model.",
        on_change=lambda: write(replace(now, seed=int(st.session_state[key] or 0), beats=0, held="")),
    )  # fmt: skip
    _list(
        "Agent under test", "agent", list(offer.agents), now.agent, lambda each: offer.agents[each],
        lambda value: replace(now, agent=value, beats=0, held=""),
    )  # fmt: skip
    _list(
        "Customer", "customer", list(offer.customers), now.customer, lambda each: offer.customers[each],
        lambda value: replace(now, customer=value, beats=0, held=""), "The model that plays the customer.",
    )  # fmt: skip
    st.caption("Compare")
    for title, columns in SETS.items():
        if not all(column.modality in offer.lines for column in columns):
            continue
        st.button(
            title, key=f"persona-set-{title}", width="stretch",
            type="primary" if now.columns == columns else "secondary", help=SET_WORDS[title],
            on_click=write, args=(replace(now, columns=columns, beats=0, held=""),),
        )  # fmt: skip


def choose_column(
    now: Choices, place: int, name: str, offer: AvailableChoices, remove: Callable[[Choices, int], None]
) -> None:
    """The head of a column, by its name: opens the lists that change what it plays. `remove`: takes the column at a
    place away, and leaves the others as far as they have come."""
    column = now.columns[place]

    def put(changed: VariantChoice) -> Choices:
        return replace(now, columns=(*now.columns[:place], changed, *now.columns[place + 1 :]), beats=0, held="")

    look: Any = "tertiary" if now.large else "secondary"
    # A list in a popover that is shut is told nothing of what it now stands at and reports what it stood at when it
    # was last open: each choice has lists of its own. And what is open over a column that goes does not stay open over
    # the one that takes its place.
    at = f"{place}-{column.code}"
    with st.popover(name, width="stretch", type=look, wrap=True, key=f"persona-v{place}-of-{len(now.columns)}"):
        _list(
            "Persona", f"persona-{at}", list(PERSONAS), column.persona, PERSONAS.__getitem__,
            lambda value: put(replace(column, persona=value)),
        )  # fmt: skip
        if who := personas.describe(column.persona, column.modality != "text"):
            st.caption(plain(f"As this customer is told: {who}"))
        _list(
            "The agent is", f"exposure-{at}", list(EXPOSURES), column.exposure, EXPOSURES.__getitem__,
            lambda value: put(replace(column, exposure=value)),
        )  # fmt: skip
        _list(
            "Line", f"modality-{at}", list(offer.lines), column.modality, lambda each: offer.lines[each],
            lambda value: put(replace(column, modality=value)),
        )  # fmt: skip
        for line, needed in offer.lacks.items():
            st.caption(plain(f"For {name_line(line)}: {needed}."))
        if column.modality == "voice":
            losses = sorted({*LOSSES, column.wer})
            _list(
                "Word error rate", f"wer-{at}", losses, column.wer, lambda each: f"{each} %",
                lambda value: put(replace(column, wer=value)),
                "How many words in a hundred the recogniser gets wrong, in both directions.",
            )  # fmt: skip
        if len(now.columns) > 1:
            st.button("Remove", key=f"persona-remove-{place}", on_click=remove, args=(now, place))
        if len(now.columns) < MOST:
            added = replace(now, columns=(*now.columns, column), beats=0, held="")
            st.button("Add one like it", key=f"persona-add-{place}", on_click=write, args=(added,))


def _list(
    title: str,
    name: str,
    options: Sequence[Any],
    value: Any,
    words: Callable[[Any], str],
    changed: Callable[[Any], Choices],
    help: str | None = None,
) -> None:
    """A list that stands as the address says and writes what was picked."""
    key = f"persona-{name}"
    st.session_state[key] = value
    st.selectbox(
        title, options, key=key, format_func=words, help=help, on_change=lambda: write(changed(st.session_state[key]))
    )
    if len(words(value)) > _FITS:
        # A list cuts what is longer than it is wide: what is chosen stands below it in full.
        st.caption(plain(words(value)))
