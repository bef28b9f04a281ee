"""How simulated models write: the sentences of the prompt, in sections with headings, and nothing beside them."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from cxlab.benchmarks.cxmarena.brand.brand_pack import Language, load_language
from cxlab.benchmarks.cxmarena.knowledge import article_prompts
from cxlab.files import grammar
from cxlab.llm.simulated.profiles import Profile

Section = tuple[str, Sequence[str]]
"""The name of a heading, and the sentences below it."""


def expand(inputs: article_prompts.ExpandInputs, profile: Profile, rng: np.random.Generator) -> str:
    """Some of the candidates: few or many, now and then none."""
    count = len(inputs.candidates)
    if count == 0 or rng.random() < 0.04:
        return json.dumps({"children": []})
    wanted = max(1, min(count, round(count * float(rng.uniform(0.55, 1.0)))))
    picks = sorted(int(i) for i in rng.permutation(count)[:wanted])
    return json.dumps({"children": [inputs.candidates[i].model_dump() for i in picks]}, ensure_ascii=False)


def information(inputs: article_prompts.InformationInputs, profile: Profile, rng: np.random.Generator) -> str:
    """An information article: each point and each fact once, in sections whose order and headings vary."""
    language = load_language(inputs.language_id)
    notes = {kind: [n.text for n in inputs.notes if n.kind == kind] for kind in ("about", "aspect", "use", "care")}
    facts = [text for fact in inputs.facts for text in (fact.text, fact.remark) if text]
    middle: list[Section] = [
        ("notes", [*notes["aspect"], *notes["about"][2:]]),
        ("facts", facts),
        ("compare", inputs.others),
        ("use", notes["use"]),
        ("care", notes["care"]),
    ]
    rng.shuffle(middle)
    return _article(inputs.title, [("overview", notes["about"][:2]), *middle], language, rng)


def issue(inputs: article_prompts.IssueInputs, profile: Profile, rng: np.random.Generator) -> str:
    """An issue article: what is seen, why, what is needed, numbered steps, what else to know."""
    language = load_language(inputs.language_id)
    steps = [_sentence(s.text, language) + (f" [{s.tool}]" if s.tool else "") for s in inputs.steps]
    facts = [text for fact in inputs.facts for text in (fact.text, fact.remark) if text]
    sections: list[Section] = [
        ("symptom", inputs.symptoms),
        ("causes", inputs.causes),
        ("prepare", [f"- {need}" for need in inputs.needs]),
        ("steps", [f"{number}. {step}" for number, step in enumerate(steps, 1)]),
        ("facts", facts),
        ("care", [note.text for note in inputs.notes]),
    ]
    return _article(inputs.title, sections, language, rng)


def _article(title: str, sections: Sequence[Section], language: Language, rng: np.random.Generator) -> str:
    """The body: title, then headings and paragraphs, blank lines between; lists keep their lines together."""
    parts = [title]
    for name, sentences in sections:
        if not sentences:
            continue
        headings = language.headings[name]
        parts.append(headings[int(rng.random() * len(headings))])
        if sentences[0].startswith(("- ", "1. ")):
            parts.append("\n".join(sentences))
        else:
            parts += _paragraphs([_sentence(text, language) for text in sentences], rng)
    return "\n\n".join(parts)


def _sentence(text: str, language: Language) -> str:
    """The text as a sentence of its own."""
    text = grammar.tidy(text).rstrip()
    return language.polish(text if text[-1:] in ".?!" else text + ".")


def rephrase(inputs: article_prompts.RephraseInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The text with synonyms of the language, and sentences and paragraphs in another order."""
    import re

    from cxlab.metrics.text_statistics import SENTENCE

    language = load_language(inputs.language_id)
    blocks = inputs.text.split("\n\n")
    out = []
    for block in blocks:
        if block.count("\n") == 0 and SENTENCE.search(block):
            sentences = SENTENCE.split(block)
            # A question stays with its answer; of the others each stands for itself.
            if not any(s.endswith("?") for s in sentences):
                turn = int(rng.integers(1, len(sentences))) if len(sentences) > 1 else 0
                sentences = [*sentences[turn:], *sentences[:turn]]
            block = " ".join(sentences)
        out.append(block)
    text = "\n\n".join(out)
    for plain, other in language.paraphrases:
        if rng.random() < 0.75:
            text = re.sub(rf"(?<!\w){re.escape(plain)}(?!\w)", other, text)
            capital = plain[:1].upper() + plain[1:]
            text = re.sub(rf"(?<!\w){re.escape(capital)}(?!\w)", other[:1].upper() + other[1:], text)
    if text == inputs.text and len(blocks) > 3:
        # A short article without a word that it knows another for: the first section comes last.
        text = "\n\n".join([blocks[0], *blocks[3:], *blocks[1:3]])
    return text


def _paragraphs(sentences: Sequence[str], rng: np.random.Generator) -> list[str]:
    found, start = [], 0
    while start < len(sentences):
        size = int(rng.integers(3, 6))
        found.append(" ".join(sentences[start : start + size]))
        start += size
    return found
