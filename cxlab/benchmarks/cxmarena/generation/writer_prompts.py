"""What a writer is asked while a dataset is made: all of it, once, so that it can be read.

ask_everything(model)       # a tiny dataset of a paragraph, in a store that is gone afterwards, and its checks
"""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

from cxlab.benchmarks.cxmarena.brand import ledger, pack_files
from cxlab.benchmarks.cxmarena.generation import pipeline
from cxlab.benchmarks.cxmarena.knowledge import topic_tree
from cxlab.benchmarks.cxmarena.options import CxmDataset
from cxlab.benchmarks.cxmarena.tasks import sample_validation
from cxlab.benchmarks.cxmarena.tasks.unlabelled_tasks import IntentSettings, find_reasons
from cxlab.benchmarks.generation import GenerationContext
from cxlab.benchmarks.generation.stages import finish
from cxlab.errors import CxError
from cxlab.llm.base import ChatModel
from cxlab.records import Sample
from cxlab.store import write

# A brand whose trade stand-ins know.
BRIEF = (
    "Fenwick Cycles builds city bikes and cargo bikes in Leeds and sells them online to families across Britain. "
    "A city bike costs £890 and has a warranty of 5 years; every bike can be returned within 60 days."
)
# Samples of each kind that are checked; a tiny dataset is made without checks.
CHECKED = 2
# What customers say first, as people's own conversations have it.
OPENINGS = (
    "Hi, my parcel was due on Monday and it has still not arrived.",
    "Where is my delivery? The link says out for delivery since yesterday.",
    "I would like my money back for the lamp, please.",
    "How do I get a refund? The lamp came broken.",
)


def ask_everything(model: ChatModel) -> None:
    """Has the model do every stage; where it cannot go on, what it was asked so far stands."""
    options = CxmDataset.read({"brief": BRIEF, "size": "tiny", "noise": ["acronyms"]})
    with tempfile.TemporaryDirectory(prefix="cxlab-writer-") as folder, suppress(CxError):
        home = Path(folder)
        made = finish(pipeline.generate(options, GenerationContext(home=home, workers=1, writer=model)))
        name = made.dataset.id
        texts: dict[str, dict[str, str]] = {}
        for row in write.load_table(name, "articles", home).iter_rows(named=True):
            for corpus in row["corpus"] or ():
                texts.setdefault(corpus, {})[row["article_id"]] = row["body"]
        taxonomies = write.load_table(name, "taxonomies", home).to_dicts()
        samples = [_doubt(sample) for sample in write.load_samples(name, home)]
        finish(sample_validation.check(samples, taxonomies, texts, model, 0, most=CHECKED))
        # So small a dataset takes the nearest topics, and no tree is grown.
        pack = pack_files.load(made.folder / "files" / "brand.yaml") if made.folder else None
        if pack is not None:
            facts = ledger.make(pack, 0, topic_tree.plan(pack, topic_tree.SMALLEST, 1))
            finish(topic_tree.grow(facts, model, topic_tree.SMALLEST, 0))
    said = {f"own_{place}": [text] for place, text in enumerate(OPENINGS)}
    with suppress(CxError):
        finish(find_reasons(said, IntentSettings.read({"count": 2}), GenerationContext(writer=model)))


def _doubt(sample: Sample) -> Sample:
    """A quality sample whose gold a reviewer does not share, so that a second one is asked."""
    if sample.task != "quality":
        return sample
    turned = ["No" if answer == "Yes" else "Yes" for answer in sample.expected["answers"]]
    return sample.model_copy(update={"expected": {**sample.expected, "answers": turned}})
