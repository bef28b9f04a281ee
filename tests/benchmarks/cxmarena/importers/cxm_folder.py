"""A small folder in the shape of the published CXMArena data set, sound by default; tests spoil what they need."""

import json
from pathlib import Path
from typing import Any

import polars as pl

PRODUCTS = ("Aero Lamp", "Boreal Heater", "Cirrus Fan", "Delta Lock", "Ember Stove", "Flora Sensor")
TOPICS = {
    "warranty": "The warranty of the {0} lasts {1} months from the day of delivery.",
    "cleaning": "Clean the {0} with a dry cloth and wait {1} minutes before switching it on again.",
    "pairing": "To pair the {0} with the app, hold the round button for {1} seconds until the light blinks.",
    "return": "The {0} can be returned unused within {1} days in its original box.",
}


def article(product: str, topic: str, number: int) -> str:
    """One article: heading, a statement with a number of its own, and a line on what it is for."""
    return (
        f"{product}: {topic}\n{TOPICS[topic].format(product, number)}\nThis page is about the {topic} of one product."
    )


def make() -> dict[str, list[dict[str, Any]]]:
    """Path without suffix → rows."""
    articles = [
        {"document_id": f"KB_{i * 10 + j}", "document_content": article(product, topic, 10 + 7 * i + j)}
        for i, product in enumerate(PRODUCTS)
        for j, topic in enumerate(TOPICS)
    ]
    refinement = [dict(row) for row in articles]
    # KB_100 repeats KB_0; KB_13 says another number of the Aero Lamp's warranty than KB_0 does.
    refinement.append({"document_id": "KB_100", "document_content": articles[0]["document_content"] + "\nSee also."})
    refinement[7]["document_content"] += "\nThe warranty of the Aero Lamp lasts 99 months from the day of delivery."
    talk = (
        "Customer: Hello, my Boreal Heater arrived and I cannot pair it with the app\n"
        "Agent: Hello, thanks for contacting us. I understand. Which button did you press?\n"
        "Customer: How many seconds do I hold the round button of the Boreal Heater to pair it with the app?"
    )
    lines = "CUSTOMER[1]: My lamp is broken\nAGENT[2]: Hello, I am so sorry to hear that.\nAGENT[3]: Anything else?"
    questions = [
        {"Question": "Did the agent greet the customer?", "Answer": "Yes", "proof_message_ids": [2]},
        {"Question": "Did the agent apologise?", "Answer": "Yes", "proof_message_ids": [2]},
        {"Question": "Did the agent verify the customer's identity?", "Answer": "No", "proof_message_ids": []},
    ]
    tools = ["create_return_label", "book_technician_visit", "track_parcel", "cancel_order"]
    return {
        "Articles/article_search_articles": articles,
        "Articles/KB_refinement_articles": refinement,
        "Articles/multi_turn_articles": [dict(row) for row in articles],
        "KB_Refinement/similarity_pairs": [{"Pairs": ["KB_0", "KB_100"]}],
        "KB_Refinement/contradictory_pairs": [{"Pairs": ["KB_13", "KB_0"]}],
        "Taxonomy/taxonomy_1": [
            {"L1": "Pairing problem", "Description": "pair the product with the app, button, light blinks"},
            {"L1": "Late parcel", "Description": "delivery is late, tracking, courier"},
            {"L1": "Warranty claim", "Description": "warranty, broken, defect, repair"},
        ],
        "Taxonomy/taxonomy_2": [
            {"L1": "Setup", "L2": "Pairing with the app", "Description": "pair the product with the app"},
            {"L1": "Delivery", "L2": "Late parcel", "Description": "the parcel is late"},
        ],
        "Intent_Prediction/train": [
            {
                "Complete Conversations": talk,
                "Taxonomy_1": "Pairing problem",
                "Taxonomy_2": "Setup:Pairing with the app",
                "Taxonomy_3": "",
            }
        ],
        "Agent_Quality_Adherence/train": [
            {"conversation_id": "c1", "conversation": lines, "question_answers": repr(questions[:2])},
            {"conversation_id": "c1", "conversation": lines, "question_answers": repr(questions[2:])},
        ],
        "Article_Search/train": [
            {
                "query": "How long does the warranty of the Cirrus Fan last?",
                "True KB ID": "KB_20",
                "answer": "24 months",
            }
        ],
        "Multi_Turn/train": [{"conversation_context": talk, "kb_ids": ["KB_12"], "conversation_id": "c1"}],
        "Tools_Description/train": [
            {
                "Name": name,
                "Definition": repr(
                    {
                        "type": "function",
                        "function": {
                            "name": name,
                            "description": name.replace("_", " ") + " for the customer",
                            "parameters": {
                                "type": "object",
                                "properties": {
                                    "order_number": {"type": "string", "description": "number of the order"}
                                },
                                "required": ["order_number"],
                                "additionalProperties": False,
                            },
                            "strict": True,
                        },
                    }
                ),
            }
            for name in tools
        ],
        "Tool_Calling/train": [
            {
                "conversation_context": "Customer: Please track the parcel of my order AB-1234, where is it?",
                "kb_ids": ["KB_3"],
                "true_tools": ["track_parcel"],
                "tool_candidates16": tools[:3],
                "tool_candidates32": tools,
            }
        ],
    }


def store(root: Path, parts: dict[str, list[dict[str, Any]]], suffix: str = "parquet") -> Path:
    """Write the parts as files; in CSV, lists become their Python text, as the published files have them."""
    for name, rows in parts.items():
        path = root / f"{name}.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        if suffix == "parquet":
            pl.DataFrame(rows).write_parquet(path)
        else:
            texts = [{k: repr(v) if isinstance(v, list) else v for k, v in row.items()} for row in rows]
            pl.DataFrame(texts).write_csv(path)
    return root


def read_json(text: str) -> Any:
    """The last line of a command's output."""
    return json.loads(text.strip().splitlines()[-1])
