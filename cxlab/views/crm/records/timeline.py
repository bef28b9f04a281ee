"""What happened around a record, in order: orders placed, cases opened, handed over and closed, e-mails and chats."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

import polars as pl

from cxlab.views.crm.organisation import Organisation, OrganisationRecord

# One line of a chat: "[time] Name (Role): words".
_LINE = re.compile(r"\[([^\]]{1,40})\]\s*([^:(]{1,80}?)\s*(?:\(([A-Za-z ]{1,30})\))?:\s?(.*)")
# Of one moment, what comes first.
_ORDER = ("order", "opened", "assigned", "handed over", "email", "chat", "closed")


@dataclass(frozen=True)
class Event:
    """Something that happened. `id` is the record that tells of it, `text` what was written, if anything.

    `kind` is one of order, opened, assigned, handed over, closed, email, chat. `whole_day`: no time of day is known.
    """

    at: datetime
    kind: str
    words: str
    id: str
    text: str = ""
    whole_day: bool = False

    @property
    def when(self) -> str:
        """ "2020-05-03 09:00", or the day alone."""
        return f"{self.at:%Y-%m-%d}" if self.whole_day else f"{self.at:%Y-%m-%d %H:%M}"


@dataclass(frozen=True)
class ChatMessage:
    """One message of a chat: the time as it is written, who, and what."""

    time: str
    name: str
    role: str
    text: str


def tell(organisation: Organisation, record: OrganisationRecord) -> list[Event]:
    """What happened around an account, contact, order, item or case, oldest first; [] for other objects.

    An e-mail, a chat and a row of a history have the timeline of their case.
    """
    told = _TOLD.get(record.object.name)
    events = told(organisation, record) if told else []
    return sorted(events, key=lambda event: (event.at, _ORDER.index(event.kind)))


def _of_account(organisation: Organisation, record: OrganisationRecord) -> list[Event]:
    orders = organisation.rows("Order", "AccountId", [record.id])
    return [*_orders(organisation, orders), *_cases(organisation.rows("Case", "AccountId", [record.id]))]


def _of_contact(organisation: Organisation, record: OrganisationRecord) -> list[Event]:
    account = record.values.get("AccountId")
    orders = organisation.rows("Order", "AccountId", [account] if account else [])
    return [*_orders(organisation, orders), *_cases(organisation.rows("Case", "ContactId", [record.id]))]


def _of_order(organisation: Organisation, record: OrganisationRecord) -> list[Event]:
    items = organisation.rows("OrderItem", "OrderId", [record.id])["Id"].to_list()
    orders = organisation.rows("Order", "Id", [record.id])
    return [*_orders(organisation, orders), *_cases(organisation.rows("Case", "OrderItemId__c", items))]


def _of_item(organisation: Organisation, record: OrganisationRecord) -> list[Event]:
    cases = organisation.rows("Case", "OrderItemId__c", [record.id])
    return [*_order_of(organisation, record), *_cases(cases)]


def _of_case(organisation: Organisation, record: OrganisationRecord) -> list[Event]:
    ids = [record.id]
    item = organisation.find(str(record.values.get("OrderItemId__c") or ""))
    history = list(_history(organisation, organisation.rows("CaseHistory__c", "CaseId__c", ids)))
    told = {event.kind for event in history}
    return [
        *(_order_of(organisation, item) if item else ()),
        *history,
        *(event for event in _cases(organisation.rows("Case", "Id", ids)) if event.kind not in told),
        *_emails(organisation, organisation.rows("EmailMessage", "ParentId", ids)),
        *_chats(organisation.rows("LiveChatTranscript", "CaseId", ids)),
    ]


def _of_its_case(organisation: Organisation, record: OrganisationRecord) -> list[Event]:
    ids = (record.values.get(name) for name in ("ParentId", "CaseId", "CaseId__c"))
    case = organisation.find(next((str(id) for id in ids if id), ""))
    return _of_case(organisation, case) if case else []


_TOLD: Mapping[str, Callable[[Organisation, OrganisationRecord], list[Event]]] = {
    "Account": _of_account,
    "Contact": _of_contact,
    "Order": _of_order,
    "OrderItem": _of_item,
    "Case": _of_case,
    "EmailMessage": _of_its_case,
    "LiveChatTranscript": _of_its_case,
    "CaseHistory__c": _of_its_case,
}


def _order_of(organisation: Organisation, item: OrganisationRecord) -> Iterable[Event]:
    order = item.values.get("OrderId")
    return _orders(organisation, organisation.rows("Order", "Id", [order] if order else []))


def _orders(organisation: Organisation, rows: pl.DataFrame) -> Iterable[Event]:
    for row in rows.filter(pl.col("EffectiveDate").is_not_null()).iter_rows(named=True):
        items = organisation.rows("OrderItem", "OrderId", [row["Id"]])["Id"]
        named = ", ".join(organisation.title(item) for item in items)
        draft = " (draft)" if row["Status"] == "Draft" else ""
        words = f"Order placed{draft}" + (f": {named}" if named else "")
        yield _event(row["EffectiveDate"], "order", words, row["Id"])


def _cases(rows: pl.DataFrame) -> Iterable[Event]:
    for row in rows.iter_rows(named=True):
        subject = row["Subject"] or row["Id"]
        for field, kind, words in (("CreatedDate", "opened", "Case opened"), ("ClosedDate", "closed", "Case closed")):
            if row[field] is not None:
                yield _event(row[field], kind, f"{words}: {subject}", row["Id"])


def _history(organisation: Organisation, rows: pl.DataFrame) -> Iterable[Event]:
    kinds = {"Case Creation": ("opened", "Case opened"), "Case Closed": ("closed", "Case closed")}
    for row in rows.filter(pl.col("CreatedDate").is_not_null()).iter_rows(named=True):
        old, new = (row[name] and organisation.title(row[name]) for name in ("OldValue__c", "NewValue__c"))
        if row["Field__c"] in kinds:
            kind, words = kinds[row["Field__c"]]
        elif old:
            kind, words = "handed over", f"Handed over from {old} to {new or 'nobody'}"
        else:
            kind, words = "assigned", f"Given to {new or 'nobody'}"
        yield _event(row["CreatedDate"], kind, words, row["Id"])


def _emails(organisation: Organisation, rows: pl.DataFrame) -> Iterable[Event]:
    user = organisation.schema.objects["User"].prefix
    for row in rows.filter(pl.col("MessageDate").is_not_null()).iter_rows(named=True):
        # Customers write to users, agents to contacts.
        who = "from the customer" if f'"{user}' in (row["ToIds"] or "") else "to the customer"
        words = f"E-mail {who}" + (f": {row['Subject']}" if row["Subject"] else "")
        yield _event(row["MessageDate"], "email", words, row["Id"], row["TextBody"] or "")


def _chats(rows: pl.DataFrame) -> Iterable[Event]:
    for row in rows.filter(pl.col("EndTime").is_not_null()).iter_rows(named=True):
        messages = len(read_chat(row["Body"] or ""))
        words = f"Chat of {messages} messages ended" if messages else "Chat ended"
        yield _event(row["EndTime"], "chat", words, row["Id"], row["Body"] or "")


def _event(at: date | datetime, kind: str, words: str, id: str, text: str = "") -> Event:
    if isinstance(at, datetime):
        return Event(at, kind, words, id, text)
    return Event(datetime.combine(at, time(), UTC), kind, words, id, text, whole_day=True)


def read_chat(body: str) -> list[ChatMessage]:
    """The messages of a chat's body; [] where it is not written line by line.

    Bodies are escaped for HTML, as the product keeps them; what is returned is plain text.
    """
    found: list[list[str]] = []
    for line in re.sub(r"<br\s*/?>", "\n", body).splitlines():
        if match := _LINE.match(line):
            found.append([match[1], html.unescape(match[2]), match[3] or "", html.unescape(match[4])])
        elif found and line.strip():
            found[-1][3] += "\n" + html.unescape(line)
        elif line.strip():
            return []
    return [ChatMessage(*each) for each in found]
