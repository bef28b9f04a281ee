"""Which issues of which subjects become articles, and the tools that their steps call.

plans = plan_issues(ledger, topics, count=1425, seed=1)    # [IssuePlan(id, issue, subject, title, tools)]
tools = define_tools(ledger.brand, plans, most=150)        # [OpenAI function definition, ...]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cxlab.benchmarks.cxmarena.brand.brand_pack import Brand
from cxlab.benchmarks.cxmarena.brand.ledger import Ledger, rng_for
from cxlab.benchmarks.cxmarena.knowledge.topic_tree import Topic
from cxlab.records import content_id


@dataclass(frozen=True)
class IssuePlan:
    """One issue of one subject, to become an article."""

    id: str
    issue: str
    subject: str
    title: str
    tools: tuple[str, ...]


def plan_issues(ledger: Ledger, topics: Sequence[Topic], count: int, seed: int) -> list[IssuePlan]:
    """`count` issues of subjects with a topic, spread evenly over issues and families; all when there are fewer."""
    brand = ledger.brand
    rng = rng_for("issues", seed)
    present = sorted({t.subject for t in topics if t.subject is not None and t.aspect is None} or set(ledger.subjects))
    piles = []
    for key, issue in brand.issues.items():
        for family in issue.families:
            pile = [(key, s) for s in present if ledger.subjects[s].family == family]
            if pile:
                piles.append([pile[int(i)] for i in rng.permutation(len(pile))])
    piles = [piles[int(i)] for i in rng.permutation(len(piles))]
    found: list[IssuePlan] = []
    depth = 0
    while len(found) < count and any(depth < len(pile) for pile in piles):
        for pile in piles:
            if depth < len(pile) and len(found) < count:
                key, subject = pile[depth]
                issue = brand.issues[key]
                tools = tuple(tool_name(brand, s.tool, ledger.subjects[subject].family) for s in issue.steps if s.tool)
                found.append(
                    IssuePlan(
                        f"{key}.{content_id(subject, length=8)}",
                        key,
                        subject,
                        _title(ledger, subject, issue.title),
                        tuple(dict.fromkeys(tools)),
                    )
                )
        depth += 1
    return found


def _title(ledger: Ledger, subject: str, title: str) -> str:
    """The article's title: the bare name and what is the matter, or a sentence about it."""
    if title.startswith(":"):
        return ledger.brand.language.polish(subject + title)
    text = ledger.brand.language.polish(f"{ledger.in_text(subject)} {title}")
    return text[:1].upper() + text[1:]


def tool_name(brand: Brand, tool: str, family: str) -> str:
    """The tool's name for a family: templates with families give one tool each."""
    return f"{tool}_{family}" if family in brand.tools[tool].families else tool


def define_tools(brand: Brand, issues: Sequence[IssuePlan], most: int = 150) -> list[dict[str, Any]]:
    """Tool definitions in OpenAI's form, those that issues use most first; without doubles, `most` at most."""
    use: dict[str, int] = {}
    for plan in issues:
        for name in plan.tools:
            use[name] = use.get(name, 0) + 1
    for key, tool in brand.tools.items():
        for name in [f"{key}_{f}" for f in tool.families] or [key]:
            use.setdefault(name, 0)
    found: dict[str, dict[str, Any]] = {}
    seen: set[str] = set()
    for name in sorted(use, key=lambda n: (-use[n], n)):
        definition = define_tool(brand, name)
        told = definition["function"]["description"].lower()
        if told not in seen and len(found) < most:
            seen.add(told)
            found[name] = definition
    return list(found.values())


def define_tool(brand: Brand, name: str) -> dict[str, Any]:
    """One definition; `name` is a template's key, or a key and a family."""
    key = max((k for k in brand.tools if name == k or name.startswith(f"{k}_")), key=len)
    spec, family = brand.tools[key], name[len(key) + 1 :]
    noun = brand.families[family].one if family else ""
    parameters: dict[str, dict[str, Any]] = {}
    for p in spec.parameters:
        about = brand.parameters[p]
        parameters[p] = {"type": "string", "description": about.description}
        if about.options:
            parameters[p]["enum"] = list(about.options)
    told = spec.description.replace("{family}", noun)
    return write_definition(name, f"{brand.language.polish(told)}. → {spec.returns}", parameters)


def write_definition(name: str, description: str, parameters: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A tool in OpenAI's form; `parameters` are JSON schemas by name, and all of them have to be given."""
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": dict(parameters),
                "required": list(parameters),
                "additionalProperties": False,
            },
            "strict": True,
        },
    }
