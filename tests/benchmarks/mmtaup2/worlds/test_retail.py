"""The shop: what its tools do and refuse, that no money is lost, and that own tasks can be solved and not guessed."""

import itertools
import json
from pathlib import Path
from random import Random

import pytest

from cxlab.benchmarks.mmtaup2 import tasks, worlds
from cxlab.benchmarks.mmtaup2.tasks import retail_tasks
from cxlab.benchmarks.mmtaup2.tasks.retail_issues import ISSUES
from cxlab.benchmarks.mmtaup2.tasks.samples import task_of, to_sample
from cxlab.errors import BadOption

TAU2 = Path(__file__).parents[5] / "shared" / "data" / "tau2-bench"
READS = {
    "find_user_id_by_email", "find_user_id_by_name_zip", "get_user_details", "get_order_details",
    "get_product_details", "get_item_details", "list_all_product_types", "calculate", "transfer_to_human_agents",
}  # fmt: skip
WRITES = {
    "cancel_pending_order", "modify_pending_order_address", "modify_pending_order_items", "modify_user_address",
    "modify_pending_order_payment", "exchange_delivered_order_items", "return_delivered_order_items",
}  # fmt: skip
HOME = {"address1": "1 Elm", "address2": "", "city": "Here", "state": "OR", "country": "USA", "zip": "97999"}


@pytest.fixture(scope="module")
def shop() -> worlds.World:
    return worlds.load("retail", seed=3)


def item(name, number, price=10.0, color="red"):
    return {"name": name, "product_id": f"p-{name}", "item_id": number, "price": price, "options": {"color": color}}


def small(**order):
    """One user with three payment methods and one order of two lamps (4 red at 10 USD, 5 blue at 12 USD) and a mug."""
    lamps = {
        "4": {"item_id": "4", "options": {"color": "red"}, "available": True, "price": 10.0},
        "5": {"item_id": "5", "options": {"color": "blue"}, "available": True, "price": 12.0},
        "6": {"item_id": "6", "options": {"color": "green"}, "available": False, "price": 9.0},
        "7": {"item_id": "7", "options": {"color": "gold"}, "available": True, "price": 90.0},
    }
    mugs = {"8": {"item_id": "8", "options": {"color": "red"}, "available": True, "price": 10.0}}
    return worlds.from_data(
        "retail",
        {
            "users": {
                "u": {
                    "user_id": "u",
                    "name": {"first_name": "Ann", "last_name": "Lee"},
                    "address": {**HOME, "zip": "11111"},
                    "email": "ann@example.org",
                    "payment_methods": {
                        "card": {"source": "credit_card", "id": "card", "brand": "visa", "last_four": "1234"},
                        "paypal": {"source": "paypal", "id": "paypal"},
                        "gift": {"source": "gift_card", "id": "gift", "balance": 40.0},
                    },
                    "orders": ["#W1"],
                }
            },
            "products": {
                "p-lamp": {"name": "lamp", "product_id": "p-lamp", "variants": lamps},
                "p-mug": {"name": "mug", "product_id": "p-mug", "variants": mugs},
            },
            "orders": {
                "#W1": {
                    "order_id": "#W1",
                    "user_id": "u",
                    "address": HOME,
                    "items": [item("lamp", "4"), item("lamp", "5", 12.0, "blue"), item("mug", "8")],
                    "status": "pending",
                    "fulfillments": [],
                    "payment_history": [{"transaction_type": "payment", "amount": 32.0, "payment_method_id": "card"}],
                    **order,
                }
            },
        },
    )


def balance(world):
    return world.agent.get("users", "u")["payment_methods"]["gift"]["balance"]


def test_tools_and_their_flags(shop):
    names = {tool["function"]["name"] for tool in shop.tools("agent")}
    assert names == READS | WRITES
    assert {name for name in names if shop.is_write("agent", name)} == WRITES
    assert {name for name in names if shop.is_irreversible(name)} == WRITES - {
        "modify_pending_order_address",
        "modify_user_address",
    }
    assert shop.tools("customer") == []


def test_a_user_is_found_by_what_the_account_says_now():
    world = small()
    by_name = {"first_name": "Änn", "last_name": " lee", "zip": "11111"}
    assert world.call("agent", "find_user_id_by_email", {"email": "Ann@Example.org "}).value == "u"
    assert world.call("agent", "find_user_id_by_name_zip", by_name).value == "u"
    assert world.call("agent", "modify_user_address", {"user_id": "u", **HOME}).kind == "ok"
    assert world.call("agent", "find_user_id_by_name_zip", by_name).kind == "refused"
    assert world.call("agent", "find_user_id_by_name_zip", {**by_name, "zip": "97999"}).value == "u"


SWAP = {"order_id": "#W1", "item_ids": ["4"], "new_item_ids": ["5"], "payment_method_id": "card"}
DELIVERED = {"status": "delivered"}


@pytest.mark.parametrize(
    ("order", "tool", "arguments", "says"),
    [
        (
            {"status": "processed"},
            "cancel_pending_order",
            {"order_id": "#W1", "reason": "no longer needed"},
            "processed",
        ),
        ({}, "cancel_pending_order", {"order_id": "W1", "reason": "no longer needed"}, "no order"),
        ({}, "modify_pending_order_items", {**SWAP, "new_item_ids": ["8"]}, "no variant"),
        ({}, "modify_pending_order_items", {**SWAP, "new_item_ids": ["6"]}, "not available"),
        ({}, "modify_pending_order_items", {**SWAP, "new_item_ids": ["5", "5"]}, "one new item for each"),
        ({}, "modify_pending_order_items", {**SWAP, "item_ids": ["4", "4"], "new_item_ids": ["5", "5"]}, "more often"),
        ({}, "modify_pending_order_items", {**SWAP, "item_ids": [], "new_item_ids": []}, "no item"),
        (
            {},
            "modify_pending_order_items",
            {**SWAP, "new_item_ids": ["7"], "payment_method_id": "gift"},
            "does not cover",
        ),
        ({}, "modify_pending_order_items", {**SWAP, "payment_method_id": "cash"}, "no payment method"),
        ({}, "modify_pending_order_items", {**SWAP, "new_item_ids": ["4"]}, "already"),
        ({"status": "pending (item modified)"}, "modify_pending_order_items", SWAP, "cannot be changed"),
        ({}, "modify_pending_order_payment", {"order_id": "#W1", "payment_method_id": "card"}, "must be another"),
        ({}, "exchange_delivered_order_items", SWAP, "delivered"),
        (DELIVERED, "modify_pending_order_items", SWAP, "delivered"),
        (
            DELIVERED,
            "return_delivered_order_items",
            {"order_id": "#W1", "item_ids": ["4"], "payment_method_id": "paypal"},
            "gift card",
        ),
        (DELIVERED, "modify_pending_order_address", {"order_id": "#W1", **HOME}, "pending"),
    ],
)
def test_what_the_shop_refuses_changes_nothing(order, tool, arguments, says):
    world = small(**order)
    before = world.state_hash()
    result = world.call("agent", tool, arguments)
    assert (result.kind, world.state_hash()) == ("refused", before)
    assert says in result.error


def test_two_variants_of_one_product_change_places():
    world = small()
    swapped = {**SWAP, "item_ids": ["4", "5"], "new_item_ids": ["5", "4"]}
    order = world.call("agent", "modify_pending_order_items", swapped).value
    assert [(i["item_id"], i["price"], i["options"]["color"]) for i in order["items"][:2]] == [
        ("5", 12.0, "blue"),
        ("4", 10.0, "red"),
    ]
    assert order["payment_history"][-1] == {"transaction_type": "refund", "amount": 0.0, "payment_method_id": "card"}
    assert world.call("agent", "modify_pending_order_items", swapped).kind == "refused"
    # Its address stays open.
    assert world.call("agent", "modify_pending_order_address", {"order_id": "#W1", **HOME}).kind == "ok"


def test_cancelling_gives_back_what_is_still_paid():
    world = small()
    assert (
        world.call("agent", "modify_pending_order_payment", {"order_id": "#W1", "payment_method_id": "gift"}).kind
        == "ok"
    )
    assert balance(world) == 8.0
    order = world.call("agent", "cancel_pending_order", {"order_id": "#W1", "reason": "ordered by mistake"}).value
    assert balance(world) == 40.0
    # The card was refunded when the gift card took over: once is enough.
    refunds = [
        entry["payment_method_id"] for entry in order["payment_history"] if entry["transaction_type"] == "refund"
    ]
    assert sorted(refunds) == ["card", "gift"]


@pytest.mark.parametrize(
    ("expression", "value"),
    [("1 + 2 * 3", "7.0"), ("(0.1+0.2)*10", "3.0"), ("-4/3", "-1.33"), ("1/0", None), ("2**9999999", None),
     ("9" * 301, None), ("(" * 200, None), ("__import__('os')", None), ("", None), ("1e9", None)],
)  # fmt: skip
def test_only_sums_are_calculated(shop, expression, value):
    result = shop.copy().call("agent", "calculate", {"expression": expression})
    assert (result.value, result.kind) == ((value, "ok") if value is not None else (None, "refused"))


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_called_no_money_is_lost_and_only_writes_write(shop, seed):
    """A gift card's balance and what is paid with it always add up to the same, and it is never overdrawn."""
    world, rng = shop.fresh(), Random(seed)
    users = [user for _, user in world.agent.rows("users") if user["orders"]]
    variants = [(name, list(row["variants"])) for name, row in world.agent.rows("products")]

    def worth():
        sums = {}
        for _, user in world.agent.rows("users"):
            for name, method in user["payment_methods"].items():
                if "balance" in method:
                    assert method["balance"] >= 0
                    sums[name] = method["balance"]
        for _, order in world.agent.rows("orders"):
            for entry in order["payment_history"]:
                if entry["payment_method_id"] in sums:
                    sign = 1 if entry["transaction_type"] == "payment" else -1
                    sums[entry["payment_method_id"]] += sign * entry["amount"]
        return {name: round(value, 2) for name, value in sums.items()}

    before, kinds = worth(), set()
    for _ in range(150):
        user = rng.choice(users)
        order = world.agent.get("orders", rng.choice(user["orders"]))
        items = rng.sample(order["items"], rng.randint(1, len(order["items"])))
        of_product = dict(variants)
        arguments = {
            "order_id": order["order_id"],
            "item_ids": [each["item_id"] for each in items],
            "new_item_ids": [rng.choice(of_product[each["product_id"]]) for each in items],
            "payment_method_id": rng.choice(list(user["payment_methods"])),
            "reason": "no longer needed",
            "user_id": user["user_id"],
            **HOME,
        }
        tool = rng.choice(sorted(WRITES | {"get_order_details"}))
        takes = world.tool("agent", tool).parameters
        result = world.call("agent", tool, {name: arguments[name] for name in takes})
        call = world.log[-1]
        assert (call.before_hash != call.after_hash) <= (result.kind == "ok" and tool in WRITES)
        kinds.add((tool, result.kind))
    assert worth() == before
    assert len([kind for kind in kinds if kind[1] == "ok"]) >= 6
    json.dumps(world.snapshot())


def test_a_generated_shop_hangs_together():
    for size in (1, 400):
        world = worlds.load("retail", 5, size)
        assert world.state_hash() == worlds.load("retail", 5, size).state_hash()
        assert world.state_hash() != worlds.load("retail", 6, size).state_hash()
        users, products = dict(world.agent.rows("users")), dict(world.agent.rows("products"))
        assert len(users) == size
        for name, order in world.agent.rows("orders"):
            assert name in users[order["user_id"]]["orders"]
            assert order["payment_history"][0]["payment_method_id"] in users[order["user_id"]]["payment_methods"]
            total = sum(each["price"] for each in order["items"])
            assert order["payment_history"][0]["amount"] == pytest.approx(total)
            for each in order["items"]:
                assert products[each["product_id"]]["variants"][each["item_id"]]["price"] == each["price"]
    with pytest.raises(BadOption, match="0 users"):
        worlds.load("retail", 1, 0)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda db: db.pop("orders"), "no table 'orders'"),
        (lambda db: db["users"]["u"].pop("email"), "users u: email"),
        (lambda db: db["users"]["u"]["payment_methods"]["gift"].pop("balance"), "without a balance"),
        (lambda db: db["orders"]["#W1"].update(payment_history=[]), "orders #W1: payment_history"),
        (lambda db: db["orders"]["#W1"].update(order_id="#W2"), "its order_id is '#W2'"),
        (lambda db: db["products"]["p-mug"]["variants"]["8"].update(price="10"), "price"),
    ],
)
def test_a_database_that_is_none_is_refused_by_row(spoil, says):
    database = small().agent.dump()
    spoil(database)
    with pytest.raises(BadOption, match=says):
        worlds.from_data("retail", database)


@pytest.fixture(scope="module")
def made() -> list[tasks.Task]:
    return retail_tasks.make(seed=11, count=78)


def test_own_tasks_can_be_solved_and_neither_guessed_nor_handed_off(made):
    assert {issue for task in made for issue in task.issues} == set(ISSUES)
    assert {len(task.issues) for task in made} == {1, 2, 3}
    assert len({task.id for task in made}) == len(made)
    for task in made:
        assert tasks.replay_gold(task)["reward"] == 1.0, task.id
        idle = tasks.begin(task)
        assert tasks.evaluate(task, idle, idle.log, task.communicate)["reward"] == 0.0, task.id
        idle.call("agent", "transfer_to_human_agents", {"summary": "I cannot help."})
        assert tasks.evaluate(task, idle, idle.log, task.communicate)["reward"] == 0.0, task.id


def test_own_tasks_do_not_forgive_what_was_not_asked_for(made):
    for task in itertools.islice((t for t in made if t.irreversible), 8):
        world = tasks.begin(task)
        own = world.customer.get("person", "customer")["user_id"]
        for action in task.gold:
            world.call(action.side, action.tool, action.arguments)
        other = next(
            name for name, row in world.agent.rows("orders") if row["status"] == "pending" and row["user_id"] != own
        )
        assert (
            world.call("agent", "cancel_pending_order", {"order_id": other, "reason": "no longer needed"}).kind == "ok"
        )
        result = tasks.evaluate(task, world, world.log, task.communicate)
        assert (result["reward"], result["bystanders"]) == (0.0, 0.0)
        assert f"orders {other}" in result["checks"]["bystanders"]
        assert own in world.snapshot()["agent"]["users"]


def test_own_tasks_are_the_same_for_a_seed_and_survive_storing(made):
    assert retail_tasks.make(seed=11, count=78) == made
    assert retail_tasks.make(seed=12, count=12) != made[:12]
    for task in made[:12]:
        sample = to_sample(task, "d")
        assert task_of(type(sample).model_validate_json(sample.model_dump_json())) == task
        # What a conversation begins with says nothing of how it is to end.
        assert not {"gold", "assertions", "critical_fields", "communicate"} & sample.inputs.keys()
        arguments = [value for action in task.gold for value in action.arguments.values()]
        for name, value in task.critical_fields.items():
            assert all(one in arguments for one in (value if isinstance(value, list) else [value])), name


def test_the_policy_is_in_our_own_words():
    theirs = TAU2 / "retail" / "policy.md"
    if not theirs.exists():
        pytest.skip("tau2-bench's policy is not here to compare with")

    def runs(text: str) -> set[tuple[str, ...]]:
        words = "".join(letter if letter.isalnum() else " " for letter in text.lower()).split()
        return {tuple(words[place : place + 8]) for place in range(len(words) - 7)}

    assert runs(worlds.policy("retail")) & runs(theirs.read_text(encoding="utf-8")) == set()
