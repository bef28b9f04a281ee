"""How simulated models derive and check tasks: names from the issues' own words, checks by words and values.

A check looks for something that must be there: the label's words in what the customer says, a sentence that holds
the asked property with a value, an article on the customer's matter, a line that shows the standard.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from cxlab.benchmarks.cxmarena.evaluation.evaluation_prompts import QualityInputs
from cxlab.benchmarks.cxmarena.simulated import property_lexicon, service_quality
from cxlab.benchmarks.cxmarena.simulated.topic_words import (
    correct_misheard,
    is_about_something,
    last_words,
    people,
    terms,
    things,
)
from cxlab.benchmarks.cxmarena.simulated.transcript_tasks import (
    find_evidence,
    judge_quality,
    known,
    lines_of,
    match_labels,
    turns,
    write,
)
from cxlab.benchmarks.cxmarena.tasks.task_prompts import (
    AdjudicateInputs,
    AnswerableInputs,
    NameInputs,
    QuestionInputs,
    ReasonInputs,
    RelevantInputs,
    ReviewInputs,
    SupportInputs,
)
from cxlab.benchmarks.cxmarena.text import content, sentences, statement
from cxlab.files import grammar
from cxlab.llm.simulated import Profile

LEADS = {
    "English": (
        "(Hi, |Quick question: |I was wondering: |Before I order: |Please tell me: |Just checking: |)<question>"
    ),
    "French": "(Bonjour, |Petite question : |Avant de commander : |Dites-moi : |Je me demandais : |)<question>",
    "German": "(Hallo, |Kurze Frage: |Vor dem Kauf: |Bitte um Auskunft: |Ich wüsste gern: |)<question>",
}


# A line at least this long that ends without a full stop goes on in the next one.
WRAPPED = 45
# A title counts as the customer's matter when so much of it was said; a step when so many of its words are there.
TITLED, FEWEST_WORDS = 0.85, 3
# A label that fits nearly half as well as the best one may be a matter of view.
FAR = 0.4
# Whoever reads a list of reasons must see what these words are.
SPEAK_OF = {
    "English": "Customers speak of {}.",
    "German": "Kunden sprechen von {}.",
    "French": "Les clients parlent de {}.",
}


def name(inputs: NameInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The issues that most customers of the cluster call about, with their products where neighbours share them."""
    titles: Counter[str] = Counter()
    groups: Counter[str] = Counter()
    for member in inputs.members:
        titles[member.title] += 1 + member.conversations
        groups[member.group] += 1 + member.conversations
    leading = [title for title, _ in titles.most_common(2)]
    called = " / ".join(leading)
    called = called[:1].upper() + called[1:]
    shared = any(other.startswith(f"{title} (") for title in leading for other in inputs.taken)
    if not inputs.l1 and (shared or len(groups) == 1):
        called += f" ({', '.join(group for group, _ in groups.most_common(2))})"
    # The description adds to the name what that leaves out: further titles and groups, and words that customers use.
    told = [one for counted in (titles, groups) for one, _ in counted.most_common(6)]
    more = [one for one in told if one.lower() not in called.lower()]
    speak = SPEAK_OF.get(inputs.language, SPEAK_OF["English"])
    # "I need help" and "sorry" are said of anything.
    marks = [term for term in inputs.terms if is_about_something(term)]
    spoken = [speak.format(", ".join(f'"{term}"' for term in marks))] if marks else []
    description = " ".join([*([f"{'; '.join(more)}."] if more else []), *spoken])
    reply = {"name": called, "description": description or "; ".join(told)}
    return write(reply, profile, rng, f"I would call it {called}.")


def name_reason(inputs: ReasonInputs, profile: Profile, rng: np.random.Generator) -> str:
    """A group by the words that mark it: a stand-in does not know what customers want."""
    called = ", ".join(inputs.terms[:3]) or " ".join((inputs.openings or ("Anything",))[0].split()[:4])
    called = called[:1].upper() + called[1:]
    about = f"Conversations with words such as {', '.join(inputs.terms)}" if inputs.terms else ""
    reply = {"reason": f"{inputs.conversations} conversations share these words.", "name": called, "description": about}
    return write(reply, profile, rng, f"I would call it {called}.")


def question(inputs: QuestionInputs, profile: Profile, rng: np.random.Generator) -> str:
    """One of the ways in which customers ask for each thing; without one, the subject and what is asked of it."""
    asked = []
    for fact in inputs.facts:
        one = fact.questions[int(rng.integers(len(fact.questions)))] if fact.questions else f"{fact.aspect}?"
        asked.append(one if inputs.subject.lower() in one.lower() else f"{inputs.subject}: {one}")
    lead = LEADS.get(inputs.language, "<question>")
    said = grammar.say(lead, rng, {"question": " ".join(asked)})
    return write({"question": said}, profile, rng, said)


def supported(inputs: SupportInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The label stands when its words were said, and no other label of the taxonomy fits far better."""
    pairs = tuple((one.label, one.description) for one in inputs.taxonomy)
    scores = match_labels(pairs, inputs.transcript, profile)
    own = max(
        (float(score) for (label, _), score in zip(pairs, scores, strict=True) if label == inputs.label), default=0
    )
    best = int(np.argmax(scores)) if len(scores) else 0
    holds = own > 0 and own >= (FAR + 0.1 * profile.strictness) * scores[best]
    reason = "Its words were said." if own > 0 else "None of its words was said."
    if not holds and len(pairs) and scores[best] > own:
        reason = f"{pairs[best][0]} fits better."
    return write({"reason": reason, "supported": bool(holds)}, profile, rng, reason)


# What kind of value a question asks for, by its words; the first that fits.
ASKED: tuple[tuple[str, str], ...] = (
    (r"weigh|heavy|scales|poids|pès|lourd|wieg|schwer|gewicht", r"\d\s?k?g\b"),
    (
        r"\bcosts?\b|price|instalment|\bfees?\b|prix|coût|mensualit|frais|kost|preis|rate\b|\braten\b|gebühr",
        r"[£€$]",
    ),
    (r"since|\bdate|launch|depuis|\bseit\b", r"\d{4}|\d{1,2}[:.h]\s?\d{0,2}"),
    (r"\bwhen\b|\bquand|\bwann", r"\d"),
    (r"percent|share|saving|\bsave\b|discount|pour cent|remise|prozent|anteil|rabatt", r"\d\s?%"),
    (r"loud|noise|bruit|laut", r"\d\s?dB"),
    (r"how far|reach|range|portée|reichweite", r"\d\s?(?:m|km|metres?|mètres?|Meter)\b"),
    (r"\bwide|width|\btall|\bdeep|largeur|hauteur|breit|wie tief", r"\d\s?(?:mm|cm|m)\b"),
    (r"\bhow long|\bhow (?:do i|does one) reset|combien de temps|\bdurée|wie lange", r"\d"),
    (r"\bhow\b|combien|\bwie\s?(?:viel|oft|groß)", r"\d"),
)


def answerable(inputs: AnswerableInputs, profile: Profile, rng: np.random.Generator) -> str:
    """Each question of the query needs a sentence of its own: on the thing, with what is asked for, or its words."""
    text = expand(unwrap(inputs.passage.text), things(inputs.query))
    told = [s for s in sentences(text) if not s.endswith("?")]
    # The publisher's name may stand above the title.
    about = {w for line in told[:2] for w in content(line)}
    # What stands before a colon opens the question and is no part of it.
    asked = [s.rpartition(": ")[2] for s in sentences(inputs.query) if "?" in s]
    quotes = [_find_answer(one, told[1:], about, profile) for one in asked]
    holds = bool(quotes) and all(quotes)
    answer = " ".join(quotes) if holds else ""
    return write({"answer": answer, "answerable": holds}, profile, rng, answer or "The article does not say.")


def _find_answer(asked: str, told: Sequence[str], about: set[str], profile: Profile) -> str:
    """The sentence that says of the thing in question what is asked for, with a value of the kind; or "".

    It must be on that very thing, by its own words or, where it names none, by the article's title; and it must mean
    the property asked for, by the words that anybody knows for it (property_lexicon.py), or share most of what the
    question says.
    """
    # Behind a greeting the question's own first word has a capital, too.
    asked = re.sub(r"^\w+, ", "", asked)
    name = _name_of(asked, "\n".join(told))
    names = set(content(name)) or {w for n in statement(asked).names for w in content(n)}
    sought = {m for m in property_lexicon.find(asked.replace(name, " ")) if known(profile, m, profile.comprehension)}
    wanted = {w for w in content(asked) if w not in names and known(profile, w, profile.comprehension)}
    kind = next((shape for words, shape in ASKED if re.search(words, asked, re.IGNORECASE)), None)
    best, quote = 0.0, ""
    for sentence in told:
        if not _is_said_of(name, names, sentence, about) or (kind is not None and not re.search(kind, sentence)):
            continue
        stems, meant = set(content(sentence)), {}
        if sought:
            meant = {m: found for m, found in property_lexicon.find(sentence.replace(name, " ")).items() if m in sought}
            if not meant or not (re.search(r"\d", sentence) or set(meant) & property_lexicon.WORDED):
                continue
        shared = len(wanted & stems)
        # A plain name says more than a turn of phrase; without known words the question's own must be there.
        worth = shared + 0.5 * len(names & stems) + sum(1.5 if plain else 1.0 for plain, _ in meant.values())
        least = 1.0 if meant else 1.5 + 0.5 * profile.strictness
        if worth > best and worth >= least and (meant or shared):
            best, quote = worth, sentence
    return quote


def _name_of(asked: str, text: str) -> str:
    """The thing that a question names; of a longer run of words with a capital, as much as the text has."""
    run = max(things(asked), key=len, default="").split()
    for size in range(len(run), 1, -1):
        if (name := " ".join(run[:size])) in text:
            return name
    if run:
        return " ".join(run)
    # A thing of one word: with a capital, in the text, and no word for a property.
    single = re.findall(r"(?<=\s)[^\W\d_a-zà-ÿ]\w{4,}", asked)
    return next((word for word in reversed(single) if word in text and not property_lexicon.find(word)), "")


def _is_said_of(name: str, names: set[str], sentence: str, about: set[str]) -> bool:
    """Whether a sentence is about the thing: it has all its words, or names no other thing under a title that has."""
    stems = set(content(sentence))
    if not name:
        # German has capitals on every noun, so most of them will do.
        return len(names & (stems | about)) > 0.5 * len(names) or not names
    if names <= stems:
        return True
    # A sibling bears a part of the name; a name cut short to its initials was spelled out before.
    return not (names & stems) and names <= about


def relevant(inputs: RelevantInputs, profile: Profile, rng: np.random.Generator) -> str:
    """An article is relevant that says what was asked of the very thing; being about that thing is not enough.

    Where the question names no property ("Why is that?"), it must have the step that the agent spoke of before, or
    its title what the customer called about.
    """
    said = [(who, text) for who, text in turns(inputs.transcript) if who != "other"]
    talk = "\n".join(text for _, text in said)
    names = people(inputs.transcript)
    mentioned = things(talk, names)
    text = unwrap(inputs.passage.text)
    # A name that the article has in full is surely no misheard one.
    text = expand(text, [*mentioned, *(name for name in mentioned if name in text)])
    told = [line for line in sentences(text) if not line.endswith("?")]
    about = {w for line in told[:2] for w in content(line)}
    question = last_words(said)
    for name in dict.fromkeys(things(question, names)):
        question = question.replace(name, _meant(name, mentioned, text))
    named = [name] if (name := _name_of(question, text)) else []
    sought = property_lexicon.find(question.replace(named[0], " ")) if named else {}
    if sought:
        quote = _find_answer(question, told, about, profile)
        return _tell_relevance(bool(quote), quote or "It does not say that.", profile, rng)
    asked = _weigh(terms(question, names), profile)
    if named and len(asked) > len(content(named[0])):
        # A property that these words do not name, or that was misheard: a sentence on the thing with most of them.
        held = max((_held(asked, line) for line in told if _is_on(named, line)), key=len, default=set())
        holds = _share(held, asked) >= 0.6 + 0.1 * profile.strictness
        return _tell_relevance(holds, f"In common: {', '.join(sorted(held)[:6])}.", profile, rng)
    most = max(Counter(mentioned).values(), default=0)
    main = [name for name in dict.fromkeys(mentioned) if mentioned.count(name) == most]
    on = not main or _is_on(main, "\n".join(told[:4]))
    step = _same_step(next((line for who, line in reversed(said) if who == "agent"), ""), told, names, profile)
    title = max((_title(line, talk) for line in told[:4]), default=0.0)
    holds = on and (bool(step) or title >= TITLED)
    return _tell_relevance(
        holds, step or ("Its title was said." if holds else "It is about something else."), profile, rng
    )


def _tell_relevance(holds: bool, reason: str, profile: Profile, rng: np.random.Generator) -> str:
    return write({"reason": reason, "relevant": holds}, profile, rng, reason)


def _meant(name: str, mentioned: Sequence[str], text: str) -> str:
    """The thing that was named; a misheard one is the most spoken of that shares a word with it."""
    if name in text:
        return name
    mended = correct_misheard(name, [*mentioned, *things(text)])
    if mended != name or mentioned.count(name) > 1:
        return mended
    words = set(content(name))
    akin = [one for one in mentioned if one != name and words & set(content(one))]
    best = Counter(akin).most_common(1)
    return best[0][0] if best and best[0][1] > 1 else name


def _same_step(spoken: str, told: Sequence[str], names: Iterable[str], profile: Profile) -> str:
    """The sentence of an article that has most words of a sentence that was spoken, when these are most of them."""
    best, quote = 0.0, ""
    for one in sentences(spoken):
        wanted = _weigh(terms(one, names), profile)
        if len(wanted) < FEWEST_WORDS:
            continue
        for line in told:
            share = _share(_held(wanted, line), wanted)
            if share > best and share >= 0.5 + 0.1 * profile.strictness:
                best, quote = share, line
    return quote


def _title(line: str, talk: str) -> float:
    """Which share of a title's words was said; nothing for a line of one word, which may be the publisher's."""
    words = set(content(line))
    return len(_held(words, talk)) / len(words) if len(words) > 1 else 0.0


def _share(held: Iterable[str], wanted: Mapping[str, float]) -> float:
    return sum(wanted[w] for w in held) / sum(wanted.values()) if wanted else 0.0


def _is_on(names: Iterable[str], text: str) -> bool:
    """Whether a text has one of the names, if need be but for one word, which may have been misheard."""
    words = [set(content(name)) for name in names]
    return any(len(_held(one, text)) >= max(1, len(one) - (len(one) > 2)) for one in words if one)


def _weigh(found: Iterable[str], profile: Profile) -> dict[str, float]:
    """The stems that this reader knows; words with a capital count double, as a question is about them."""
    return {
        part: 2.0 if word[:1].isupper() else 1.0
        for word in found
        for part in content(word.replace("-", " "))
        if known(profile, part, profile.comprehension)
    }


def _held(wanted: Iterable[str], text: str) -> set[str]:
    """The stems that a text has; longer ones also inside its words, as German joins them."""
    there, whole = set(content(text)), text.lower()
    return {w for w in wanted if w in there or (len(w) > 4 and w in whole)}


def unwrap(text: str) -> str:
    """The text with lines joined that end within a sentence, as those read from a PDF do; headings are short."""
    return re.sub(rf"(?m)(^.{{{WRAPPED},}}[^\s.!?:])\n(?=\S)", r"\1 ", text)


def expand(text: str, names: Iterable[str]) -> str:
    """The text with each name in question where only its initials stand; of two names, the one said more often."""
    for name, _ in Counter(names).most_common():
        initials = "".join(part[0] for part in name.split())
        text = re.sub(rf"\b{re.escape(initials)}\b", name, text) if len(initials) > 1 else text
    return text


def review(inputs: ReviewInputs, profile: Profile, rng: np.random.Generator) -> str:
    """As in the task itself; sure of what a line shows, and that the first or last lines lack something; less sure
    that a whole conversation does; guessing at unknown standards."""
    asked = QualityInputs(lines=inputs.lines, questions=inputs.questions)
    answers = []
    for number, one in enumerate(inputs.questions, start=1):
        answer, found = judge_quality(one, asked, profile, rng)
        sought = service_quality.find(one)
        bounded = sought is not None and sought.where != "any"
        sure = 1 if sought is None else 5 if found else 4 if bounded and answer == "No" else 3
        reason = (
            f"{'Line' if len(found) == 1 else 'Lines'} {', '.join(map(str, found[:5]))}."
            if found
            else "No line shows it."
        )
        evidence = found[:5] if answer == "Yes" else []
        answers.append(
            {"question": number, "reason": reason, "answer": answer, "evidence": evidence, "confidence": sure}
        )
    return write({"answers": answers}, profile, rng, "It was all in order.")


def adjudicate(inputs: AdjudicateInputs, profile: Profile, rng: np.random.Generator) -> str:
    """Lines that show the standard, or its contrary, settle it; that none does settles nothing, words being many."""
    asked = QualityInputs(lines=inputs.lines, questions=(inputs.question,))
    sought = service_quality.find(inputs.question)
    found = find_evidence(inputs.question, asked, profile)[:5] if sought else []
    broken = sought.broken if sought else None
    against = [line.id for line in lines_of("agent", inputs.lines) if broken and broken.search(line.text)]
    answer, reason = "unclear", "No line settles it."
    if found or against:
        shown = bool(found) != bool(service_quality.REVERSED.search(inputs.question))
        answer, reason = ("Yes" if shown else "No"), f"Line {(found or against)[0]} settles it."
    reply = {"reason": reason, "evidence": found if answer == "Yes" else [], "answer": answer}
    return write(reply, profile, rng, reason)
