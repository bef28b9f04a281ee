"""What readers of a query and a conversation are asked: whether it fits, or how likely that is."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cxlab.benchmarks.cdr.prompts.relevance import FIT, RATE, FitInputs, RateInputs
from cxlab.benchmarks.cdr.units import UnitText, cut_middle
from cxlab.benchmarks.generation import stages
from cxlab.benchmarks.generation.stages import Progress
from cxlab.llm import ChatModel, ask
from cxlab.records import Conversation, content_id

Readings = Mapping[tuple[str, str], tuple[bool | None, str]]
"""(query, conversation) → whether it fits (None: the reply could not be read), and why."""
TEXT = UnitText()


class PairReadings:
    """What models are asked of pairs; each answer is kept under its stage."""

    def __init__(
        self, corpus: Mapping[str, Conversation], queries: Mapping[str, str], seed: int, folder: Path | None
    ) -> None:
        self.queries, self.seed, self.folder = queries, seed, folder
        self.texts = {name: TEXT.write(talk.messages) for name, talk in corpus.items()}
        self.lengths = {name: len(talk.messages) for name, talk in corpus.items()}

    def seed_of(self, *parts: str) -> int:
        return int(content_id("label", *parts, self.seed), 16) % 2**31

    def fit(
        self, stage: str, model: ChatModel, pairs: Sequence[tuple[str, str]]
    ) -> Generator[Progress, None, dict[tuple[str, str], tuple[bool | None, str]]]:
        """(query, conversation) → whether it fits (None: the reply could not be read), and why."""

        async def one(pair: tuple[str, str]) -> dict[str, Any]:
            query, name = pair
            inputs = FitInputs(query=self.queries[query], conversation=cut_middle(self.texts[name]))
            reply = await ask(model, FIT, inputs, seed=self.seed_of(stage, model.name, *pair))
            said = reply.output
            return {"fits": said.fits == "yes" if said else None, "reason": said.reason if said else "unreadable reply"}

        rows = yield from stages.run(stage, pairs, "\n".join, one, self.folder)
        return {pair: (row["fits"], row["reason"]) for pair, row in zip(pairs, rows, strict=True)}

    def rate(
        self, stage: str, model: ChatModel, pairs: Sequence[tuple[str, str]]
    ) -> Generator[Progress, None, dict[tuple[str, str], float | None]]:
        """(query, conversation) → how likely it fits, from 0 to 1; None: the reply could not be read."""

        async def one(pair: tuple[str, str]) -> dict[str, Any]:
            query, name = pair
            inputs = RateInputs(query=self.queries[query], conversation=cut_middle(self.texts[name]))
            reply = await ask(model, RATE, inputs, seed=self.seed_of("rate", model.name, *pair))
            return {"chance": reply.output.chance / 100 if reply.output else None}

        rows = yield from stages.run(stage, pairs, "\n".join, one, self.folder)
        return {pair: row["chance"] for pair, row in zip(pairs, rows, strict=True)}
