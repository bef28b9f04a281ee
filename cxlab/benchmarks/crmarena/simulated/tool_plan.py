"""How a stand-in answers by calling tools: for each kind of question the calls that lead there, one at a time."""

from __future__ import annotations

from collections import Counter
from typing import Any

from cxlab.benchmarks.crmarena.simulated import query_plan, reading
from cxlab.benchmarks.crmarena.simulated.progress import MISSING, Action, AttemptProgress, reckon

NONE = "None"


def answer(value: Any) -> Action:
    """Submit: the first of several, None for nothing."""
    if isinstance(value, list):
        value = value[0] if value else None
    return Action("submit", {"content": NONE if value is None else str(value)}, "I have the answer.")


def plan(at: AttemptProgress) -> Action:
    """The next call."""
    return _PLANS[at.question.kind](at)


def _call(tool: str, thought: str = "", **arguments: Any) -> Action:
    return Action(tool, arguments, thought)


def _window(at: AttemptProgress) -> tuple[str, str] | Action | None:
    """The window, or the call that reckons it; None where the question has none."""
    asked = at.question.window
    if asked is None or (asked[0] == "past" and at.question.today is None):
        return None
    if asked[0] == "past":
        end = f"{at.question.today}T00:00:00Z"
        if "get_start_date" not in at.offers:
            return at.bounds() or _used(at) or at.reckon_window()
        found = at.result("get_start_date")
        if found is not MISSING:
            return str(found), end
        unit, count = asked[1], asked[2]
        if at.slips(at.profile.joint_conditions, 0.5):
            unit, count = ("month", count) if unit == "quarter" else (unit, count + 1)
        return _call("get_start_date", "First the period.", end_date=end, period=unit, interval_count=count)
    if "get_period" not in at.offers:
        return at.bounds() or _used(at) or at.reckon_window()
    found = at.result("get_period")
    if found is not MISSING:
        return str(found["start_date"]), str(found["end_date"])
    name, year = at.named_period(asked[1], asked[2], at.slips(at.profile.joint_conditions, 0.5))
    if at.stumbled and name == "Autumn":
        name = "Fall"
    return _call("get_period", "First the period.", period_name=name, year=year)


def _used(at: AttemptProgress) -> tuple[str, str] | None:
    """The window of an earlier call."""
    for each in at.done:
        if not each.failed and "start_date" in each.arguments and "end_date" in each.arguments:
            return each.arguments["start_date"], each.arguments["end_date"]
    return None


def _qualify(at: AttemptProgress, start: str, end: str) -> list[str] | Action:
    """Who had enough cases, or the call that tells."""
    handled = at.result("get_agent_handled_cases_by_period")
    if handled is MISSING:
        return _call("get_agent_handled_cases_by_period", "Who had cases then?", start_date=start, end_date=end)
    least = at.question.more_than or 0
    if "get_qualified_agent_ids_by_case_count" not in at.offers:
        found: list[str] = reckon("get_qualified_agent_ids_by_case_count", agent_handled_cases=handled, n_cases=least)
        return found
    qualified = at.result("get_qualified_agent_ids_by_case_count")
    if qualified is not MISSING:
        return list(qualified)
    if at.slips(at.profile.rule_following, 0.5):
        least = max(0, least - 1)  # "more than" is taken for "at least"
    return _call(
        "get_qualified_agent_ids_by_case_count", "Of these, who had enough?", agent_handled_cases=handled, n_cases=least
    )


def _handle_time(at: AttemptProgress) -> Action:
    window = _window(at)
    if isinstance(window, Action):
        return window
    if window is None:
        return answer(None)
    start, end = window
    qualified = _qualify(at, start, end)
    if isinstance(qualified, Action):
        return qualified
    if not qualified:
        return answer(None)
    cases = at.result("get_cases")
    if cases is MISSING:
        tool = "get_non_transferred_case_ids"
        untouched = at.result(tool)
        if untouched is MISSING and tool in at.offers and not at.slips(at.profile.joint_conditions):
            return _call(tool, "Which were not handed over?", start_date=start, end_date=end)
        if "get_cases" not in at.offers:
            return query_plan.plan(at)
        given: dict[str, Any] = {"start_date": start, "end_date": end, "agent_ids": qualified, "statuses": ["Closed"]}
        if untouched is not MISSING:
            if not untouched:
                return answer(None)
            given["case_ids"] = untouched
        return _call("get_cases", "Their closed cases.", **given)
    return _take_extreme(at, "calculate_average_handle_time", cases)


def _take_extreme(at: AttemptProgress, tool: str, cases: Any) -> Action:
    """The mean of cases by what they are grouped by, and the end that is asked for."""
    if not cases:
        return answer(None)
    means = at.result(tool)
    if means is MISSING:
        if tool in at.offers:
            return _call(tool, "Their means.", cases=cases)
        means = reckon(tool, cases=cases)
    return _end_of(at, means)


def _end_of(at: AttemptProgress, values: Any) -> Action:
    name = f"find_id_with_{at.question.extreme}_value"
    for tool in ("find_id_with_max_value", "find_id_with_min_value"):
        found = at.result(tool)
        if found is not MISSING:
            return answer(found)
    if not values:
        return answer(None)
    if at.slips(at.profile.comprehension, 0.3):
        name = "find_id_with_min_value" if name.endswith("max_value") else "find_id_with_max_value"
    return _call(name, "The one at the end.", values_by_id=values)


def _transfer_count(at: AttemptProgress) -> Action:
    window = _window(at)
    if isinstance(window, Action):
        return window
    if window is None:
        return answer(None)
    qualified = _qualify(at, *window)
    if isinstance(qualified, Action):
        return qualified
    if not qualified:
        return answer(None)
    tool = "get_agent_transferred_cases_by_period"
    counts = at.result(tool)
    if counts is MISSING:
        given: dict[str, Any] = {"start_date": window[0], "end_date": window[1]}
        if not at.slips(at.profile.joint_conditions, 0.5):
            given["qualified_agent_ids"] = qualified
        return _call(tool, "How often did they hand over?", **given)
    if at.question.extreme == "max" and not any(counts.values()):
        return answer(None)
    return _end_of(at, counts)


def _product(at: AttemptProgress) -> list[str] | Action:
    """The order items of the product in question, or the call that tells."""
    product = at.question.id("01t")
    if product is None:
        found = at.result("search_products")
        if found is MISSING:
            terms = reading.product_words(at.question.text) or ["shoe"]
            return _call("search_products", "Which product is it?", search_term=" ".join(terms[:3]))
        if not found:
            return []
        product = found[0]
    items = at.result("get_order_item_ids_by_product")
    if items is MISSING:
        if "get_order_item_ids_by_product" not in at.offers:
            rows = at.rows("FROM OrderItem")
            if rows is MISSING:
                query = f"SELECT Id FROM OrderItem WHERE Product2Id = '{product}'"
                return _call("issue_soql_query", "Its order items.", query=query)
            return [row["Id"] for row in rows]
        return _call("get_order_item_ids_by_product", "Its order items.", product_id=product)
    return list(items)


def _items_and_window(at: AttemptProgress) -> tuple[list[str], tuple[str, str]] | Action:
    """The order items of the product and the time in question, or what to do before both are known."""
    items = _product(at)
    if isinstance(items, Action):
        return items
    window = _window(at)
    if isinstance(window, Action):
        return window
    if not items or window is None:
        return answer(None)
    return items, window


def _top_issue(at: AttemptProgress) -> Action:
    found = _items_and_window(at)
    if isinstance(found, Action):
        return found
    items, (start, end) = found
    counts = at.result("get_issue_counts")
    if counts is MISSING:
        return _call("get_issue_counts", "", start_date=start, end_date=end, order_item_ids=items)
    return _end_of(at, counts)


def _monthly_trend(at: AttemptProgress) -> Action:
    found = _items_and_window(at)
    if isinstance(found, Action):
        return found
    items, (start, end) = found
    cases = at.result("get_cases")
    if cases is MISSING:
        return _call("get_cases", "", start_date=start, end_date=end, order_item_ids=items)
    if not cases:
        return answer(None)
    counts = at.result("get_month_to_case_count")
    if counts is MISSING:
        return _call("get_month_to_case_count", "", cases=cases)
    best = at.result("find_id_with_max_value")
    if best is MISSING:
        return _call("find_id_with_max_value", "", values_by_id=counts)
    return answer(str(best[0]).split(" ", maxsplit=1)[0] if best else None)


def _best_region(at: AttemptProgress) -> Action:
    window = _window(at)
    if isinstance(window, Action):
        return window
    if window is None:
        return answer(None)
    cases = at.result("get_cases")
    if cases is MISSING:
        if "get_cases" not in at.offers:
            return query_plan.plan(at)
        given: dict[str, Any] = {"start_date": window[0], "end_date": window[1], "statuses": ["Closed"]}
        return _call("get_cases", "The closed cases of that time.", **given)
    if not cases:
        return answer(None)
    placed = at.result("get_shipping_state")
    if placed is MISSING:
        return _call("get_shipping_state", "", cases=cases)
    return _take_extreme(at, "calculate_region_average_closure_times", placed)


def _case_routing(at: AttemptProgress) -> Action:
    issues = at.result("get_issues")
    if issues is MISSING:
        return _call("get_issues", "Which issue is it?")
    if "get_cases" not in at.offers:
        return query_plan.plan(at)
    text = at.question.text
    if at.slips(at.profile.subtlety, 0.3):
        text = text[: len(text) // 3]  # it only skims
    issue = at.given("get_cases", "issue_ids") or [reading.pick_issue(text, issues)]
    cases = at.result("get_cases")
    if cases is MISSING:
        given: dict[str, Any] = {"issue_ids": issue}
        if not at.slips(at.profile.rule_following, 0.5):
            given["statuses"] = ["Closed"]
        return _call("get_cases", "Who closed cases like it?", **given)
    best = at.result("get_agents_with_max_cases")
    if best is MISSING:
        if "get_agents_with_max_cases" not in at.offers:
            best = reckon("get_agents_with_max_cases", subset_cases=cases)
        else:
            return _call("get_agents_with_max_cases", "", subset_cases=cases)
    if not isinstance(best, list) or len(best) < 2:
        return answer(best)
    fresh = at.result("search_products") is MISSING and at.result("get_cases", 1) is MISSING
    if fresh and at.slips(at.profile.joint_conditions):
        return answer(best)  # the first of them will do
    items = _product(at)
    if isinstance(items, Action):
        return items
    of_product = at.result("get_cases", 1)
    if items and of_product is MISSING:
        return _call("get_cases", "", order_item_ids=items, agent_ids=best, statuses=["Closed"])
    level = reckon("get_agents_with_max_cases", subset_cases=of_product) if items else []
    level = level or best
    if len(level) < 2:
        return answer(level)
    held = at.result("get_cases", 2 if items else 1)
    if held is MISSING:
        return _call("get_cases", "", agent_ids=level)
    load = Counter(case["OwnerId"] for case in held if case.get("ClosedDate") is None)
    return answer(min(level, key=lambda agent: load[agent]))


def _named_entity(at: AttemptProgress) -> Action:
    contact = at.question.id("003")
    account = at.result("get_account_id_by_contact_id")
    if account is MISSING:
        if contact is None:
            return answer(None)
        if "get_account_id_by_contact_id" not in at.offers:
            rows = at.rows("FROM Contact")
            if rows is MISSING:
                query = f"SELECT AccountId FROM Contact WHERE Id = '{contact}'"
                return _call("issue_soql_query", "Whose account?", query=query)
            account = rows[0]["AccountId"] if rows else None
        else:
            return _call("get_account_id_by_contact_id", "Whose account?", contact_id=contact)
    window = _window(at)
    if isinstance(window, Action):
        return window
    found = at.result("search_products")
    if found is MISSING:
        if "search_products" not in at.offers:
            return query_plan.plan(at)
        terms = reading.product_words(at.question.text)
        tried = sum(each.tool == "search_products" for each in at.done)
        return _call("search_products", "", search_term=" ".join(terms[tried:][:2]) or "shoe")
    if not found:
        again = at.result("search_products", 1)
        terms = reading.product_words(at.question.text)
        if again is MISSING and len(terms) > 1:
            return _call("search_products", "", search_term=terms[-1])
        found = again if again is not MISSING else []
    if not found or window is None:
        return answer(None)
    rows = at.result("get_purchase_history")
    if rows is MISSING:
        return _call(
            "get_purchase_history", "", account_id=account, purchase_date=window[0][:10], related_product_ids=found
        )
    return answer(rows[0]["Product2Id"] if rows else None)


def _knowledge(at: AttemptProgress) -> Action:
    terms = reading.search_terms(at.question.first_line)
    searched = [each for each in at.done if each.tool == "search_knowledge_articles"]
    found = [row for each in searched if not each.failed for row in each.result]
    if not found and len(searched) < len(terms):
        return _call("search_knowledge_articles", "", search_term=terms[len(searched)])
    # One more word shows whether another article fits better.
    if found and len(searched) == 1 and len(terms) > 1 and not at.slips(at.profile.subtlety):
        return _call("search_knowledge_articles", "", search_term=terms[1])
    if not found:
        return answer(None)
    ranked = reading.rank_articles(at.question.first_line, found)
    # Whoever only skims takes the next best.
    best = ranked[1] if len(ranked) > 1 and at.slips(at.profile.subtlety, 0.5) else ranked[0]
    return answer(reading.find_answer(at.question.first_line, best))


def _policy(at: AttemptProgress) -> Action:
    case = at.question.id("500")
    if case is None:
        return answer(None)
    talks: list[Any] = []
    for tool in ("get_livechat_transcript_by_case_id", "get_email_messages_by_case_id"):
        found = at.result(tool)
        if found is MISSING:
            if talks and any(talks) and at.slips(at.profile.rule_following, 0.5):
                break  # the chat will do
            return _call(tool, "", case_id=case)
        talks += found
    talk = "\n".join(str(row.get("Body") or row.get("TextBody") or "") for row in talks)
    terms = reading.search_terms(talk, 4) if talk.strip() else []
    searched = [each for each in at.done if each.tool == "search_knowledge_articles"]
    found = [row for each in searched if not each.failed for row in each.result]
    guess = [word for word in reading.load_signs().topics if word in talk.lower()] or terms
    if len(searched) < min(3, len(guess)):
        return _call("search_knowledge_articles", "", search_term=guess[len(searched)])
    return answer(reading.find_breach(talk, found, lambda: not at.slips(at.profile.subtlety)))


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
