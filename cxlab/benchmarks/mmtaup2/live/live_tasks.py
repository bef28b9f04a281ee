"""What can be played on a stage: tasks of our own, the same for everybody, and those of the store's datasets."""

from __future__ import annotations

import functools
from collections import Counter
from pathlib import Path

from cxlab.benchmarks.mmtaup2 import tasks, worlds
from cxlab.benchmarks.mmtaup2.tasks import samples
from cxlab.benchmarks.mmtaup2.worlds import World
from cxlab.errors import UnknownName
from cxlab.store import layout, write

OWN, GENERATED, IMPORTED = "", "generated", "imported"
_WORLDS = f"{samples.WORLDS}.parquet"
# The same tasks for everybody, so that an address means the same wherever it is opened.
_TASKS_SEED, _TASKS_COUNT = 1, 40
# Issues that a title names; of more, it says how many.
_MOST_NAMED = 3
# What an audience reads in place of an issue's name; of others the name itself is read.
ISSUE_WORDS = {
    "airplane_mode_on": "airplane mode is on",
    "bad_network_preference": "wrong kind of network chosen",
    "bad_vpn": "a bad VPN is connected",
    "bad_wifi_calling": "calls go over bad Wi-Fi",
    "break_apn_mms_setting": "access point without picture messages",
    "break_apn_settings": "wrong access point",
    "break_app_both_permissions": "messaging app without its permissions",
    "break_app_sms_permission": "messaging app may not send SMS",
    "break_app_storage_permission": "messaging app may not read pictures",
    "contract_end_suspension": "line suspended, contract ended",
    "data_mode_off": "mobile data is off",
    "data_saver_mode_on": "data saver is on",
    "data_usage_exceeded": "data used up",
    "lock_sim_card_pin": "SIM locked by its PIN",
    "overdue_bill_suspension": "line suspended, bill overdue",
    "unseat_sim_card": "SIM card not in its place",
    "user_abroad_roaming_disabled_off": "abroad, roaming off on line and phone",
    "user_abroad_roaming_disabled_on": "abroad, roaming off on the line",
    "user_abroad_roaming_enabled_off": "abroad, roaming off on the phone",
    "ask_cheapest": "asks for the cheapest",
    "ask_tracking": "asks where a parcel is",
    "cancel_for_other_reason": "cancel for a reason that does not count",
    "cancel_order": "cancel an order",
    "cancel_too_late": "cancel what has been sent already",
    "change_home_address": "change the home address",
    "change_items": "change items of an order",
    "change_order_address": "change the address of an order",
    "change_payment": "pay in another way",
    "exchange_items": "exchange items",
    "lost_parcel": "a parcel is lost",
    "refund_elsewhere": "refund to another account",
    "return_items": "return items",
}


def sources(home: Path | str | None = None) -> dict[str, str]:
    """Where tasks may come from: dataset id → its name; "" for our own, which come first."""
    base = layout.resolve_home(home)
    stored = [each for each in write.list_datasets(base) if each.benchmark == samples.BENCHMARK]
    playable = {
        dataset.id: dataset.name
        for dataset in stored
        # What was kept from the lab has its variants alone, and its task is there anyhow.
        if (dataset.source == GENERATED and "variants" not in dataset.config)
        # What was imported with results is to be looked at: it brings no world to play in.
        or (dataset.source == IMPORTED and (layout.dataset_folder(base, dataset.id) / _WORLDS).is_file())
    }
    return {OWN: "CX Lab", **playable}


def domains(source: str = OWN, home: Path | str | None = None) -> tuple[str, ...]:
    """The domains that a source has tasks of."""
    return worlds.DOMAINS if source == OWN else tuple(_stored(source, layout.resolve_home(home)))


def cases(domain: str, source: str = OWN, home: Path | str | None = None) -> dict[str, tasks.Task]:
    """The tasks that a page offers, by id, the simplest first; UnknownName for a source that is not there."""
    return _own(domain) if source == OWN else _stored(source, layout.resolve_home(home)).get(domain, {})


def world_of(task: tasks.Task, source: str = OWN, home: Path | str | None = None) -> World | None:
    """The world of an imported task; None for our own, whose world is generated."""
    own = source == OWN or task.world_seed is not None
    return None if own else samples.load_world(source, task.domain, layout.resolve_home(home))


def titles(known: dict[str, tasks.Task]) -> dict[str, str]:
    """What is wrong in each task, in words; those that read alike are numbered."""
    named = {id: title(task) for id, task in known.items()}
    often, seen = Counter(named.values()), Counter[str]()
    for id, text in named.items():
        seen[text] += 1
        named[id] = f"{text} ({seen[text]})" if often[text] > 1 else text
    return named


def title(task: tasks.Task) -> str:
    """What is wrong, in words."""
    text = "; ".join(ISSUE_WORDS.get(issue, issue.replace("_", " ")) for issue in task.issues[:_MOST_NAMED])
    more = len(task.issues) - _MOST_NAMED
    text += f" and {more} more" if more > 0 else ""
    return text[:1].upper() + text[1:] + (" (a person must help)" if task.transfer_right else "")


@functools.cache
def _own(domain: str) -> dict[str, tasks.Task]:
    made = tasks.make(domain, _TASKS_SEED, _TASKS_COUNT)
    return {task.id: task for task in sorted(made, key=lambda task: (len(task.issues), task.id))}


@functools.lru_cache(maxsize=4)
def _stored(source: str, base: Path) -> dict[str, dict[str, tasks.Task]]:
    if source not in (known := sources(base)):
        raise UnknownName("dataset of tasks", source, [name for name in known if name])
    found: dict[str, dict[str, tasks.Task]] = {domain: {} for domain in worlds.DOMAINS}
    # A generated dataset has each task under many terms.
    rows = (sample for sample in write.load_samples(source, base) if not samples.lacking_of(sample))
    once = {str(sample.inputs.get("id")): sample for sample in rows}
    made = map(samples.task_of, once.values())
    for task in sorted(made, key=lambda task: (len(task.issues), _natural(task.id))):
        found[task.domain][task.id] = task
    return {domain: known for domain, known in found.items() if known}


def _natural(id: str) -> tuple[int, str]:
    """Tasks that are numbered, in the order of their numbers."""
    return (int(id), "") if id.isdecimal() else (0, id)
