"""What stands in a unit's text: whose messages, and how it is told who speaks."""

from typing import Annotated

from pydantic import Field, field_validator

from cxlab.records import Message, Role
from cxlab.records.settings import Listed, Settings

# As the benchmark's files and its queries call the two sides.
SPEAKERS: dict[Role, str] = {
    "customer": "user",
    "agent": "assistant",
    "system": "system",
    "tool": "tool",
    "ivr": "menu",
}

LONGEST = 6000
"""Characters of a conversation that a chat model reads; of a longer one its beginning and its end."""


class UnitText(Settings):
    """What a unit's text contains; the paper does not say, so it is a setting and stands in each result."""

    prefix: bool = Field(default=True, description="Begin each message with its speaker: user:, assistant:.")
    roles: Annotated[tuple[Role, ...], Listed] = Field(
        default=("customer", "agent"), description="Whose messages count; the others are not there."
    )

    @field_validator("roles")
    @classmethod
    def _some(cls, roles: tuple[Role, ...]) -> tuple[Role, ...]:
        if not roles:
            raise ValueError("name one role or more")
        return roles

    def write(self, messages: tuple[Message, ...]) -> str:
        """The messages of `roles`, one after the other, each on a line of its own; those without text are left out."""
        told = [message for message in messages if message.role in self.roles and message.text.strip()]
        if not self.prefix:
            return "\n".join(message.text.strip() for message in told)
        return "\n".join(f"{SPEAKERS[message.role]}: {message.text.strip()}" for message in told)


def cut_middle(text: str, most: int = LONGEST) -> str:
    """The text, of a long one its beginning and its end: how a conversation ends is often what is asked for."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[{len(text) - 2 * half:,} characters are left out]\n{text[-half:]}"
