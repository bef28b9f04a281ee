"""The prompts of agent, customer and judges, with the functions that fill them."""
