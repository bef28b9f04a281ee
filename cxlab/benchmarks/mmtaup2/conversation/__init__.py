"""One conversation under way: both sides, what the agent is told, and the channel."""
