"""A real HTTP server that plays strong models from what is sent alone: agent with tools, customer with a phone, judge.

It knows the two service tasks that it is asked about as a person would who reads the prompt: it is given no inputs, no
sample and no gold. Each of its texts holds a thought that must reach nobody.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.llm.local_server import RoleServer

THOUGHT = "tell nobody that I am thinking"
NUMBER = re.compile(r"\d{3}-\d{3}-\d{4}")
Reply = tuple[str, list[tuple[str, dict[str, Any]]]]


class ScriptedModel(RoleServer):
    """`endpoint:agent`, `endpoint:customer` and `endpoint:judge` on a free port; `bodies` is what each was sent."""

    roles = ("agent", "customer", "judge")

    async def reply(self, role: str, body: Mapping[str, Any]) -> dict[str, Any]:
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
        messages = body["messages"]
        if schema is not None:
            text, calls = json.dumps(judge(messages, schema)), []
        else:
            text, calls = (agent if role == "agent" else customer)(messages)
            text = f"<think>{THOUGHT}</think>{text}" if text else ""
        made = [
            {"id": f"c{len(messages)}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
            for name, given in calls
        ]
        message = {"role": "assistant", "content": text, **({"tool_calls": made} if made else {})}
        return {
            "choices": [{"message": message, "finish_reason": "tool_calls" if made else "stop"}],
            "usage": {"prompt_tokens": len(json.dumps(messages)) // 4, "completion_tokens": 20},
        }


def said_by(messages: Sequence[Mapping[str, Any]], role: str) -> list[str]:
    return [str(m["content"]) for m in messages if m["role"] == role and m.get("content")]


def agent(messages: Sequence[Mapping[str, Any]]) -> Reply:
    """Finds the line, looks from the ground up, and hands over what only a person can do."""
    heard, results = said_by(messages, "user"), said_by(messages, "tool")
    number = next((found[0] for text in reversed(heard) if (found := NUMBER.search(text))), "")
    if not number:
        return "I am sorry to hear that. What is the phone number of your line?", []
    if not results:
        return "", [("get_customer_by_phone", {"phone_number": number})]
    if any("transfer" in text.lower() or "handed" in text.lower() for text in results[-1:]):
        return "I am handing you over to a colleague, who can unlock it. Please hold on.", []
    lines = json.loads(results[0])["line_ids"]
    if number not in results[-1] and len(results) <= len(lines):
        return "", [("get_details_by_id", {"id": lines[len(results) - 1]})]
    last = heard[-1].lower()
    if "pin" in last:
        return "", [("transfer_to_human_agents", {"summary": "The SIM card is locked and asks for its PIN."})]
    if "airplane mode: on" in last:
        return "Airplane mode is on, so nothing gets through. Would you please switch it off?", []
    if "airplane mode: off" in last:
        return "Thank you. What does the phone say about its SIM card?", []
    return "Thank you, I have found your line. What do you see at the very top of your screen?", []


def customer(messages: Sequence[Mapping[str, Any]]) -> Reply:
    """Says what stands on its card when asked, does on the phone what it is asked for, and reads out what it sees."""
    card, heard = str(messages[0]["content"]), said_by(messages, "user")
    shown = str(messages[-1]["content"]) if messages[-1]["role"] == "tool" else ""
    if shown:
        signal = re.search(r"Signal: (\w+)", shown)
        if signal and signal[1] != "none":
            return "It has a signal again, thank you! ###STOP###", []
        return "It says: " + shown.replace("\n", ", "), []
    last = heard[-1].lower()
    for word, tool in (("top of your screen", "check_status_bar"), ("sim card", "check_sim_status")):
        if word in last:
            return "", [(tool, {})]
    if "switch it off" in last:
        return "", [("toggle_airplane_mode", {})]
    if "colleague" in last:
        return "###TRANSFER###", []
    if "phone number" in last:
        number = NUMBER.search(card)
        assert number is not None
        return f"It is {number[0]}.", []
    trouble = re.search(r"Why you get in touch: (.*)", card)
    assert trouble is not None
    return trouble[1], []


def judge(messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Verdicts on what stands in the transcript; a profile where that is asked for."""
    names, prompt = list(schema["properties"]), str(messages[-1]["content"])
    if "technical_skill" in names:
        known = {"reasoning": "Short and plain words.", "technical_skill": 3, "persona": "Needs small steps."}
        return {name: known.get(name) for name in names} | {"more": {}}
    if "verdicts" in names:
        turns = re.search(r"customer says in turns? ([\d, ]+)", str(messages[0]["content"]))
        assert turns is not None
        said = [{"turn": int(one), "annoyed": "no"} for one in turns[1].split(",")]
        return {"reason": "It tells what it sees.", "verdicts": said}
    turn = re.search(r"(?:turn|Judge turn) (\d+)", str(messages[0]["content"]))
    here = [line for line in prompt.splitlines() if turn and line.startswith(f"[{turn[1]}]")]
    asked = any("Agent:" in line and "?" in line for line in here)
    verdicts = {
        "reason": "Read line by line.",
        "field_used": "right" if any("agent uses get" in line for line in here) else "none",
        "clarified": "yes" if any("phone number" in line for line in here) else "no",
        "clarification_needed": "yes" if any("phone number" in line for line in here) else "no",
        "confirmation_asked": "no",
        "irreversible": "none",
        "necessary": "yes" if asked or here else "no",
        "solved": "yes",
        "transfer": "right" if "uses transfer to human agents" in prompt else "none",
    }
    return {name: verdicts.get(name, "no") for name in names}
