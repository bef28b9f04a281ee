"""Telecom tasks of our own: what can be wrong with a phone or a line, and combinations of it.

An issue brings itself about in a world and knows the gold actions that mend it; two kinds cannot be mended by agent
or customer, and then handing over is right. `combinations` has all that go together, `listed` the paper's forty.
"""

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from cxlab import files, resources
from cxlab.benchmarks.mmtaup2 import worlds
from cxlab.benchmarks.mmtaup2.tasks.task import Basis, CustomerKnowledge, GoldAction, Task, count_optimal_turns
from cxlab.benchmarks.mmtaup2.worlds import World
from cxlab.benchmarks.mmtaup2.worlds.tools import Side
from cxlab.errors import BadOption, UnknownName

Json = Any
Family = Literal["service", "mobile_data", "mms"]
Combination = tuple[Family, tuple[str, ...]]

FAMILIES: tuple[Family, ...] = ("service", "mobile_data", "mms")
# Enough customers that the forty tasks are forty people's
WORLD_SIZE = 200
REFUEL_GB = 2.0
_LISTED = resources.data("mmtaup2", "telecom_combinations.yaml")
_COUNTRIES = ("Portugal", "Norway", "Japan", "Kenya", "Chile", "Austria", "Vietnam", "Canada")


@dataclass(frozen=True)
class IssueTarget:
    """The customer's ids that an issue's actions name."""

    customer_id: str
    line_id: str
    bill_id: str  # of a bill that is not there yet
    limit_gb: float

    @property
    def line(self) -> dict[str, Json]:
        return {"customer_id": self.customer_id, "line_id": self.line_id}


FunctionCall = tuple[Side, str, dict[str, Json]]  # side, function or tool, arguments


@dataclass(frozen=True)
class TelecomIssue:
    """One thing that is wrong. Issues of the same `kind` exclude each other; `mend` is None when nothing helps."""

    name: str
    kind: str
    families: tuple[Family, ...]
    cause: Callable[[IssueTarget], list[FunctionCall]]
    mend: Callable[[IssueTarget], list[FunctionCall]] | None


def _phone(function: str, **arguments: Json) -> Callable[[IssueTarget], list[FunctionCall]]:
    return lambda place: [("customer", function, arguments)]


def _steps(*parts: Callable[[IssueTarget], list[FunctionCall]]) -> Callable[[IssueTarget], list[FunctionCall]]:
    return lambda place: [step for part in parts for step in part(place)]


def _line(function: str, **arguments: Json) -> Callable[[IssueTarget], list[FunctionCall]]:
    return lambda place: [("agent", function, {**place.line, **arguments})]


def _suspend(*, contract_ended: bool) -> Callable[[IssueTarget], list[FunctionCall]]:
    def cause(place: IssueTarget) -> list[FunctionCall]:
        arguments = {**place.line, "new_bill_id": place.bill_id, "contract_ended": contract_ended}
        # The phone notices a suspension only when it looks for a network
        return [("agent", "suspend_line_for_overdue_bill", arguments), ("customer", "simulate_network_search", {})]

    return cause


def _pay_and_resume(place: IssueTarget) -> list[FunctionCall]:
    return [
        ("agent", "send_payment_request", {"customer_id": place.customer_id, "bill_id": place.bill_id}),
        ("customer", "make_payment", {}),
        ("agent", "resume_line", place.line),
        ("customer", "reboot_device", {}),
    ]


def _use_up(place: IssueTarget) -> list[FunctionCall]:
    return [("agent", "set_data_usage", {**place.line, "data_used_gb": round(place.limit_gb + 0.1, 1)})]


def _roaming(line: str, phone: str) -> TelecomIssue:
    """Abroad, with roaming on or off on the line and on the phone."""
    allowed = _line("enable_roaming" if line == "enabled" else "disable_roaming")
    switched = _phone(f"turn_roaming_{phone}")
    mends = [_line("enable_roaming")] * (line == "disabled") + [_phone("toggle_roaming")] * (phone == "off")
    cause = _steps(_phone("set_user_location", abroad=True), allowed, switched)
    return TelecomIssue(f"user_abroad_roaming_{line}_{phone}", "roaming", ("mobile_data", "mms"), cause, _steps(*mends))


def _permission(name: str, *permissions: str) -> TelecomIssue:
    app = {"app_name": "messaging"}
    cause = _steps(*(_phone("remove_app_permission", **app, permission=each) for each in permissions))
    mend = _steps(*(_phone("grant_app_permission", **app, permission=each) for each in permissions))
    return TelecomIssue(f"break_app_{name}", "permission", ("mms",), cause, mend)


_ALL: tuple[Family, ...] = FAMILIES
_DATA: tuple[Family, ...] = ("mobile_data", "mms")
_RESET = _steps(_phone("reset_apn_settings"), _phone("reboot_device"))
ISSUES: dict[str, TelecomIssue] = {
    issue.name: issue
    for issue in (
        TelecomIssue(
            "airplane_mode_on", "airplane", _ALL, _phone("turn_airplane_mode_on"), _phone("toggle_airplane_mode")
        ),
        TelecomIssue(
            "unseat_sim_card", "seat", ("service", "mms"), _phone("unseat_sim_card"), _phone("reseat_sim_card")
        ),
        TelecomIssue("lock_sim_card_pin", "lock", ("service",), _phone("lock_sim_card", mode="pin"), None),
        TelecomIssue("break_apn_settings", "apn", ("service",), _phone("break_apn_settings"), _RESET),
        TelecomIssue("overdue_bill_suspension", "line", ("service",), _suspend(contract_ended=False), _pay_and_resume),
        TelecomIssue("contract_end_suspension", "line", ("service",), _suspend(contract_ended=True), None),
        _roaming("enabled", "off"),
        _roaming("disabled", "on"),
        _roaming("disabled", "off"),
        TelecomIssue("data_mode_off", "data", _DATA, _phone("turn_data_off"), _phone("toggle_data")),
        TelecomIssue("data_usage_exceeded", "quota", _DATA, _use_up, _line("refuel_data", gb_amount=REFUEL_GB)),
        TelecomIssue(
            "data_saver_mode_on",
            "saver",
            ("mobile_data",),
            _phone("turn_data_saver_mode_on"),
            _phone("toggle_data_saver_mode"),
        ),
        TelecomIssue("bad_vpn", "vpn", ("mobile_data",), _phone("break_vpn"), _phone("disconnect_vpn")),
        TelecomIssue(
            "bad_network_preference",
            "preference",
            _DATA,
            _phone("set_network_mode_preference", mode="2g_only"),
            _phone("set_network_mode_preference", mode="4g_5g_preferred"),
        ),
        TelecomIssue(
            "bad_wifi_calling",
            "calling",
            ("mms",),
            _phone("set_wifi_calling", enabled=True, mms_over_wifi=True),
            _phone("toggle_wifi_calling"),
        ),
        TelecomIssue("break_apn_mms_setting", "mmsc", ("mms",), _phone("break_apn_mms_setting"), _RESET),
        _permission("sms_permission", "sms"),
        _permission("storage_permission", "storage"),
        _permission("both_permissions", "sms", "storage"),
    )
}
# A call about picture messages is one only if something of these is wrong
_MMS_KINDS = frozenset({"preference", "calling", "mmsc", "permission"})


def needs_look(names: Sequence[str]) -> bool:
    """Whether somebody has to look at the phone, or say where it is: the records show suspensions and quotas alone."""
    kinds = {ISSUES[name].kind for name in names if name in ISSUES}
    return "contract_end_suspension" not in names and bool(kinds - {"line", "quota"})


def combinations() -> list[Combination]:
    """Every combination of issues that a customer of a family can have, fewest issues first."""
    found: list[Combination] = []
    for family in FAMILIES:
        kinds: dict[str, list[TelecomIssue | None]] = {}
        for issue in ISSUES.values():
            if family in issue.families:
                kinds.setdefault(issue.kind, [None]).append(issue)
        for chosen in itertools.product(*kinds.values()):
            issues = [issue for issue in chosen if issue is not None]
            if any(family != "mms" or issue.kind in _MMS_KINDS for issue in issues):
                found.append((family, tuple(sorted(issue.name for issue in issues))))
    return sorted(found, key=lambda each: (len(each[1]), FAMILIES.index(each[0]), each[1]))


@functools.cache
def listed() -> tuple[Combination, ...]:
    """The forty combinations of the paper's appendix A.1."""
    rows = files.read_yaml(_LISTED)
    return tuple((family, tuple(names)) for family in FAMILIES for names in rows[family])


def make(seed: int, count: int) -> list[Task]:
    """Tasks on one generated world: the paper's forty first, then others; both mixed so that any beginning has all
    three families in proportion. Past the last combination they come again with other customers."""
    world = worlds.load("telecom", seed, WORLD_SIZE)
    homes = _homes(world)
    forty = listed()
    others = [each for each in combinations() if each not in set(forty)]
    order = [*_mixed(forty, Random(f"{seed} listed")), *_mixed(others, Random(f"{seed} others"))]
    Random(f"{seed} homes").shuffle(homes)
    made = []
    for number in range(count):
        again, place = divmod(number, len(order))
        family, names = order[place]
        made.append(_task(world, homes[number % len(homes)], family, names, again, seed, Random(f"{seed} {number}")))
    return made


def compose(family: Family, names: Iterable[str], seed: int) -> Task:
    """The task of one combination, for one that is wanted by name."""
    wanted = tuple(sorted(names))
    for name in wanted:
        if name not in ISSUES:
            raise UnknownName("telecom issue", name, ISSUES)
    if (family, wanted) not in set(combinations()):
        raise BadOption(f"issues {', '.join(wanted) or 'none'}: do not go together in a {family} call")
    world = worlds.load("telecom", seed, WORLD_SIZE)
    rng = Random(f"{seed} {family} {wanted}")
    return _task(world, rng.choice(_homes(world)), family, wanted, 0, seed, rng)


def _homes(world: World) -> list[str]:
    """Customers on whose first line any issue can happen: active, with a quota to use up and nothing overdue."""
    found = []
    for customer_id, customer in world.agent.rows("customers"):
        line = world.agent.get("lines", customer["line_ids"][0]) or {}
        plan = world.agent.get("plans", line["plan_id"]) or {}
        bills = [world.agent.get("bills", name) or {} for name in customer["bill_ids"]]
        owes = any(bill["status"] in ("Overdue", "Awaiting Payment") for bill in bills)
        if line["status"] == "Active" and plan["data_limit_gb"] < 100 and not owes:
            found.append(customer_id)
    return found


def _mixed(given: Sequence[Combination], rng: Random) -> list[Combination]:
    """Shuffled within a family, and the families spread evenly over the whole."""
    placed: list[tuple[float, int, Combination]] = []
    for rank, family in enumerate(FAMILIES):
        own = [each for each in given if each[0] == family]
        rng.shuffle(own)
        placed += [((place + 0.5) / len(own), rank, each) for place, each in enumerate(own)]
    return [each for *_, each in sorted(placed)]


def _task(
    world: World, customer_id: str, family: Family, names: tuple[str, ...], again: int, seed: int, rng: Random
) -> Task:
    customer = world.agent.get("customers", customer_id) or {}
    line = world.agent.get("lines", customer["line_ids"][0]) or {}
    plan = world.agent.get("plans", line["plan_id"]) or {}
    place = IssueTarget(customer_id, line["line_id"], f"B9{rng.randrange(10_000, 100_000)}", plan["data_limit_gb"])
    issues = [ISSUES[name] for name in names]
    who = {"name": customer["full_name"], "phone_number": line["phone_number"]}
    causes = [("customer", "set_user_info", who), *(step for issue in issues for step in issue.cause(place))]
    transfer = any(issue.mend is None for issue in issues)
    if transfer:
        mends: list[FunctionCall] = [("agent", "transfer_to_human_agents", {"summary": "This takes a person."})]
    else:
        mends = [step for issue in issues if issue.mend is not None for step in issue.mend(place)]
    gold = tuple(
        GoldAction(side=side, tool=tool, arguments=arguments, compare=() if transfer else None)
        for side, tool, arguments in mends
    )
    abroad = rng.choice(_COUNTRIES) if any(issue.kind == "roaming" for issue in issues) else None
    irreversible = tuple(dict.fromkeys(a.tool for a in gold if a.side == "agent" and world.is_irreversible(a.tool)))
    basis: tuple[Basis, ...] = (
        ("ENV_ASSERTION", "ACTION", "BYSTANDERS") if transfer else ("ENV_ASSERTION", "BYSTANDERS")
    )
    return Task(
        id=f"[{family}_issue]{'|'.join(names)}" + (f"#{again + 1}" if again else ""),
        domain="telecom",
        issues=names,
        known=_known(family, customer, line, abroad, rng),
        prepare=tuple(_function(*step) for step in causes),
        gold=gold,
        assertions=tuple(_assertions(family, place, "data_usage_exceeded" in names, transfer)),
        reward_basis=basis,
        optimal_turns=count_optimal_turns(gold, irreversible, looks=needs_look(names)),
        critical_fields={"phone_number": line["phone_number"], **_fields(gold)},
        irreversible=irreversible,
        transfer_right=transfer,
        source="own",
        world_seed=seed,
        world_size=WORLD_SIZE,
    )


def _function(side: str, name: str, arguments: dict[str, Json]) -> dict[str, Json]:
    """As tau2-bench's tasks write a function of the environment."""
    return {"env_type": "user" if side == "customer" else "assistant", "func_name": name, "arguments": arguments}


def _fields(gold: Iterable[GoldAction]) -> dict[str, Json]:
    """The arguments of the gold agent actions: ids and amounts, each wrong one of which hits something else."""
    changing = [action for action in gold if action.side == "agent" and action.tool != "transfer_to_human_agents"]
    return {name: value for action in changing for name, value in action.arguments.items()}


def _assertions(family: Family, place: IssueTarget, refuelled: bool, transfer: bool) -> Iterable[dict[str, Json]]:
    if transfer:
        # Nobody can mend it in this conversation, so service must still be missing
        yield _function("customer", "assert_service_status", {"expected_status": "no_service"})
        return
    if family == "service":
        yield _function("customer", "assert_service_status", {"expected_status": "connected"})
        yield _function("agent", "assert_no_overdue_bill", {"overdue_bill_id": place.bill_id})
    if family == "mobile_data":
        yield _function("customer", "assert_mobile_data_status", {"expected_status": True})
        speed = {"expected_speed": 200, "expected_desc": "excellent"}
        yield _function("customer", "assert_internet_speed", speed)
    if family == "mms":
        yield _function("customer", "assert_can_send_mms", {"expected_status": True})
    if refuelled:
        yield _function("agent", "assert_data_refueling_amount", {**place.line, "expected_amount": REFUEL_GB})


_REASONS: dict[Family, tuple[str, ...]] = {
    "service": (
        "My phone has had no service since this morning; I can neither call nor be called.",
        "There has been no signal on my phone for some hours.",
        "My phone shows that it has no service, and I cannot make any calls.",
    ),
    "mobile_data": (
        "The internet on my phone hardly works: either nothing loads or it takes ages.",
        "My mobile data is very slow or does not work at all.",
        "I can barely use the internet on my phone when I am not on Wi-Fi.",
    ),
    "mms": (
        "I cannot send pictures from my messaging app.",
        "Picture messages have not gone out from my phone for some hours.",
        "When I try to send a photo as a message, it fails every time.",
    ),
}
_CONTENT: dict[Family, str] = {
    "service": "You are content when the top of your screen shows a signal again.",
    "mobile_data": "You are content only when a speed test says excellent; poor, fair or good is not enough.",
    "mms": "You are content when your phone can send a picture message.",
}


def _known(family: Family, customer: Json, line: Json, abroad: str | None, rng: Random) -> CustomerKnowledge:
    """The same for every combination of a family but for where the customer is: the cause is for the agent to find."""
    home = customer["address"]
    facts = {
        "name": customer["full_name"],
        "phone_number": line["phone_number"],
        "date_of_birth": customer["date_of_birth"],
        "location": f"abroad, in {abroad}" if abroad else f"at home in {home['city']}, {home['state']}",
        "abroad": abroad is not None,
        "goal": family,
        "refuel_gb": REFUEL_GB,
    }
    wishes = [_CONTENT[family]]
    if family == "service":
        wishes.append("If a bill has to be paid, you pay it.")
    else:
        wishes.append(f"If it takes more data, you take {REFUEL_GB:g} GB. You keep your plan.")
        wishes.append("You have no Wi-Fi where you are.")
    return CustomerKnowledge(
        reason=rng.choice(_REASONS[family]),
        facts=facts,
        unknown=("customer_id", "line_id", "bill_id", "cause"),
        wishes=tuple(wishes),
    )
