"""What is said above the list of known models."""


def say_known(real: int, stand_ins: int) -> tuple[str, str]:
    """How many real models are set up and how many stand-ins there are, and how the list is read."""
    found = f"{real} real model{' is' if real == 1 else 's are'} set up here, beside {stand_ins} stand-ins"
    first = "Real models first. " if real else ""
    return (
        found if real else f"No real model is set up here yet, only {stand_ins} stand-ins",
        f"{first}Pick one to test it. Prices in USD per million tokens, of prompts and of completions; without one, a "
        "cost is unknown and not zero. Downloads say when and where a price was noted.",
    )
