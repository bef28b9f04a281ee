"""The switches of a run of SAGE, and the settings of its dataset."""

from typing import Annotated, Literal

from pydantic import Field

from cxlab.benchmarks.options import GenerateOptions, Listed, Options


class SageOptions(Options):
    """What a run of SAGE can be told."""

    turns: int = Field(15, ge=1, le=200, description="Turn limit of a dialogue.")
    system_info: bool = Field(
        True, description="Without it the back end's variables are hidden from agent and customer: an ablation."
    )
    glossary: bool = Field(True, description="Without it the fields are printed without wordings: an ablation.")


class SageDataset(GenerateOptions):
    """Which samples are made; empty takes everything."""

    scenarios: Annotated[tuple[str, ...], Listed] = Field((), description="Procedures, all when none is named.")
    levels: Annotated[tuple[Literal["zero", "weak", "strong"], ...], Listed] = Field(
        (), description="Adversarial levels, all when none is named."
    )
    per_leaf: int = Field(1, ge=1, le=1000, description="Customers for each way through a procedure and level.")
