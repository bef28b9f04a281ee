"""What a paragraph about a brand says, understood and told before anything is made of it; nothing is guessed at.

plan = read(brief, model)             # BriefPlan; plan.asks says what must be answered first
plan = answer(plan, trade="bank")     # a person's answers stand over what was read
check(text, plan)                     # complaints about a pack that does not hold what the paragraph says
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from cxlab import files
from cxlab.benchmarks.contract import Correction
from cxlab.errors import BadOption, CxError
from cxlab.files import Complaint
from cxlab.llm import Prompt, ask
from cxlab.llm.base import ChatModel

# Below, the trade is asked for.
CERTAIN = 0.7
LANGUAGES = ("en", "fr", "de")


class PlannedFigure(BaseModel):
    """A figure as it is written, and what it belongs to."""

    value: str
    of: str = ""


class BriefPlan(BaseModel):
    """What was understood; `certainty` is that of the trade, from 0 to 1."""

    language: str
    name: str = ""
    products: list[str] = Field(default=[], max_length=12)
    figures: list[PlannedFigure] = []
    trade: str = ""
    certainty: float = Field(0.0, ge=0, le=1)
    asks: list[str] = []

    def corrections(self) -> tuple[Correction, ...]:
        """What a person may put right, each with the setting that says so."""
        figures = "\n".join(f"{one.value} = {one.of}" for one in self.figures)
        # A guess that has to be asked for anyway is not written into the form, where it would look like an answer.
        trade = self.trade if self.certainty >= CERTAIN else ""
        return (
            Correction("called", "Name", self.name),
            Correction("language", "Language", self.language, choices=LANGUAGES),
            Correction("trade", "Trade", trade, self._trade_told()),
            Correction("sells", "What it sells", "\n".join(self.products), "one a line", separator=","),
            Correction(
                "figures", "Figures", figures, "one a line: value = what it belongs to", separator=";", none="none"
            ),
        )

    def _trade_told(self) -> str:
        """How sure the trade is; one that is asked for is told as what it is most like, not as what it is."""
        if self.certainty >= CERTAIN:
            return f"{self.certainty:.0%} certain"
        return f"not clear from the paragraph; most like {self.trade}" if self.trade else "not clear from the paragraph"

    def correct(self, settings: Mapping[str, Any]) -> BriefPlan:
        """The plan with a person's answers, by the names of the settings."""
        sells = settings.get("sells") or ()
        return answer(
            self,
            language=str(settings.get("language") or ""),
            called=str(settings.get("called") or ""),
            sells=sells.split(",") if isinstance(sells, str) else tuple(sells),
            trade=str(settings.get("trade") or ""),
            figures=str(settings.get("figures") or ""),
        )

    def describe(self) -> str:
        """What was understood, for a person to correct."""
        figures = "; ".join(f"{one.value} ({one.of})" if one.of else one.value for one in self.figures) or "none"
        trade = f"{self.trade} ({self._trade_told()})" if self.certainty >= CERTAIN else f"? ({self._trade_told()})"
        lines = [
            f"name      {self.name or '?'}",
            f"language  {self.language}",
            f"trade     {trade}",
            f"sells     {', '.join(self.products) or '?'}",
            f"figures   {figures}",
        ]
        return "\n".join([*lines, *(f"asks      {question}" for question in self.asks)])


class BriefText(BaseModel):
    brief: str


# A pack states a price in whole units of its currency.
_CENTS = re.compile(r"\d\s?(?:cents?|ct|centimes?|pence|p)\b", re.IGNORECASE)
_MILLIONS = re.compile(r"\d\s?(?:millions?|millionen|mio|m)\b", re.IGNORECASE)

READ_BRIEF = Prompt(
    "cxmarena_read_brief",
    1,
    Path(__file__).parents[1] / "prompts" / "brand" / "read_brief.md",
    BriefText,
    BriefPlan,
    "cxlab.benchmarks.cxmarena.simulated.brief_reading:read_brief",
)


class OpenQuestions(CxError):
    """A paragraph that leaves open what must be known; the text says what, and how to answer."""

    def __init__(self, plan: BriefPlan) -> None:
        self.plan = plan
        asked = " ".join(plan.asks)
        super().__init__(
            f"The paragraph leaves something open. {asked} Answer with --called NAME, --sells THING,THING or --trade "
            "TRADE, or say it in the paragraph; --plan shows what was understood"
        )


def read(brief: str, model: ChatModel) -> BriefPlan:
    """What a model understands of the paragraph; CxError when it gives nothing that can be read."""

    async def once() -> BriefPlan:
        try:
            reply = await ask(model, READ_BRIEF, BriefText(brief=" ".join(brief.split())))
        finally:
            await model.aclose()
        if reply.output is None:
            told = reply.failure.message if reply.failure else "no reply"
            raise CxError(f"{model.name} did not say what it understands of the paragraph: {told}")
        return reply.output

    found = asyncio.run(once())
    return _complete(found, brief)


def _complete(plan: BriefPlan, brief: str) -> BriefPlan:
    """The plan without what the paragraph does not hold, and with the questions that follow from it."""
    text = " ".join(brief.casefold().split())
    name = plan.name if plan.name.casefold() in text else ""
    figures = [one for one in plan.figures if " ".join(one.value.casefold().split()) in text]
    language = plan.language if plan.language in LANGUAGES else ""
    return _ask(plan.model_copy(update={"name": name, "figures": figures, "language": language, "asks": plan.asks}))


def _ask(plan: BriefPlan) -> BriefPlan:
    asks = []
    if not plan.name:
        asks.append("What is the company called?")
    if not plan.products:
        asks.append("What does it sell?")
    if not plan.trade or plan.certainty < CERTAIN:
        asks.append(next((one for one in plan.asks if "trade" in one.lower()), "What trade is it in?"))
    if not plan.language:
        asks.append(f"In which language is it to be written ({', '.join(LANGUAGES)})?")
    return plan.model_copy(update={"asks": asks})


def answer(
    plan: BriefPlan,
    *,
    language: str = "",
    called: str = "",
    sells: Sequence[str] = (),
    trade: str = "",
    figures: str = "",
) -> BriefPlan:
    """The plan with a person's answers, which leave nothing to ask of what they answer."""
    given: dict[str, object] = {}
    given |= {"language": language} if language else {}
    given |= {"name": called} if called else {}
    given |= {"products": list(sells)} if sells else {}
    given |= {"trade": trade, "certainty": 1.0} if trade else {}
    given |= {"figures": read_figures(figures)} if figures else {}
    return _ask(plan.model_copy(update=given)) if given else plan


def read_figures(text: str) -> list[PlannedFigure]:
    """Figures as a person writes them, "VALUE = WHAT; VALUE = WHAT" or "none"; BadOption for anything else."""
    if text.strip().lower() == "none":
        return []
    found = []
    for part in filter(None, (each.strip() for each in text.split(";"))):
        value, sign, of = (each.strip() for each in part.partition("="))
        if not value or not sign:
            raise BadOption(f"figures: {part!r}; write VALUE = WHAT, with a semicolon between two of them")
        found.append(PlannedFigure(value=value, of=of))
    return found


def check(text: str, path: Path, plan: BriefPlan) -> list[Complaint]:
    """Complaints about a pack, as YAML, that lost the paragraph's name, products or figures.

    A figure is kept as a property's only value, or as it is written in a line or an option; the overview, which may
    quote the paragraph, is no fact. YAML that cannot be read is left to the pack's own check.
    """
    try:
        pack = files.parse_yaml(text, path)
    except CxError:
        return []
    if not isinstance(pack, dict):
        return []
    found = []
    if str(pack.get("name", "")).strip() != plan.name:
        found.append(Complaint(str(path), 1, f"name is not {plan.name!r}", "keep the name that the brief gives"))
    families = [one for one in _under(pack, "families") if one.get("root") == "products"]
    told = [" ".join(str(one.get(key, "")) for key in ("title", "one", "many", "description")) for one in families]
    for product in plan.products:
        if not any(_speaks_of(line, product) for line in told):
            fix = "make each product that the brief names a family under products"
            found.append(Complaint(str(path), 1, f"{product} is no family under products", fix))
    values, lines = _stated({key: part for key, part in pack.items() if key != "overview"})
    for figure in plan.figures:
        number = re.search(r"\d[\d.,\u00a0\u202f ]*", figure.value)
        # A pack writes no sign between thousands, and a point before decimals.
        plain = re.sub(r"[.,\s](?=\d{3}(?!\d))", "", number[0]).strip(" .,").replace(",", ".") if number else ""
        if not re.fullmatch(r"\d+(?:\.\d+)?", plain) or float(plain) in values:
            continue
        if _CENTS.search(figure.value) and round(float(plain) / 100, 4) in values:
            continue
        if _MILLIONS.search(figure.value) and float(plain) * 1_000_000 in values:
            continue
        if not re.search(rf"(?<!\w){re.escape(figure.value)}(?!\w)", lines, re.IGNORECASE):
            what = f"{figure.value} ({figure.of})"
            found.append(Complaint(str(path), 1, f"{what} stands nowhere", "make each figure of the brief a fact"))
    return found


def _under(pack: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    part = pack.get(key)
    return [one for one in part.values() if isinstance(one, dict)] if isinstance(part, dict) else []


def _speaks_of(line: str, product: str) -> bool:
    """Whether a word of the product, or most of it, stands in the line; languages that join words included."""
    said = line.casefold()
    words = [word for word in re.findall(r"[^\W\d_]+", product.casefold()) if len(word) > 2]
    own = re.findall(r"[^\W\d_]{4,}", said)
    return any(word[: max(4, len(word) - 2)] in said or any(one in word for one in own) for word in words or [said])


def _stated(part: Any) -> tuple[set[float], str]:
    """The values that a pack fixes by a range from one to the same, and all its texts."""
    values: set[float] = set()
    lines: list[str] = []

    def walk(one: Any) -> None:
        if isinstance(one, dict):
            each = one.get("range")
            if isinstance(each, list) and len(each) == 2 and each[0] == each[1] and isinstance(each[0], int | float):
                values.add(float(each[0]))
            for inner in one.values():
                walk(inner)
        elif isinstance(one, list):
            for inner in one:
                walk(inner)
        elif isinstance(one, str):
            lines.append(one)

    walk(part)
    return values, "\n".join(lines)


__all__ = ["BriefPlan", "OpenQuestions", "PlannedFigure", "answer", "check", "read"]
