"""The figures of CXMArena's tasks: predictions and gold in, a dict of named figures out, no model called.

Figures are shares from 0 to 1. Each function takes one item or a list of items. Where the public
evaluator does something else, its way is a named option, so that both can be shown side by side.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from cxlab.errors import BadOption
from cxlab.importers import cells
from cxlab.metrics import retrieval
from cxlab.metrics.classification import macro_f1, majority_floor, precision_recall_f1

FUZZY_CUTOFF = 70  # the public evaluator's cutoff of the weighted ratio (reference 2.3)
PUBLIC_OTHERS = "others"  # its fallback, in small letters: never equal to a gold "Others"
RECALL_CUTOFFS = (10, 20)  # table 6
SWEEP = tuple(step / 100 for step in range(30, 100, 5))
Pair = tuple[str, str]
Shape = Literal["auto", "one", "many"]


class RankingFigures(dict[str, float]):
    """Named figures, and what the rankings were taken for: the one of a query or those of many (`shape`, `queries`)."""

    def __init__(self, figures: Mapping[str, float], shape: Shape, queries: int) -> None:
        super().__init__(figures)
        self.shape, self.queries = shape, queries


def kb_pairs(predicted: Iterable[Sequence[str]], gold: Iterable[Sequence[str]]) -> dict[str, float]:
    """Precision, recall and F1 over article pairs; order in a pair, repetitions and self-pairs do not count.

    No prediction: precision 0 (the public evaluator breaks off). No gold: recall 0; `gold` tells how many there were.
    """
    found, wanted = clean_pairs(predicted), clean_pairs(gold)
    both = len(found & wanted)
    return {
        "precision": both / len(found) if found else 0.0,
        "recall": both / len(wanted) if wanted else 0.0,
        "f1": 2 * both / (len(found) + len(wanted)) if found or wanted else 0.0,
        "true_positives": float(both),
        "predicted": float(len(found)),
        "gold": float(len(wanted)),
    }


def sweep(
    scored: Iterable[tuple[str, str, float]], gold: Iterable[Sequence[str]], thresholds: Sequence[float] = SWEEP
) -> list[dict[str, float]]:
    """`kb_pairs` at each threshold: pairs whose similarity is at least that; rising thresholds."""
    pairs, wanted = list(scored), list(gold)
    return [
        {"threshold": cut, **kb_pairs([(a, b) for a, b, similarity in pairs if similarity >= cut], wanted)}
        for cut in sorted(thresholds)
    ]


def clean_pairs(pairs: Iterable[Sequence[str]]) -> set[Pair]:
    """The pairs as a set with the smaller id first; BadOption for what is no pair."""
    found: set[Pair] = set()
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2:
            raise BadOption(f"{pair!r} is no pair of article ids; write [id, id]")
        a, b = map(str, pair)
        if a != b:
            found.add((a, b) if a < b else (b, a))
    return found


def intent(
    predicted: str | Sequence[str | None] | None,
    gold: str | Sequence[str],
    candidates: Sequence[Any],
    mapping: Literal["raw", "fuzzy"] = "raw",
) -> dict[str, float]:
    """Accuracy of intent labels, equal to the letter; None = no label was given, which is wrong.

    `candidates`: labels, or {"label": ...} as samples hold them. `raw` compares what was said. `fuzzy` is the
    public evaluator's way: the most alike candidate is put in its place (`snap`). `outside`: share of given
    labels that no candidate has. Two-level labels "L1:L2" also give `accuracy_l1`, the first level alone.
    """
    if mapping not in ("raw", "fuzzy"):
        raise BadOption(f"mapping={mapping!r}; known: raw, fuzzy")
    said: list[str | None] = [predicted] if predicted is None or isinstance(predicted, str) else list(predicted)
    truth = [gold] if isinstance(gold, str) else list(gold)
    _check_lengths(said, truth)
    labels = [c["label"] if isinstance(c, Mapping) else str(c) for c in candidates]
    if mapping == "fuzzy":
        said = [snap(label, labels) for label in said]
    n, given, known = len(truth), [s for s in said if s is not None], set(labels)
    figures = {
        "accuracy": _share(sum(s == t for s, t in zip(said, truth, strict=True)), n),
        "correct": float(sum(s == t for s, t in zip(said, truth, strict=True))),
        "n": float(n),
        "outside": _share(sum(s not in known for s in given), len(given)),
        "missing": _share(n - len(given), n),
    }
    if is_two_level(labels):
        first = [(s or "").partition(":")[0] == t.partition(":")[0] for s, t in zip(said, truth, strict=True)]
        figures["accuracy_l1"] = _share(sum(first), n)
    return figures


def is_two_level(labels: Sequence[str]) -> bool:
    """Whether a taxonomy's labels are "L1:L2" (a fallback such as "Others" may stand alone)."""
    rest = [label for label in labels if label.lower() != PUBLIC_OTHERS]
    return bool(rest) and all(re.search(r"\S:\S", label) for label in rest)


def snap(label: str | None, candidates: Sequence[str]) -> str:
    """The public evaluator's mapping: the candidate with the best weighted ratio if that is 70 or more, ties to
    the first; else "others", which equals no gold label. A part of a candidate already gives 90."""
    from rapidfuzz import fuzz, process, utils

    if not label:
        return PUBLIC_OTHERS
    found = process.extractOne(
        label, candidates, scorer=fuzz.WRatio, processor=utils.default_process, score_cutoff=FUZZY_CUTOFF
    )
    return str(found[0]) if found else PUBLIC_OTHERS


def quality(
    predicted: Sequence[Any] | Mapping[str, Any],
    gold: Sequence[Any] | Mapping[str, Any],
    missing: Literal["wrong", "skip"] = "wrong",
) -> dict[str, float]:
    """Accuracy a question and a case, F1, evidence, and the floor of always giving the most frequent answer.

    A row is a list of answers or {"answers": [...], "evidence": [[line ids]], "conversation_id": ...}; rows of
    one conversation form a case, which is right when every row has exactly the gold answers. Answers are
    compared in small letters. A plain list of answers is one row, a mapping has a row a key. None stands for an
    answer or row not given.

    `missing="skip"` is the public evaluator's way: positions without an answer leave the question's
    denominator (an unreadable reply counts there as wrong: give it as answers that no gold has).
    `f1`: mean of the F1 of each answer that occurs; `f1_yes`, `f1_no`. Evidence is summed over the questions
    whose gold names lines; nan where none does.
    """
    if missing not in ("wrong", "skip"):
        raise BadOption(f"missing={missing!r}; known: wrong, skip")
    if isinstance(gold, Mapping):
        rows, best_rows = _rows_by_key(predicted, gold)
    else:
        rows, best_rows = _rows(predicted), _rows(gold)
    truth = [_row(row) for row in best_rows]
    given = [_row(row) for row in rows] if len(predicted) else [_row(None)] * len(truth)
    _check_lengths(given, truth)
    said: list[str | None] = []
    right: list[str] = []
    cases: dict[object, list[bool]] = {}
    floors: dict[object, list[str]] = {}
    hits = named = wanted = 0
    for place, ((answers, evidence, _), (best, lines, case)) in enumerate(zip(given, truth, strict=True)):
        key = case if case is not None else ("row", place)
        cases.setdefault(key, []).append(answers == best)
        floors.setdefault(key, []).extend(a or "" for a in best)
        padded = (answers + [None] * len(best))[: len(best)]
        for one, other in zip(padded, best, strict=True):
            if one is None and missing == "skip":
                continue
            said.append(one)
            right.append(other or "")
        for at, proof in enumerate(lines):
            if proof:
                shown = evidence[at] if at < len(evidence) else set()
                hits, named, wanted = hits + len(shown & proof), named + len(shown), wanted + len(proof)
    everything = [answer for answers in floors.values() for answer in answers]
    usual = max(set(everything), key=lambda a: (everything.count(a), a), default="")
    return {
        "question_accuracy": _share(sum(a == b for a, b in zip(said, right, strict=True)), len(right)),
        "case_accuracy": _share(sum(all(rows) for rows in cases.values()), len(cases)),
        "f1": macro_f1(right, said),
        "f1_yes": precision_recall_f1(right, said, "yes").f1,
        "f1_no": precision_recall_f1(right, said, "no").f1,
        "evidence_precision": (hits / named if named else 0.0) if wanted else math.nan,
        "evidence_recall": _share(hits, wanted),
        "majority_floor": majority_floor(everything),
        "majority_case_floor": _share(sum(set(answers) == {usual} for answers in floors.values()), len(floors)),
        "questions": float(len(right)),
        "cases": float(len(cases)),
    }


def search(
    ranked: Sequence[Any] | Mapping[str, Sequence[str]],
    gold: str | Sequence[Any] | Mapping[str, Any],
    k: int | Sequence[int],
    cut: Literal["documents", "chunks"] = "documents",
    shape: Shape = "auto",
) -> RankingFigures:
    """hit@k, precision@k, recall@k, mrr@k and ndcg@k of article rankings, mean over the queries.

    One query: a list of ids, best first, with its gold id (or ids). Many: a list or mapping of those. Two flat lists
    of one length are many queries with one id each, as each has one right article; `shape` says otherwise, and the
    result's `shape` and `queries` say what was taken. A query without an answer counts 0.

    `documents` (ours): repeated ids are dropped, then the list is cut at k. `chunks` is the public evaluator's way: the
    first k entries are chunks, then repetitions are dropped and nothing is refilled; its "precision" is hit@k.
    precision@k divides by k, however short the list is.
    """
    if cut not in ("documents", "chunks"):
        raise BadOption(f"cut={cut!r}; known: documents, chunks")
    rankings, relevant, taken = _queries(ranked, gold, shape, flat="many")
    figures = RankingFigures({}, taken, len(relevant))
    for cutoff in [k] if isinstance(k, int) else list(k):
        shown = {q: ids[:cutoff] for q, ids in rankings.items()} if cut == "chunks" else rankings
        found = retrieval.evaluate(shown, relevant, cutoffs=(cutoff,))
        names = {"acc": "hit", "p": "precision", "r": "recall", "mrr": "mrr", "ndcg": "ndcg"}
        figures.update({f"{name}@{cutoff}": float(found[f"{short}@{cutoff}"]) for short, name in names.items()})
    return figures


def multi_turn_recall(
    ranked: Sequence[Any] | Mapping[str, Sequence[str]],
    gold: str | Sequence[Any] | Mapping[str, Any],
    cutoffs: Sequence[int] = RECALL_CUTOFFS,
    empty: Literal["skip", "zero"] = "skip",
    shape: Shape = "auto",
) -> RankingFigures:
    """recall@10 and recall@20: share of the gold articles among the first k different ones, mean over the turns.

    One turn: a ranking with its gold ids. Many: lists or mappings of those. Two flat lists are one turn, as a turn may
    have several right articles; `shape` says otherwise, and the result's `shape` and `queries` say what was taken.

    A turn whose gold is empty has nothing to find and is left out; `zero` is the public evaluator's way, where
    it counts 0 and stays in the mean. No turn with gold: nan.
    """
    if empty not in ("skip", "zero"):
        raise BadOption(f"empty={empty!r}; known: skip, zero")
    rankings, relevant, taken = _queries(ranked, gold, shape, flat="one")
    found = retrieval.evaluate(rankings, relevant, cutoffs=cutoffs, without_gold=empty)
    figures = RankingFigures({f"recall@{cutoff}": found[f"r@{cutoff}"] for cutoff in cutoffs}, taken, len(relevant))
    figures["turns"] = float(len(relevant))
    figures["empty_gold"] = float(sum(not wanted for wanted in relevant.values()))
    return figures


def tools(predicted: Sequence[Any] | None, gold: Sequence[Any]) -> dict[str, float]:
    """Exact match of the called tools, by names (the public evaluator's way) and by names and arguments (ours).

    A call is a name or {"name", "arguments"} (a dict or its JSON text); a list of them may stand as text, as it does
    in the published files. `names`: the sets of names are equal;
    order and repetition do not count, None = nothing was called. `names_arguments`: each gold call is met by one
    call with the same arguments, all of them, and no call is left over; values are compared as text in small
    letters, and those that gold lists in `free` (nobody told them) may have any; nan where gold names no arguments
    at all. `name_precision`, `name_recall`: of the names, per item.
    """
    predicted, gold = _read_calls(predicted) if predicted is not None else None, _read_calls(gold)
    single = _is_calls(gold)
    answers, truth = ([predicted], [gold]) if single else (list(predicted or [None] * len(gold)), list(gold))
    _check_lengths(answers, truth)
    exact, whole, precision, recall, silent = [], [], [], [], 0
    for said, wanted in zip(answers, truth, strict=True):
        calls, goal = [_call(c) for c in said or ()], [_call(c) for c in wanted or ()]
        names, right = {name for name, _ in calls}, {name for name, _ in goal}
        silent += not calls
        exact.append(names == right)
        precision.append(len(names & right) / len(names) if names else float(not right))
        recall.append(len(names & right) / len(right) if right else 1.0)
        if any(arguments is not None for _, arguments in goal):
            free = {str(c["name"]): set(c.get("free", ())) for c in wanted if isinstance(c, Mapping)}
            whole.append(_same_calls(_bind(calls, free), _bind(goal, free)))
    n = len(truth)
    return {
        "names": _share(sum(exact), n),
        "names_arguments": _share(sum(whole), len(whole)),
        "name_precision": _share(sum(precision), n),
        "name_recall": _share(sum(recall), n),
        "silent": _share(silent, n),
        "n": float(n),
    }


def _read_calls(given: Any) -> Any:
    """Lists that stand as text, whole or an item at a time, as lists."""
    if isinstance(given, str):
        if not given.lstrip().startswith("["):
            return [given]
        try:
            return _read_calls(cells.as_literal(given))
        except cells.Unreadable as problem:
            raise BadOption(f"tools: {problem}") from None
    written = isinstance(given, Sequence) and any(isinstance(one, str) and one.lstrip()[:1] == "[" for one in given)
    return [_read_calls(one) if isinstance(one, str) else one for one in given] if written else given


def _bind(calls: Sequence[tuple[str, Any]], free: Mapping[str, set[str]]) -> list[tuple[str, Any]]:
    """The calls without the arguments that may have any value."""
    return [
        (name, {k: v for k, v in (arguments or {}).items() if k not in free.get(name, ())}) for name, arguments in calls
    ]


def _same_calls(calls: Sequence[tuple[str, Any]], goal: Sequence[tuple[str, Any]]) -> bool:
    left = [(name, arguments or {}) for name, arguments in calls]
    for name, arguments in goal:
        if (name, arguments or {}) not in left:
            return False
        left.remove((name, arguments or {}))
    return not left


def _call(given: Any) -> tuple[str, dict[str, str] | None]:
    """Name and arguments in one form; arguments that are no JSON object match nothing."""
    if isinstance(given, str):
        return given, None
    arguments = given.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError:
            arguments = {"": arguments}
    if arguments is None:
        return str(given["name"]), None
    if not isinstance(arguments, Mapping):
        arguments = {"": arguments}
    return str(given["name"]), {str(key): plain(value) for key, value in arguments.items()}


def plain(value: Any) -> str:
    """A value as text for comparing: small letters, single spaces, 12 and 12.0 and "12" alike."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    return " ".join(text.lower().split())


def _is_calls(gold: Sequence[Any]) -> bool:
    return all(isinstance(one, str) or (isinstance(one, Mapping) and "name" in one) for one in gold)


def _rows(given: Any) -> list[Any]:
    """A plain list of answers is one row; else a row an element."""
    texts = [one for one in given if one is not None]
    return [list(given)] if texts and all(isinstance(one, str) for one in texts) else list(given)


def _rows_by_key(predicted: Any, gold: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """Rows side by side: those of one mapping by the keys of the other, or one row each."""
    if "answers" in gold:
        return [predicted], [gold]
    if not isinstance(predicted, Mapping):
        raise BadOption("gold is a mapping and the predictions are not; give both in the same form")
    if stray := [key for key in predicted if key not in gold]:
        raise BadOption(f"{stray[0]!r} has a prediction but no gold; give it one or leave it out")
    return [predicted.get(key) for key in gold], list(gold.values())


def _row(given: Any) -> tuple[list[str | None], list[set[str]], object]:
    """(answers in small letters, evidence as sets, the case or None) of one row."""
    if given is None:
        return [], [], None
    whole = given if isinstance(given, Mapping) else {"answers": given}
    answers = [None if a is None else str(a).strip().lower() for a in whole.get("answers") or ()]
    evidence = [set(map(str, ids or ())) for ids in whole.get("evidence") or ()]
    return answers, evidence, whole.get("conversation_id", whole.get("case"))


def _queries(
    ranked: Any, gold: Any, shape: Shape, flat: Literal["one", "many"]
) -> tuple[dict[str, list[str]], dict[str, list[str]], Shape]:
    """Rankings and relevant ids by query, and their shape. Two flat lists of ids are one query if their lengths differ,
    else `flat`."""
    if shape not in ("auto", "one", "many"):
        raise BadOption(f"shape={shape!r}; known: auto, one, many")
    if isinstance(gold, Mapping):
        if not isinstance(ranked, Mapping):
            raise BadOption("gold is a mapping by query and the rankings are not; give both in the same form")
        return {q: _ids(ranked.get(q)) for q in gold}, {q: _ids(ids) for q, ids in gold.items()}, "many"
    if shape == "auto":
        plain = isinstance(gold, str) or all(isinstance(one, str) for one in (*ranked, *gold))
        same = not isinstance(gold, str) and len(ranked) == len(gold)
        shape = "many" if not plain else flat if same else "one"
    if shape == "one":
        return {"0": _ids(ranked)}, {"0": _ids(gold)}, "one"
    _check_lengths(ranked, gold)
    return (
        {str(n): _ids(ids) for n, ids in enumerate(ranked)},
        {str(n): _ids(ids) for n, ids in enumerate(gold)},
        "many",
    )


def _ids(given: Any) -> list[str]:
    return [] if given is None else [given] if isinstance(given, str) else [str(one) for one in given]


def _check_lengths(a: Sequence[Any], b: Sequence[Any]) -> None:
    if len(a) != len(b):
        raise BadOption(f"{len(a)} predictions for {len(b)} gold items; give one for each, None where there is none")


def _share(part: float, whole: int) -> float:
    return part / whole if whole else math.nan
