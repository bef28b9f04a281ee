"""No prompt speaks of one domain's things where it is about another's: a shop's judge hears nothing of SIM cards.

What a domain speaks of is read off its own sources: the names of a world's tools, what a procedure says of its desk.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from cxlab import benchmarks
from cxlab.benchmarks.mmtaup2 import worlds
from cxlab.benchmarks.mmtaup2.evaluation.judging import rubric_versions
from cxlab.benchmarks.prompt_renderings import record
from cxlab.benchmarks.sage import rules
from cxlab.records import Sample

# Words of any conversation, which tools and desks happen to be described with.
PLAIN = {"address", "agent", "agents", "amount", "app", "call", "calling", "can", "change", "check", "customer"}
PLAIN |= {"details", "enable", "for", "full", "get", "human", "last", "limit", "line", "list", "mode", "name"}
PLAIN |= {
    "number",
    "off",
    "payment",
    "question",
    "reason",
    "request",
    "reset",
    "run",
    "send",
    "set",
    "setting",
    "settings",
}
PLAIN |= {"side", "status", "summary", "test", "use", "want"}


def words(text: str) -> set[str]:
    """Words of three letters or more; parts of a name that a program uses are words of their own."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower()
    return set(re.findall(r"[^\W\d_]{3,}", spaced))


def samples_of(benchmark: str, facet: str, options: Mapping[str, object]) -> dict[str, Sample]:
    """A sample of each domain."""
    made = benchmarks.get(benchmark).generate_now(dict(options))[1]
    return {sample.facets[facet]: sample for sample in reversed(made)}


def asked(benchmark: str, sample: Sample) -> dict[str, str]:
    """Prompt → what all roles of one attempt are told, the dialogue left out."""
    found: dict[str, str] = {}
    for one in record(benchmarks.get(benchmark), sample).requests:
        told = [str(m["content"]) for m in one.request.messages if m["role"] == "system"]
        name = one.request.prompt.name if one.request.prompt else one.role
        found[name] = "\n".join([found.get(name, ""), *told, json.dumps(one.request.tools or [])])
    return found


def find(prompts: Mapping[str, str], foreign: set[str]) -> list[str]:
    """Which prompt speaks of which of these words."""
    return [f"{name}: {word}" for name, text in prompts.items() for word in sorted(words(text) & foreign)]


def test_roles_of_one_world_hear_nothing_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    demo = benchmarks.get("mmtaup2").demo
    assert demo is not None
    samples = samples_of("mmtaup2", "scenario", demo.generate)
    assert set(samples) == {"telecom", "retail"}
    found: list[str] = []
    named, policies = {}, {}
    for domain in samples:
        world = worlds.load(domain, 0)
        tools = [tool["function"] for side in ("agent", "customer") for tool in world.tools(side)]
        named[domain] = words(" ".join(" ".join([tool["name"], *tool["parameters"]["properties"]]) for tool in tools))
        policies[domain] = words(worlds.policy(domain))
    for domain, other in (("telecom", "retail"), ("retail", "telecom")):
        foreign = named[other] - named[domain] - policies[domain] - PLAIN
        assert foreign & {"sim", "item"}
        prompts = asked("mmtaup2", samples[domain])
        # Annoyance is asked of conversations that leave it open.
        assert sum("judge" in name for name in prompts) - ("mmtaup2_judge_annoyance" in prompts) == 5
        found += find(prompts, foreign)
        found += find({f"rule {rule.version}": rule.say(domain) for rule in rubric_versions.rules()}, foreign)
    assert "sim" in words(rubric_versions.find().say("telecom"))
    # Conversations of a domain that is not known here are judged by what holds anywhere.
    found += find({"the rule": rubric_versions.find(3).say("airline")}, (named["telecom"] | named["retail"]) - PLAIN)
    assert not found


def test_roles_of_one_procedure_hear_nothing_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    samples = samples_of("sage", "scenario", {})
    desk = {name: words(f"{rules.load(name).business} {rules.load(name).role}") for name in samples}
    files = {name: words(rules.files_by_id()[name].read_text(encoding="utf-8")) for name in samples}
    prompts = {name: asked("sage", sample) for name, sample in samples.items()}
    everywhere = set.intersection(*(words(text) for each in prompts.values() for text in each.values()))
    found: list[str] = []
    for name, each in prompts.items():
        foreign = set().union(*(desk[other] for other in samples if other != name)) - files[name] - everywhere - PLAIN
        assert len(foreign) > 5
        found += find(each, foreign)
    assert not found
