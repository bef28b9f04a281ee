"""Sixty questions on the brand written by hand, for readers who did not write it; the gold is kept apart.

    python -m tests.data.reader_questions           # the questions with the texts to read, and no label
    python -m tests.data.reader_questions --gold    # what the dataset holds to be right

Twenty quality questions, eighteen searches, twelve intents and ten choices of tools, drawn by a fixed seed. Readers
answer from the text alone; the dataset is accepted when two of them agree with the gold in at least 57 of 60.
"""

import argparse
import random
import tempfile
from pathlib import Path
from typing import Any

from cxlab.benchmarks.cxmarena.written import brand_files, dataset
from cxlab.records import Sample

PARTS = {"quality": 20, "article_search": 18, "intent": 12, "tools": 10}


def draw(name: str = "aldersea", language: str = "en", seed: int = 1) -> list[dict[str, Any]]:
    """Sixty questions: number, task, ask, read, gold."""
    brand = brand_files.load(name, language)
    with tempfile.TemporaryDirectory() as folder:
        _, samples, frames = dataset.make(brand, Path(folder))
    articles = {row["article_id"]: row for row in frames["articles"].iter_rows(named=True)}
    rng = random.Random(seed)
    found = []
    for task, count in PARTS.items():
        pile = [s for s in samples if s.task == task]
        if task == "intent":
            pile = [s for s in pile if s.inputs["taxonomy"] == "A"]
        if task == "tools":
            pile = [s for s in pile if s.inputs["sampler"] == "random"]
        found += [_question(sample, brand, articles, rng) for sample in rng.sample(pile, count)]
    return [{"number": n, **one} for n, one in enumerate(found, 1)]


def _question(
    sample: Sample, brand: brand_files.WrittenBrand, articles: dict[str, Any], rng: random.Random
) -> dict[str, Any]:
    inputs, expected = sample.inputs, sample.expected
    if sample.task == "quality":
        n = rng.randrange(len(inputs["questions"]))
        lines = "\n".join(f"[{line['id']}] {line['who']}: {line['text']}" for line in inputs["lines"])
        ask = f"{inputs['questions'][n]} (Yes, No, or NA where the talk gave no occasion for it)"
        return {"task": sample.task, "ask": ask, "read": lines, "gold": expected["answers"][n]}
    if sample.task == "article_search":
        gold = f"{articles[expected['article_id']]['title']}: {expected['answer']}"
        return {"task": sample.task, "ask": inputs["query"], "read": "the information articles", "gold": gold}
    if sample.task == "intent":
        labels = "\n".join(f"- {label}: {about}" for _, label, about in brand.causes.values())
        ask = f"Why did the customer get in touch? One of:\n{labels}"
        return {"task": sample.task, "ask": ask, "read": inputs["transcript"], "gold": expected["label"]}
    tools = "\n".join(f"- {name}: {brand.tools[name]['does']}" for name in inputs["candidates"]["16"])
    ask = f"Which tool or tools does the agent call next? Of:\n{tools}"
    gold = ", ".join(call["name"] for call in expected["tools"])
    return {"task": sample.task, "ask": ask, "read": inputs["transcript"], "gold": gold}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gold", action="store_true", help="print the gold instead of the questions")
    parser.add_argument("--language", default="en")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    brand = brand_files.load("aldersea", given.language)
    questions = draw("aldersea", given.language, given.seed)
    if given.gold:
        for one in questions:
            print(f"{one['number']}. {one['gold']}")
        return
    for one in questions:
        print(f"## {one['number']}\n\n{one['ask']}\n\n{one['read']}\n")
    print("# The information articles\n")
    for article in brand.articles:
        if not article.issue:
            print(f"## {article.title}\n\n{article.body.text}\n")


if __name__ == "__main__":
    main()
