"""A one-paragraph brief → a brand pack, through a model; checked, and sent back once if it is wrong.

path = write(brief, plan, model, folder)     # FOLDER/ID.yaml; UnusablePack says what is wrong with it otherwise
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from pydantic import BaseModel

from cxlab.benchmarks.cxmarena.brand import brief_plan
from cxlab.benchmarks.cxmarena.brand.brand_pack import FOLDER, LANGUAGES, load_language
from cxlab.benchmarks.cxmarena.brand.brief_plan import BriefPlan, OpenQuestions, PlannedFigure
from cxlab.benchmarks.cxmarena.brand.pack_files import check_file
from cxlab.errors import BadOption, CxError
from cxlab.files import Complaint, written_yaml
from cxlab.llm import Prompt, ask
from cxlab.llm.base import ChatModel

EXAMPLES = {"en": "hearthwise", "fr": "solvanne", "de": "talvero"}
SHORTEST = 40
FORM = """\
id (as the file is named), name, language (en|fr|de), currency (EUR|GBP|USD|CHF), domain, overview (a paragraph)
words: name -> list of words for slots
properties: name -> name, the (with article), kind (price|size|period|percent|count|date|time|material|compatibility|
  choice), unit, range [least, most], step, ends (of prices), options, cues, says, asks
families: name -> root (products|services|contact|story|places|shipping|returns|loyalty|privacy|events|legal), group,
  title, one, the, acc, dat, many, description, models, variants (smallest first), properties (name -> range, step,
  options), aspects, about, use, care, contract (true for what is signed, not sent), stays (false for what has no
  place of its own in a house)
aspects: name -> title, the, description, facts (properties), after (aspects to be read first), lines
dependencies: list of {law: ordered|ratio|above|bundle, property, of, factor, family, discount, parts}
issues: name -> title, topic, families, customer, symptom, causes, steps (text, or {say, tool}), needs
parameters: name -> description, sample, options
tools: name -> description, parameters, returns, families
always: families that even a small dataset has"""


class BriefInputs(BaseModel):
    """A one-paragraph brief and what was understood of it, the form of a brand pack, an example, and the last try with
    what was wrong in it."""

    brief: str
    name: str
    products: tuple[str, ...]
    figures: tuple[PlannedFigure, ...]
    trade: str
    language: str
    language_id: str
    form: str
    example: str
    complaints: tuple[str, ...] = ()
    last: str = ""


EXPAND_BRAND = Prompt(
    "cxmarena_expand_brand",
    6,
    Path(__file__).parents[1] / "prompts" / "brand" / "expand_brand.md",
    BriefInputs,
    None,
    "cxlab.benchmarks.cxmarena.simulated.brand_expansion:expand_brand",
    0.4,
)


class UnusablePack(CxError):
    """The model's pack cannot be used; the text says what is wrong with it."""


def write(brief: str, plan: BriefPlan, model: ChatModel, folder: Path) -> Path:
    """The pack's file in `folder`; nothing is written unless it passes the check, or while something is to be asked."""
    if plan.asks:
        raise OpenQuestions(plan)

    async def once() -> tuple[str, str]:
        try:
            return await expand(brief, plan, model)
        finally:
            await model.aclose()

    text, name = asyncio.run(once())
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


async def expand(brief: str, plan: BriefPlan, model: ChatModel) -> tuple[str, str]:
    """(YAML, id) of a pack for the brief; UnusablePack when the model's second try has faults, too."""
    language = plan.language
    if language not in LANGUAGES:
        raise BadOption(f"unknown language {language!r}; known: {', '.join(LANGUAGES)}")
    if len(brief.strip()) < SHORTEST:
        raise BadOption(
            f"a brief of {len(brief.strip())} characters; say in a paragraph what the brand sells and to whom"
        )
    example = (FOLDER / f"{EXAMPLES[language]}.yaml").read_text(encoding="utf-8")
    inputs = BriefInputs(
        brief=" ".join(brief.split()),
        name=plan.name,
        products=tuple(plan.products),
        figures=tuple(plan.figures),
        trade=plan.trade,
        language=load_language(language).name,
        language_id=language,
        form=FORM,
        example=excerpt(example),
    )
    complaints: list[Complaint] = []
    for number in range(2):
        reply = await ask(model, EXPAND_BRAND, inputs, seed=number)
        if reply.output is None:
            # What was cut off at its limit would be so again.
            failure = reply.failure
            if number == 0 and failure is not None and failure.where == "format" and failure.type != "truncated":
                continue
            told = reply.failure.message if reply.failure else "no reply"
            raise UnusablePack(f"{model.name} gave no pack: {told}")
        text = written_yaml.strip_fence(reply.output.text)
        complaints = written_yaml.check_text(text, name_of(text), check_file)
        complaints += brief_plan.check(text, Path(f"{name_of(text)}.yaml"), plan)
        if not complaints:
            return text, name_of(text)
        faults = tuple(str(c) for c in complaints[:20])
        inputs = inputs.model_copy(update={"complaints": faults, "last": text})
    listed = "\n  ".join(str(c) for c in complaints[:5])
    raise UnusablePack(f"{model.name} wrote a pack with {len(complaints)} faults, the first ones:\n  {listed}")


def excerpt(text: str, items: int = 4) -> str:
    """Each top-level key with its first few items: the form without the bulk."""
    kept: list[str] = []
    count = 0
    for line in text.splitlines():
        if re.match(r"\S", line):
            count = 0
        elif re.match(r"  (?:\S)", line):
            count += 1
        if count <= items:
            kept.append(line)
    return "\n".join(kept)


def name_of(text: str) -> str:
    """The id that the pack gives itself."""
    return written_yaml.find_id(text, "brand")
