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
        return (
            Correction("called", "Name", self.name),
            Correction("language", "Language", self.language, choices=LANGUAGES),
            Correction("trade", "Trade", self.trade, f"{self.certainty:.0%} certain"),
            Correction("sells", "What it sells", "\n".join(self.products), "one a line", separator=","),
            Correction(
                "figures", "Figures", figures, "one a line: value = what it belongs to", separator=";", none="none"
            ),
        )

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
        lines = [
            f"name      {self.name or '?'}",
            f"language  {self.language}",
            f"trade     {self.trade or '?'} (certainty {self.certainty:.0%})",
            f"sells     {', '.join(self.products) or '?'}",
            f"figures   {figures}",
        ]
        return "\n".join([*lines, *(f"asks      {question}" for question in self.asks)])


class BriefText(BaseModel):
    brief: str


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
    """Complaints about a pack, as YAML, that lost the paragraph's name or figures."""
    found = []
    name = re.search(r"^name: *(.+)$", text, re.MULTILINE)
    if name is None or name[1].strip(" '\"") != plan.name:
        found.append(Complaint(str(path), 1, f"name is not {plan.name!r}", "keep the name that the brief gives"))
    held = {float(number) for number in re.findall(r"(?<![\d.])\d+(?:\.\d+)?", text)}
    for figure in plan.figures:
        number = re.search(r"\d[\d.,\u00a0\u202f ]*", figure.value)
        # A pack writes no sign between thousands, and a point before decimals.
        plain = re.sub(r"[.,\s](?=\d{3}(?!\d))", "", number[0]).strip(" .,").replace(",", ".") if number else ""
        if re.fullmatch(r"\d+(?:\.\d+)?", plain) and float(plain) not in held:
            what = f"{figure.value} ({figure.of})"
            found.append(Complaint(str(path), 1, f"{what} stands nowhere", "make each figure of the brief a fact"))
    return found


__all__ = ["BriefPlan", "OpenQuestions", "PlannedFigure", "answer", "check", "read"]
