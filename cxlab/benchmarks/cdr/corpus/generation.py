"""Making a dataset of conversations that a writer writes, with resume and a budget, and what it will take."""

from __future__ import annotations

import shutil

from cxlab import llm
from cxlab.benchmarks.cdr.corpus import generated
from cxlab.benchmarks.cdr.corpus.dataset import build
from cxlab.benchmarks.cdr.options import CdrDataset
from cxlab.benchmarks.cdr.prompts import WRITE
from cxlab.benchmarks.generation import Generated, Generation, GenerationContext
from cxlab.benchmarks.generation.budget import CostEstimate
from cxlab.benchmarks.generation.stages import FaultStoppedModel
from cxlab.records import content_id
from cxlab.store import layout, write

# Of one conversation: the prompt's characters, four to a token, and ten messages, which the prompt asks for on average,
# of 40 tokens as JSON; those written by hand have 28.
PROMPT_TOKENS, COMPLETION_TOKENS = 335, 400
LICENCE = "made here: own work, as this repository; a real writer's words as its terms say"


def generate_made(options: CdrDataset, size: int, context: GenerationContext) -> Generation:
    """Plan, write and store; a second try of the same settings goes on where the first was stopped."""
    model = llm.load(options.model)
    writer = context.budget.meter(model)
    base = layout.resolve_home(context.home)
    work = base / "work" / content_id("cdr", size, context.seed, model.name, WRITE.hash)
    plans = generated.plan(size, context.seed)
    with layout.lock(work.with_suffix(".lock"), busy="another process makes this dataset at the moment; wait for it"):
        work.mkdir(parents=True, exist_ok=True)
        context.budget.open(work)
        steps = generated.write(plans, FaultStoppedModel(writer), context.seed, None if model.simulated else work)
        talks = yield from context.budget.follow(steps)
        made = generated.ask_for(plans, talks, context.seed)
        lost = size - len(talks)
        note = {"note": f"{lost:,} of {size:,} conversations could not be read and are left out"} if lost else {}
        spent = {} if model.simulated else {"spending": context.budget.sum_up()}
        dataset, samples, tables = build(
            f"{len(talks):,} conversations, made by {model.name}",
            "generated",
            made.conversations,
            made.queries,
            made.relevant,
            made.areas,
            config={
                "conversations": "generated",
                "writer": model.name,
                "simulated": model.simulated,
                "planned": size,
                "unread": lost,
                "prompts": {WRITE.name: WRITE.hash},
                **note,
                **spent,
            },
            licence=LICENCE,
            seed=context.seed,
        )
        folder = write.save_dataset(dataset, samples, base, tables=tables)
        shutil.rmtree(work)
    return Generated(dataset, tuple(samples), tables, folder)


def estimate_writing(model: str, size: int) -> CostEstimate | None:
    """What writing takes of a real model, from counts of the prompt and of conversations written by hand."""
    if model.startswith("simulated:"):
        return None
    return CostEstimate.of(model, size, size * PROMPT_TOKENS, size * COMPLETION_TOKENS)
