"""The switches of a run of CXMArena, and the settings of its dataset."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from cxlab import resources
from cxlab.benchmarks.options import GenerateOptions, Options
from cxlab.records import Run
from cxlab.records.settings import Listed

EMBEDDERS = ["openai:MODEL", "endpoint:NAME/MODEL", "fastembed:NAME", "st:NAME"]
"""How an embedder's name is written beside those of this machine."""

Noise = Literal["formats", "acronyms", "fragmentation", "speech", "ivr", "none"]


class CxmOptions(Options):
    """What a run of CXMArena can be told."""

    retrieval: str = Field(
        "bm25",
        description="What finds articles: an index over words, vectors of an embedder, exact or by Chroma, or both "
        "fused.",
        json_schema_extra={
            "forms": ["hybrid:EMBEDDER", "chroma:EMBEDDER", *EMBEDDERS],
            "choices": ["bm25", "lexical", "hashing", "minilm", "chroma", "hybrid"],
            "labels": {
                "bm25": "BM25: words, weighted by how rare they are",
                "lexical": "Lexical: TF-IDF cosine of words and spelling",
                "hashing": "Hashing: vectors of spelling, installed everywhere",
                "minilm": "MiniLM: vectors of meaning, on this machine",
                "chroma": "Chroma: the best vectors there are, in an approximate index (HNSW) kept on disk",
                "hybrid": "Hybrid: BM25 and the best vectors there are, fused",
            },
        },
    )
    chunk: int = Field(
        1000,
        ge=1,
        le=1_000_000,
        title="Characters a chunk",
        description="Characters a piece.",
        json_schema_extra={"choices": ["250", "500", "1000", "2000"]},
    )
    overlap: int = Field(100, ge=0, le=1_000_000, description="Characters that neighbouring pieces share.")
    k: int = Field(20, ge=1, le=1000, description="Articles to find, at least 20.")
    similarity: str = Field(
        "words",
        description="What compares articles and their passages: words, or an embedder by name.",
        json_schema_extra={"choices": ["words", "minilm", "hashing"], "forms": [*EMBEDDERS]},
    )
    similar: Literal["embedding", "model"] = Field(
        "embedding",
        description="Who decides on similar pairs: the threshold alone, the public way, or the model, asked about the "
        "pairs above a lower threshold.",
    )
    threshold: float | None = Field(
        None, ge=0, le=1, description="Cosine from which a pair counts as similar; 0.6 for words, else 0.9."
    )
    candidates: Literal["passages", "articles"] = Field(
        "passages",
        description="Pairs checked for contradictions: by sentences that differ in a value or lie near each other, or "
        "the nearest articles, whole.",
    )
    neighbours: int = Field(10, ge=1, le=1000, description="Nearest articles of each that are checked.")
    most: int = Field(2000, ge=1, le=1_000_000, description="At most this many pairs are checked, the likeliest first.")
    contradictions: Literal["model", "facts", "similar"] = Field(
        "model", description="How they are checked: by the model, by sentences on one thing with other values, or not."
    )
    na: bool = Field(True, description="Without it quality questions can only be answered with Yes and No.")
    query: Literal["keywords", "question", "last"] = Field(
        "keywords",
        description="How a conversation is turned into a query: keywords or a question that a model writes, or the "
        "customer's last message as it is.",
    )
    passages: int = Field(5, ge=1, le=100, description="Articles that an answer is written from.")
    respond: bool = Field(
        True,
        title="Write and judge answers",
        description="Write the answers of multi_turn: a call for each answer and one for each judge.",
    )
    answer: bool = Field(False, description="Answer the queries of article_search, too.")
    verify: bool = Field(True, description="Have judges look at the labels.")
    sizes: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Listed] = Field(
        (), description="Numbers of tools to choose from, as 16,64; all that the data has when none is named."
    )
    mode: Literal["auto", "forced"] | None = Field(None, description="Tool calls; what the sample says when not set.")
    tool_calls: Literal["auto", "native", "json"] = Field(
        "auto", description="How tools are called; auto is native until the server refuses."
    )


class CxmDataset(GenerateOptions):
    """Which brand, how much of it, and what is done to its texts."""

    making: ClassVar[str] = (
        "Topics, a ledger of facts, articles, conversations and their noise, then the six tasks and the checks. With "
        'simulated models the size "small" takes some seconds and "paper" some minutes on four cores, and nothing '
        "leaves this machine. Real models are asked for every article and every message."
    )

    brand: str | None = Field(
        None,
        description="A brand that ships, or a pack's file; hearthwise when neither a brand nor a paragraph is given. "
        "Packs are not translated; aldersea is written by hand and small: only language and noise change it.",
        # Text from a page is never a path.
        json_schema_extra={
            "choices": [
                *(path.parent.name for path in sorted(resources.data("cxmarena").glob("*/company.yaml"))),
                *(path.stem for path in sorted(resources.data("brands").glob("*.yaml"))),
            ],
            "typed": False,
        },
    )
    brief: str | None = Field(
        None,
        title="A brand of your own, in one paragraph",
        description="Its name, what it sells, to whom, what it is proud of. The model makes a brand pack of it.",
        json_schema_extra={"long": True},
    )
    # The page asks for these once it has shown what was understood.
    called: str | None = Field(
        None,
        description="The name of a brand from a paragraph that does not give it.",
        json_schema_extra={"on_page": False},
    )
    sells: Annotated[tuple[str, ...], Listed] = Field(
        (),
        description="What a brand from a paragraph sells, where that does not say it plainly.",
        json_schema_extra={"on_page": False},
    )
    trade: str | None = Field(
        None,
        description="The trade of a brand from a paragraph; --plan says what is understood of it.",
        json_schema_extra={"on_page": False},
    )
    figures: str | None = Field(
        None,
        description="The figures of a paragraph with what they belong to, as 'VALUE = WHAT; VALUE = WHAT', instead of "
        "those understood; 'none' for none.",
        json_schema_extra={"on_page": False},
    )
    language: Literal["en", "fr", "de"] | None = Field(
        None, description="Of a brand from a paragraph, its own when not set; a pack is written in its own."
    )
    size: str = Field(
        "small",
        description="tiny: 8 articles, 10 short conversations, to try a writer for cents. small: 60 articles, 40 "
        "conversations. paper: 3,168 articles, 1,994 conversations. Or a number of articles, everything else scaled as "
        "published.",
        json_schema_extra={"choices": ["tiny", "small", "paper"]},
    )
    model: str = Field(
        "simulated:strong",
        description="Writes the articles and speaks as customer and agent. Simulated ones need no network and cost "
        "nothing.",
        json_schema_extra={"offers": "models"},
    )
    noise: (
        Annotated[tuple[Literal["formats", "acronyms", "fragmentation", "speech", "ivr", "none"], ...], Listed] | None
    ) = Field(
        None,
        description="Article formats: tables, HTML, Markdown, PDF. Acronyms: frequent phrases shortened. Fragments: "
        "customers' messages in pieces. Misheard words: errors of speech recognition. Phone menu: an automatic "
        "opening. The clean text is kept. All when not set, none for clean texts.",
        json_schema_extra={
            "labels": {
                "formats": "article formats",
                "fragmentation": "fragments",
                "speech": "misheard words",
                "ivr": "phone menu",
            }
        },
    )
    wer: float = Field(
        0.1,
        ge=0,
        le=1,
        title="Word error rate",
        description="Share of a customer's words that are misheard; 0.1 is what good recognition of telephone speech "
        "has.",
    )
    check_labels: bool = Field(True, alias="validate", description="Check what was made, as the paper does.")


def migrate(run: Run, version: int) -> Run:
    """An older record with the switches as they worked: before they had types, numbers were cut to whole ones, and all
    but the word false let the judges look at labels."""
    options = {name: value for name, value in run.setup.get("options", {}).items() if value is not None}
    if version < 2 and "options" in run.setup:
        for name in ("chunk", "overlap", "k", "neighbours", "most", "passages"):
            if name in options:
                options[name] = int(options[name])
        if "verify" in options:
            options["verify"] = str(options["verify"]).lower() != "false"
        if isinstance(options.get("sizes"), str):
            options["sizes"] = [int(size) for size in options["sizes"].split(",")]
        run = run.model_copy(update={"setup": {**run.setup, "options": options}})
    return run
