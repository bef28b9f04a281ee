"""What the Persona lab plays, as it stands in the address: one task, one seed, two or three variants."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from cxlab.ui.words import plain

PERSONAS = {"none": "No persona", "easy": "Easy persona", "hard": "Hard persona"}
EXPOSURES = {0: "told nothing", 1: "told who it is", 2: "infers a profile"}
LINES = {"text": "Text", "voice": "Voice", "sound": "Voice, real audio"}
PACES = {"calm": ("Calm", 2.5), "brisk": ("Brisk", 1.0), "once": ("At once", 1.0)}
LOSSES = (5, 10, 15, 20, 30)
MOST = 3
MANY_BEATS = 400
LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True)
class Column:
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
        line = f"voice, {self.wer} % misheard" if self.modality == "voice" else LINES[self.modality].lower()
        return PERSONAS[self.persona], f"agent {EXPOSURES[self.exposure]}", line

    @property
    def title(self) -> str:
        return " · ".join(self.words)

    @classmethod
    def read(cls, code: str) -> "Column":
        """What can be read of it; the rest is as usual."""
        parts = [*code.split("-"), "", "", "", ""]
        return cls(
            parts[0] if parts[0] in PERSONAS else "none",
            int(parts[1]) if parts[1] in ("0", "1", "2") else 0,
            parts[2] if parts[2] in LINES else "text",
            int(parts[3]) if parts[3].isdecimal() and int(parts[3]) <= 100 else 15,
        )


SETS: dict[str, tuple[Column, ...]] = {
    "Personas": (Column("none"), Column("easy"), Column("hard")),
    "What the agent knows": (Column("hard", 0), Column("hard", 1), Column("hard", 2)),
    "Text and voice": (Column("hard", 0), Column("hard", 0, "voice"), Column("hard", 2, "voice")),
}
SET_WORDS = {
    "Personas": "The same task by three customers; the agent is told nothing.",
    "What the agent knows": "A hard customer, of whom the agent knows nothing, is told, or infers a profile.",
    "Text and voice": "A hard customer in a chat and on the telephone.",
}
USUAL = SETS["Personas"]


@dataclass(frozen=True)
class Choices:
    """All choices of the page; `beats` is how far a shared address has been played."""

    domain: str
    case: str
    seed: int
    agent: str
    columns: tuple[Column, ...]
    pace: str
    large: bool
    beats: int

    @property
    def play(self) -> tuple[Any, ...]:
        """What makes it another play: all but how it is shown."""
        return self.domain, self.case, self.seed, self.agent, self.columns


def read(
    cases: Mapping[str, Mapping[str, str]], usual: Mapping[str, str], agents: Sequence[str], audio: bool
) -> Choices:
    """The choices in the address. `cases`: by domain the titles of tasks; what is not to be had is as usual.

    Without real `audio` such a column is voice without sound.
    """
    given = st.query_params
    domain = given.get("domain", "")
    domain = domain if domain in cases else next(iter(cases))
    case, agent = given.get("case", ""), given.get("agent", "")
    columns = tuple(map(Column.read, given.get_all("variant")[:MOST])) or USUAL
    if not audio:
        columns = tuple(replace(each, modality="voice") if each.modality == "sound" else each for each in columns)
    return Choices(
        domain,
        case if case in cases[domain] else usual[domain],
        _number(given.get("seed", ""), LARGEST_SEED),
        agent if agent in agents else agents[0],
        columns if len(columns) > 1 else (*columns, Column()),
        given["pace"] if given.get("pace") in PACES else "brisk",
        given.get("show") == "large",
        _number(given.get("beats", ""), MANY_BEATS),
    )


def _number(text: str, largest: int) -> int:
    return int(text) if text.isdecimal() and len(text) < 12 and int(text) <= largest else 0


def write(choices: Choices) -> None:
    """Put all choices into the address, so that it plays the same wherever it is opened."""
    told: dict[str, Any] = {
        "domain": choices.domain,
        **({"case": choices.case} if choices.case else {}),
        "seed": str(choices.seed),
        "agent": choices.agent,
        "variant": [column.code for column in choices.columns],
        "pace": choices.pace,
    }
    if choices.large:
        told["show"] = "large"
    if choices.beats:
        told["beats"] = str(choices.beats)
    if {name: st.query_params.get_all(name) for name in st.query_params} != {
        name: value if isinstance(value, list) else [value] for name, value in told.items()
    }:
        st.query_params.from_dict(told)


def choose_play(
    now: Choices, cases: Mapping[str, Mapping[str, str]], domains: Mapping[str, str], agents: Mapping[str, str]
) -> None:
    """What is played, in the sidebar; a change starts anew."""

    def set_domain(value: Any) -> Choices:
        return replace(now, domain=value, case="", beats=0)

    _list("Domain", "domain", list(cases), now.domain, lambda each: domains[each], set_domain)
    titles = cases[now.domain]
    _list(
        "Task", "case", list(titles), now.case, lambda each: titles[each],
        lambda value: replace(now, case=value, beats=0),
        "What is wrong. The customer does not know it; the agent has to find out.",
    )  # fmt: skip
    key = "persona-seed"
    st.session_state[key] = now.seed
    st.number_input(
        "Seed", 0, LARGEST_SEED, key=key, help="The same seed plays the same conversation with a simulated model.",
        on_change=lambda: write(replace(now, seed=int(st.session_state[key] or 0), beats=0)),
    )  # fmt: skip
    _list(
        "Agent under test", "agent", list(agents), now.agent, lambda each: agents[each],
        lambda value: replace(now, agent=value, beats=0),
    )  # fmt: skip
    st.caption("Compare")
    for title, columns in SETS.items():
        st.button(
            title, key=f"persona-set-{title}", width="stretch",
            type="primary" if now.columns == columns else "secondary", help=SET_WORDS[title],
            on_click=write, args=(replace(now, columns=columns, beats=0),),
        )  # fmt: skip
    st.caption("The address of this page holds all of this, and how far it was played.")


def choose_column(now: Choices, place: int, name: str, lacks: Sequence[str]) -> None:
    """The head of a column, by its name: opens the lists that change what it plays.

    `lacks` is what would have to be installed for real audio.
    """
    column = now.columns[place]

    def put(changed: Column | None) -> Choices:
        put_in = () if changed is None else (changed,)
        return replace(now, columns=(*now.columns[:place], *put_in, *now.columns[place + 1 :]), beats=0)

    look: Any = "tertiary" if now.large else "secondary"
    with st.popover(name, width="stretch", type=look, wrap=True, key=f"persona-v{place}"):
        _list(
            "Persona", f"persona-{place}", list(PERSONAS), column.persona, PERSONAS.__getitem__,
            lambda value: put(replace(column, persona=value)),
        )  # fmt: skip
        _list(
            "The agent is", f"exposure-{place}", list(EXPOSURES), column.exposure, EXPOSURES.__getitem__,
            lambda value: put(replace(column, exposure=value)),
        )  # fmt: skip
        _list(
            "Line", f"modality-{place}", [each for each in LINES if each != "sound" or not lacks], column.modality,
            LINES.__getitem__, lambda value: put(replace(column, modality=value)),
        )  # fmt: skip
        if lacks:
            st.caption(plain(f"Real audio is not installed here. It needs {' and '.join(lacks)}."))
        if column.modality == "voice":
            losses = sorted({*LOSSES, column.wer})
            _list(
                "Word error rate", f"wer-{place}", losses, column.wer, lambda each: f"{each} %",
                lambda value: put(replace(column, wer=value)),
                "How many words in a hundred the recogniser gets wrong, in both directions.",
            )  # fmt: skip
        if len(now.columns) > 2:
            st.button("Remove", key=f"persona-remove-{place}", on_click=lambda: write(put(None)))
        if len(now.columns) < MOST:
            added = replace(now, columns=(*now.columns, column), beats=0)
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
