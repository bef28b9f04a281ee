"""Judging stored conversations again under each version of the rule about handing over: the outcome only."""

from collections.abc import Mapping, Sequence
from typing import Any

from cxlab.benchmarks.contract import Rejudge
from cxlab.benchmarks.mmtaup2.evaluation.judging import rubric_versions
from cxlab.benchmarks.mmtaup2.evaluation.judging.rubric_versions import EscalationRule
from cxlab.benchmarks.mmtaup2.prompts import judge_prompts
from cxlab.records import Run


def choose(numbers: Sequence[int]) -> tuple[EscalationRule, ...]:
    """The versions of these numbers, each once; all when none is given."""
    return tuple(map(rubric_versions.find, dict.fromkeys(numbers))) or rubric_versions.rules()


def plan(rules: Sequence[EscalationRule]) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """(options, prompts by name) of a run whose judges are asked once under each rule."""
    asked = [(rule.version, judge_prompts.outcome_prompt(rule.version)) for rule in rules]
    options = {"judge_groups": ["outcome"], "escalation": rubric_versions.write_option(rules)}
    return options, {f"{prompt.name}_v{version}": prompt.hash for version, prompt in asked}


def asked(run: Run) -> tuple[str, ...]:
    """The questions that a run asks: hashes of prompt and rule."""
    rules = run.setup.get("options", {}).get("escalation")
    return tuple(str(entry.get("question")) for entry in rules) if isinstance(rules, list) else ()


REJUDGE = Rejudge("the rule about handing over", "escalation", "Escalation", choose, plan, asked)
