"""What a strong model would write, by rules: it answers each prompt of the generation from the text it is sent."""

import datetime
import json
import re
from typing import Any

Body = dict[str, Any]
KNOWN = (
    "What else you know. Whatever your manner, tell it when you are asked for it, not before; numbers and dates "
    "exactly as they stand here:"
)
# What it says of its own accord, by the language that it is told to write in.
WORDS = {
    "English": {
        "hello": "Good morning. ",
        "see": "I can see it now: {}.",
        "need": "For this, could you tell me: {}?",
        "look": "I am looking that up for you ({}).",
        "bye": "That is {} things done. Goodbye, and all the best.",
        "open": "Hello, {}.",
        "all": "that is all",
        "thanks": "Thank you, goodbye.",
        "on": "All right, go on ({}).",
        "points": "It is one of the things that people ask about.",
    },
    "German": {
        "hello": "Guten Tag. ",
        "see": "Ich sehe es jetzt: {}.",
        "need": "Dafür brauche ich noch von Ihnen: {}?",
        "look": "Ich sehe das für Sie nach ({}).",
        "bye": "Damit sind {} Dinge erledigt. Auf Wiedersehen und alles Gute.",
        "open": "Guten Tag, {}.",
        "all": "das ist alles, was ich habe",
        "thanks": "Vielen Dank, auf Wiedersehen.",
        "on": "Gut, machen Sie bitte weiter ({}).",
        "points": "Danach wird oft gefragt.",
    },
    "French": {
        "hello": "Bonjour. ",
        "see": "Je le vois maintenant : {}.",
        "need": "Pour cela, il me faut encore de vous : {} ?",
        "look": "Je regarde cela pour vous ({}).",
        "bye": "Voilà {} choses de faites. Au revoir et bonne journée.",
        "open": "Bonjour, {}.",
        "all": "c’est tout ce que j’ai",
        "thanks": "Merci beaucoup, au revoir.",
        "on": "Bien, continuez je vous prie ({}).",
        "points": "On le demande souvent.",
    },
}
QUESTIONS = "What you would also like to know. Ask it in your own words where it fits:"


def answer(body: Body) -> str:
    """The reply to one request of the OpenAI API."""
    # What comes after the question is a wish to answer it again, in a form that can be read.
    messages = {one["role"]: one["content"] for one in body["messages"][:2]}
    system, user = messages.get("system", ""), messages["user"]
    for mark, reply in REPLIES.items():
        if mark in system:
            told = reply(system, user)
            return told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)
    raise AssertionError(f"nobody expected this prompt: {system[:200]}")


def own_words(system: str) -> dict[str, str]:
    found = re.search(r"[Ww]rite in (\w+)", system)
    return WORDS[found[1]] if found else WORDS["English"]


def between(text: str, start: str, end: str) -> str:
    return text.partition(start)[2].partition(end)[0]


def listed(text: str, heading: str) -> list[str]:
    """The points of the list under a heading."""
    return [line[2:] for line in between(f"{text}\n\n", f"{heading}\n", "\n\n").splitlines() if line.startswith("- ")]


def article(system: str, user: str) -> str:
    facts = " ".join(listed(user, "Facts that have to be stated:"))
    steps = between(f"{user}\n\n", "Steps:\n", "\n\n").replace("\n\n", "\n")
    points = " ".join(listed(user, "Points that may help the reader:")) or own_words(system)["points"]
    title = between(user, "Title: ", "\n")
    seen = " ".join(listed(user, "What the customer notices:"))
    return "\n\n".join(filter(None, [title, "What it is about", seen, points, "Steps" if steps else "", steps, facts]))


def articles_of(system: str) -> dict[str, str]:
    return dict(re.findall(r"Article (\S+)\n(.*?)\n~~~~~", system, re.DOTALL))


def sentences(text: str) -> list[str]:
    return [s.strip() for block in text.split("\n\n")[1:] for s in re.split(r"(?<=[.!?])\s+", block) if len(s) > 25]


def words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 3}


def closest(question: str, system: str, said: str = "", complaints: str = "") -> tuple[str, str]:
    """The article and its sentence that shares most words with the question; after a complaint one that was not said
    yet, of what the talk is about where it was of another thing."""
    refused = re.findall(r'^- "(.*)" is said of', complaints, re.MULTILINE)
    about = re.search(r"and the talk is about (.+?)(?: and .+)?\.$", complaints, re.MULTILINE)
    found = [
        (
            about is not None and about[1] in text.split("\n\n")[0] + sentence,
            len(words(question) & words(sentence)),
            name,
            sentence,
        )
        for name, text in articles_of(system).items()
        for sentence in sentences(text)
        if not (complaints and sentence in said)
        and not any(" ".join(each.split()) in " ".join(text.split()) for each in refused)
    ]
    *_, name, sentence = max(found)
    return name, sentence


def argument(about: str, told: dict[str, str]) -> str:
    """What the customer said of it; a day is told in words and called for in figures."""
    said = next((value for name, value in told.items() if about.startswith(name)), "what we spoke about")
    day = re.fullmatch(r"(\d+) (\w+) (\d{4})", said)
    return f"{datetime.datetime.strptime(said, '%d %B %Y'):%Y-%m-%d}" if day else said


def agent(system: str, user: str) -> dict[str, Any]:
    """Greets with what the articles say, asks for what a tool needs, calls it, reports, answers questions, closes."""
    history, _, complaints = user.partition("\n\nYou wrote a message that cannot be sent:")
    lines = between(
        history if complaints else user, "The conversation so far:\n", "\n\nYour next message:"
    ).splitlines()
    last = lines[-1]
    mine = [line for line in lines if line.startswith("Agent: ")]
    tools = re.findall(r"^- (\w+): .*? It needs: (.*)\.$", system, re.MULTILINE)
    say = own_words(system)
    asked = [line for line in mine if say["need"].partition("{")[0] in line]
    said: dict[str, Any] = {"reason": "It is next.", "kind": "general", "sources": [], "call": None}
    if last.startswith("("):
        result = json.loads(last.partition("gave back: ")[2][:-1])
        return {**said, "message": say["see"].format(next(iter(result.values()), "1"))}
    if "?" in last or not mine:
        name, sentence = closest(last, system, history, complaints)
        sources = [{"article": name, "words": sentence}]
        hello = "" if mine else say["hello"]
        # What systems call a step is no word for a customer.
        told = re.sub(r"\s*\[\w+\]", "", sentence)
        return {**said, "kind": "knowledge_base", "sources": sources, "message": f"{hello}{told}"}
    if tools and not asked:
        needs = "; ".join(re.findall(r"\((.*?)\)(?:;|$)", tools[0][1]))
        return {**said, "kind": "tool_information_gathering", "message": say["need"].format(needs)}
    if tools and not any(line.startswith("(") for line in lines):
        told = dict(
            part.split(": ", 1) for part in " ".join(lines).replace("Customer: ", "").split("; ") if ": " in part
        )
        names = re.findall(r"(\w+) \((.*?)\)(?:;|$)", tools[0][1])
        arguments = {name: argument(about, told) for name, about in names}
        call = {"name": tools[0][0], "arguments": arguments}
        return {**said, "kind": "tool_call", "call": call, "message": say["look"].format(len(lines))}
    return {**said, "message": say["bye"].format(len(mine))}


def customer(system: str, user: str) -> dict[str, Any]:
    """States the problem, tells what it is asked for, asks one question, and goes when there is a goodbye."""
    problem = between(system, 'Why you get in touch, as you would put it: "', '"\n')
    details, say = listed(system, KNOWN), own_words(system)
    questions = listed(system, QUESTIONS)
    if "The conversation so far:" not in user:
        return {"message": say["open"].format(problem), "finished": False}
    lines = between(user, "The conversation so far:\n", "\n\nYour next message:").splitlines()
    if say["need"].partition("{")[0] in lines[-1]:
        return {"message": "; ".join([*details, say["all"]]), "finished": False}
    if say["bye"].partition("} ")[2] in lines[-1]:
        return {"message": say["thanks"], "finished": True}
    mine = sum(line.startswith("Customer: ") for line in lines)
    asked = questions[mine - 1 : mine]
    return {"message": asked[0] if asked else say["on"].format(mine), "finished": False}


def question(system: str, user: str) -> dict[str, Any]:
    subject = between(system, 'exactly as "', '"')
    return {"question": f"What holds for {subject} here?"}


def numbered(user: str, heading: str) -> list[str]:
    return re.findall(r"^\d+\. (.*)$", user.partition(heading)[2], re.MULTILINE)


def review(system: str, user: str) -> dict[str, Any]:
    lines = re.findall(r"^\[(\d+)\] (\w+): (.*)$", user, re.MULTILINE)
    spoke = [int(number) for number, who, _ in lines if who == "Agent"]
    found = []
    for number, _ in enumerate(numbered(user, "The questions:"), 1):
        found.append({"question": number, "reason": "seen", "answer": "Yes", "evidence": spoke[:1], "confidence": 5})
    return {"answers": found}


REPLIES = {
    "You lay out the knowledge base": lambda system, user: {"children": []},
    "You write help articles": article,
    "You write the articles by which service agents": article,
    "You write a text again": lambda system, user: "\n\n".join([user.split("\n\n")[0], *user.split("\n\n")[:0:-1]]),
    "You maintain the glossary": lambda system, user: {"acronyms": []},
    "a service agent of": agent,
    "a customer of": customer,
    "You sort contact-centre conversations": lambda system, user: {
        "reason": "it fits",
        "intent": listed(user, "The labels:")[0].partition(":")[0],
    },
    "You maintain the list of contact reasons": lambda system, user: {
        "name": between(user, "- ", " (").title()[:40],
        "description": f"Customers want help: {between(user, '- ', ' (')}.",
    },
    "You write the questions that customers type": question,
    "You check a test set for search": lambda system, user: {"answer": "it does", "answerable": True},
    "You check which articles were noted": lambda system, user: {"reason": "it treats it", "relevant": True},
    "You audit a labelled set": lambda system, user: {"reason": "it says so", "supported": True},
    "You review how": review,
    "You are the last instance": lambda system, user: {
        "reason": "read again",
        "evidence": [1],
        "answer": between(user, "The reviewer's answer: ", "\n"),
    },
}
