"""The model boundary: load a model by name, ask it a typed question, get data back.

    model = load("simulated:strong")
    reply = await ask(model, PROMPT, Inputs(...), seed=1)
    await model.aclose()  # gives the shared HTTP client back; do it inside the same event loop

Beside it: `cxlab.llm.cache.ReplyCache`, `cxlab.llm.probe.probe`, `cxlab.llm.langchain_model.from_langchain`
and `as_langchain`. Nothing heavy is imported here: `openai` and `langchain` wait inside the functions that need them.
"""

from cxlab.llm.ask import ModelCall, ask, call
from cxlab.llm.base import ChatModel, Completion, ProviderFault, Reply, Request
from cxlab.llm.circuit_breaker import UNANSWERED, CircuitBreaker
from cxlab.llm.faults import refuses_tools
from cxlab.llm.metering import Budget, MeteredModel, Prices, Spending, cost_of
from cxlab.llm.prompts import Prompt, Text
from cxlab.llm.registry import KnownModel, complaints, cost, known, known_as, load, only_for, prices, role_of

__all__ = [
    "UNANSWERED",
    "Budget",
    "ChatModel",
    "CircuitBreaker",
    "Completion",
    "KnownModel",
    "MeteredModel",
    "ModelCall",
    "Prices",
    "Prompt",
    "ProviderFault",
    "Reply",
    "Request",
    "Spending",
    "Text",
    "ask",
    "call",
    "complaints",
    "cost",
    "cost_of",
    "known",
    "known_as",
    "load",
    "only_for",
    "prices",
    "refuses_tools",
    "role_of",
]
