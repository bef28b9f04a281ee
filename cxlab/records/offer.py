"""What a model under test was given beside the dialogue: its system prompt and its tools."""

from typing import Any

from cxlab.records.base import Record
from cxlab.records.ids import content_id


class Offer(Record):
    """The system prompt and the tools of one or more calls; `tools` are definitions as OpenAI's chat format has them.

    `chat`: the calls asked for no schema, so that the replies are what the dialogue holds.
    """

    system: str = ""
    tools: tuple[dict[str, Any], ...] = ()
    chat: bool = True

    @property
    def id(self) -> str:
        """The hash of what is in it."""
        return content_id(self.system, self.tools, self.chat)

    @property
    def tool_names(self) -> list[str]:
        """Names of its tools, as offered."""
        return [str(tool.get("function", tool).get("name", "")) for tool in self.tools]
