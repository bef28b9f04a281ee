"""Plays a writer of organisations from the prompt alone."""

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.benchmarks.crmarena.generation.bank_writer import BankWriter

_CASE = re.compile(r"^## Case (\d+): (.*)$", re.M)


def write_settings(home: Path, url: str) -> None:
    """The writer at this address is `endpoint:writer` of the store, and has a price."""
    (home / "models.toml").write_text(
        f'[endpoints.writer]\nbase_url = "{url}"\nmodel = "writer"\nkey_required = false\n'
        "prompt_usd = 1.0\ncompletion_usd = 1.0\n"
    )


@dataclass
class Writer:
    """Plays a writer from the prompt alone. It slips once each: a name twice, a case forgotten, a case with another
    order number, a case in another's words, a rule that no reader finds, a question with another year. Twice in
    a row, so that mending does not help: no JSON at all for names, and for a batch of cases. What it `refuses` are
    cases, by their numbers, each time.

    Batches of cases and of questions come in any order, so that where it slips there is said by their numbers."""

    asked: Counter[str] = field(default_factory=Counter)
    names: int = 0
    slips: set[str] = field(default_factory=set)
    faint: str = ""
    refuses: set[int] = field(default_factory=set)
    bank: BankWriter = field(default_factory=BankWriter)

    def slip(self, kind: str) -> bool:
        first = kind not in self.slips
        self.slips.add(kind)
        return first

    def __call__(self, body: dict[str, Any]) -> str:
        user = next(each["content"] for each in body["messages"] if each["role"] == "user")
        for start, answer in (
            ("in its owner's words", self.bank.tell),
            ("Every category has a model", self.bank.sell),
            ("Each article has its", self.bank.explain),
            ("Each talk has an", self.bank.talk),
            ("Invent", self.name_people),
            ("## Case", self.write_cases),
            ("Rules:", self.find_rule),
            ("Purchases:", self.pick),
            ("1. ", self.reword),
        ):
            if start in user:
                self.asked[answer.__name__] += 1
                early = start == "Invent" or (start == "## Case" and "## Case 1:" in user)
                if early and (self.slip(f"form {start}") or self.slip(f"again {start}")):
                    return "Certainly. Here is what you asked for: <names>"
                if start == "## Case" and self.refuses & {int(number) for number, *_ in _CASE.findall(user)}:
                    return "I cannot help with that."
                return json.dumps(answer(user))
        return json.dumps(self.reword(user))

    def name_people(self, user: str) -> Any:
        found = re.search(r"Invent (\d+)", user)
        assert found
        people = []
        for _ in range(int(found[1])):
            self.names += 1
            letters = "".join(chr(97 + int(digit)) for digit in str(self.names))
            people.append({"first": f"Zo{letters}", "last": f"Mar{letters}"})
        if self.slip("name"):
            people[-1] = people[0]
        return {"people": people}

    def write_cases(self, user: str) -> Any:
        parts = _CASE.split(user)[1:]
        made = []
        for number, _, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            agent, product = _find(r"Agent: (\w+)", text), _find(r"About: the (.*), ordered", text)
            colleague = _find(r"Colleague: (\w+)", text)
            order = re.search(r"order number (\w+) and the e-mail address (\S+) before", text)
            # Each case in words of its own, but for two.
            whose = "both" if number in ("16", "17") and self.slip(f"copy {number}") else f"w{number}"
            own = " ".join(f"{whose}x{n}" for n in range(40))
            said = f"My {product} make trouble. {own}" + (f" Order {order[1]}, {order[2]}." if order else "")
            # In the batch that is told in the words of another all else is right, or those words would not be kept.
            if order and int(number) <= 10 and self.slip("order"):
                said = said.replace(order[1], "801Ws0000000999AAA")
            lines = [("customer", said)]
            if "takes over, and why" in text:
                lines.append(("agent", f"{colleague} takes over, who knows this better. {agent}"))
            rule = re.search(r'breaks this rule and no other: "(.*?)"', text)
            # The first rule is broken so that nobody sees it, until that case is asked for alone.
            if rule and not self.faint and int(number) <= 10:
                self.faint = number
            seen = rule and (number != self.faint or len(parts) == 3)
            broken = f'I know: "{rule[1]}" I do it all the same.' if rule and seen else "It is settled."
            lines += [("colleague" if colleague else "agent", broken), ("customer", "Thank you.")]
            made.append(
                {
                    "number": int(number),
                    "subject": f"Trouble with {product}",
                    "lines": [{"speaker": who, "text": line} for who, line in lines],
                }
            )
        if made[0]["number"] == 1 and len(made) > 1 and self.slip("case"):
            made.pop()
        return {"cases": made}

    def find_rule(self, user: str) -> Any:
        said, _, rules = user.partition("Rules:")
        for name, rule in re.findall(r"^- ([\w-]+): (.*)$", rules, re.M):
            if f'"{rule}"' in said:
                return {"reasoning": "It says so.", "rule": name}
        return {"reasoning": "All were kept.", "rule": "none"}

    def pick(self, user: str) -> Any:
        said = re.search(r'says: "(.*?)", ordered on (\S+)\.', user)
        assert said
        words = [word.removesuffix("s") for word in said[1].split()]
        bought = re.findall(r"^- (\w+): (.*), (\S+)$", user, re.M)
        fitting = [name for name, what, day in bought if day == said[2] and all(w in what.lower() for w in words)]
        return {"reasoning": "By kind and day.", "id": fitting[0] if len(fitting) == 1 else "none"}

    def reword(self, user: str) -> Any:
        made = []
        for number, text in re.findall(r"^(\d+)\. (.*)$", user, re.M):
            kept = re.sub(r"\b20\d{2}\b", "1999", text) if int(number) % 2 else text
            made.append({"number": int(number), "text": f"Please tell me this: {kept}"})
        return {"questions": made}


def _find(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found[1] if found else ""
