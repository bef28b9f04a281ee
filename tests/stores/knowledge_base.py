"""A small knowledge base with two runs on it, made by hand so that every figure of it is known.

    make_knowledge(home) -> dataset id

Five searchable articles under two roots, four of refinement; two repetitions and two contradictions are known, of
which RUN finds one each and invents one contradiction. Six conversations with intents, two with quality questions.
"""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.benchmarks.contract import Scored
from cxlab.records import Attempt, Dataset, Run, Sample, Score
from cxlab.store import write
from tests.stores.verdicts import JudgingWriter, decide

DATASET, RUN, OTHER = "cxmarena-known", "run-known", "run-other"
HOSTILE = "<img src=http://evil.example/x onerror=alert(1)> **bold** [l](http://evil.example) <script>alert(2)</script>"
LAMP = "Aero Lamp\n\nThe warranty of the Aero Lamp lasts 24 months. It needs a dry room.\n\nCare\n\nUse a dry cloth."
WHEN = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
GOLD = {
    "similar": [["R_1", "R_2"], ["R_3", "R_4"]],
    "contradictory": [["R_1", "R_3"], ["R_2", "R_3"]],
}
OUTPUT = {
    "similar": [["R_1", "R_2"]],
    "contradictory": [["R_1", "R_3"], ["R_1", "R_4"]],
    "public": [],
    "pairs": [["R_1", "R_2", 0.9], ["R_1", "R_3", 0.7], ["R_3", "R_4", 0.5], ["R_1", "R_4", 0.4]],
    "shown": [{"pair": ["R_3", "R_1"], "similarity": 0.7, "first": "36 months.", "second": "24 months."}],
    "candidates": 4,
    "proposed": {"contradictory": [["R_3", "R_1"], ["R_1", "R_4"], ["R_1", "R_2"], ["R_3", "R_4"]]},
    "unread": 1,
    "settings": {"similarity": "words", "threshold": 0.8, "contradictions": "model"},
}
# gold, what RUN said
LABELS = (("Repair", "Repair"), ("Repair", "Return"), ("Return", "Return"), ("Return", "Repair"), ("Repair", "Return"),
          ("Late", "late."))  # fmt: skip
QUESTIONS = ["Did the agent greet?", "Did the agent **apologise**?"]


def make_knowledge(home: Path, articles: bool = True, runs: bool = True) -> str:
    """Write it into a store; without `articles` only what the conversations need, as an import may lack the rest."""
    samples = _samples()
    dataset = Dataset(
        id=DATASET, benchmark="cxmarena", name="Known", source="generated", config={}, seed=1, licence="own",
        created=WHEN,
    )  # fmt: skip
    tables = {"taxonomies": _taxonomies()}
    if articles:
        tables |= {"articles": _articles(), "facts": _facts(), "tools": _tools(), "conversations": _talks(),
                   "acronyms": pl.DataFrame({"phrase": ["Aero Lamp"], "acronym": ["AL"], "uses": [1]}),
                   "topics": _topics(), "changes": _changes()}  # fmt: skip
    folder = write.save_dataset(dataset, samples, home, tables=tables)
    if articles:
        (folder / "files").mkdir(exist_ok=True)
        (folder / "files" / "K_4.pdf").write_bytes(_pdf())
    if runs:
        _run(home, RUN, "simulated:strong", samples, right=False)
        _run(home, OTHER, "simulated:weak", samples, right=True)
    return DATASET


def _article(name: str, clean: str, topic: list[str], corpus: list[str], **more: Any) -> dict[str, Any]:
    own = {
        "article_id": name, "kind": "information", "topic": topic, "title": clean.splitlines()[0], "body": clean,
        "clean": clean, "format": "text", "corpus": corpus, "facts": ["lamp.warranty"] if "24 months" in clean else [],
        "tools": "[]", "relations": "{}", "file": None, "acronyms": "{}",
    }  # fmt: skip
    return {**own, **more}


def _articles() -> pl.DataFrame:
    both, refined = ["search", "multi_turn"], ["refinement"]
    rows = [
        _article("K_1", LAMP, ["Light", "Aero Lamp"], both, body=LAMP.replace("of the Aero Lamp", "of the AL"),
                 acronyms='{"Aero Lamp": 1}', tools='["track_parcel"]', relations='{"siblings": ["K_2"]}'),
        _article("K_2", "Boreal Lamp\n\n# no heading\n\n| Item | Value |\n|---|---|\n| Price | £5 |",
                 ["Light", "Boreal Lamp"], both, format="markdown"),
        _article("K_3", "Heat", ["Heat"], both, body=f"<h2>Heat</h2><p onclick='x()'>{HOSTILE}</p>", format="html"),
        _article("K_4", "Stove\n\nBurns wood.", ["Heat", "Stove"], both, format="pdf", file="K_4.pdf"),
        _article("K_10", "Fan\n\nPrice: £9.", ["Heat", "Fan"], both, format="table"),
        _article("R_1", LAMP, ["Light", "Aero Lamp"], refined, relations='{"of": ["K_1"]}'),
        _article("R_2", LAMP + "\n\nSee also.", ["Light", "Aero Lamp"], refined),
        _article("R_3", "Stove\n\nThe warranty of the Aero Lamp lasts 36 months. Burns wood.", ["Heat", "Stove"],
                 refined),
        _article("R_4", "Stove again\n\nBurns wood.", ["Heat", "Stove"], refined),
    ]  # fmt: skip
    lists = dict.fromkeys(("topic", "corpus", "facts"), pl.List(pl.String))
    schema = {name: lists.get(name, pl.String) for name in rows[0]}
    return pl.DataFrame(rows, schema=schema)


def _facts() -> pl.DataFrame:
    rows = [
        ("lamp.warranty", "Aero Lamp", "warranty", "24.0", "month", "24 months"),
        ("fan.price", "Fan", "price", "9.0", "£", "£9"),
        ("stove.colour", "Stove", "colour", "slate grey", "", "slate grey"),
    ]
    return pl.DataFrame(
        rows, schema=["fact_id", "subject", "property", "value", "unit", "shown"], orient="row"
    )  # fmt: skip


def _tools() -> pl.DataFrame:
    definition = {"type": "function", "function": {"name": "track_parcel", "description": "Where a parcel is"}}
    return pl.DataFrame({"name": ["track_parcel"], "definition": [json.dumps(definition)]})


def _topics() -> pl.DataFrame:
    rows = [("light", None, "Light", "What shines", 1), ("light/aero", "light", "Aero Lamp", "", 2)]
    return pl.DataFrame(rows, schema=["topic_id", "parent", "title", "description", "depth"], orient="row")


def _changes() -> pl.DataFrame:
    rows = [
        ("contradiction", "R_3", "R_1", "The warranty of the Aero Lamp lasts 36 months.", "lamp.warranty", "36"),
        ("copy", "R_2", "R_1", "", None, None),
    ]
    return pl.DataFrame(rows, schema=["kind", "to", "from", "text", "fact_id", "value"], orient="row")


def _talks() -> pl.DataFrame:
    said = [
        {"role": "customer", "text": "How long is the warranty?", "turn": 1, "data": {}},
        {"role": "agent", "text": "24 months.", "turn": 1, "data": {"facts": ["lamp.warranty"]}},
    ]
    row = {"conversation_id": "C_1", "persona": "{}", "labels": "{}", "messages": json.dumps(said), "noisy": "[]",
           "noise": "{}"}  # fmt: skip
    return pl.DataFrame([row])


def _taxonomies() -> pl.DataFrame:
    rows = [("A", one, None, f"{one} of a lamp") for one in ("Repair", "Return", "Late", "Never")]
    rows += [("B", "Trouble", "Repair", ""), ("B", "Trouble", "Return", "")]
    return pl.DataFrame(rows, schema=["taxonomy", "l1", "l2", "description"], orient="row")


def _samples() -> list[Sample]:
    made = [("kb_refinement", {"corpus": "refinement"}, GOLD)]
    for number, (gold, _) in enumerate(LABELS):
        words = {"Repair": "it is broken, mend it", "Return": "I send it back", "Late": "where is my parcel"}[gold]
        transcript = f"Customer: {words} {number}\nAgent: {HOSTILE}"
        inputs = {"transcript": transcript, "taxonomy": "A", "conversation_id": f"C_{number + 1}"}
        made.append(("intent", inputs, {"label": gold}))
    for number in (1, 2):
        lines = [{"id": 1, "who": "Customer", "text": "Hi"}, {"id": 2, "who": "Agent", "text": HOSTILE},
                 {"id": 3, "who": "Agent", "text": "Sorry."}]  # fmt: skip
        inputs = {"lines": lines, "questions": QUESTIONS, "conversation_id": f"C_{number}"}
        made.append(("quality", inputs, {"answers": ["Yes", "No"], "evidence": [[2, 3], []]}))
    return [
        Sample(id=f"s-{task}-{place}", dataset_id=DATASET, benchmark="cxmarena", task=task, inputs=inputs,
               expected=expected, facets={"scenario": task})
        for place, (task, inputs, expected) in enumerate(made)
    ]  # fmt: skip


def _run(home: Path, run_id: str, model: str, samples: list[Sample], right: bool) -> None:
    """RUN answers as the constants above say; the other one gives the gold, but of the first quality list nothing."""
    run = Run(
        id=run_id, benchmark="cxmarena", model=model, simulated=True, setup={"options": {}}, judges=(),
        dataset_id=DATASET, seed=1, trials=1, planned=len(samples), prompts={}, code="x",
        created=WHEN if right else WHEN.replace(hour=10),
    )  # fmt: skip
    write.create_run(run, home)
    with JudgingWriter(run, {one.id: one for one in samples}, home=home) as writer:
        for place, sample in enumerate(samples):
            output: dict[str, Any] = {**sample.expected}
            if not right:
                output = _said(sample, place)
            elif sample.task == "quality" and place == len(samples) - 1:
                output = {"answers": [None, None], "evidence": [[], []]}
            identity = f"{run_id}-{place}"
            attempt = Attempt(id=identity, run_id=run_id, sample_id=sample.id, trial=0, output=output, started=WHEN,
                              ended_by=sample.task)  # fmt: skip
            scores: tuple[Score, ...] = ()
            if sample.task == "intent":
                hit = 100.0 * (output["label"] == sample.expected["label"])
                fuzzy = 100.0 * (output["label"].strip(".").lower() == sample.expected["label"].lower())
                scores = (
                    Score(attempt_id=identity, turn=None, metric="intent", value=hit),
                    Score(attempt_id=identity, turn=None, metric="intent_fuzzy", value=fuzzy),
                )
            writer.add(attempt, decide("cxmarena", sample.task, attempt, Scored(tuple(scores))))


def _said(sample: Sample, place: int) -> dict[str, Any]:
    if sample.task == "kb_refinement":
        return OUTPUT
    if sample.task == "intent":
        return {"label": LABELS[place - 1][1], "reason": HOSTILE}
    return {"answers": ["Yes", "Yes"], "evidence": [[2], [1]], "reasons": ["It says so.", HOSTILE]}


def _pdf() -> bytes:
    from fpdf import FPDF

    sheet = FPDF()
    for words in ("Stove", "Burns wood."):
        sheet.add_page()
        sheet.set_font("Helvetica", size=12)
        sheet.cell(text=words)
    return bytes(sheet.output())
