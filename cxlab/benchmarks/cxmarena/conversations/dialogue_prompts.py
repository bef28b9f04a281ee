"""The two prompts of the conversation simulation: what the customer says next, what the agent says next.

Both get the persona, the conversation so far, and what this message has to do: acts, each with a direction in
words and what it is about. A real model follows the directions; a simulated one composes the acts from the
language's phrase grammars (simulate_talking). So who does what, and why, is known whoever writes the words.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel

from cxlab.llm import Prompt

HERE = Path(__file__).parents[1] / "prompts" / "conversations"
SIMULATE = "cxlab.benchmarks.cxmarena.simulated.dialogue"

# Kind of act → what the speaker is asked to do; <names> are filled with what the act is about.
AGENT_ACTS = {
    "greet": "greet the customer on behalf of <brand>",
    "introduce": "give your name, <agent>",
    "wellbeing": "ask how the customer is today",
    "offer_help": "ask what you can do",
    "name": "address the customer as <customer>",
    "empathy": "show that you understand what the trouble means for the customer",
    "apology": "apologise for the trouble",
    "restate": "sum the matter up in your own words and ask whether that is right: <summary>",
    "ask_model": "ask which model, version or plan exactly it is about",
    "ask_since": "ask since when this has been so",
    "ask_place": "ask where it is used",
    "ask_tried": "ask what the customer has tried so far",
    "ask_before": "ask whether the customer has been in touch about it before",
    "ask_hurry": "ask how urgent it is",
    "ask_name": "ask for the customer's name",
    "no_rush": "say that there is no hurry",
    "thank_answer": "take note of the answer",
    "cause": "say what most likely lies behind it: <cause>",
    "why": "say that the step shows whether this is behind it: <cause>",
    "plan": "say how you will go about it",
    "instruct": "ask the customer to do this: <step>",
    "do": "say that you will do this yourself: <step>",
    "later": "ask the customer to do this after the conversation: <step>",
    "warn": "ask the customer not to do this: <step>",
    "ask_step": "ask the customer: <step>",
    "ask_open": "ask the customer to tell you: <step>",
    "request": "ask the customer for: <step>",
    "tell_step": "tell the customer: <step>",
    "offer_step": "offer this: <step>",
    "explain_how": "explain in other, plainer words how to do it: <step>",
    "brush_off": "repeat the same words without explaining them: <step>",
    "alternative": "offer another way since the customer cannot do that now: you will note it and go on, or call back",
    "insist": "offer no other way; say that it has to be done",
    "reason": "say why it matters",
    "understanding": "ask whether that was clear",
    "verify": "verify the customer's identity: ask for full name and a second detail",
    "verified": "confirm that the identity is verified",
    "ask_detail": "ask for <what>",
    "ask_wish": "ask for <what>",
    "hold": "ask the customer to wait a moment while you look",
    "call": "say that you are now going to: <step>",
    "hold_thanks": "thank the customer for waiting",
    "report": "report what the system shows: <result>",
    "fact": "answer the customer's question: <fact>",
    "tip": "add this piece of advice: <tip>",
    "promise": "say that you will come back to that question in a moment",
    "keep_promise": "come back to the question that you promised to answer: <fact>",
    "move_on": "lead back to the case, without another word about the question",
    "wrap": "say that this was all from your side",
    "drift_reply": "react briefly to the customer's aside and lead back to the matter",
    "calm": "stay calm and kind although the customer is annoyed",
    "curt": "react curtly to the customer's annoyance",
    "jargon": "use internal jargon that a customer does not know, without explaining it",
    "next_steps": "say what happens next and by when: <next>",
    "settled": "ask whether the matter is settled now",
    "not_settled": "say that you pass it on to a colleague who will get in touch",
    "further_help": "ask whether there is anything else",
    "closing": "thank the customer and say goodbye",
    "end": "end the conversation without thanks or goodbye",
}
CUSTOMER_ACTS = {
    "hello": "greet",
    "open": "say what the problem is, no more than this: <problem>",
    "well": "say how you are",
    "help_me": "ask for help",
    "tell_name": "say your name: <full>",
    "tell_model": "say which one it is: <detail>",
    "tell_since": "say since when: <detail>",
    "tell_place": "say where it is: <detail>",
    "tell_tried": "say what you have tried: <detail>",
    "tell_before": "say whether you were in touch before: <detail>",
    "tell_hurry": "say how urgent it is: <detail>",
    "confirm": "confirm that this is right",
    "plausible": "react to the explanation",
    "agree": "agree to go on",
    "patient": "say that it is fine to come back to the question later",
    "take_note": "say that you have heard what happens next",
    "identity": "give your full name, <full>, and your date of birth or post code: <second>",
    "give": "give <what>: <value>",
    "give_own": "give <what>: <value>",
    "give_home": "give <what>: <value>",
    "prefer": "say that you would like <value>",
    "choose": "say that you would like <value>",
    "noted": "say that you will bear in mind what you were told",
    "search": "say that you have to look for it first",
    "done": "say that you have done it",
    "answer_step": "answer the agent's question in a few words of your own, without new figures or names",
    "answer_open": "say that you have just written it down and sent it, without new figures or names",
    "answer_money": "say that the money should go back the way it was paid",
    "answer_reason": "say in a few words why you want to leave, without figures or names",
    "answer_bother": "say in a few words what you do not like about it, without figures or names",
    "answer_where": "say where it happens and roughly since when",
    "answer_who": "say who did it, as far as you know",
    "will_do": "say that you will do it later",
    "send": "say that you are sending what the agent asked for",
    "ask_how": "say that you do not know how to do that",
    "misunderstand": "misunderstand the instruction and ask back",
    "now_clear": "say that you understand now",
    "cannot": "say that you cannot do that now",
    "accept": "accept what the agent offers",
    "ask_why": "ask why that is needed",
    "wait": "say that you will wait",
    "react_report": "react to what the agent found",
    "ask_fact": "ask this: <question>",
    "react_fact": "react to the answer",
    "react_tip": "react to the advice",
    "drift": "say something from your everyday life that has little to do with the matter",
    "impatient": "show that this takes too long for you",
    "complain": "complain about the trouble you have had",
    "resigned": "react to the agent's tone",
    "solved": "say that it is settled and works",
    "sorted": "say that this settles it for you, although something is still to come",
    "unsolved": "say that it is not quite settled",
    "thanks": "thank the agent",
    "no_more": "say that there is nothing else",
    "one_more": "say that there is one more thing",
    "bye": "say goodbye",
}


class DialogueAct(BaseModel):
    """One thing that a message does, and what it is about."""

    kind: str
    direction: str
    about: dict[str, str] = {}


def agent_act(kind: str, about: Mapping[str, str]) -> DialogueAct:
    return _act(AGENT_ACTS, kind, about)


def customer_act(kind: str, about: Mapping[str, str]) -> DialogueAct:
    return _act(CUSTOMER_ACTS, kind, about)


def _act(directions: Mapping[str, str], kind: str, about: Mapping[str, str]) -> DialogueAct:
    text = directions[kind]
    for name, value in about.items():
        text = text.replace(f"<{name}>", value)
    return DialogueAct.model_construct(kind=kind, direction=text, about=dict(about))


class AgentTurnInputs(BaseModel):
    """What the agent knows when it speaks: who it is, the passages it may draw on, what was said, what to do."""

    language: str
    language_id: str
    brand: str
    agent: str
    customer: str
    subject: str
    passages: tuple[str, ...]
    history: str
    acts: tuple[DialogueAct, ...]
    complaints: tuple[str, ...] = ()


class CustomerTurnInputs(BaseModel):
    """What the customer knows: who they are, their problem, what was said, what to do."""

    language: str
    language_id: str
    brand: str
    customer: str
    subject: str
    traits: tuple[str, ...]
    manner: tuple[str, ...]
    life: dict[str, str]
    casual: bool
    problem: str
    history: str
    acts: tuple[DialogueAct, ...]
    complaints: tuple[str, ...] = ()


AGENT_TURN = Prompt(
    "cxmarena_agent_turn", 1, HERE / "agent_turn.md", AgentTurnInputs, None, f"{SIMULATE}:agent", 0.8, 400
)
CUSTOMER_TURN = Prompt(
    "cxmarena_customer_turn", 1, HERE / "customer_turn.md", CustomerTurnInputs, None, f"{SIMULATE}:customer", 0.9, 300
)
ALL = (AGENT_TURN, CUSTOMER_TURN)


def hashes() -> dict[str, str]:
    """Prompt name → hash, as datasets keep them."""
    return {prompt.name: prompt.hash for prompt in ALL}
