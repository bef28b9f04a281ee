"""How simulated models write: sentences of the pack, joined by the language's leads, tails and roles.

A handler sees what its prompt renders and the grammar of the language (data/brands/languages/); no figure and no
name comes from anywhere else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np

from cxlab.benchmarks.cxmarena.brand.brand_pack import Language, load_language
from cxlab.benchmarks.cxmarena.knowledge import article_prompts
from cxlab.files import grammar
from cxlab.llm.simulated.profiles import Profile

# How often a sentence gets a lead; a note, a fact, a step (or a line of an issue) a tail; a question an asker; a
# fact a remark; and how many of the sentences that fill an article up tell of people. A language may have its own.
RATES = {
    "lead": 0.45,
    "note": 0.42,
    "fact": 0.66,
    "problem": 0.82,
    "step": 0.82,
    "asking": 0.8,
    "remark": 0.45,
    "story": 0.28,
}
# Characters a token of cl100k in running text, so that a text can be cut to length as it grows.
CHARACTERS = {"en": 4.6, "fr": 3.5, "de": 3.8}


class Writer:
    """Says lines of a language without repeating one before the others had their turn."""

    def __init__(
        self,
        language: Language,
        rng: np.random.Generator,
        names: Sequence[str],
        root: str = "",
        agents: bool = False,
        **slots: str,
    ) -> None:
        self.language, self.rng, self.slots = language, rng, slots
        self.names = tuple(names)
        self.root, self.agents = root, agents
        self.rates = {**RATES, **language.rates}
        self._queues: dict[str, list[str]] = {}
        self.length = 0

    def role(self, name: str) -> str:
        roles = self.language.roles
        lines = self._lines(roles, name)
        return self._sentence(self._next(name, lines, len(lines) - len(roles[self._base(roles, name)])))

    def _lines(self, table: Mapping[str, Sequence[str]], name: str) -> Sequence[str]:
        """The lines for this reader, with those for what the article is about."""
        name = self._base(table, name)
        more = table.get(f"{name}.{self.root}", ())
        return (*table[name], *more) if more else table[name]

    def _base(self, table: Mapping[str, Sequence[str]], name: str) -> str:
        return f"{name}.issue" if self.agents and f"{name}.issue" in table else name

    def note(self, text: str) -> str:
        return self._dress(text, "note")

    def problem(self, text: str) -> str:
        return self._dress(text, "problem")

    def fact(self, text: str) -> str:
        return self._dress(text, "fact")

    def remark(self, text: str) -> str:
        return self._count(text)

    def heading(self, name: str) -> str:
        options = self.language.headings[name]
        return options[int(self.rng.random() * len(options))]

    def left(self, name: str) -> bool:
        """Whether the role has a line that was not yet said."""
        return self._queues.get(name) != []

    def step(self, text: str, tool: str) -> str:
        """A step; most get a tail, because the same short step serves many issues."""
        text = text.rstrip(" .")
        if self.rng.random() < self.rates["step"]:
            tails = self.language.tails
            text += self.piece(self._next("tail step", tails.get("step", tails["note"])))
        return self._count(self.language.polish(close(grammar.tidy(text))) + (f" [{tool}]" if tool else ""))

    def question(self, text: str) -> str:
        """A question, mostly with who asks it."""
        if self.rng.random() < self.rates["asking"]:
            text = self.language.polish(self.say(self._next("asking", self.language.asking))) + " " + text
        return self._count(text)

    def say(self, line: str) -> str:
        return grammar.say(line, self.rng, _Words(self))

    def _sentence(self, line: str) -> str:
        return self._count(self.language.polish(close(self.say(line))))

    def _dress(self, text: str, tail: str) -> str:
        text = text.rstrip(" .")
        ends = text[-1:] in "?!"
        if not ends and (tail == "fact" or ":" not in text) and self.rng.random() < self.rates[tail]:
            text += self.piece(self._next(f"tail {tail}", self._lines(self.language.tails, tail)))
        if self.rng.random() < self.rates["lead"]:
            given = self.language.openers.get(tail, self.language.leads)
            # A value holds at all hours and for everybody: leads that name one belong to notes.
            leads = [x for x in given if tail != "fact" or not ("<moment>" in x or "<person>" in x)]
            lead = self.say(self._next(f"lead {tail}", leads)) + " "
            text = lead + (text if lead.endswith(": ") else self.lower(text))
        return self._count(self.language.polish(close(grammar.tidy(text))))

    def piece(self, line: str) -> str:
        return grammar.piece(line, self.rng, _Words(self))

    def lower(self, text: str) -> str:
        if text.startswith(self.names) or text[1:2].isupper() or text[:2] == "I ":
            return text
        return text[:1].lower() + text[1:]

    def _next(self, name: str, lines: Sequence[str], own: int = 0) -> str:
        """A line not yet said; the last `own` ones, which know what the article is about, come early."""
        queue = self._queues.get(name)
        if not queue:
            weights = _weights(tuple(lines))
            if own:
                weights = np.concatenate([weights[:-own], np.full(own, 2.0 * _MOST)])
            drawn = self.rng.random(len(lines)) ** (1 / weights)
            queue = self._queues[name] = [lines[int(i)] for i in np.argsort(drawn)]
        return queue.pop()

    def _count(self, text: str) -> str:
        self.length += len(text) + 1
        return text


_CACHE: dict[tuple[str, ...], np.ndarray] = {}
_MOST = 600


def _weights(lines: tuple[str, ...]) -> np.ndarray:
    """A line's weight grows with the number of its wordings, so that no wording comes up too often."""
    if lines not in _CACHE:
        _CACHE[lines] = np.array([min(grammar.variants(line, _MANY), _MOST) for line in lines], dtype=float)
    return _CACHE[lines]


_MANY = dict.fromkeys(
    (
        "room",
        "person",
        "moment",
        "paper",
        "channel",
        "staff",
        "tool",
        "manner",
        "trouble",
        "gain",
        "plan",
        "idea",
        "worth",
        "mistake",
        "record",
        "reader",
        "trade",
        "object",
        "hobby",
        "trait",
        "dish",
        "town",
        "surname",
        "name",
        "street",
        "firm",
        "calling",
    ),
    12,
)


class _Words(dict[str, str]):
    """Slots of a writer: its own, then a word of the language."""

    def __init__(self, writer: Writer) -> None:
        super().__init__(writer.slots)
        self.writer = writer

    def __missing__(self, name: str) -> str:
        scoped = f"{name}.{self.writer.root}"
        known = scoped in self.writer.language.words
        return self.writer.language.word(scoped if known else name, self.writer.rng)

    def __contains__(self, name: object) -> bool:
        language = self.writer.language
        return super().__contains__(name) or name in language.words or name in language.compounds


def close(text: str) -> str:
    """The text with a full stop unless it ends in one."""
    text = text.rstrip()
    return text if text[-1:] in ".?!" else text + "."


def expand(inputs: article_prompts.ExpandInputs, profile: Profile, rng: np.random.Generator) -> str:
    """Some of the candidates: few or many, now and then none."""
    count = len(inputs.candidates)
    if count == 0 or rng.random() < 0.04:
        return json.dumps({"children": []})
    wanted = max(1, min(count, round(count * float(rng.uniform(0.55, 1.0)))))
    picks = sorted(int(i) for i in rng.permutation(count)[:wanted])
    return json.dumps({"children": [inputs.candidates[i].model_dump() for i in picks]}, ensure_ascii=False)


def information(inputs: article_prompts.InformationInputs, profile: Profile, rng: np.random.Generator) -> str:
    """An information article: sections whose presence, order and headings vary, filled up to the length asked for."""
    language = load_language(inputs.language_id)
    w = Writer(language, rng, inputs.names, inputs.root, topic=inputs.topic, brand=inputs.brand)
    section = language.headings.get("section", ())
    if section and inputs.topic == inputs.title and inputs.topic not in inputs.names:
        w.slots["topic"] = section[0].format(title=inputs.title)  # a heading of the tree is no word in a sentence
    limit = inputs.tokens * CHARACTERS[inputs.language_id]
    by_kind: dict[str, list[str]] = {
        k: [n.text for n in inputs.notes if n.kind == k] for k in ("about", "aspect", "use", "care")
    }
    for texts in by_kind.values():
        rng.shuffle(texts)
    first = [w.role("overview") for _ in range(int(rng.integers(2, 4)))] + [w.note(t) for t in by_kind["about"][:2]]
    sections = {
        "overview": first,
        "notes": [w.note(t) for t in (*by_kind["aspect"], *by_kind["about"][2:])],
        "facts": [line for f in inputs.facts for line in _fact(w, f)],
        "compare": [w.role("compare")] * bool(inputs.others) + [w.fact(t) for t in inputs.others],
        "use": [w.note(t) for t in by_kind["use"]],
        "care": [w.note(t) for t in by_kind["care"]],
    }
    asked = [f for f in inputs.facts if f.question]
    questions = []
    if asked and rng.random() < 0.6:
        picks = [asked[int(i)] for i in rng.permutation(len(asked))[: int(rng.integers(1, 5))]]
        questions = [f"{w.question(f.question)} {w.fact(f.again)}" for f in picks]
    fill = {"overview": ("overview", "bridge"), "notes": ("bridge", "advice"), "use": ("advice",), "care": ("caution",)}
    help_lines = [w.role("help") for _ in range(int(rng.integers(1, 4)))]
    stuck = 0
    while w.length < limit and stuck < 200:
        name = ("notes", "use", "care", "use", "notes", "overview")[int(rng.random() * 6)]
        if len(sections[name]) < 16:
            roles = fill[name]
            at = int(rng.integers(len(sections[name]) + 1))
            role = "story" if rng.random() < w.rates["story"] else roles[int(rng.random() * len(roles))]
            if w.left(role) or stuck > 60:
                sections[name].insert(at, w.role(role))
        stuck += 1
    middle = [n for n in ("notes", "facts", "compare", "use", "care") if sections[n]]
    rng.shuffle(middle)
    out = [(w.heading("overview"), _paragraphs(sections["overview"], rng))]
    out += [(w.heading(n), _paragraphs(sections[n], rng)) for n in middle]
    if questions:
        out.insert(int(rng.integers(1, len(out) + 1)), (w.heading("questions"), questions))
    out.append((w.heading("help"), _paragraphs(help_lines, rng)))
    return join(inputs.title, out)


def issue(inputs: article_prompts.IssueInputs, profile: Profile, rng: np.random.Generator) -> str:
    """An issue article: what is seen, why, what is needed, numbered steps, afterwards."""
    language = load_language(inputs.language_id)
    w = Writer(language, rng, inputs.names, inputs.root, True, topic=inputs.topic, brand=inputs.brand)
    limit = inputs.tokens * CHARACTERS[inputs.language_id]
    symptoms = [w.problem(t) for t in inputs.symptoms] + [w.role("symptom") for _ in range(2)]
    causes = [w.problem(t) for t in inputs.causes] + [w.role("cause") for _ in range(int(rng.integers(1, 3)))]
    rng.shuffle(causes)
    facts = [line for f in inputs.facts for line in _fact(w, f)]
    steps = [[w.step(s.text, s.tool)] for s in inputs.steps]
    after = [w.role("after") for _ in range(int(rng.integers(2, 4)))]
    escalate = [w.role("escalate") for _ in range(int(rng.integers(1, 3)))]
    care = [w.note(n.text) for n in inputs.notes]
    stuck = 0
    while w.length < limit and stuck < 200:
        stuck += 1
        chance = rng.random()
        if chance < 0.5:
            step = steps[int(rng.random() * len(steps))]
            if len(step) < 5 and (w.left("step") or stuck > 60):
                step.append(w.role("step"))
        elif chance < 0.62 and w.left("symptom"):
            symptoms.append(w.role("symptom"))
        elif chance < 0.72 and w.left("cause"):
            causes.insert(int(rng.integers(1, len(causes) + 1)), w.role("cause"))
        elif chance < 0.86:
            role = "story" if rng.random() < w.rates["story"] else "caution" if rng.random() < 0.4 else "advice"
            if w.left(role) or stuck > 60:
                care.append(w.role(role))
        elif w.left("after"):
            after.append(w.role("after"))
    out = [(w.heading("symptom"), _paragraphs(symptoms, rng)), (w.heading("causes"), _paragraphs(causes, rng))]
    if inputs.needs:
        out.append((w.heading("prepare"), [f"- {need}" for need in inputs.needs]))
    if facts:
        out.insert(int(rng.integers(1, len(out) + 1)), (w.heading("facts"), _paragraphs(facts, rng)))
    out.append((w.heading("steps"), [f"{i}. {' '.join(s)}" for i, s in enumerate(steps, 1)]))
    if care:
        out.insert(int(rng.integers(2, len(out) + 1)), (w.heading("care"), _paragraphs(care, rng)))
    out.append((w.heading("after"), _paragraphs(after, rng)))
    out.append((w.heading("escalate"), _paragraphs(escalate, rng)))
    return join(inputs.title, out)


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
            # A question stays with its answer, and what follows a first sentence may change places.
            if len(sentences) > 2 and not any(s.endswith("?") for s in sentences):
                rest = sentences[1:]
                rng.shuffle(rest)
                sentences = [sentences[0], *rest]
            block = " ".join(sentences)
        out.append(block)
    text = "\n\n".join(out)
    for plain, other in language.paraphrases:
        if rng.random() < 0.75:
            text = re.sub(rf"(?<!\w){re.escape(plain)}(?!\w)", other, text)
            capital = plain[:1].upper() + plain[1:]
            text = re.sub(rf"(?<!\w){re.escape(capital)}(?!\w)", other[:1].upper() + other[1:], text)
    return text


def join(title: str, sections: Sequence[tuple[str, Sequence[str]]]) -> str:
    """The body: title, then headings and paragraphs, blank lines between; lists keep their lines together."""
    parts = [title]
    for heading, paragraphs in sections:
        parts.append(heading)
        if paragraphs and paragraphs[0].startswith(("- ", "1. ")):
            parts.append("\n".join(paragraphs))
        else:
            parts += paragraphs
    return "\n\n".join(parts)


def _fact(w: Writer, fact: article_prompts.FactLine) -> list[str]:
    found = [w.fact(fact.text)]
    if w.rng.random() < w.rates["remark"]:
        found.append(w.remark(fact.remark) if fact.remark else w.role(f"meaning_{fact.kind}"))
    return found


def _paragraphs(sentences: Sequence[str], rng: np.random.Generator) -> list[str]:
    found, start = [], 0
    while start < len(sentences):
        size = int(rng.integers(2, 6))
        found.append(" ".join(sentences[start : start + size]))
        start += size
    return found
