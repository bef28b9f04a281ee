"""How a stand-in answers by writing queries: the records it asks for, and what it reckons from them in its head."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from statistics import fmean
from typing import Any

from cxlab.benchmarks.crmarena.simulated import reading
from cxlab.benchmarks.crmarena.simulated.progress import MISSING, Action, AttemptProgress
from cxlab.benchmarks.crmarena.tasks import MONTHS
from cxlab.benchmarks.crmarena.tools.definition import text as quoted

_ASSIGNED = "Field__c = 'Owner Assignment'"


def plan(at: AttemptProgress) -> Action:
    """The next query, or the answer."""
    return _PLANS[at.question.kind](at)


def _ask(query: str, thought: str) -> Action:
    return Action("issue_sosl_query" if query.startswith("FIND") else "issue_soql_query", {"query": query}, thought)


def _answer(value: Any) -> Action:
    return Action("submit", {"content": "None" if value is None else str(value)}, "That gives the answer.")


def _within(at: AttemptProgress) -> str | None:
    """The condition of the window; now and then of another one, and then always of that."""
    window = at.bounds() or at.reckon_window()
    return f"CreatedDate >= {window[0]} AND CreatedDate < {window[1]}" if window else None


def _best(at: AttemptProgress, values: Mapping[str, float]) -> str | None:
    """The one at the end that is asked for; now and then at the other one."""
    if not values:
        return None
    least = (at.question.extreme == "min") != at.slips(at.profile.comprehension, 0.3)
    return (min if least else max)(values, key=lambda key: values[key])


def _hours(case: Mapping[str, Any]) -> float:
    opened, closed = (datetime.fromisoformat(str(case[name])) for name in ("CreatedDate", "ClosedDate"))
    return (closed - opened).total_seconds() / 3600


def _assignments(at: AttemptProgress, within: str) -> Any:
    found = at.rows("FROM CaseHistory__c", "NewValue__c", "CreatedDate")
    if found is not MISSING:
        return found
    fields = "CaseId__c, OldValue__c, NewValue__c, CreatedDate"
    return _ask(f"SELECT {fields} FROM CaseHistory__c WHERE {_ASSIGNED} AND {within}", "Who was given which case?")


def _qualified(at: AttemptProgress, rows: Sequence[Mapping[str, Any]]) -> set[str]:
    """Who had more cases than the question names; now and then as many are enough, or those handed over count."""
    careless = at.slips(at.profile.rule_following, 0.4)
    counts = Counter(row["NewValue__c"] for row in rows if careless or row["OldValue__c"] is None)
    least = at.question.more_than or 0
    return {agent for agent, count in counts.items() if count > least}


def _handle_time(at: AttemptProgress) -> Action:
    within = _within(at)
    if within is None:
        return _answer(None)
    given = _assignments(at, within)
    if isinstance(given, Action):
        return given
    cases = at.rows("FROM Case ", "ClosedDate")
    moved = at.rows("FROM CaseHistory__c", "OldValue__c != NULL")
    if cases is MISSING and moved is MISSING and not at.slips(at.profile.joint_conditions):
        query = f"SELECT CaseId__c FROM CaseHistory__c WHERE {_ASSIGNED} AND OldValue__c != NULL"
        return _ask(query, "Cases that were handed over do not count.")
    if cases is MISSING:
        query = f"SELECT Id, OwnerId, CreatedDate, ClosedDate FROM Case WHERE Status = 'Closed' AND {within}"
        return _ask(query, "Now the closed cases of that time.")
    away = set() if moved is MISSING else {row["CaseId__c"] for row in moved}
    owners = _qualified(at, given)
    hours: dict[str, list[float]] = defaultdict(list)
    for case in cases:
        if case["OwnerId"] in owners and case["Id"] not in away:
            hours[case["OwnerId"]].append(_hours(case))
    return _answer(_best(at, {agent: fmean(times) for agent, times in hours.items()}))


def _transfer_count(at: AttemptProgress) -> Action:
    within = _within(at)
    if within is None:
        return _answer(None)
    given = _assignments(at, within)
    if isinstance(given, Action):
        return given
    counts = Counter(row["OldValue__c"] for row in given if row["OldValue__c"])
    known = _qualified(at, given)
    if at.slips(at.profile.joint_conditions, 0.5):
        values: dict[str, float] = {agent: counts[agent] for agent in counts if agent in known}  # none is not seen
    else:
        values = {agent: counts[agent] for agent in sorted(known)}
    if at.question.extreme == "max" and not any(values.values()):
        return _answer(None)
    return _answer(_best(at, values))


def _of_product(at: AttemptProgress) -> str | Action | None:
    """The condition that a case is about the product in question."""
    product = at.question.id("01t")
    if product is None:
        found = at.rows("RETURNING Product2")
        if found is MISSING:
            return _search_product(at)
        if not found:
            return None
        product = found[0]["Id"]
    return f"OrderItemId__r.Product2Id = '{product}'"


def _search_product(at: AttemptProgress) -> Action:
    terms = " ".join(reading.product_words(at.question.text)[:3]) or "shoe"
    return _ask(f"FIND {{{terms}}} IN ALL FIELDS RETURNING Product2(Id, Name)", "Which product is it?")


def _top_issue(at: AttemptProgress) -> Action:
    about, within = _of_product(at), _within(at)
    if isinstance(about, Action):
        return about
    if about is None or within is None:
        return _answer(None)
    found = at.rows("FROM Case ", "GROUP BY IssueId__c")
    if found is MISSING:
        query = f"SELECT IssueId__c, COUNT(Id) n FROM Case WHERE {about} AND {within} GROUP BY IssueId__c"
        return _ask(f"{query} ORDER BY COUNT(Id) DESC", "The issues of its cases, counted.")
    named = [row for row in found if row["IssueId__c"]]
    return _answer(named[0]["IssueId__c"] if named else None)


def _monthly_trend(at: AttemptProgress) -> Action:
    about, within = _of_product(at), _within(at)
    if isinstance(about, Action):
        return about
    if about is None or within is None:
        return _answer(None)
    found = at.rows("SELECT CreatedDate FROM Case ")
    if found is MISSING:
        return _ask(f"SELECT CreatedDate FROM Case WHERE {about} AND {within}", "When were its cases opened?")
    counts = Counter(str(row["CreatedDate"])[:7] for row in found)
    month = max(counts, key=lambda each: counts[each], default=None)
    return _answer(MONTHS[int(month[5:]) - 1] if month else None)


def _best_region(at: AttemptProgress) -> Action:
    within = _within(at)
    if within is None:
        return _answer(None)
    found = at.rows("FROM Case ", "Account.ShippingState")
    if found is MISSING:
        closed = "" if at.slips(at.profile.joint_conditions, 0.4) else "Status = 'Closed' AND "
        query = f"SELECT Account.ShippingState, CreatedDate, ClosedDate FROM Case WHERE {closed}{within}"
        return _ask(query, "The cases of that time with their states.")
    hours: dict[str, list[float]] = defaultdict(list)
    for case in found:
        state = (case.get("Account") or {}).get("ShippingState")
        if state and case["ClosedDate"]:
            hours[state].append(_hours(case))
    if at.slips(at.profile.comprehension, 0.5):
        counts = {state: float(len(times)) for state, times in hours.items()}
        return _answer(max(counts, key=lambda state: counts[state], default=None))  # most cases, not the fastest
    means = {state: fmean(times) for state, times in hours.items()}
    return _answer(min(means, key=lambda state: means[state], default=None))


def _case_routing(at: AttemptProgress) -> Action:
    issues = at.rows("FROM Issue__c")
    if issues is MISSING:
        return _ask("SELECT Id, Name FROM Issue__c", "Which issue is it?")
    if not issues:
        return _answer(None)
    text = at.question.text
    if at.slips(at.profile.subtlety, 0.3):
        text = text[: len(text) // 3]  # it only skims
    counts = at.rows("FROM Case ", "IssueId__c =", "GROUP BY OwnerId")
    if counts is MISSING:
        closed = "" if at.slips(at.profile.rule_following, 0.5) else " AND Status = 'Closed'"
        query = f"SELECT OwnerId, COUNT(Id) n FROM Case WHERE IssueId__c = '{reading.pick_issue(text, issues)}'{closed}"
        return _ask(f"{query} GROUP BY OwnerId ORDER BY COUNT(Id) DESC", "Who closed most cases like it?")
    level = [row["OwnerId"] for row in counts if row["n"] == counts[0]["n"]]
    asked = at.rows("RETURNING Product2")
    if len(level) < 2 or (asked is MISSING and at.slips(at.profile.joint_conditions)):
        return _answer(level[0] if level else None)
    about = _of_product(at)
    if isinstance(about, Action):
        return about
    owners = ", ".join(map(quoted, level))
    if about is not None:
        found = at.rows("FROM Case ", about, "GROUP BY OwnerId")
        if found is MISSING:
            query = (
                f"SELECT OwnerId, COUNT(Id) n FROM Case WHERE {about} AND OwnerId IN ({owners}) AND Status = 'Closed'"
            )
            return _ask(f"{query} GROUP BY OwnerId ORDER BY COUNT(Id) DESC", "Of these, who knows the product?")
        level = [row["OwnerId"] for row in found if row["n"] == found[0]["n"]] or level
    if len(level) < 2:
        return _answer(level[0])
    load = at.rows("FROM Case ", "Status != 'Closed'")
    if load is MISSING:
        query = f"SELECT OwnerId, COUNT(Id) n FROM Case WHERE OwnerId IN ({owners}) AND Status != 'Closed'"
        return _ask(f"{query} GROUP BY OwnerId", "Still level: who has least to do?")
    busy = {row["OwnerId"]: row["n"] for row in load}
    return _answer(min(level, key=lambda agent: busy.get(agent, 0)))


def _named_entity(at: AttemptProgress) -> Action:
    contact, window = at.question.id("003"), at.reckon_window()
    if contact is None or window is None:
        return _answer(None)
    accounts = at.rows("FROM Contact")
    if accounts is MISSING:
        return _ask(f"SELECT AccountId FROM Contact WHERE Id = '{contact}'", "Whose account is it?")
    bought = at.rows("FROM OrderItem")
    if bought is MISSING:
        account = accounts[0]["AccountId"] if accounts else ""
        placed = "" if at.slips(at.profile.joint_conditions, 0.5) else " AND Order.Status = 'Activated'"
        query = f"SELECT Product2Id, Product2.Name FROM OrderItem WHERE Order.AccountId = '{account}'"
        return _ask(f"{query} AND Order.EffectiveDate = {window[0][:10]}{placed}", "What did they buy that day?")
    said = " ".join(reading.product_words(at.question.text))
    worth = {row["Product2Id"]: reading.overlap(said, str((row.get("Product2") or {}).get("Name"))) for row in bought}
    best = max(worth, key=lambda product: worth[product], default=None)
    # What was bought may be another thing than the one they mean.
    return _answer(best if best is not None and worth[best] > 0 else None)


def _knowledge(at: AttemptProgress) -> Action:
    terms = reading.search_terms(at.question.first_line)
    searched = [each for each in at.done if "FIND" in str(each.arguments.get("query")) and not each.failed]
    found = [row for each in searched for row in each.result]
    wanted = 1 if found and at.slips(at.profile.subtlety) else 2
    if len(searched) < min(len(terms), wanted if found else len(terms)):
        query = f"FIND {{{terms[len(searched)]}}} IN ALL FIELDS RETURNING Knowledge__kav(Id, Title, FAQ_Answer__c)"
        return _ask(query, "An article should say it.")
    if not found:
        return _answer(None)
    ranked = reading.rank_articles(at.question.first_line, found)
    # Whoever only skims takes the next best.
    best = ranked[1] if len(ranked) > 1 and at.slips(at.profile.subtlety, 0.5) else ranked[0]
    return _answer(reading.find_answer(at.question.first_line, best))


def _policy(at: AttemptProgress) -> Action:
    case = at.question.id("500")
    if case is None:
        return _answer(None)
    chats, mails = at.rows("FROM LiveChatTranscript"), at.rows("FROM EmailMessage")
    articles = at.rows("FROM Knowledge__kav")
    if chats is MISSING:
        return _ask(f"SELECT Body FROM LiveChatTranscript WHERE CaseId = '{case}'", "What was said?")
    if mails is MISSING and articles is MISSING and not (chats and at.slips(at.profile.rule_following, 0.5)):
        return _ask(f"SELECT TextBody FROM EmailMessage WHERE ParentId = '{case}' ORDER BY MessageDate", "And written?")
    if articles is MISSING:
        return _ask("SELECT Id, Title, FAQ_Answer__c FROM Knowledge__kav", "What are the rules?")
    rows = [*chats, *([] if mails is MISSING else mails)]
    talk = "\n".join(str(row.get("Body") or row.get("TextBody") or "") for row in rows)
    return _answer(reading.find_breach(talk, articles, lambda: not at.slips(at.profile.subtlety)))


_PLANS = {
    "handle_time": _handle_time,
    "transfer_count": _transfer_count,
    "top_issue_identification": _top_issue,
    "monthly_trend_analysis": _monthly_trend,
    "best_region_identification": _best_region,
    "case_routing": _case_routing,
    "named_entity_disambiguation": _named_entity,
    "knowledge_qa": _knowledge,
    "policy_violation_identification": _policy,
}
