"""Stand-ins that work the organisation from the rendered prompt, and the agents that always answer the same."""
