"""Knowledge, first tab: what is suspected of the knowledge base, to look at, resolve or dismiss."""

from dataclasses import dataclass, replace
from typing import Any

import polars as pl
import streamlit as st
from markupsafe import Markup

from cxlab.benchmarks.cxmarena.evaluation.knowledge_health import Kind, Suspicion, examine, find_conversations
from cxlab.charts.numbers import format_count, format_share, format_time
from cxlab.read import View, annotations
from cxlab.ui.address import cached, link
from cxlab.ui.annotations import STATES, State, ask_author, author, decide, withdraw
from cxlab.ui.app_frame import guarded, zone
from cxlab.ui.labels import chip, figures, label, plain, say, section
from cxlab.ui.place import go, pick
from cxlab.ui.tables import column, show_table
from cxlab.views.benchmarks import declared
from cxlab.views.knowledge import queries, queries_health, queries_pairs
from cxlab.views.knowledge.article_html import mark_differences
from cxlab.views.knowledge.place import CORPORA, KnowledgePlace

KINDS: dict[Kind, tuple[str, str]] = {
    "contradiction": ("Contradictions", "Two articles that seem to say different things of the same thing."),
    "repetition": ("Repetitions", "Two articles that say nearly the same."),
    "unanswered": ("Gaps", "A question that no article of the collection seems to answer."),
    "unreached": ("Unreached", "An article that is right for no question, nor among the first five that one finds."),
}
_ONE: dict[Kind, str] = {
    "contradiction": "contradiction", "repetition": "repetition", "unanswered": "gap", "unreached": "unreached article",
}  # fmt: skip
_STATES = {"": "Open", "resolved": "Resolved", "dismissed": "Dismissed", "all": "All"}
_MOST_CONVERSATIONS, _MOST_PASSAGES = 12, 4
# Measured on aldersea, on which the least likeness of nameless rules was set, and on three generated brands (English,
# French, German); how common a word of a pattern is was set after a look at the English and the German one.
_REACH_OF_RULES = (
    "Contradictions are found where two articles give one named thing different values, or count in one unit (days, "
    "hours, points) in sentences with the same words. Not found: prices without a name, other words for the same, and "
    "what holds no figure. Of 11 put into a knowledge base written by hand 4 are found, beside 2 pairs that are none; "
    "of 21 in three generated ones 13, beside 25."
)


@dataclass(frozen=True)
class ReviewedSuspicion:
    """A suspicion with what runs and people said of it, and the conversations that it touched."""

    suspicion: Suspicion
    models: tuple[str, ...]
    conversations: tuple[str, ...]
    decision: dict[str, Any] | None

    @property
    def state(self) -> State:
        """What became of it; open until somebody decides."""
        return next((each for each in STATES if self.decision and each == self.decision["state"]), "open")


def find(dataset: str) -> list[ReviewedSuspicion]:
    """All findings of a dataset, whatever became of them; pairs that only runs named come last."""
    health, talks = examine(dataset), find_conversations(dataset)
    constant = set(declared(queries.BENCHMARK).floor_models)
    named = {key: tuple(m for m in by if m not in constant) for key, by in queries_health.named_by(dataset).items()}
    decided = {row["key"]: row for row in annotations.findings(dataset).iter_rows(named=True)}
    known = {each.key for each in health.suspicions}
    others = [_read_key(key) for key, models in named.items() if models and key not in known]
    twins = _twins(dataset)
    made = []
    for each in (*health.suspicions, *others):
        held = [twin for id in each.articles for twin in twins.get((each.corpus, id), (id,))]
        touched = [each.conversation, *(talk for id in held for talk in talks.get(id, ()))]
        conversations = tuple(dict.fromkeys(filter(None, touched)))
        made.append(ReviewedSuspicion(each, named.get(each.key, ()), conversations, decided.get(each.key)))
    return made


def _read_key(key: str) -> Suspicion:
    kind, corpus, ids = key.split(":", 2)
    first, _, second = ids.partition("+")
    return Suspicion("contradiction" if kind == "contradiction" else "repetition", corpus, (first, second))


def _twins(dataset: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """(collection, article) → the ids under which articles of its title stand: the refinement corpus numbers anew."""
    titles = {
        (corpus, id): title
        for corpus in cached(queries.corpora, dataset)["corpus"].to_list()
        for id, title in queries.all_titles(dataset, corpus).items()
    }
    alike: dict[str, dict[str, None]] = {}
    for (_, id), title in titles.items():
        alike.setdefault(title, {})[id] = None
    return {at: tuple(alike[title]) for at, title in titles.items()}


def show_figures(place: KnowledgePlace, found: list[ReviewedSuspicion], corpora: pl.DataFrame) -> None:
    """The knowledge base in four figures: its size, and what is open."""
    left = [each.suspicion.kind for each in found if each.state == "open"]
    sizes = ", ".join(f"{format_count(n)} in {CORPORA.get(name, name).lower()}" for name, n in corpora.iter_rows())
    asked = sum(examine(place.dataset).questions.values())
    lost = (
        f"{left.count('unanswered')} · {left.count('unreached')}" if asked else "–",
        f"Questions without an article, and articles nobody reached, by {format_count(asked)} questions."
        if asked
        else "This dataset holds no questions asked of its articles, so nothing can be said.",
    )
    figures(
        [
            ("Articles", format_count(max(corpora["n"].to_list(), default=0)), sizes or "No table of articles."),
            *((KINDS[kind][0], format_count(left.count(kind)), f"{KINDS[kind][1]} Suspected and open.")
              for kind in ("contradiction", "repetition")),
            ("Gaps · unreached", *lost),
        ]
    )  # fmt: skip
    if corpora["n"].n_unique() > 1:
        # A dataset is named after one of its collections; the first figure is of the largest.
        st.caption(plain(f"Articles by collection, of which an article may be in several: {sizes}."))


def show_health(place: KnowledgePlace, found: list[ReviewedSuspicion]) -> None:
    """The list of findings, or one of them."""
    if place.finding:
        one = next((each for each in found if each.suspicion.key == place.finding), None)
        if one is not None:
            show_finding(place, one, found)
            return
        st.info("This finding is no longer there; the others are below.")
    _show_decided(place)
    if not found:
        st.info("Nothing is suspected of these articles.")
        return
    counts = {kind: sum(each.suspicion.kind == kind and _in_state(place, each) for each in found) for kind in KINDS}
    names = {"": f"All {format_count(sum(counts.values()))}"}
    names |= {kind: f"{KINDS[kind][0]} {format_count(n)}" for kind, n in counts.items()}
    left = [each for each in found if each.state == "open"]
    talks = {talk for each in left for talk in each.conversations}
    section(
        f"{format_count(len(left))} {'thing' if len(left) == 1 else 'things'} to look at, touching "
        f"{format_count(len(talks))} {'conversation' if len(talks) == 1 else 'conversations'}"
        if left
        else "Everything that was suspected is resolved or dismissed",
        f"{_say_sources(left)} Select one to look at it.",
    )
    st.caption(plain(_REACH_OF_RULES))
    if queries_health.can_be_read(place.dataset):
        tip = "Rules see figures and set phrases; what two articles say in prose takes a reader."
        task = declared(queries.BENCHMARK).value("scenario", queries_health.PAIRS)
        form = {"bench": queries.BENCHMARK, "only-scenario": task}
        link("Have a model look for more", "run", View(dataset=place.dataset), tip, form)
    pick(place, "suspected", "Kind", list(names), names, style="segments", clears=("finding",))
    with st.sidebar:
        pick(place, "status", "Findings", list(_STATES), _STATES, clears=("finding",))
    listed = [each for each in found if _is_listed(place, each)]
    if not listed:
        st.info("None of these.")
        return
    titles = _titles(place.dataset, listed)
    rows = pl.DataFrame([_row(each, titles) | {"why": _say_why_noted(place, each.suspicion)} for each in listed])
    columns = {
        "kind": column("Suspected"),
        "what": column("Where", width="medium"),
        "talks": column(
            "Touched", "count", "Conversations that rested on one of its articles, or in which it was asked."
        ),
        "why": column("Why", width="medium"),
        "by": column("Also said by"),
        "state": column("State", width="small"),
        "collection": column("Collection"),
    }
    if rows["state"].n_unique() < 2:
        del columns["state"]
    alt = "What is suspected of the knowledge base; select one to look at it."
    picked = show_table(rows, columns, key="knowledge-findings", alt=alt, select="single", search=True)
    if picked:
        go(place.change(finding=picked[0]["id"]))


def _in_state(place: KnowledgePlace, each: ReviewedSuspicion) -> bool:
    wanted = place.status if place.status in _STATES else ""
    return wanted == "all" or each.state == (wanted or "open")


def _is_listed(place: KnowledgePlace, each: ReviewedSuspicion) -> bool:
    return _in_state(place, each) and (place.suspected not in KINDS or each.suspicion.kind == place.suspected)


def _titles(dataset: str, listed: list[ReviewedSuspicion]) -> dict[tuple[str, str], str]:
    corpora = {each.suspicion.corpus for each in listed}
    return {
        (corpus, id): title for corpus in corpora for id, title in cached(queries.all_titles, dataset, corpus).items()
    }


def _row(each: ReviewedSuspicion, titles: dict[tuple[str, str], str]) -> dict[str, Any]:
    one = each.suspicion
    what = " ↔ ".join(titles.get((one.corpus, id), id) for id in one.articles) or f"“{one.question}”"
    by = [*(["the dataset's own key"] if one.known else []), *(label(model) for model in each.models)]
    return {
        "id": one.key,
        "kind": _ONE[one.kind],
        "what": what,
        "why": _say_why(one),
        "talks": len(each.conversations),
        "by": ", ".join(by),
        "state": each.state,
        "collection": CORPORA.get(one.corpus, one.corpus),
    }


def _say_why(one: Suspicion) -> str:
    if one.passages:
        mine, theirs = cut_to_difference(*one.passages[0])
        return f"“{mine}” – “{theirs}”"
    if one.kind == "repetition" and one.sure is not None:
        return f"{format_share(one.sure)} in common"
    if one.kind == "unanswered":
        missing = "" if one.sure is None else f"; the nearest lacks {format_share(one.sure)} of its telling words"
        return ("Its right article is not in the collection" if one.known else "No article seems to hold it") + missing
    if one.kind == "unreached":
        return "No question of this dataset leads to it"
    return "Its texts alone do not show it"


def _say_why_noted(place: KnowledgePlace, one: Suspicion) -> str:
    """Why in a line; of what rules on the texts did not find, what its maker noted."""
    if one.passages or one.kind != "contradiction" or not (noted := cached(_find_passages, place.dataset, one)):
        return _say_why(one)
    mine, theirs = cut_to_difference(*noted[0])
    return f"By the key alone: “{mine}” – “{theirs}”"


def _say_sources(found: list[ReviewedSuspicion]) -> str:
    """What the rules on texts and questions found, and what only the dataset's key or a run did: a knowledge base
    without a key is shown the first alone."""
    ones = [each.suspicion for each in found]
    own = [one for one in ones if one.passages or one.sure is not None or one.kind in ("unanswered", "unreached")]
    key = sum(one.known for one in ones if one not in own)
    told = f"{format_count(len(own))} found in the articles' own texts and in the questions asked of them, "
    told += "without a model"
    if key:
        told += f"; {format_count(key)} known by the dataset's own key alone, which an imported knowledge base has not"
    return f"{told}."


def cut_to_difference(one: str, other: str, before: int = 3, letters: int = 48) -> tuple[str, str]:
    """Two passages from a few words before the figure in which they differ, or else before the first such word, each at
    most so many letters long and with dots where it was cut: a cell of a table holds no more. The finding itself shows
    them whole."""
    first, second = one.split(), other.split()
    pairs = zip(first, second, strict=False)
    at = next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))
    figures = [_find_figure(first, second), _find_figure(second, first)]
    told = []
    for words, figure in zip((first, second), figures, strict=True):
        start = max((at if None in figures or figure is None else figure) - before, 0)
        text = " ".join(words[start:])
        cut = f"{(text[:letters].rpartition(' ')[0] or text[:letters])} …" if len(text) > letters else text
        told.append(f"… {cut}" if start and cut else cut)
    return told[0], told[1]


def _find_figure(words: list[str], other: list[str]) -> int | None:
    """The place of the first word with a digit that the other passage lacks."""
    return next((n for n, word in enumerate(words) if word not in other and any(map(str.isdigit, word))), None)


def show_finding(place: KnowledgePlace, each: ReviewedSuspicion, found: list[ReviewedSuspicion]) -> None:
    """One finding: what shows it, the conversations it touched, and what people decided."""
    one = each.suspicion
    before, after = _neighbours(place, one, found)
    _walk(place, before, after)
    _show_decided(place)
    titles = _titles(place.dataset, [each])
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(plain(_row(each, titles)["what"]), anchor=False, width="content")
        chip(_ONE[one.kind], "orange" if each.state == "open" else "gray", KINDS[one.kind][1])
        if one.known:
            chip("the dataset was made so", "blue")
        for model in each.models:
            chip(f"named by {label(model)}")
    passages = list(one.passages) or cached(_find_passages, place.dataset, one)
    collection = f"Collection: {CORPORA.get(one.corpus, one.corpus).lower()}."
    st.caption(plain(collection if passages else f"{_say_why(one)}. {collection}"))
    for mine, theirs in passages[:_MOST_PASSAGES]:
        sides = st.columns(2, gap="large")
        for side, made in zip(sides, mark_differences(mine, theirs), strict=True):
            side.html(Markup('<div class="cx-marked cx-quote">{}</div>').format(made))
    with st.container(horizontal=True, gap="small"):
        for id in one.articles:
            words = f"Read {titles.get((one.corpus, id), id)}"
            if st.button(plain(words), key=f"knowledge-finding-read-{id}", type="tertiary"):
                go(place.change(tab="articles", corpus=one.corpus, article=id, finding=""))
    if each.models:
        kind = "contradictory" if one.kind == "contradiction" else "similar"
        if st.button("Set the two articles side by side", key="knowledge-finding-pair", type="tertiary"):
            go(place.change(tab="pairs", pairs=kind, pair=one.articles, finding=""))
    talks, beside = st.columns([3, 2], gap="large")
    with talks:
        _show_conversations(place, each)
    with beside:
        _show_decision(place, each, _row(each, titles)["what"], after or before)


def _find_passages(dataset: str, one: Suspicion) -> list[tuple[str, str]]:
    """What shows a pair that the texts alone did not: what its maker noted, or the sentences that both have."""
    if len(one.articles) != 2:
        return []
    first, second = one.articles
    kind = "contradictory" if one.kind == "contradiction" else "similar"
    noted = queries_pairs.passages(dataset, one.corpus, kind, first, second)
    if noted or one.kind == "contradiction":
        return noted
    return queries_pairs.shared(*(queries.article(dataset, one.corpus, id)["clean"] for id in one.articles))


def _neighbours(place: KnowledgePlace, one: Suspicion, found: list[ReviewedSuspicion]) -> tuple[str, str]:
    """The listed findings before and after one, by their keys; "" where there is none. The one itself need not be
    listed any more: a decision takes it off the list."""
    at = next(place for place, each in enumerate(found) if each.suspicion.key == one.key)
    before = [each.suspicion.key for each in found[:at] if _is_listed(place, each)]
    after = [each.suspicion.key for each in found[at + 1 :] if _is_listed(place, each)]
    return (before or [""])[-1], (after or [""])[0]


def _walk(place: KnowledgePlace, before: str, after: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button("← All findings", key="knowledge-findings-up", type="tertiary", shortcut="u"):
            go(place.change(finding=""))
        for words, key, shortcut in (("Previous", before, "p"), ("Next", after, "n")):
            if st.button(words, key=f"knowledge-findings-{shortcut}", shortcut=shortcut, disabled=not key):
                go(place.change(finding=key))


def _show_conversations(place: KnowledgePlace, each: ReviewedSuspicion) -> None:
    n = len(each.conversations)
    st.markdown(f"**{format_count(n)} {'conversation' if n == 1 else 'conversations'} touched**")
    if not n:
        st.caption("No conversation of this dataset rests on it.")
    shown = each.conversations[:_MOST_CONVERSATIONS]
    for name, words in cached(queries_health.first_words, place.dataset, shown).items():
        link(plain(words), "datasets", View(dataset=place.dataset, tab="conversations", conversation=name))
    if n > _MOST_CONVERSATIONS:
        st.caption(f"and {format_count(n - _MOST_CONVERSATIONS)} more")


_DECIDED = "cx-knowledge-decided"
"""In the session: what was decided last, (its id, dataset, key, words), to be told and taken back further on."""


def _show_decided(place: KnowledgePlace) -> None:
    made = st.session_state.get(_DECIDED)
    if not made or made[1] != place.dataset or made[2] == place.finding:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(plain(f"✓ {made[3]}"), width="content")
        if st.button("Take it back", key="knowledge-decided-undo", type="tertiary"):
            with guarded():
                withdraw(*made[:3])
                del st.session_state[_DECIDED]
                go(place.change(finding=made[2]))


def _show_decision(place: KnowledgePlace, each: ReviewedSuspicion, what: str, then: str) -> None:
    """What people decided, and the form; once it is decided one goes on to the finding `then`."""
    key, made = each.suspicion.key, each.decision
    with st.container(border=True):
        st.markdown("**What became of it**")
        if made:
            when = format_time(made["created"], zone())
            st.caption(plain(f"{str(made['state']).capitalize()} by {made['author']}, {when}"))
            if made["note"]:
                say(str(made["note"]))
            if st.button("Undo", key="knowledge-finding-undo", type="tertiary", help="Takes it back for everybody."):
                with guarded():
                    withdraw(str(made["id"]), place.dataset, key)
                    st.rerun()
        with st.form("knowledge-finding", clear_on_submit=True, border=False):
            note = st.text_area("Note", height=80, max_chars=4000, placeholder="why, or what is to be done")
            with st.container(horizontal=True, gap="small"):
                words = {"resolved": "Resolve", "dismissed": "Dismiss", "open": "Open again" if made else "Note only"}
                for state in STATES:
                    if st.form_submit_button(words[state], type="primary" if state == "resolved" else "secondary"):
                        with guarded():
                            id = decide(place.dataset, key, state, note)
                            if state == "open" or place.status:
                                st.rerun()
                            words_ = f"{state.capitalize()}: {what}"
                            st.session_state[_DECIDED] = (id, place.dataset, key, words_)
                            go(place.change(finding=then))
        with st.popover(f"Writing as {plain(author())}", type="tertiary"):
            ask_author()


def with_place(place: KnowledgePlace) -> KnowledgePlace:
    """The place with its tab: an address that names none is of this one, or of that of articles where it names some."""
    if place.view.tab:
        return place
    named = place.article or place.topic or place.find or place.corpus
    return replace(place, view=replace(place.view, tab="articles" if named else "health"))
