"""From plans and texts to the tables of an organisation, as its schema has them, and what lies hidden beside them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import polars as pl

from cxlab.benchmarks.crmarena.generation.correspondence import CaseCorrespondence, CaseMessage
from cxlab.benchmarks.crmarena.generation.latent import rng_for
from cxlab.benchmarks.crmarena.generation.sales import Product
from cxlab.benchmarks.crmarena.organisation.company import Article, Company
from cxlab.benchmarks.crmarena.organisation.ids import make_id
from cxlab.benchmarks.crmarena.organisation.talks import fill_slots

# Where customers have their mail.
MAIL = ("postbox.example", "mailhaus.example", "inbox.example")
_LETTERS = re.compile(r"[^a-z]+")


@dataclass(frozen=True)
class Person:
    """Somebody with a name; `email` is theirs alone."""

    id: str
    first: str
    last: str
    email: str

    @property
    def name(self) -> str:
        """First and last name."""
        return f"{self.first} {self.last}"


def make_people(names: Sequence[tuple[str, str]], prefix: str, domains: Sequence[str]) -> list[Person]:
    """People of some names; addresses are made of them, with a number where two would be the same."""
    used: set[str] = set()
    found = []
    for number, (first, last) in enumerate(names, 1):
        stem = ".".join(filter(None, (_LETTERS.sub("", part.lower()) for part in (first, last)))) or "mail"
        domain = domains[number % len(domains)]
        email, again = f"{stem}@{domain}", 1
        while email in used:
            again += 1
            email = f"{stem}{again}@{domain}"
        used.add(email)
        found.append(Person(make_id(prefix, number), first, last, email))
    return found


def make_users(users: list[Person], seed: int) -> pl.DataFrame:
    """The people who work there."""
    rng = rng_for(seed, "users")
    zones = rng.choice(["America/New_York", "America/Chicago", "America/Denver"], size=len(users))
    return pl.DataFrame(
        {
            "Id": [each.id for each in users],
            "FirstName": [each.first for each in users],
            "LastName": [each.last for each in users],
            "Email": [each.email for each in users],
            "Phone": _phones(len(users), 0),
            "Username": [each.email for each in users],
            "Alias": [f"{each.first[:1]}{each.last[:4]}".lower() for each in users],
            "LanguageLocaleKey": ["en_US"] * len(users),
            "EmailEncodingKey": ["UTF-8"] * len(users),
            "TimeZoneSidKey": zones.tolist(),
            "LocaleSidKey": ["en_US"] * len(users),
        }
    )


def _phones(count: int, block: int) -> list[str]:
    """Numbers that are kept free for fiction: 555-0100 to 555-0199 in many areas."""
    return [f"({201 + (block * 97 + n // 100) % 780:03}) 555-{100 + n % 100:04}" for n in range(count)]


def make_customers(
    company: Company, people: list[Person], agents: list[Person], states: np.ndarray, seed: int
) -> dict[str, pl.DataFrame]:
    """Accounts, one customer each, and their contacts."""
    rng = rng_for(seed, "customers")
    regions = [company.profile.regions[state] for state in states]
    owners = rng.integers(0, len(agents), len(people))
    names = {"FirstName": [each.first for each in people], "LastName": [each.last for each in people]}
    emails = [each.email for each in people]
    accounts = [each.id for each in people]
    return {
        "Account": pl.DataFrame(
            {
                "Id": accounts,
                **names,
                "PersonEmail": emails,
                "Phone": _phones(len(people), 3),
                "RecordTypeId": [make_id("012", 1)] * len(people),
                "ShippingCity": [region.cities[int(rng.integers(len(region.cities)))] for region in regions],
                "ShippingState": [region.state for region in regions],
            }
        ),
        "Contact": pl.DataFrame(
            {
                "Id": [contact_id(number) for number in range(len(people))],
                **names,
                "Email": emails,
                "AccountId": accounts,
                "OwnerId": [agents[owner].id for owner in owners],
            }
        ),
    }


def contact_id(customer: int) -> str:
    """The contact of a customer."""
    return make_id("003", customer + 1)


def case_id(number: int) -> str:
    """The case of a number, from 1."""
    return make_id("500", number)


def issue_id(issue: int) -> str:
    """The issue of a place in the company's list."""
    return make_id("a1M", issue + 1)


def make_knowledge(company: Company) -> dict[str, pl.DataFrame]:
    """Issues and knowledge articles."""
    articles = list_articles(company)
    issues = company.profile.issues
    return {
        "Issue__c": pl.DataFrame(
            {
                "Id": [issue_id(n) for n in range(len(issues))],
                "Name": [issue.name for issue in issues],
                "Description__c": [issue.description for issue in issues],
            }
        ),
        "Knowledge__kav": pl.DataFrame(
            {
                "Id": list(articles),
                "Title": [article.title for article in articles.values()],
                "FAQ_Answer__c": [article.body.strip() for article in articles.values()],
                "Summary": [article.helps for article in articles.values()],
                "UrlName": [article.slug for article in articles.values()],
            }
        ),
    }


def list_articles(company: Company) -> dict[str, Article]:
    """The articles by their ids, in the order of their names."""
    return {make_id("ka0", n): article for n, (_, article) in enumerate(sorted(company.articles.items()), 1)}


@dataclass(frozen=True)
class CaseEntities:
    """Who and what the records of cases name."""

    company: Company
    agents: list[Person]
    customers: list[Person]
    products: list[Product]
    items: pl.DataFrame
    """OrderItem."""

    def name_product(self, product: Product) -> str:
        """A product as people speak of it: its model and what it is, "Marsh Runner running shoes"."""
        model = product.model
        words, known = model.kind.split(), model.name.lower().split()
        if words[-1] in known[-1:]:
            spoken = model.name
        else:
            spoken = " ".join([model.name, *(word for word in words if word not in known)])
        if not self.company.catalogue.plural or spoken.endswith("s"):
            return spoken
        return spoken + "s"


def make_cases(
    entities: CaseEntities, cases: Sequence[CaseCorrespondence], subjects: Sequence[str], seed: int
) -> dict[str, pl.DataFrame]:
    """Cases, their history, e-mails and chats, and the hidden truth of each case."""
    rng = rng_for(seed, "records")
    order_of = entities.items["OrderId"].to_list()
    item_ids = entities.items["Id"].to_list()
    articles = {article.slug: name for name, article in list_articles(entities.company).items()}
    policies = {policy.id: policy for policy in entities.company.profile.conduct_policies}
    rows: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("Case", "CaseHistory__c", "EmailMessage", "LiveChatTranscript", "latent_cases")
    }
    for written, subject in zip(cases, subjects, strict=True):
        plan = written.plan
        name = case_id(plan.number)
        customer, product = entities.customers[plan.customer], entities.products[plan.product]
        owner = entities.agents[plan.owner if written.moved is not None else plan.first]
        slots = {
            "customer": customer.first,
            "product": entities.name_product(product),
            "order": order_of[plan.item],
            "email": customer.email,
            "case": name,
            "colleague": entities.agents[plan.second].first if plan.second is not None else "",
        }

        def say(message: CaseMessage, slots: dict[str, str] = slots) -> str:
            return fill_slots(message.text, {**slots, "agent": entities.agents[message.agent].first})

        first = written.chat[0] if written.chat else written.emails[0]
        whole = f"{subject} ({product.name})"
        rows["Case"].append(
            {
                "Id": name,
                "Priority": str(rng.choice(["Low", "Medium", "High"], p=[0.3, 0.5, 0.2])),
                "Subject": whole,
                "Description": say(first),
                "Status": written.status,
                "ContactId": contact_id(plan.customer),
                "CreatedDate": plan.opened,
                "ClosedDate": written.closed,
                "OrderItemId__c": item_ids[plan.item],
                "IssueId__c": issue_id(plan.issue),
                "AccountId": customer.id,
                "OwnerId": owner.id,
                "Channel": "Chat" if plan.talk.form == "chat" else "Email",
            }
        )
        rows["CaseHistory__c"] += _list_history(written, name, entities.agents)
        rows["EmailMessage"] += [
            {
                "Subject": whole if n == 0 and not written.chat else f"Re: {whole}",
                "TextBody": say(message),
                "ParentId": name,
                **_address(message, customer, plan.customer, entities.agents),
                "MessageDate": message.at,
            }
            for n, message in enumerate(written.emails)
        ]
        if written.chat:
            lines = [_write_line(message, say(message), customer, entities.agents) for message in written.chat]
            rows["LiveChatTranscript"].append(_to_chat(written, lines, entities))
        rule = policies.get(plan.breach or "")
        rows["latent_cases"].append(
            {
                "case_id": name,
                "issue_id": issue_id(plan.issue),
                "order_item_id": item_ids[plan.item],
                "product_id": product.id,
                "talk": plan.talk.id,
                "breach": plan.breach,
                "article_id": articles[rule.article] if rule else None,
                "transferred": written.moved is not None,
            }
        )
    rows["EmailMessage"].sort(key=lambda row: row["MessageDate"])
    rows["CaseHistory__c"].sort(key=lambda row: row["CreatedDate"])
    for name, prefix in (("CaseHistory__c", "a1N"), ("EmailMessage", "02s"), ("LiveChatTranscript", "570")):
        rows[name] = [{"Id": make_id(prefix, number), **row} for number, row in enumerate(rows[name], 1)]
    return {name: pl.DataFrame(each, infer_schema_length=None) for name, each in rows.items()}


def _to_chat(written: CaseCorrespondence, lines: Sequence[str], entities: CaseEntities) -> dict[str, Any]:
    """The transcript of a case that began in a chat, but its own id."""
    plan, last = written.plan, written.chat[-1]
    return {
        "CaseId": case_id(plan.number),
        "AccountId": entities.customers[plan.customer].id,
        "OwnerId": entities.agents[last.agent].id,
        "Body": "\n".join(lines),
        "EndTime": last.at + timedelta(seconds=20),
        "LiveChatVisitorId": make_id("5LV", plan.number),
        "ContactId": contact_id(plan.customer),
    }


def _list_history(written: CaseCorrespondence, case: str, agents: list[Person]) -> list[dict[str, Any]]:
    plan = written.plan

    def row(field: str, at: datetime, old: str | None = None, new: str | None = None) -> dict[str, Any]:
        return {"CaseId__c": case, "OldValue__c": old, "NewValue__c": new, "CreatedDate": at, "Field__c": field}

    first = agents[plan.first].id
    found = [row("Case Creation", plan.opened), row("Owner Assignment", plan.opened, None, first)]
    if written.moved is not None and plan.second is not None:
        found.append(row("Owner Assignment", written.moved, first, agents[plan.second].id))
    if written.closed is not None:
        found.append(row("Case Closed", written.closed))
    return found


def _address(message: CaseMessage, customer: Person, number: int, agents: list[Person]) -> dict[str, str]:
    agent = agents[message.agent]
    if message.who == "customer":
        return {"FromAddress": customer.email, "ToIds": json.dumps([agent.id]), "ToAddress": agent.email}
    return {"FromAddress": agent.email, "ToIds": json.dumps([contact_id(number)]), "ToAddress": customer.email}


def _write_line(message: CaseMessage, text: str, customer: Person, agents: list[Person]) -> str:
    who = f"{customer.name} (Customer)" if message.who == "customer" else f"{agents[message.agent].name} (Agent)"
    return f"[{message.at:%Y-%m-%d %H:%M:%S}] {who}: {text}"
