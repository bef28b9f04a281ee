"""A person in the customer's place of a task, who says given things in turn to a stand-in agent."""

import asyncio

from cxlab.benchmarks.mmtaup2.conversation.task_dialogue import ConversationSettings, TaskDialogue, begin
from cxlab.benchmarks.mmtaup2.tasks import Task
from cxlab.dialogue import Move
from cxlab.llm import load


def play(task: Task, *said: str, agent: str = "simulated:strong") -> TaskDialogue:
    """The conversation after the agent's answer to the last of these messages, or where it ended before.

    `<phone>` stands for the phone number of the task's customer.
    """
    talk = begin(task, ConversationSettings(), load(agent), load("simulated:customer"))
    left = [each.replace("<phone>", str(task.known.facts.get("phone_number"))) for each in said]

    async def go_on() -> None:
        while talk.duet.next and (left or talk.duet.next != "customer"):
            if talk.duet.next == "customer":
                await talk.duet.take(Move(text=left.pop(0)))
            else:
                await talk.duet.step()

    asyncio.run(go_on())
    return talk


def agent_moves(task: Task, *said: str, agent: str = "simulated:strong") -> list[str]:
    """What the agent writes, and in brackets the names of the tools that it calls, in order."""
    return [
        message.text or f"({', '.join(call.name for call in message.tool_calls)})"
        for message in play(task, *said, agent=agent).duet.messages
        if message.role == "agent"
    ]
