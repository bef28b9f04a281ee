"""The telecom world: what models may send, both sides in step, the phone's physics, rows at any size."""

import json
import re
from collections.abc import Mapping
from random import Random
from typing import Any

import orjson
import pytest

from cxlab.benchmarks.mmtaup2 import worlds
from cxlab.benchmarks.mmtaup2.conversation.task_dialogue import tool_executor
from cxlab.benchmarks.mmtaup2.worlds.base import ToolRefusal, World
from cxlab.benchmarks.mmtaup2.worlds.database import Database
from cxlab.benchmarks.mmtaup2.worlds.tools import number, tool
from cxlab.errors import BadOption, UnknownName
from cxlab.records import ToolCall

AGENT_TOOLS = {
    "get_customer_by_phone", "get_customer_by_id", "get_customer_by_name", "get_details_by_id", "suspend_line",
    "resume_line", "get_bills_for_customer", "send_payment_request", "get_data_usage", "enable_roaming",
    "disable_roaming", "refuel_data", "transfer_to_human_agents",
}  # fmt: skip
CUSTOMER_TOOLS = {
    "check_status_bar", "check_network_status", "check_network_mode_preference", "set_network_mode_preference",
    "run_speed_test", "toggle_airplane_mode", "check_sim_status", "reseat_sim_card", "toggle_data", "toggle_roaming",
    "check_data_restriction_status", "toggle_data_saver_mode", "check_apn_settings", "set_apn_settings",
    "reset_apn_settings", "check_wifi_status", "toggle_wifi", "check_wifi_calling_status", "toggle_wifi_calling",
    "check_vpn_status", "connect_vpn", "disconnect_vpn", "check_installed_apps", "check_app_status",
    "check_app_permissions", "grant_app_permission", "can_send_mms", "reboot_device", "check_payment_request",
    "make_payment",
}  # fmt: skip
ODD: list[Any] = [
    None, True, 0, -1, 10**400, 2.5, float("nan"), float("inf"), "", "L1", "  ", "x" * 10_000, "\ud800", "📵",
    [], ["a"], [[[]]], {}, {"a": None}, {1: 2}, (1,), {3}, b"bytes", object(),
]  # fmt: skip


@pytest.fixture(scope="module")
def generated() -> World:
    return worlds.load("telecom", seed=5)


@pytest.fixture
def world(generated: World) -> World:
    """The phone is on the first line of a customer whose line is active."""
    return at_home(generated)


def at_home(generated: World) -> World:
    fresh = generated.fresh()
    for _, customer in fresh.agent.rows("customers"):
        line = fresh.agent.get("lines", customer["line_ids"][0]) or {}
        bills = [fresh.agent.get("bills", name) or {} for name in customer["bill_ids"]]
        if line["status"] == "Active" and line["plan_id"] != "P205" and all(b["status"] != "Overdue" for b in bills):
            who = {"name": customer["full_name"], "phone_number": line["phone_number"]}
            fresh.prepare([{"env_type": "user", "func_name": "set_user_info", "arguments": who}])
            return fresh
    raise AssertionError("no customer with an active line")


def ids(world: World) -> dict[str, str]:
    records = world.snapshot()["agent"]
    return {"customer_id": records["customer"]["customer_id"], "line_id": records["line"]["line_id"]}


def read(world: World, tool: str, **arguments: Any) -> Any:
    result = world.call("customer", tool, arguments)
    assert result.kind == "ok", result.error
    return result.value


def prepare(world: World, name: str, side: str = "user", **arguments: Any) -> None:
    world.prepare([{"env_type": side, "func_name": name, "arguments": arguments}])


def test_the_tools_are_those_of_the_reference(world: World) -> None:
    for side, names in (("agent", AGENT_TOOLS), ("customer", CUSTOMER_TOOLS)):
        tools = world.tools(side)
        assert {each["function"]["name"] for each in tools} == names
        json.dumps(tools)
        assert all(each["function"]["description"] for each in tools)
    # Only what costs money is taken back by nothing
    marked = {name for name in AGENT_TOOLS | CUSTOMER_TOOLS if world.is_irreversible(name)}
    assert marked == {"refuel_data", "send_payment_request", "make_payment"}


def test_the_policy_speaks_of_the_phone_in_words() -> None:
    # The agent has none of the phone's tools, and a customer knows none of their names.
    assert re.findall(r"\w+_\w+", worlds.policy("telecom")) == []
    with pytest.raises(UnknownName, match="telecom"):
        worlds.policy("airline")


def test_a_screen_is_in_words_and_the_log_has_the_value(world: World) -> None:
    act = tool_executor(world)
    for declared in world.tools("customer"):
        name = declared["function"]["name"]
        given = {
            "app_name": "messaging", "permission": "sms", "mode": "3g_only", "apn_settings": {"apn_name": "internet"},
        }  # fmt: skip
        needed = {each: given[each] for each in declared["function"]["parameters"]["properties"]}
        shown = act("customer", ToolCall(id="1", name=name, arguments=json.dumps(needed)), 1)
        assert shown.text, name
        assert not re.search(r"\w_\w|[{}\[\]]|True|False|None", shown.text), shown.text
        assert isinstance(shown.data["value"], dict) == (shown.error is None)


def test_what_changes_nothing_is_no_error(world: World) -> None:
    act = tool_executor(world)
    off = act("customer", ToolCall(id="1", name="disconnect_vpn", arguments="{}"), 1)
    assert (off.error, off.data["kind"], off.data["changed"]) == (None, "ok", False)
    assert off.text.startswith("No VPN was connected")


def test_nothing_a_model_sends_raises_and_no_failed_call_changes_anything() -> None:
    """Unknown tools, missing, extra and odd arguments, hundreds of each, between calls that work."""
    world = at_home(worlds.load("telecom", seed=5, size=6))
    rng = Random(7)
    real = [*ids(world).values(), world.snapshot()["customer"]["surroundings"]["phone_number"], "messaging", "sms"]
    kinds = dict.fromkeys(("ok", "unknown_tool", "arguments", "refused"), 0)
    for _ in range(1500):
        side = rng.choice(("agent", "customer"))
        tools = {each["function"]["name"]: each["function"]["parameters"] for each in world.tools(side)}
        name: Any = rng.choice([*tools, *tools, "no_such_tool", "call", "__init__", "prepare", "break_vpn", *ODD])
        known = tools.get(name, {"properties": {}})["properties"] if isinstance(name, str) else {}
        arguments: Any = {key: rng.choice([*real, *real, 1.0, *ODD]) for key in known if rng.random() < 0.9}
        if rng.random() < 0.1:
            arguments["extra"] = rng.choice(ODD)
        if rng.random() < 0.05:
            arguments = rng.choice(ODD)
        before, sides = world.state_hash(), (world.agent.dump(), world.customer.dump())
        result = world.call(side, name, arguments)
        kinds[result.kind] += 1
        orjson.dumps([result.value, result.error])
        row = world.log[-1]
        orjson.dumps([row.tool, row.arguments, row.value, row.error])  # as strict as what is stored: UTF-8, 64 bits
        assert (row.before_hash, row.after_hash) == (before, world.state_hash())
        if result.kind != "ok" or not world.is_write(side, name):
            assert world.state_hash() == before
            assert (world.agent.dump(), world.customer.dump()) == sides
            assert (result.error is None) == (result.kind == "ok")
    assert min(kinds.values()) > 50, kinds
    rebuilt = Database(world.agent.dump())
    assert rebuilt.hash() == world.agent_hash()  # what was added up on the way is what one finds from the rows


def test_arguments_are_checked_against_what_the_tool_declares(world: World) -> None:
    where = ids(world)
    for arguments in ({**where}, {**where, "gb_amount": "2"}, {**where, "gb_amount": True}, {**where, "gb": 2}):
        assert world.call("agent", "refuel_data", arguments).kind == "arguments"
    for amount in (0, -1, 1e300):
        assert world.call("agent", "refuel_data", {**where, "gb_amount": amount}).kind == "refused"
    assert world.call("agent", "refuel_data", {**where, "gb_amount": 2}).kind == "ok"
    # The agent has no hands on the phone, the customer none on the records
    assert world.call("agent", "toggle_data", {}).kind == "unknown_tool"
    assert world.call("customer", "refuel_data", {**where, "gb_amount": 2}).kind == "unknown_tool"
    assert world.call("customer", "set_network_mode_preference", {"mode": "6g"}).kind == "arguments"


class Till(World):
    """One tool that takes money and then finds that it may not."""

    domain = "till"

    @classmethod
    def generate(cls, seed: int, size: int | None = None) -> "Till":
        return cls.from_data({"tills": {"one": {"money": 5.0}}}, {"purses": {}})

    @classmethod
    def from_data(cls, agent_db: Mapping[str, Any], customer_db: Mapping[str, Any] | None) -> "Till":
        return cls(Database(agent_db), Database(customer_db or {}))

    @tool("agent", "Take money.", {"much": number("How much.")}, write=True)
    def take(self, much: float) -> dict[str, float]:
        till = self.agent.edit("tills", "one")
        till["money"] -= much
        if till["money"] < 0:
            raise ToolRefusal("There is not so much in it.")
        return till

    def keep_in_step(self) -> None:
        self.customer.add("purses", "one", {"lacks": (self.agent.get("tills", "one") or {})["money"]})


def test_a_tool_that_refuses_half_way_leaves_nothing_behind() -> None:
    till = Till.generate(0)
    assert till.call("agent", "take", {"much": 2}).value == {"money": 3.0}
    before, rows = till.state_hash(), till.snapshot()
    assert rows == {"agent": {"tills": {"one": {"money": 3.0}}}, "customer": {"purses": {"one": {"lacks": 3.0}}}}
    refused = till.call("agent", "take", {"much": 4})
    assert (refused.kind, refused.value, refused.error) == ("refused", None, "There is not so much in it.")
    assert (till.state_hash(), till.snapshot()) == (before, rows)
    assert till.call("agent", "take", {"much": 3}).kind == "ok"
    assert [call.kind for call in till.log] == ["ok", "refused", "ok"]


def test_copies_are_independent_and_what_a_call_gives_reaches_no_row(world: World) -> None:
    twin, start = world.copy(), world.state_hash()
    assert twin.state_hash() == start
    assert twin.log == []
    twin.call("agent", "refuel_data", {**ids(world), "gb_amount": 1.5})
    twin.call("customer", "toggle_data", {})
    assert world.state_hash() == start != twin.state_hash()
    assert world.log == []
    customer = world.call("agent", "get_customer_by_id", {"customer_id": ids(world)["customer_id"]}).value
    customer["line_ids"].clear()
    assert world.log[-1].value["line_ids"]
    world.snapshot()["customer"]["device"].clear()
    world.log[-1].value["full_name"] = "Somebody"
    assert world.state_hash() == start
    assert twin.fresh().state_hash() == world.fresh().state_hash() != start


def test_equal_states_have_equal_hashes_whatever_the_way_there(world: World) -> None:
    start, other = world.state_hash(), world.copy()
    for name in ("toggle_roaming", "toggle_data_saver_mode"):
        world.call("customer", name, {})
    for name in ("toggle_data_saver_mode", "toggle_roaming"):
        other.call("customer", name, {})
    assert world.state_hash() == other.state_hash() != start
    for name in ("toggle_roaming", "toggle_data_saver_mode"):
        world.call("customer", name, {})
    assert world.state_hash() == start
    # The same refuelling in two copies begins the same rows: no random ids
    for each in (world, other):
        each.call("agent", "refuel_data", {**ids(each), "gb_amount": 1.0})
    assert world.agent_hash() == other.agent_hash()


def test_both_sides_are_in_step_after_every_call(world: World) -> None:
    where = ids(world)

    def around() -> dict[str, Any]:
        found: dict[str, Any] = world.snapshot()["customer"]["surroundings"]
        return found

    world.call("agent", "disable_roaming", where)
    assert around()["roaming_allowed"] is False
    world.call("agent", "enable_roaming", where)
    assert around()["roaming_allowed"] is True
    limit = world.snapshot()["agent"]["plan"]["data_limit_gb"]
    prepare(world, "set_data_usage", "assistant", **where, data_used_gb=limit + 2.0)
    assert around()["mobile_data_usage_exceeded"] is True
    assert read(world, "run_speed_test")["connection"] is False
    world.call("agent", "refuel_data", {**where, "gb_amount": 2.0})
    assert around()["mobile_data_usage_exceeded"] is True  # used up is used up: as much as there is is too much
    world.call("agent", "refuel_data", {**where, "gb_amount": 0.5})
    assert around()["mobile_data_usage_exceeded"] is False
    draft = next(bill for bill in world.snapshot()["agent"]["bills"] if bill["status"] == "Draft")
    price = world.snapshot()["agent"]["plan"]["data_refueling_price_per_gb"]
    assert draft["total_due"] == pytest.approx(2.5 * price)


def test_a_suspended_line_comes_back_with_payment_resumption_and_a_restart(world: World) -> None:
    where = ids(world)
    prepare(world, "suspend_line_for_overdue_bill", "assistant", **where, new_bill_id="B1", contract_ended=False)
    assert read(world, "check_status_bar")["network_signal_strength"] == "excellent"  # not looked for yet
    prepare(world, "simulate_network_search")
    assert read(world, "check_network_status")["network_connection_status"] == "no_service"
    assert "nothing was paid" in world.call("customer", "make_payment", {}).value["note"]
    asked = {"customer_id": where["customer_id"], "bill_id": "B1"}
    assert world.call("agent", "send_payment_request", asked).kind == "ok"
    assert world.call("agent", "send_payment_request", asked).kind == "refused"  # one bill at a time
    request = read(world, "check_payment_request")["payment_request"]
    assert (request["bill_id"], request["amount_due"]) == (
        "B1",
        world.snapshot()["agent"]["plan"]["price_per_month"],
    )
    read(world, "make_payment")
    assert world.call("agent", "get_details_by_id", {"id": "B1"}).value["status"] == "Paid"
    assert read(world, "check_payment_request")["payment_request"] is None
    assert world.call("agent", "resume_line", where).kind == "ok"
    assert world.call("agent", "resume_line", where).kind == "refused"
    assert read(world, "check_network_status")["network_connection_status"] == "no_service"
    assert read(world, "reboot_device")["status_bar"]["network_signal_strength"] == "excellent"


def test_the_speed_is_the_references(world: World) -> None:
    """275 Mbps on 5G at full signal; a tenth through a slow VPN, a fifth of that with data saver; 4G .8 of 55."""
    assert read(world, "run_speed_test") == {"connection": True, "speed_mbps": 275.0, "description": "excellent"}
    prepare(world, "break_vpn")
    assert read(world, "run_speed_test")["speed_mbps"] == 27.5
    read(world, "toggle_data_saver_mode")
    assert read(world, "run_speed_test")["description"] == "fair"
    read(world, "disconnect_vpn")
    assert (read(world, "run_speed_test")["speed_mbps"], read(world, "run_speed_test")["description"]) == (55.0, "good")
    read(world, "toggle_data_saver_mode")
    expected = {"4g_only": (44.0, "good"), "3g_only": (1.5, "poor"), "2g_only": (0.05, "very poor")}
    for mode, (mbps, word) in expected.items():
        read(world, "set_network_mode_preference", mode=mode)
        found = read(world, "run_speed_test")
        assert (found["speed_mbps"], found["description"]) == (mbps, word)


def test_airplane_mode_ends_vpn_and_wifi() -> None:
    world = worlds.from_data(
        "telecom", {}, {"device": {"wifi_enabled": True, "wifi_connected": True, "wifi_ssid": "Den"}}
    )
    read(world, "connect_vpn")
    assert "nothing has changed" in read(world, "connect_vpn")["note"]
    assert read(world, "check_status_bar")["wifi_ssid"] == "Den"
    bar = read(world, "toggle_airplane_mode")["status_bar"]
    assert (bar["airplane_mode"], bar["vpn_connected"], "wifi_ssid" in bar) == (True, False, False)
    assert world.call("customer", "toggle_wifi", {}).kind == "refused"
    assert "nothing has changed" in read(world, "disconnect_vpn")["note"]
    read(world, "toggle_airplane_mode")
    assert read(world, "toggle_wifi")["wifi_enabled"] is False


def test_picture_messages_need_all_of_it(world: World) -> None:
    def works() -> bool:
        found: bool = read(world, "can_send_mms")["can_send_mms"]
        return found

    assert works()
    spoil: list[tuple[str, dict[str, Any], list[tuple[str, dict[str, Any]]]]] = [
        ("turn_data_off", {}, [("toggle_data", {})]),
        ("set_network_mode_preference", {"mode": "2g_only"}, [("set_network_mode_preference", {"mode": "3g_only"})]),
        ("set_wifi_calling", {"enabled": True, "mms_over_wifi": True}, [("toggle_wifi_calling", {})]),
        ("break_apn_mms_setting", {}, [("reset_apn_settings", {}), ("reboot_device", {})]),
        ("unseat_sim_card", {}, [("reseat_sim_card", {})]),
        ("turn_airplane_mode_on", {}, [("toggle_airplane_mode", {})]),
    ]
    for permission in ("sms", "storage"):
        arguments = {"app_name": "messaging", "permission": permission}
        spoil.append(("remove_app_permission", arguments, [("grant_app_permission", arguments)]))
    for name, arguments, mends in spoil:
        prepare(world, name, **arguments)
        assert not works(), name
        for mend, given in mends:
            assert not works(), f"{name} was mended before {mend}"
            read(world, mend, **given)
        assert works(), name


def test_abroad_data_needs_roaming_on_line_and_phone(world: World) -> None:
    prepare(world, "set_user_location", abroad=True)
    for on_line in (True, False):
        world.call("agent", "enable_roaming" if on_line else "disable_roaming", ids(world))
        for on_phone in (True, False):
            prepare(world, "turn_roaming_on" if on_phone else "turn_roaming_off")
            assert read(world, "run_speed_test")["connection"] is (on_line and on_phone)


def test_a_customer_is_found_however_the_number_is_written(world: World) -> None:
    snapshot = world.snapshot()["agent"]
    number, name = snapshot["line"]["phone_number"], snapshot["customer"]["full_name"]
    for written in (number, number.replace("-", ""), f"({number[:3]}) {number[4:7]} {number[8:]}"):
        found = world.call("agent", "get_customer_by_phone", {"phone_number": written})
        assert found.value["full_name"] == name
    for written in ("", "no digits", "000"):
        assert world.call("agent", "get_customer_by_phone", {"phone_number": written}).kind == "refused"
    born = snapshot["customer"]["date_of_birth"]
    by_name = world.call("agent", "get_customer_by_name", {"full_name": name.upper(), "dob": born}).value
    assert name in {each["full_name"] for each in by_name}
    assert world.call("agent", "get_customer_by_name", {"full_name": name, "dob": "1900-01-01"}).value == []


def test_what_happens_to_other_customers_is_seen(world: World) -> None:
    own = ids(world)
    world.call("agent", "refuel_data", {**own, "gb_amount": 1.0})
    world.call("agent", "suspend_line", {**own, "reason": "asked for"})
    assert world.bystanders() == []
    other = next(
        {"customer_id": customer_id, "line_id": customer["line_ids"][0]}
        for customer_id, customer in world.agent.rows("customers")
        if customer_id != own["customer_id"]
    )
    world.call("agent", "refuel_data", {**other, "gb_amount": 1.0})
    assert f"lines {other['line_id']}" in world.bystanders()


@pytest.mark.parametrize("size", [1, 300])
def test_generated_rows_hold_together(size: int) -> None:
    made, again, others = (worlds.load("telecom", seed, size) for seed in (1, 1, 2))
    assert made.state_hash() == again.state_hash() != others.state_hash()
    customers, lines = dict(made.agent.rows("customers")), dict(made.agent.rows("lines"))
    assert len(customers) == size
    assert len({line["phone_number"] for line in lines.values()}) == len(lines)
    owned = [line for customer in customers.values() for line in customer["line_ids"]]
    assert sorted(owned) == sorted(lines)
    for line in lines.values():
        assert made.agent.get("devices", line["device_id"])
        plan = made.agent.get("plans", line["plan_id"]) or {}
        assert line["data_used_gb"] < plan["data_limit_gb"]
    for customer in customers.values():
        devices = [made.agent.get("devices", lines[line]["device_id"]) or {} for line in customer["line_ids"]]
        assert customer["created_at"] < min(device["activation_date"] for device in devices)
    for bill_id, bill in made.agent.rows("bills"):
        assert bill_id in customers[bill["customer_id"]]["bill_ids"]
        assert bill["total_due"] == pytest.approx(sum(item["amount"] for item in bill["line_items"]))


def test_bad_data_and_bad_tasks_are_refused_with_the_place(world: World) -> None:
    with pytest.raises(BadOption, match=r"lines\[0\] lacks plan_id"):
        worlds.from_data("telecom", {"lines": [{"line_id": "L1", "phone_number": "1"}]})
    customer = {"customer_id": "C1", "full_name": "A B", "date_of_birth": "x", "phone_number": "1"}
    with pytest.raises(BadOption, match="C1 has lines that are not there"):
        worlds.from_data("telecom", {"customers": [{**customer, "line_ids": ["L9"]}]})
    with pytest.raises(BadOption, match="size 0"):
        worlds.load("telecom", 1, 0)
    with pytest.raises(UnknownName, match="domain"):
        worlds.load("airline", 1)
    with pytest.raises(UnknownName, match="initialisation function"):
        prepare(world, "set_fire")
    with pytest.raises(BadOption, match="turn_data_off"):
        prepare(world, "turn_data_off", now=True)
    with pytest.raises(UnknownName, match="environment assertion"):
        world.check({"env_type": "user", "func_name": "assert_all_well", "arguments": {}})
