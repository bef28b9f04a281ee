"""One answer of a task without a dialogue of its own: what was given to the model, what was due, what came."""

import json
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import polars as pl
import streamlit as st

from cxlab.charts.failure_names import spell_programs
from cxlab.charts.names import name_id
from cxlab.charts.numbers import format_count, format_points
from cxlab.read import StoredAttempt, View
from cxlab.records.benchmark_card import Declaration, Search
from cxlab.records.metric_names import head_metric, name_metric
from cxlab.ui.address import cached, link
from cxlab.ui.labels import figures, label, plain, say, show_code
from cxlab.ui.path_strips import grid
from cxlab.ui.transcript import transcript, votes
from cxlab.views.benchmarks import declared, questions_of, ranking_tasks
from cxlab.views.failures.attempt_columns import document_titles
from cxlab.views.failures.attempt_verdict import SIGNS, show_took, verdict_of

Cells = Sequence[Sequence[tuple[str, str]]]
_ROLES = {"Customer": "customer", "Agent": "agent", "Tool": "tool", "System": "system", "IVR": "ivr"}
# Parts of what came that have a place of their own, or that are none of an answer.
_TOLD_ELSEWHERE = ("reason", "raw", "response", "steps")
# A ranking is shown to the place from which nobody reads on.
_RANKS = 10


def headline(whole: StoredAttempt, about: Declaration) -> None:
    """What became of it, and the figures of its task, the headline first."""
    card, scores = about.card, whole.own_scores()
    words = SIGNS[verdict_of(whole)][0]
    reason = spell_programs(str(whole.attempt.get("verdict_reason") or ""))
    items = [("Verdict", words[:2] + words[2:].capitalize(), reason)]
    task = card.task(str(whole.attempt["task"]))
    first = [task.metric] if task else []
    left = {task.decided_by if task else "", *card.lower_is_better}
    others = [name for name in dict.fromkeys([*first, *card.metrics]) if name in scores and name not in left]
    items += [(head_metric(name), format_points(scores[name]), card.metrics[name]) for name in others[:3]]
    figures([(name, value, plain(meaning)) for name, value, meaning in items])
    show_took(whole)


def show_given(whole: StoredAttempt) -> None:
    """What the model was given: a conversation, numbered lines or a query."""
    inputs = whole.sample.get("inputs") or {}
    if lines := inputs.get("lines"):
        rows = [{"role": _role(each["who"]), "text": each["text"], "turn": each["id"]} for each in lines]
    elif text := inputs.get("transcript"):
        rows = _read_transcript(text)
    else:
        rows = []
    if rows:
        transcript(rows, key="given")
    elif "query" in inputs:
        st.markdown("**The query**")
        say(str(inputs["query"]))
    elif whole.messages.height:
        transcript(whole.messages)
    else:
        st.markdown("**What was given**")
        grid(("What", ""), [[(label(name), "quiet"), (_text(value), "")] for name, value in inputs.items()])
        if "corpus" in inputs:
            link(
                "The corpus is on the page Knowledge", "knowledge", View(dataset=str(whole.run.get("dataset_id") or ""))
            )


def show_due(whole: StoredAttempt, key: str = "answer") -> None:
    """What was due beside what came; of what nobody has labelled what came."""
    expected, output = whole.sample.get("expected") or {}, whole.attempt["output"] or {}
    inputs = whole.sample.get("inputs") or {}
    with st.container(border=True):
        st.markdown("**Due beside given**" if expected else "**What came**")
        search = ranking_tasks(str(whole.run.get("benchmark") or "")).get(str(whole.attempt["task"]))
        shapes = [
            draw
            for names, draw in _SHAPES.items()
            if names <= set(expected) and (draw is not _draw_questions or "questions" in inputs)
        ]
        if not expected:
            _draw_given(inputs, output)
        elif search is not None and search.relevant in expected:
            _draw_ranking(search, expected, output, document_titles(str(whole.run.get("dataset_id") or ""), search))
        elif shapes:
            shapes[0](inputs, expected, output)
        else:
            grid(("", "Due", "Given"), [[(k, "quiet"), (_text(v), ""), (_text(output.get(k)), "")]
                                        for k, v in expected.items()])  # fmt: skip
        if output.get("reason"):
            st.caption("What the model says to it")
            say(str(output["reason"]))
        if output.get("response"):
            st.caption("The model's answer to the customer")
            say(str(output["response"]))
        if output.get("raw"):
            with st.popover("Raw reply", type="tertiary", key=f"{key}-raw"):
                show_code(str(output["raw"]))
    # A dialogue has votes turn by turn, and shows them there.
    if whole.votes.height and whole.messages.is_empty():
        with st.container(border=True):
            st.markdown("**Judges**")
            asked = list_questions(whole)
            for field in whole.judgements["field"].unique(maintain_order=True):
                question = asked.get(str(field), "").partition("\n")[0]
                st.caption(plain(question or f"They were asked about “{name_id(field)}”."))
            said = {
                judge.replace("judge-", ""): f"{name_id(field)} {name_id(verdict)}"
                for judge, field, verdict in whole.judgements.select("judge", "field", "verdict").iter_rows()
                if verdict is not None
            }
            cast = whole.votes.with_columns(judge=pl.col("judge").str.replace("judge-", "", literal=True))
            votes(cast, said, key=f"{key}-votes")


def list_questions(whole: StoredAttempt) -> dict[str, str]:
    """Field → what judges of this attempt were asked of it, an option a line; of those that say so."""
    benchmark = str(whole.attempt["benchmark"])
    facets = {each.id: str(value) for each in declared(benchmark).facets if (value := whole.attempt.get(each.id))}
    return cached(questions_of, benchmark, facets, dict(whole.run["setup"].get("options") or {}))


def show_figures(whole: StoredAttempt, definitions: Mapping[str, str]) -> None:
    """All figures of the answer with what they mean."""
    part = whole.scores.filter(pl.col("turn").is_null()).select("metric", "value", "reason")
    with st.expander(f"All {part.height} figures"):
        rows = [
            [(name_metric(metric), ""), (format_points(value), ""), (reason or definitions.get(metric, ""), "quiet")]
            for metric, value, reason in part.iter_rows()
        ]
        grid(("Figure", "", ""), rows, numbers=[1])


def _draw_given(inputs: Mapping[str, Any], output: Mapping[str, Any]) -> None:
    """Answers to questions one by one, anything else by name."""
    if "questions" in inputs:
        answers, reasons, evidence = (output.get(name) or [] for name in ("answers", "reasons", "evidence"))
        rows = [
            [(question, ""), (_text(said), ""), (_numbers(lines), "quiet"), (reason or "", "quiet")]
            for question, said, lines, reason in zip_longest(inputs["questions"], answers, evidence, reasons)
            if question is not None
        ]
        grid(("Question", "Given", "Lines", "Why"), rows)
        return
    shown = {name: value for name, value in output.items() if name not in _TOLD_ELSEWHERE and value not in (None, "")}
    grid(("", "Given"), [[(label(name), "quiet"), (_text(value), "")] for name, value in shown.items()])


def _draw_label(inputs: Mapping[str, Any], expected: Mapping[str, Any], output: Mapping[str, Any]) -> None:
    said, due = output.get("label"), expected["label"]
    grid(("Taxonomy", "Due", "Given"), [[(_text(inputs.get("taxonomy")), "quiet"), (due, ""),
                                         (_text(said), "" if said == due else "bad")]])  # fmt: skip


def _draw_questions(inputs: Mapping[str, Any], expected: Mapping[str, Any], output: Mapping[str, Any]) -> None:
    rows = []
    answers, evidence = output.get("answers") or [], output.get("evidence") or []
    for i, (question, due) in enumerate(zip(inputs["questions"], expected["answers"], strict=True)):
        said = answers[i] if i < len(answers) else None
        lines = [_numbers(each[i] if i < len(each) else ()) for each in (expected.get("evidence") or [], evidence)]
        rows.append(
            [(question, ""), (due, ""), (_text(said), "" if said == due else "bad")] + [(ids, "quiet") for ids in lines]
        )
    grid(("Question", "Due", "Given", "Lines due", "Lines given"), rows)


def _draw_ranking(
    search: Search, expected: Mapping[str, Any], output: Mapping[str, Any], titles: Mapping[str, str]
) -> None:
    right = expected[search.relevant]
    due = right if isinstance(right, list) else [right]
    ranked, scores = output.get("ranked") or [], output.get("scores") or []
    if output.get("query"):
        st.caption("Searched for")
        say(str(output["query"]))
    rows = [
        [(str(place), "quiet"), (_name_document(article, titles), ""), ("✓ right" if article in due else "", ""),
         (f"{scores[place - 1]:.3f}" if place <= len(scores) else "", "quiet")]
        for place, article in enumerate(ranked[:_RANKS], start=1)
    ]  # fmt: skip
    for article in due:
        if article not in ranked[:_RANKS]:
            place = ranked.index(article) + 1 if article in ranked else None
            rows.append(
                [
                    (str(place or "–"), "quiet"),
                    (_name_document(article, titles), "bad"),
                    ("right, too late" if place else "missed", ""),
                ]
            )
    grid(("Rank", search.unit[0].capitalize(), "", "Score"), rows, numbers=[0, 3])
    if expected.get("answer"):
        st.caption("The right answer")
        say(str(expected["answer"]))


def _name_document(id: str, titles: Mapping[str, str]) -> str:
    """ "Getting on board with a bicycle (KB_38)"."""
    title = titles.get(id, id)
    return id if title == id else f"{title} ({id})"


def _draw_tools(inputs: Mapping[str, Any], expected: Mapping[str, Any], output: Mapping[str, Any]) -> None:
    del inputs
    due = {each["name"] for each in expected["tools"]}
    rows = [[("due", "quiet"), (_calls(expected["tools"]), "")]]
    for size, calls in (output.get("calls") or {}).items():
        right = {each.get("name") for each in calls or ()} == due
        rows.append([(f"of {size}", "quiet"), (_calls(calls), "" if right else "bad")])
    grid(("Tools to choose from", "Called"), rows)


def _draw_pairs(inputs: Mapping[str, Any], expected: Mapping[str, Any], output: Mapping[str, Any]) -> None:
    del inputs
    rows = []
    for kind in ("similar", "contradictory"):
        gold, said = ({tuple(sorted(pair)) for pair in each.get(kind) or ()} for each in (expected, output))
        counts = (len(gold), len(said & gold), len(gold - said), len(said - gold))
        rows.append([(kind, ""), *((format_count(n), "") for n in counts)])
    grid(("Pairs", "Due", "Found", "Missed", "Invented"), rows, numbers=range(1, 5))


_SHAPES = {
    frozenset({"label"}): _draw_label,
    frozenset({"answers"}): _draw_questions,
    frozenset({"tools"}): _draw_tools,
    frozenset({"similar", "contradictory"}): _draw_pairs,
}


def _read_transcript(text: str) -> list[dict[str, Any]]:
    """The lines of "Who: words"; a line without a known speaker goes on with the one before."""
    rows: list[dict[str, Any]] = []
    for line in text.splitlines():
        who, colon, words = line.partition(": ")
        if colon and who in _ROLES:
            rows.append({"role": _ROLES[who], "text": words, "turn": len(rows) + 1})
        elif rows:
            rows[-1]["text"] += "\n" + line
        elif line.strip():
            rows.append({"role": "system", "text": line, "turn": 1})
    return rows


def _role(who: str) -> str:
    return _ROLES.get(who, who.lower())


def _calls(calls: Any) -> str:
    if calls is None:
        return "unreadable"
    if not calls:
        return "nothing"
    return "; ".join(f"{each.get('name')}({_text(each.get('arguments'))})" for each in calls)


def _numbers(ids: Any) -> str:
    return ", ".join(str(each) for each in ids or ()) or "–"


def _text(value: Any) -> str:
    if value is None:
        return "–"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
