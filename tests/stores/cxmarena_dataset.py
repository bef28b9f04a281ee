"""A stored CXMArena dataset in the shapes that the generator writes, small and made up, for pages and reads."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.benchmarks.cxmarena.conversations.noise import IvrOpening, Noise, add_noise
from cxlab.records import Dataset, Message, Sample, ToolCall, content_id
from cxlab.store import write
from tests.stores.judged import HOSTILE

DATASET = "cxmarena-madeup"
PROBLEMS = [
    "the thermostat shows a yellow dot and the living room stays cold since Sunday evening",
    "my parcel with the two sensors never came, although the app says that it was handed over",
    "I was charged twice for the same heating plan, and nobody writes back",
    "the valve whistles at night, and I have turned it down as far as it goes",
]
TRAITS = [["impatient", "brief"], ["polite", "wordy"], ["confused"], ["polite", "sceptical"]]
FAMILIES = ["thermostats", "delivery", "plans", "valves"]
STATISTICS = {
    "vocabulary": 9120.0, "ttr": 0.011, "mattr": 0.731, "turns_mean": 41.2, "turns_median": 38.0,
    "consecutive_mean": 1.2, "consecutive_max": 6.0, "message_tokens_mean": 20.4, "message_tokens_median": 18.0,
    "conversation_tokens_mean": 901.0, "conversation_tokens_median": 880.0, "article_tokens_mean": 1180.0,
}  # fmt: skip


def make_messages(number: int, exchanges: int = 3) -> list[Message]:
    """A conversation: greeting, problem, an answer from an article, a tool and its result, more of the same."""
    problem = PROBLEMS[number % len(PROBLEMS)]
    if number == 1:
        problem = HOSTILE
    told = [
        Message(role="agent", text="Good morning, how can I help you today?", turn=1, data={"class": "general"}),
        Message(role="customer", text=f"Hello, {problem}. Could you please help me with it?", turn=1),
        Message(
            role="agent",
            text="A yellow dot means that the sensor has lost its base; it costs nothing within 24 months.",
            turn=1,
            data={
                "class": "knowledge_base",
                "sources": ["KB_2", "KB_1"],
                "passages": ["A yellow dot: the sensor has lost its base. Repair is free for 24 months.", "The base."],
                "facts": ["F_1"],
            },
        ),
        Message(
            role="customer",
            text="And where do I find the number of my order, since I have thrown the box away?",
            turn=2,
            data={"facts": ["F_2"], "details": ["order number"]},
        ),
        Message(
            role="agent",
            text="One moment, I look that up.",
            turn=2,
            tool_calls=(ToolCall(id="c1", name="find_order", arguments='{"order_id": "B-1042"}'),),
            data={"class": "tool_call"},
        ),
        Message(
            role="tool",
            text="",
            turn=2,
            data={"tool": "find_order", "result": {"order_id": "B-1042", "state": "handed over"}},
        ),
    ]
    for step in range(exchanges):
        turn = 3 + step
        told += [
            Message(
                role="customer", text=f"I see, but what happens if it comes back after {step + 2} weeks?", turn=turn
            ),
            Message(
                role="agent",
                text="May I have the number that is printed below the base, please?",
                turn=turn,
                data={"class": "tool_information_gathering"},
            ),
        ]
    return told


def make_row(number: int, exchanges: int = 3) -> dict[str, Any]:
    """One row of the table of conversations."""
    messages = make_messages(number, exchanges)
    menus = (IvrOpening.Menu(options=("heating", "orders"), choice=0),)
    noise = Noise(
        seed=number,
        fragmentation=0.9,
        wer=0.25,
        opening=IvrOpening(brand="Hearthwise", menus=menus) if number % 2 == 0 else None,
    )
    served = add_noise(messages, noise).messages
    persona = {
        "customer": {
            "traits": TRAITS[number % 4],
            "problem": f"{PROBLEMS[number % 4]}; the [detail] is left out",
            "masked": ["order number"],
        },
        "agent": {
            "articles": ["KB_1", "KB_2"],
            "issue": "KB_3",
            "quality": ["greets", "asks back"],
            "tools": ["find_order"],
        },
    }
    labels = {
        "issue_article": "KB_3",
        "issue": f"{FAMILIES[number % 4]}_issue",
        "family": FAMILIES[number % 4],
        "subject": "Base",
        "quality": [
            {"id": "greets", "question": "Did the agent greet the customer?", "answer": "Yes", "evidence": [0]},
            {"id": "asks", "question": "Did the agent ask for a rating?", "answer": "No", "evidence": []},
        ],
    }

    def dump(values: Any) -> str:
        return json.dumps([each.model_dump(mode="json") for each in values], ensure_ascii=False)

    return {
        "conversation_id": f"C_{number}",
        "persona": json.dumps(persona),
        "labels": json.dumps(labels),
        "messages": dump(messages),
        "noisy": dump(served),
        "noise": noise.model_dump_json(),
    }


def make_samples(dataset_id: str, conversations: int) -> list[Sample]:
    """A sample or two of each task."""
    told: list[tuple[str, dict[str, Any], dict[str, Any], str | None]] = [
        ("kb_refinement", {"corpus": "refinement"}, {"similar": [["R1", "R2"]], "contradictory": [["R1", "R3"]]}, None),
        (
            "article_search",
            {"query": "What does it cost?", "corpus": "search"},
            {"article_id": "KB_1", "answer": "1"},
            None,
        ),
        (
            "multi_turn",
            {"transcript": "Customer: hm", "corpus": "multi_turn"},
            {"article_ids": ["KB_2"], "answer": ""},
            None,
        ),
    ]
    for number in range(conversations):
        for letter in "AB":
            told.append(("intent", {"transcript": f"{number}", "taxonomy": letter}, {"label": "Delivery"}, letter))
        # A case of two samples with one and two questions.
        for questions in (["a"], ["b", "c"]):
            inputs = {"lines": [], "questions": questions, "conversation_id": f"C_{number}"}
            told.append(("quality", inputs, {"answers": ["Yes"] * len(questions), "evidence": []}, None))
    return [
        Sample(
            id=content_id(place, task, inputs),
            dataset_id=dataset_id,
            benchmark="cxmarena",
            task=task,
            inputs=inputs,
            expected=expected,
            facets={"scenario": task, "level": level},
        )
        for place, (task, inputs, expected, level) in enumerate(told)
    ]


def make_dataset(
    home: Path, dataset_id: str = DATASET, conversations: int = 6, exchanges: int = 3, real: bool = False
) -> str:
    """Store it; `real` makes it an imported one with conversations between people."""
    config: dict[str, Any] = {
        "options": {"brand": "hearthwise", "language": "en", "size": "small"},
        "statistics": STATISTICS,
        "validation": {
            "intent": {"n": 40, "passed": 39, "rate": 0.975},
            "multi_turn": {"n": 5, "passed": 2, "passages": 10, "relevant": 6, "rate": 0.6, "relabelled": 3},
        },
    }
    dataset = Dataset(
        id=dataset_id,
        benchmark="cxmarena",
        name="Transcripts, imported" if real else "Hearthwise, small",
        source="imported" if real else "generated",
        config={"conversations": "real"} if real else config,
        seed=None if real else 7,
        licence="unknown" if real else "own work",
        created=datetime(2026, 11, 22, tzinfo=UTC),
    )
    articles = [
        {"article_id": f"KB_{n}", "kind": "issue" if n == 3 else "information", "title": f"Article {n} **x**",
         "corpus": ["multi_turn"] if n == 3 else ["search", "multi_turn"], "body": "-", "clean": "-"}
        for n in (1, 2, 3)
    ]  # fmt: skip
    articles += [{**articles[0], "article_id": f"R{n}", "corpus": ["refinement"]} for n in (1, 2, 3)]
    tables = {
        "articles": pl.DataFrame(articles),
        "conversations": pl.DataFrame([make_row(n, exchanges) for n in range(conversations)]),
        "tools": pl.DataFrame({"name": ["find_order"], "definition": ["{}"]}),
        "taxonomies": pl.DataFrame(
            {"taxonomy": ["A", "A", "B"], "l1": ["x", "y", "x"], "l2": [None, None, "z"], "description": ["", "", ""]}
        ),
    }
    write.save_dataset(dataset, [] if real else make_samples(dataset_id, conversations), home, tables=tables)
    return dataset_id
