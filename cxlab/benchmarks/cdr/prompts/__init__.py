"""What models are asked about conversations."""

from cxlab.benchmarks.cdr.prompts.reranking import RERANK, Candidate, RerankInputs, RerankReply

PROMPTS = (RERANK,)

__all__ = ["PROMPTS", "RERANK", "Candidate", "RerankInputs", "RerankReply", "hashes"]


def hashes() -> dict[str, str]:
    """Prompt name → hash, as runs keep them."""
    return {prompt.name: prompt.hash for prompt in PROMPTS}
