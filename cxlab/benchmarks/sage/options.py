"""The switches of a run of SAGE, and the settings of its dataset."""

from typing import Annotated, Literal

from pydantic import Field

from cxlab.benchmarks.options import GenerateOptions, Options
from cxlab.records import Run
from cxlab.records.settings import Listed


class SageOptions(Options):
    """What a run of SAGE can be told."""

    turns: int = Field(15, ge=1, le=200, description="Turn limit of a dialogue.")
    system_info: bool = Field(
        True, description="Without it the back end's variables are hidden from agent and customer: an ablation."
    )
    glossary: bool = Field(
        True, description="Without it the fields' values are printed without what they mean: an ablation."
    )
    language: Literal["en", "de", "fr", "es", "it", "nl", "pt", "pl"] = Field(
        "en", description="What customers write in; simulated ones only know English."
    )


class SageDataset(GenerateOptions):
    """Which samples are made; empty takes everything."""

    scenarios: Annotated[tuple[str, ...], Listed] = Field((), description="Procedures, all when none is named.")
    levels: Annotated[tuple[Literal["zero", "weak", "strong"], ...], Listed] = Field(
        (), description="Adversarial levels, all when none is named."
    )
    per_leaf: int = Field(
        1,
        ge=1,
        le=1000,
        title="Customers for each outcome",
        description="For each way through a procedure, at each level.",
    )


def migrate(run: Run, version: int) -> Run:
    """An older record with the switches as they worked: before they had types, any text that is not empty was a yes."""
    options = dict(run.setup.get("options", {}))
    if version < 2 and "options" in run.setup:
        for name in ("system_info", "glossary"):
            if name in options:
                options[name] = bool(options[name])
        if "turns" in options:
            options["turns"] = int(options["turns"])
        run = run.model_copy(update={"setup": {**run.setup, "options": options}})
    return run
