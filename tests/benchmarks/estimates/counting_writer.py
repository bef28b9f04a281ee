"""A real HTTP server that plays a writer and a panel from what it is sent alone, and counts the tokens it bills."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.llm.local_server import RoleServer

JUDGES = ("judge1", "judge2", "judge3", "judge4")
Reply = Callable[[dict[str, Any]], str]


class CountingWriter(RoleServer):
    """`endpoint:writer` and four judges, a dollar per million tokens; `reply` says what is answered to a request."""

    roles = ("writer", *JUDGES)

    def __init__(self, answer: Reply) -> None:
        super().__init__()
        self.answer = answer
        self.calls: Counter[str] = Counter()
        self.prompt: Counter[str] = Counter()
        self.completion: Counter[str] = Counter()

    async def reply(self, role: str, body: dict[str, Any]) -> dict[str, Any]:
        text = self.answer(body)
        sent = {key: body[key] for key in ("messages", "response_format") if key in body}
        usage = {
            "prompt_tokens": len(json.dumps(sent, ensure_ascii=False)) // 4,
            "completion_tokens": len(text) // 4,
        }
        self.calls[role] += 1
        self.prompt[role] += usage["prompt_tokens"]
        self.completion[role] += usage["completion_tokens"]
        message = {"role": "assistant", "content": text}
        return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}


REASON = "The user asks again in the third message and is told why in the fourth, which is what was looked for."
# As many messages as the prompt asks for on average.
TURNS = (
    ("user", "Morning. I asked you yesterday about the {} and I still don't get what you based that on, honestly."),
    ("assistant", "Fair question. I went by what you wrote about the {}, and by how such things usually go."),
    ("user", "ok but usually isn't a source. where does it say so?"),
    ("assistant", "Nowhere that I can quote. If you tell me the model and the year, I can say where to look it up."),
    ("user", "It's the older one, bought second hand, there is no manual. My neighbour says the same as you did."),
    ("assistant", "Then I would take the simplest check first: unplug it, wait ten minutes, and see what it does."),
    ("user", "Did that. It does it again, and now it hums."),
    ("assistant", "A hum points to the motor rather than the switch. Better stop using the {} until it was looked at."),
    ("user", "And who opens a {} for less than a new one costs?"),
    ("assistant", "A repair café, if your town has one: they look at it for nothing and only charge the part."),
)


def find_conversations(body: dict[str, Any]) -> str:
    """Writes, adapts, checks, rates and rewords conversations; of a query and a conversation it decides by chance, each
    time alike, and so that about one in eight fits."""
    system, user = (body["messages"][0]["content"], body["messages"][-1]["content"])
    fits = int(hashlib.sha256(user.encode()).hexdigest(), 16) % 100
    if system.startswith("You write conversations"):
        about = user.partition("The conversation is about: ")[2].partition("\n")[0]
        return json.dumps({"messages": [{"role": who, "text": said.format(about)} for who, said in TURNS]})
    if system.startswith("You adapt"):
        talk = [{"role": who, "text": said.format("kettle")} for who, said in TURNS]
        return json.dumps({"reason": REASON, "declined": False, "messages": talk})
    if system.startswith("You check"):
        return json.dumps({"reason": REASON, "fits": "yes", "natural": "yes"})
    if system.startswith("You put what"):
        return json.dumps({"text": f"Talks in which this comes about: {user.strip()}"})
    if system.startswith("You tell how likely"):
        return json.dumps({"reason": REASON, "chance": 90 if fits < 12 else fits // 5})
    return json.dumps({"reason": REASON, "fits": "yes" if fits < 12 else "no"})
