"""What the customer did on its device though nobody had asked for it, and whether the goal was missed by that alone;
and whether it was asked for what it did not do.

A call is unasked where no gold action uses its tool and no message of the agent before it, as said or as heard, asks
for its setting; whatever can be read as such a request counts as one. The goal was missed by such calls alone where the
conversation's calls without them reach it on the task's world.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations, islice

from cxlab.benchmarks.mmtaup2 import dialogue_acts, tasks
from cxlab.benchmarks.mmtaup2.evaluation.events import TRANSFER
from cxlab.benchmarks.mmtaup2.worlds import World
from cxlab.records import Message

# How people call what a tool of the phone changes.
_SETTINGS = {
    "set_network_mode_preference": r"\bnetworks?\b|\b[2345] ?g\b|\blte\b",
    "toggle_airplane_mode": r"\b(?:air|aero)?plane\b|\bflight mode",
    "reseat_sim_card": r"\b(?:sim|card|chip|tray)\b",
    "toggle_data": r"\bdata\b(?! (?:saver|saving|roaming|usage|allowance|plan|limit|restriction))|\bmobile internet\b",
    "toggle_roaming": r"\broam",
    "toggle_data_saver_mode": r"\bdata[ -]?sav|\bsaver\b|\bdata restriction|\blow data\b",
    "set_apn_settings": r"\bapn\b|access point",
    "reset_apn_settings": r"\bapn\b|access point|network settings",
    "toggle_wifi": r"\bwi-?fi\b(?! call)",
    "toggle_wifi_calling": r"\bwi-?fi call|call(?:s|ing)? (?:over|via|through|on) wi-?fi",
    "connect_vpn": r"\bvpn\b",
    "disconnect_vpn": r"\bvpn\b",
    "grant_app_permission": r"permission|\ballow|\bapp\b",
    "reboot_device": r"\bre-?(?:start|boot)|\boff and (?:back )?on\b|\bpower",
    "make_payment": r"\bpay|\bbill\b",
}
_EVERYTHING = (
    r"\b(?:all|every|each) (?:of )?(?:the |your |these |those )?(?:\w+ )?(?:settings?|switch(?:es)?|toggles?)\b"
)
SETTINGS = {tool: re.compile(f"{words}|{_EVERYTHING}", re.IGNORECASE) for tool, words in _SETTINGS.items()}
_CHANGES = re.compile(
    r"\b(?:turn|switch|toggle|flip|slide|tap|touch|press|push|pull|move|set|put|enabl|disabl|activat|deactivat|reset"
    r"|restart|reboot|chang|tak|insert|reinsert|reseat|connect|disconnect|leav|allow|grant|giv|pay|mak|try|do)(?:e|ing)?\b",
    re.IGNORECASE,
)
# What is to be touched and goes by a name that nobody foresaw may be any switch.
_TOUCHES = re.compile(r"\b(?:turn|switch|toggle|flip|slide|tap|touch|press|push)(?:ing)?\b", re.IGNORECASE)
_LOOKS = re.compile(r"\?\W*$|\b(?:check|see|look|tell|read|say|whether|show|open|know)\b", re.IGNORECASE)
_MOST = 32  # sets of calls that are tried without


def find_unasked(task: tasks.Task, messages: Sequence[Message]) -> list[int]:
    """Places of the customer's calls that changed something and that nobody had asked for, in their order."""
    gold = {action.tool for action in task.gold if action.side == "customer"}
    asked: set[str] = set()
    vague = False  # what was to be touched last went by no name that is known
    found = []
    for place, message in enumerate(messages):
        data = message.data
        if message.role == "agent" and data.get("delivered", True):
            text = f"{data.get('meant') or ''}\n{message.text}"
            asked |= _asked_for(text)
            vague = _touches_unknown(text)
        elif message.role == "tool" and data.get("side") == "customer" and data.get("changed"):
            tool = str(data.get("tool"))
            if tool in SETTINGS and tool not in gold | asked and not vague:
                found.append(place)
    return found


def was_asked(tool: str, messages: Sequence[Message]) -> bool | None:
    """Whether any message of the agent, as said or as heard, asks the customer for what a tool of the phone changes.

    Whatever can be read as such a request counts as one. None where the words leave it open: the tool's setting has no
    words that are known, or something was to be touched that goes by no known name, and the customer did nothing on
    the phone in answer.
    """
    if tool not in SETTINGS:
        return None
    vague = False
    for message in messages:
        data = message.data
        if message.role == "agent" and data.get("delivered", True):
            text = f"{data.get('meant') or ''}\n{message.text}"
            if tool in _asked_for(text):
                return True
            vague = vague or _touches_unknown(text)
        elif message.role == "tool" and data.get("side") == "customer":
            vague = False
    return None if vague else False


def _touches_unknown(text: str) -> bool:
    """Whether a message has something touched that goes by no name that is known."""
    return any(_TOUCHES.search(one) and not _asked_for(one) for one in dialogue_acts.sentences(text))


def _asked_for(text: str) -> set[str]:
    """The tools for whose settings a message may ask; to have one looked at is no such request."""
    told = [one for one in dialogue_acts.sentences(text) if _CHANGES.search(one) or not _LOOKS.search(one)]
    return {tool for tool, words in SETTINGS.items() if any(map(words.search, told))}


def find_blame(task: tasks.Task, messages: Sequence[Message], world: World | None) -> list[Message]:
    """The fewest unasked calls without which a conversation that came to its end would have reached the goal.

    [] where no such calls explain it, as where a hand-over without need does. `world`: that of imported tasks.
    """
    places = find_unasked(task, messages)
    calls = (message.data for message in messages if message.role == "tool")
    transferred = any(call.get("tool") == TRANSFER and call.get("kind") == "ok" for call in calls)
    if not places or (transferred and not task.transfer_right) or _passes(task, messages, (), world):
        return []
    sets = (chosen for size in range(1, len(places) + 1) for chosen in combinations(places, size))
    for chosen in islice(sets, _MOST):
        if _passes(task, messages, chosen, world):
            return [messages[place] for place in chosen]
    return []


def _passes(task: tasks.Task, messages: Sequence[Message], without: Sequence[int], world: World | None) -> bool:
    """Whether the conversation's calls, but for some, reach the goal."""
    end = tasks.begin(task, world)
    for place, message in enumerate(messages):
        data = message.data
        if message.role == "tool" and place not in without and data.get("side") in ("agent", "customer"):
            end.call(data["side"], str(data.get("tool")), data.get("arguments"))
    said = [
        str(message.data.get("meant", message.text))
        for message in messages
        if message.role == "agent" and message.data.get("delivered", True)
    ]
    return bool(tasks.evaluate(task, end, end.log, said)["reward"] == 1.0)
