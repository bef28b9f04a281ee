"""Who talks to whom: the customer with a problem that hides some of its details, the agent with standards to keep.

    persona = make(ledger, talk, article, tools, rng)   # Persona
    persona.problem, persona.masked      # what the customer says first; what comes out only when asked
    persona.value("order_id", rng)       # a value of a tool's parameter, the same whenever it is asked for
    persona.keeps["empathy"]             # whether the agent does what the standard asks
    persona.asked                        # the standards that the quality form of this conversation asks about

Values that belong to the conversation (order numbers, addresses, what a tool returned) are coined here and kept
in `details`; whatever else is stated comes from the ledger.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cxlab.benchmarks.cxmarena.brand.brand_pack import Brand, Issue, Parameter, Step
from cxlab.benchmarks.cxmarena.brand.ledger import DAYS, FIRST_DAY, Ledger, TemplateVars, slug, thing
from cxlab.benchmarks.cxmarena.conversations import step_phrasing
from cxlab.benchmarks.cxmarena.conversations.phrasebook import Phrasebook, PhraseVars
from cxlab.benchmarks.cxmarena.text import word_set
from cxlab.files import grammar
from cxlab.records import Article

# How often an agent keeps a standard; the public data set draws its flags 70/30.
KEEPS = 0.7
STANDARDS = (
    "greeting",
    "introduction",
    "name",
    "wellbeing",
    "empathy",
    "apology",
    "restate",
    "verify",
    "jargon",
    "hold",
    "hold_thanks",
    "understanding",
    "repeat",
    "alternative",
    "calm",
    "promise",
    "next_steps",
    "settled",
    "further_help",
    "closing",
)
# What a refund may come to where only a charge is given back.
_MOST = {"shipping": 13}
# Families whose subjects a customer may call by their kind at first ("the thermostat").
OWNED = ("products", "services")
# Slots of the language that stay the same in one customer's mouth: where they live, and where the thing stands.
LIFE = ("town", "room")
LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"
# Days from the conversation: "weeks" for what somebody still waits for, "overdue" where even twenty working days are
# over, "past" for what may be years ago, "just" for what has to be reported in two days, "shortly" for money.
SPANS = {
    "past": (-600, -90),
    "overdue": (-75, -32),
    "weeks": (-60, -14),
    "fortnight": (-18, -13),
    "lately": (-9, -1),
    "just": (-2, 0),
    "shortly": (1, 4),
    "soon": (1, 16),
    "later": (25, 330),
}
# Kinds of values that a tool gives back: days relative to that of the conversation, the sum that was wrong, the sum
# that is left without it, what belongs to it. Beside them "of:NAME" stands for the value of a parameter.
VALUES = (*SPANS, "amount", "rest", "items", "address", "subject")
# Days that a customer tells: one that suits, one on which something is to end, one on which something happened.
DATES = ("date", "last_date", "past_date")
SPECIAL = {*DATES, *word_set("email reason amount address new_address house_number part shop level device")}


@dataclass
class Persona:
    """Customer and agent of one conversation."""

    ledger: Ledger
    talk: Phrasebook
    article: Article
    issue: Issue
    subject: str
    customer: str
    first_name: str
    surname: str
    agent: str
    traits: tuple[str, ...]
    casual: bool
    keeps: dict[str, bool]
    asked: tuple[str, ...]
    questions: dict[str, str]
    life: dict[str, str]
    problem: str = ""
    vague: bool = False
    masked: dict[str, str] = field(default_factory=dict)
    details: dict[str, str] = field(default_factory=dict)
    used: list[str] = field(default_factory=list)
    articles: tuple[str, ...] = ()
    said: set[str] = field(default_factory=set)
    today: datetime.date = FIRST_DAY
    amount: str = ""
    goods: str = ""
    home: str = ""
    in_use: bool = False
    began: datetime.date | None = None

    @property
    def brand(self) -> Brand:
        return self.ledger.brand

    def has(self, *traits: str) -> bool:
        return any(t in self.traits for t in traits)

    def at_it(self, step: Step) -> bool:
        """Whether a step is something that the customer does with the product in front of them."""
        return not step.tool and step_phrasing.step_act(self.talk, grammar.every(step.say, 1)[0]).act == "instruct"

    def plan(self, rng: np.random.Generator) -> str:
        """What the customer has a contract for: the subject, or with goods one of the brand's plans."""
        subjects = self.ledger.subjects
        subject = subjects[self.subject]
        if subject.root != "products" or self.brand.families[subject.family].contract:
            return self.subject
        plans = [s.name for s in subjects.values() if s.root == "services"]
        return self.details.setdefault("plan", _pick(plans, rng)) if plans else f"{self.brand.name} Plus"

    def give_back(self, amount: float) -> None:
        """Take this sum for the one that the conversation is about."""
        self.amount = f"{amount:.2f}"
        for name in [n for n, spec in self.brand.parameters.items() if spec.sample == "amount"]:
            self.details.pop(name, None)

    def value(self, parameter: str, rng: np.random.Generator) -> str:
        """The conversation's value of a tool's parameter, coined at the first use."""
        if parameter not in self.details:
            self.details[parameter] = coin(self, parameter, rng)
        return self.details[parameter]


def make(ledger: Ledger, talk: Phrasebook, article: Article, rng: np.random.Generator) -> Persona:
    """The persona for one issue article: names, traits, standards, the masked problem."""
    brand = ledger.brand
    # One of the titles that a first name goes with.
    named = [(titles, name) for titles, names in talk.first_names.items() for name in names]
    titles, first = named[int(rng.random() * len(named))]
    words = PhraseVars(talk, rng, {})
    surname = words["surname"]
    subject = str(article.properties["subject"])
    traits = draw_traits(talk, rng)
    keeps = {s: bool(rng.random() < KEEPS) for s in STANDARDS}
    count = int(rng.integers(7, 12))
    asked = tuple(STANDARDS[int(i)] for i in sorted(rng.permutation(len(STANDARDS))[:count]))
    person = Persona(
        ledger=ledger,
        talk=talk,
        article=article,
        issue=brand.issues[str(article.properties["issue"])],
        subject=subject,
        customer=f"{_pick(titles.split('|'), rng)} {surname}",
        first_name=first,
        surname=surname,
        agent=_pick(talk.agent_names, rng),
        traits=traits,
        casual=bool(rng.random() < (0.5 if {"terse", "impatient"} & set(traits) else 0.22)),
        keeps=keeps,
        asked=asked,
        questions={s: _pick(talk.standards[s], rng) for s in asked},
        life={name: words[name] for name in LIFE},
        today=FIRST_DAY + datetime.timedelta(days=DAYS + int(rng.integers(330))),
        amount=f"{int(rng.integers(4, _MOST.get(ledger.subjects[subject].root, 180)))}.{int(rng.integers(0, 100)):02d}",
    )
    if fee := monthly_fee(person):
        # What was charged by mistake is a part of what is charged.
        person.amount = f"{fee * (0.3 + 0.6 * float(person.amount) / 180):.2f}"
    products = [s.name for s in ledger.subjects.values() if s.root == "products"]
    person.home = person.details["home"] = draw_address(person, rng)
    person.goods = subject if ledger.subjects[subject].root == "products" or not products else _pick(products, rng)
    mask(person, rng)
    return person


def monthly_fee(person: Persona) -> float | None:
    """What the contract that the conversation is about costs; None for what is bought once."""
    family = person.brand.families[person.ledger.subjects[person.subject].family]
    if not family.contract:
        return None
    prices = (f for f in person.ledger.of(person.subject) if person.brand.properties[f.property].kind == "price")
    return next((float(fact.value) for fact in prices), None)


def draw_traits(talk: Phrasebook, rng: np.random.Generator) -> tuple[str, ...]:
    """One or two traits that can live together."""
    names = list(talk.traits)
    first = names[int(rng.random() * len(names))]
    against = {"terse": {"talkative"}, "talkative": {"terse"}, "polite": {"impatient"}, "impatient": {"polite"}}
    against |= {"technical": {"confused"}, "confused": {"technical"}}
    if rng.random() < 0.45:
        second = names[int(rng.random() * len(names))]
        if second != first and second not in against.get(first, set()):
            return (first, second)
    return (first,)


def mask(person: Persona, rng: np.random.Generator) -> None:
    """Say the problem without some of its details; what is left out is kept in `masked`, in the order of asking."""
    ledger, brand = person.ledger, person.brand
    family = brand.families[ledger.subjects[person.subject].family]
    line = _pick(person.issue.customer, rng)
    person.vague = family.root in OWNED and rng.random() < 0.6
    slots = TemplateVars(ledger, person.subject, rng)
    if person.vague:
        person.masked["model"] = person.subject
        line = vague_line(line, family, brand.language_id)
    text = brand.language.polish(grammar.say(line, rng, slots)).rstrip(" .")
    person.used += slots.used
    if re.match(r"my the |the the ", text, re.I):
        text = text.split(" ", 1)[1]
    person.problem = step_phrasing.inside(ledger, text)
    chances = {"since": 0.8, "place": 0.5, "tried": 0.6, "before": 0.45, "hurry": 0.35}
    # An order, a bill or a rule has no place in the house and no beginning that anybody remembers.
    orders = any(s.tool and re.search(person.talk.order_tools, s.tool) for s in person.issue.steps)
    person.in_use = family.root == "products" and not orders and any(map(person.at_it, person.issue.steps))
    for name, chance in chances.items():
        fits = (person.in_use and (name != "place" or family.stays)) or name in ("before", "hurry")
        fits = fits and (name != "since" or person.issue.begins)
        if rng.random() < chance and fits:
            # Who has signed a contract has no delivery note to have read.
            read = {"paper": _pick(brand.words["paper"], rng)} if "paper" in brand.words else {}
            given = {**person.life, **read, "subject": ledger.in_text(person.subject)}
            words = PhraseVars(person.talk, rng, given)
            said = words.pick(person.talk.details[name])
            person.masked[name] = brand.language.polish(grammar.piece(said, rng, words)).strip()


def vague_line(line: str, family: Any, language: str) -> str:
    """The customer's line with the family's noun where the subject's name stood."""
    nominative = thing(family, "thing")
    if language != "de":
        return re.sub(r"\bmy <subject>", f"my {family.one}", line).replace("<subject>", nominative)

    def fit(match: re.Match[str]) -> str:
        before = match[1].strip().lower()
        # "Auf dem Konto steht eine Zahlung", but "mein Antrag auf das Konto".
        applied = before == "auf" and re.search(r"\bAntrag auf $", line[: match.start(1)] + match[1])
        if before in ("von", "bei", "mit", "nach", "aus", "zu", "statt", "in", "unter", "auf") and not applied:
            return match[1] + thing(family, "thing_dat")
        if applied or before in ("für", "ohne", "um", "an") or line.lower().startswith("ich "):
            return match[1] + thing(family, "thing_acc")
        return match[1] + nominative

    return re.sub(r"((?:\b\w+ )?)<subject>", fit, line)


# Values


def coin(person: Persona, parameter: str, rng: np.random.Generator) -> str:
    """A value of a parameter, of the form that the pack's sample gives."""
    spec = person.brand.parameters[parameter]
    if spec.options:
        return _pick(spec.options, rng)
    if spec.sample not in SPECIAL:
        return code(spec.sample, rng)
    return coin_special(person, spec.sample, rng)


def coin_special(person: Persona, kind: str, rng: np.random.Generator) -> str:
    talk, brand = person.talk, person.brand
    if kind == "email":
        plain = re.sub(r"[^a-z]", "", _ascii(person.surname)) or "kunde"
        dot = _pick((".", "_", "", "-"), rng)
        return f"{_ascii(person.first_name)}{dot}{plain}{_digits(rng, 2)}@{_pick(talk.domains, rng)}"
    if kind in DATES:
        span = {"date": "soon", "last_date": "later", "past_date": "just"}[kind]
        # Nobody moves a stay to the day for which it is booked.
        drawn = [day(person.today, span, rng) for _ in range(4)]
        return next((one for one in drawn if one not in person.details.values()), drawn[0])
    if kind == "amount":
        return person.amount
    if kind == "house_number":
        return house_number(person)
    if kind == "new_address":
        return draw_address(person, rng)
    if kind == "address":  # whoever has an address changed gives the new one, all others the one they live at
        return draw_address(person, rng) if _moving(person.issue) else person.home
    if kind == "shop" and person.ledger.subjects[person.subject].root == "places":
        return person.subject
    if kind == "shop":
        shops = [s.name for s in person.ledger.subjects.values() if s.root == "places"]
        return _pick(shops, rng) if shops else f"{brand.name} {PhraseVars(talk, rng, {})['town']}"
    if kind == "level":
        return person.plan(rng)
    if kind == "device":
        return person.subject
    # Why something is done is what the customer came for.
    return _pick(talk.part_names if kind == "part" else (person.issue.title.lstrip(": "),), rng)


def draw_address(person: Persona, rng: np.random.Generator) -> str:
    street, number = _pick(person.talk.streets, rng), str(int(rng.integers(1, 140)))
    words = PhraseVars(person.talk, rng, {"street": street, "number": number})
    return code(grammar.say(person.talk.address, rng, words), rng)


def house_number(person: Persona) -> str:
    """The number in the address on file, by which an agent verifies who is talking."""
    found = re.search(r"\d+", person.home)
    return found[0] if found else ""


def _moving(issue: Issue) -> bool:
    tools = (step.tool or "" for step in issue.steps)
    return any(re.search(r"update_address|changer_adresse|anschrift_aendern", tool) for tool in tools)


def ahead(person: Persona, value: str) -> bool:
    """Whether a tool's value is a day after the conversation."""
    return bool(re.fullmatch(r"\d{4}-\d\d-\d\d", value)) and value > person.today.isoformat()


def day(today: datetime.date, when: str, rng: np.random.Generator) -> str:
    """A day before the conversation, in the days before or after it (no Sunday), or months after it."""
    low, high = SPANS[when]
    found = today + datetime.timedelta(days=int(rng.integers(low, high)))
    return (found + datetime.timedelta(days=found.weekday() == 6)).isoformat()


def code(sample: str, rng: np.random.Generator) -> str:
    """A sample with digits for '#' and letters for '@'."""
    text = grammar.piece(sample, rng, {})
    digits = rng.integers(0, 10, len(text))
    first = True
    out = []
    for place, sign in enumerate(text):
        if sign == "#":
            out.append(str(1 + int(digits[place]) % 9 if first and text[0] == "#" else int(digits[place])))
            first = False
        else:
            out.append(LETTERS[int(rng.random() * len(LETTERS))] if sign == "@" else sign)
    return "".join(out)


def timed(spec: Parameter) -> bool:
    """Whether a value is a day or a part of one, which has to fit into the customer's week."""
    return spec.sample in DATES or bool(re.search("morning|matin|mittag", spec.sample))


def given_by_customer(person: Persona, parameter: str) -> bool:
    """Whether the customer is asked for the value; the agent finds the others."""
    spec = person.brand.parameters[parameter]
    if spec.sample in ("reason", "amount", "level", "device"):
        return False
    if spec.sample == "shop" and person.ledger.subjects[person.subject].root == "places":
        return False
    return spec.sample in SPECIAL or bool(spec.options) or spec.sample.count("#") >= 4


def named(person: Persona, parameter: str) -> str:
    """What to call a parameter when asking for it: "your order number"."""
    spec = person.brand.parameters[parameter]
    if spec.sample in person.talk.kinds:
        return person.talk.kinds[spec.sample]
    about = spec.description.split(",")[0].strip()
    for pattern, article in person.talk.articles:
        if re.search(pattern, about, re.IGNORECASE):
            plain = about if person.brand.language_id == "de" else about[:1].lower() + about[1:]
            return person.brand.language.polish(article.replace("\\0", plain))
    return about[:1].lower() + about[1:]


def spoken_day(iso: str, brand: Brand) -> str:
    """A day as people say it."""
    year, month, number = iso.split("-")
    language = brand.language
    # French counts the first of a month, and no other day.
    told = "1er" if brand.language_id == "fr" and number == "01" else str(int(number))
    return language.date.format(day=told, month=language.months[int(month) - 1], year=year)


def _pick(options: Sequence[str], rng: np.random.Generator) -> str:
    return options[int(rng.random() * len(options))]


def _digits(rng: np.random.Generator, most: int) -> str:
    return "" if rng.random() < 0.5 else str(int(rng.integers(10**most)))


def _ascii(text: str) -> str:
    return slug(text).replace("-", "")
