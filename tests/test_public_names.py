"""Names that others were promised stay importable where they are."""

import importlib

import pytest

PROMISED = {
    "cxlab.benchmarks.sage.rules": ("load",),
    "cxlab.benchmarks.sage.score": ("logic", "overall", "chat"),
    "cxlab.benchmarks.cxmarena.score": ("kb_pairs", "intent", "quality", "search", "multi_turn_recall", "tools"),
    "cxlab.benchmarks.crmarena.sandbox": ("Sandbox",),
    "cxlab.benchmarks.crmarena.score": ("exact", "f1"),
    "cxlab.benchmarks.crmarena.soql": ("parse",),
    "cxlab.benchmarks.crmarena.tools": ("TOOLS",),
    "cxlab.benchmarks.cdr": ("evaluate",),
    "cxlab.benchmarks.cdr.units": ("split",),
    "cxlab.benchmarks.mmtaup2.score": ("mm_tap",),
    "cxlab.benchmarks.mmtaup2.worlds": ("load",),
    "cxlab.benchmarks.mmtaup2.tasks": ("replay_gold",),
    "cxlab.metrics.agreement": (),
    "cxlab.metrics.intervals": (),
    "cxlab.metrics.paths": (),
    "cxlab.metrics.retrieval": (),
    "cxlab.llm": ("load", "ask"),
    "cxlab.retrieval": ("load",),
    "cxlab.voice": ("channel",),
    "cxlab.records": ("Conversation", "Message"),
}


@pytest.mark.parametrize("module", PROMISED)
def test_a_promised_name_is_where_it_was(module: str) -> None:
    found = importlib.import_module(module)
    assert [name for name in PROMISED[module] if not hasattr(found, name)] == []
