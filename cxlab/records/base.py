from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A frozen record; unknown keys are an error, so that a misspelt field cannot pass unseen."""

    model_config = ConfigDict(frozen=True, extra="forbid")
