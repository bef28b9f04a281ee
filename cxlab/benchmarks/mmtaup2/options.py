"""The switches of a run of MM-tau-p², and the settings of its dataset."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from cxlab.benchmarks.mmtaup2.conversation import exposure, personas
from cxlab.benchmarks.options import GenerateOptions, Options
from cxlab.records import Run
from cxlab.records.settings import Listed

PersonaName = Literal["none", "easy", "hard", "hurried", "wary"]
_EXPOSURES = {str(level): words for level, words in exposure.IN_WORDS.items()}
_OF_SAMPLE = "as the sample says"
# Set on the command line alone: text from a page is never a path.
_NOT_ON_PAGES: dict[str, Any] = {"on_page": False}


class MmOptions(Options):
    """What a run of MM-tau-p² can be told."""

    persona: PersonaName | None = Field(
        None,
        description="The customer's persona, where the sample does not say; none when not set.",
        json_schema_extra={"labels": {**personas.IN_WORDS, "": _OF_SAMPLE}},
    )
    exposure: Literal[0, 1, 2] | None = Field(
        None,
        title="What the agent knows",
        description="Of the customer, where the sample does not say: 0 nothing, 1 the persona, 2 a profile that it "
        "infers; 0 when not set.",
        json_schema_extra={"labels": {**_EXPOSURES, "": _OF_SAMPLE}},
    )
    modality: Literal["text", "voice"] | None = Field(
        None,
        description="Where the sample does not say; text when not set.",
        json_schema_extra={"labels": {"": _OF_SAMPLE}},
    )
    wer: float | None = Field(
        None,
        ge=0,
        le=1,
        title="Word error rate",
        description="Word error rate of the voice channel, where the sample does not say; 0.15.",
    )
    audio: str = Field(
        "channel",
        description="What speaks and recognises by voice: channel (text, errors at the rate wer), espeak (real audio "
        "here; pocketsphinx mishears an eighth to a half of the words), openai, or endpoint:NAME of models.toml.",
        json_schema_extra={"choices": ["channel", "espeak", "openai"], "forms": ["endpoint:NAME"]},
    )
    audio_folder: str | None = Field(
        None,
        description="Folder that keeps what was spoken; with the run, where it can be played, when not set.",
        json_schema_extra={**_NOT_ON_PAGES, "compared": False},
    )
    agent_voice: str | None = Field(
        None, description="A variant of espeak-ng's en-us, or one of the service's voices; en-us+f2, nova."
    )
    customer_voice: str | None = Field(None, description="The same for the customer; en-us+f5, echo.")
    speech_model: str | None = Field(
        None, description="The service's model that speaks; gpt-4o-mini-tts, of an endpoint tts-1."
    )
    transcription_model: str | None = Field(
        None, description="Its model that writes down what was said; gpt-4o-mini-transcribe, of an endpoint whisper-1."
    )
    speech_format: Literal["wav", "pcm", "mp3", "flac"] = Field("wav", description="Format of the service's sound.")
    steps: int = Field(200, ge=1, le=10_000, description="Limit of deliveries of a conversation.")
    errors: int = Field(10, ge=1, le=10_000, description="Limit of tool errors of a conversation.")
    tool_calls: Literal["auto", "native", "json"] = Field(
        "auto", description="How tools are called; auto is native until the server refuses."
    )
    judge_groups: Annotated[
        tuple[Literal["goal", "effort", "clarification", "safety", "outcome", "adaptation"], ...], Listed
    ] = Field(
        (),
        description="What judges are asked beside what the wording leaves open; all but adaptation when none is named.",
    )
    escalation: int | tuple[dict[str, Any], ...] | None = Field(
        None,
        description="Version of the judges' rule about handing over; the last when not set.",
        json_schema_extra=_NOT_ON_PAGES,
    )

    @field_validator("escalation", mode="before")
    @classmethod
    def _one_version(cls, value: Any) -> Any:
        if isinstance(value, str) and value.strip().isdigit():
            return int(value)
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        if isinstance(value, list | tuple) and all(isinstance(each, Mapping) for each in value):
            return tuple(value)
        raise ValueError("must be the number of a version; to compare versions: python -m cxlab rejudge RUN")

    def given(self) -> dict[str, Any]:
        """The switches that are set, by name."""
        return {name: value for name, value in self.to_record().items() if value is not None}


class MmDataset(GenerateOptions):
    """Which tasks are made and under which terms; everything is taken where nothing is named."""

    domain: Annotated[tuple[Literal["telecom", "retail"], ...], Listed] = Field((), description="Worlds, both.")
    count: int = Field(40, ge=1, le=100_000, title="Tasks a world", description="Of each world that is chosen.")
    personas: Annotated[tuple[PersonaName, ...], Listed] = Field(
        (),
        description="The customers' personas; none, easy and hard when not named.",
        json_schema_extra={"labels": {**personas.IN_WORDS, "": ", ".join(personas.USUAL)}},
    )
    exposures: Annotated[tuple[Literal["0", "1", "2"], ...], Listed] = Field(
        (),
        title="What the agent knows",
        description="Of the customer: 0 nothing, 1 the persona, 2 a profile it infers.",
        json_schema_extra={"labels": {**_EXPOSURES}},
    )
    modalities: Annotated[tuple[Literal["text", "voice"], ...], Listed] = Field((), description="Text and voice.")
    wer: float = Field(0.15, ge=0, le=1, title="Word error rate", description="Word error rate of the voice channel.")


def migrate(run: Run, version: int) -> Run:
    """An older record with the switches as they worked: before they had types, limits were cut to whole numbers."""
    options = dict(run.setup.get("options", {}))
    if version < 2 and "options" in run.setup:
        for name in ("exposure", "steps", "errors"):
            if options.get(name) is not None:
                options[name] = int(options[name])
        run = run.model_copy(update={"setup": {**run.setup, "options": options}})
    return run
