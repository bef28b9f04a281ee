"""What models are asked: in each schema the reasons come before what is decided by them."""

import pytest

from cxlab.benchmarks.cxmarena.evaluation import evaluation_prompts
from cxlab.benchmarks.cxmarena.tasks import task_prompts
from cxlab.llm import Prompt

REASONS = {"reason", "first", "second", "shared"}
DECISIONS = {"intent", "answer", "verdict", "contradicts", "similar", "holds", "supported", "answerable", "relevant"}


@pytest.mark.parametrize("prompt", [*evaluation_prompts.EVALUATION, *task_prompts.ALL], ids=lambda prompt: prompt.name)
def test_reasons_come_before_decisions(prompt: Prompt) -> None:
    assert prompt.check() == []
    schema = prompt.Output.model_json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        fields = list(part.get("properties", ()))
        reasons = [place for place, name in enumerate(fields) if name in REASONS]
        decisions = [place for place, name in enumerate(fields) if name in DECISIONS]
        assert not reasons or not decisions or max(reasons) < min(decisions), fields
