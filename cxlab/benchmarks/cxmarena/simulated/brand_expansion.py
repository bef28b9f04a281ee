"""How simulated models make a brand pack of a brief, without inventing a trade that they know nothing of.

What the plan of the brief says is sold becomes product lines (brief_reading.py). The archetype of its trade brings what such things have: properties, parts, issues with their steps, tools, a service. What holds
for any trade (delivery, returns, privacy, ...) is the language's own pack, without the lines that speak of that
pack's trade. Figures of the brief become facts: of the products or rules that they speak of, else of an overview.
A trade that is none of the archetypes keeps what holds for any trade, and the pack's `note` says so.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from cxlab import files
from cxlab.benchmarks.cxmarena.brand.brand_pack import CURRENCIES, FOLDER
from cxlab.benchmarks.cxmarena.brand.ledger import slug
from cxlab.benchmarks.cxmarena.brand.pack_from_brief import BriefInputs
from cxlab.benchmarks.cxmarena.simulated import industry_archetypes
from cxlab.benchmarks.cxmarena.simulated.brief import coin
from cxlab.benchmarks.cxmarena.simulated.brief_facts import add_brief_facts
from cxlab.benchmarks.cxmarena.simulated.industry_archetypes import Archetype, CommonArchetype
from cxlab.llm.simulated.profiles import Profile

Pack = dict[str, Any]
GOODS = {"en": "products", "fr": "produits", "de": "Produkte"}
# The largest choice of the tool task is out of 128 (see sizes.py); a pack made of a brief has as many as that asks for.
TOOLS = 150
# A side of a subject of which fewer lines are left is no article of its own.
FEWEST_LINES = 2
# In the language of the pages that show it, whatever the brand speaks.
NOTE = "No archetype of a trade fits {lines}: its products have only what holds for any trade."


def expand_brand(inputs: BriefInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The pack as YAML."""
    from cxlab.benchmarks.cxmarena.brand.pack_from_brief import EXAMPLES

    language = inputs.language_id
    # Copies, because what is read from the files is kept and shared.
    known = industry_archetypes.common(language).model_copy(deep=True)
    path = FOLDER / f"{EXAMPLES[language]}.yaml"
    source = path.read_text(encoding="utf-8")
    name = inputs.name
    base_name = re.search(r"^name: (.+)$", source, re.MULTILINE)
    own = str(base_name[1]).strip() if base_name else ""
    for word in sorted({own, own.split()[-1]} - {"", "Maison"}, key=len, reverse=True):
        source = source.replace(word, name)
    pack: Pack = files.parse_yaml(source, path)
    pack["id"] = re.sub(r"\W+", "_", slug(name).replace("-", "_")) or "brand"
    pack["name"], pack["overview"] = name, inputs.brief
    for currency, sign in CURRENCIES.items():
        if sign in inputs.brief:
            pack["currency"] = currency
    lines = list(inputs.products) or [GOODS[language]]
    pack["domain"] = ", ".join(lines)
    # Whoever says a trade that no archetype is of gets what holds for any.
    trade = industry_archetypes.find(inputs.trade, language, lines)
    trade = trade and industry_archetypes.charged_so(trade, inputs.brief, language)
    chosen = _choose(lines, trade, language)
    own_copies = {kind.name: kind.model_copy(deep=True) for kind in chosen.values() if kind}
    kinds = {line: own_copies[kind.name] if kind else None for line, kind in chosen.items()}
    if unfit := [line for line, kind in kinds.items() if kind is None]:
        pack["note"] = NOTE.format(lines=", ".join(unfit))
    signed = all(kind.contract if kind else inputs.trade == industry_archetypes.ANY_SERVICE for kind in kinds.values())
    _make_common(pack, known, kinds, signed)
    fresh = _name_lines(lines, set(pack["families"]))
    taken = {m.lower() for f in pack["families"].values() for m in f["models"]}
    named = _name_models(lines, kinds, taken, language, rng)
    made = {fresh[line]: _make_line(pack, known, line, kinds[line], named[line], signed) for line in lines}
    services = _add_services(pack, known, kinds)
    pack["families"] = {**made, **services, **pack["families"]}
    _add_issues(pack, known, {fresh[line]: kind for line, kind in kinds.items()}, list(services), signed)
    _add_tools(pack, known, {fresh[line]: kind for line, kind in kinds.items()}, signed)
    _mend_references(pack)
    # A small tree shows what the brief names before anything else.
    brought = {name for kind in kinds.values() if kind for name in kind.properties}
    planned = {one.value: one.of for one in inputs.figures}
    words = {name: said for kind in kinds.values() if kind for name, said in kind.promises.items()}
    promised = add_brief_facts(pack, known, inputs.brief, language, list(made), brought, planned, words)
    pack["always"] = [*list(made)[:3], *promised]
    return files.dump_yaml(pack, width=1000)


def _choose(lines: list[str], trade: Archetype | None, language: str) -> dict[str, Archetype | None]:
    """The trade of each line; goods that its words do not name, as helmets beside bicycles, are goods of any kind."""
    if trade is None or trade.contract or trade.all_lines:
        return dict.fromkeys(lines, trade)
    named = {line for line in lines if industry_archetypes.count(trade.brief, line, language)}
    return {line: trade if line in named or not named else None for line in lines}


# How German writes these without its own letters.
_SPELT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


def _name_lines(lines: list[str], taken: set[str]) -> dict[str, str]:
    """A key a line, which tools and intents are named by too; the pack's own families keep theirs."""
    found: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        key = slug(line.lower().translate(_SPELT)).replace("-", "_")
        known = {*taken, *found.values()}
        # Letters that no key can have leave nothing; a key begins with a letter.
        found[line] = key if re.match("[a-z]", key) and key not in known else f"line_{key or number}"
    return found


def _name_models(
    lines: list[str], kinds: dict[str, Archetype | None], taken: set[str], language: str, rng: np.random.Generator
) -> dict[str, list[str]]:
    """What the products of each line are called: as the trade calls them, each name in one line, else coined."""
    found: dict[str, list[str]] = {}
    for line in lines:
        coined = coin(rng, taken)
        kind = kinds[line]
        if kind is None or not kind.models:
            found[line] = coined
            continue
        alike = [one for one in lines if kinds[one] is kind]
        own = kind.models[alike.index(line) :: len(alike)][: len(coined)]
        found[line] = [kind.called.format(model=model, one=_singular(kind, line, language)) for model in own]
    return found


def _singular(kind: Archetype, line: str, language: str) -> str:
    """One thing of a line as it is written in a name: "current accounts" is "Current Account" in English."""
    one = next((line[: -len(many)] + single for many, single in kind.singular.items() if line.endswith(many)), line)
    if language == "fr" and one == line:
        one = re.sub(r"(?<=\w{3})(?<!cour)(?<!s)s\b", "", line)
    return one.title() if language == "en" else one[:1].upper() + one[1:]


def _make_common(pack: Pack, known: CommonArchetype, kinds: dict[str, Archetype | None], signed: bool) -> None:
    """What holds for any trade: the language's pack without its products and what speaks of its own trade."""
    drops = {*known.drops, *(known.contract.drops if signed else ())}
    pack["words"] = {**pack.get("words", {}), **{key: list(words) for key, words in known.words.items()}}
    # Who signs contracts has no shop in which to ask.
    pack["words"] |= {"channel": list(known.channels)} if signed and known.channels else {}
    pack["words"] |= {"paper": list(known.contract.papers)} if signed and known.contract.papers else {}
    own = [word for kind in kinds.values() if kind for word in kind.foreign]
    unsaid = (*known.foreign, *own, *(known.contract.foreign if signed else ()))
    foreign = re.compile("|".join(map(re.escape, unsaid)))
    families = {}
    for key, family in pack["families"].items():
        if family["root"] == "products" or key in drops:
            continue
        for part in ("models", "about", "use", "care"):
            family[part] = _without(family.get(part, []), foreign)
        family["about"] = [*family["about"], *known.roots.get(family["root"], ())]
        if foreign.search(family["description"].lower()):
            family["description"] = f"{family['title']} – {pack['name']}."
        if family["models"] and family["about"]:
            families[key] = family
    pack["families"] = families
    if signed:
        families |= {"papers": known.papers, "withdrawal": known.withdrawal}
    for said in pack["properties"].values():
        said["remarks"] = _without(said.get("remarks", []), foreign)
    for aspect in pack["aspects"].values():
        aspect["lines"] = _without(aspect["lines"], foreign)
    pack["aspects"] = {key: a for key, a in pack["aspects"].items() if len(a["lines"]) >= FEWEST_LINES}
    for key, issue in pack["issues"].items():
        for part in ("customer", "symptom", "causes"):
            issue[part] = _without(issue[part], foreign) or issue[part]
        issue.update(known.issues.get(key, {}))
    pack["parameters"] = {**pack["parameters"], **known.parameters}
    pack["dependencies"] = [d for d in pack["dependencies"] if d["law"] != "bundle"]


def _without(lines: list[str], foreign: re.Pattern[str]) -> list[str]:
    return [line for line in lines if not foreign.search(line.lower())]


def _make_line(
    pack: Pack, known: CommonArchetype, line: str, trade: Archetype | None, models: list[str], signed: bool
) -> dict[str, Any]:
    """A product line's family, with what its trade brings put into the pack."""
    title = line[:1].upper() + line[1:]
    keeps = trade.keeps if trade else known.contract.keeps if signed else known.keeps
    usual = {**(known.contract.draws if signed else {}), **(trade.draws if trade else {})}
    draws: dict[str, Any] = {name: usual.get(name, {}) for name in keeps}
    pack["aspects"].update(known.aspects)
    says = trade or (known.contract_line if signed else known.line)
    if trade:
        draws |= {name: {} for name in trade.properties}
        draws = {name: draw for name, draw in draws.items() if trade.holds(name, line)}
        pack["properties"].update(trade.properties)
        pack["aspects"].update(trade.aspects)
    family = {
        "root": "products",
        "title": title,
        "one": line,
        **{case: found for case in ("the", "acc", "dat") if (found := getattr(says, case))},
        "many": line,
        "description": f"{title} – {pack['name']}.",
        "models": models,
        "article": _article(trade, models),
        "stays": trade is not None and trade.stays,
        "contract": trade.contract if trade else signed,
        "variants": list(trade.variants if trade else ()),
        "properties": draws,
        "aspects": [*(trade.aspects if trade else ()), *known.aspects],
    }
    told = {part: list(getattr(says, part)) for part in ("about", "use", "care")}
    told["about"].insert(0, (trade.belongs if trade and trade.belongs else known.belongs).format(line=line))
    return {**family, **told}


def _article(trade: Archetype | None, models: list[str]) -> str:
    """The article that the names of a line's models have; "" where their beginning is no noun that the trade knows."""
    articles = trade.articles if trade else {}
    # German joins words: a "Girokonto" is a "Konto".
    first = models[0].lower().split()[0]
    return next((article for noun, article in articles.items() if first.startswith(noun) or first.endswith(noun)), "")


def _add_services(pack: Pack, known: CommonArchetype, kinds: dict[str, Archetype | None]) -> dict[str, Any]:
    """One family of services a trade; the one of any trade where there is none."""
    found: dict[str, Any] = {}
    trades: list[Archetype | None] = [kind for kind in kinds.values() if kind]
    for kind in trades or [None]:
        own = kind.service if kind else {}
        given = {**known.service, **own, "root": "services"}
        given["properties"] = {name: known.contract.draws.get(name, {}) for name in given["properties"]}
        found[f"service_{kind.name if kind else 'any'}"] = given
    for family in (*pack["families"].values(), *found.values()):
        if not isinstance(family["properties"], dict):
            family["properties"] = {name: {} for name in family["properties"]}
    return found


def _add_issues(
    pack: Pack, known: CommonArchetype, kinds: dict[str, Archetype | None], services: list[str], signed: bool
) -> None:
    """Issues of what stayed, those of goods or contracts for the lines, and each trade's own."""
    kept = set(pack["families"])
    lines = list(kinds)
    found: dict[str, Any] = {}
    for kind in {k.name: k for k in kinds.values() if k}.values():
        for key, issue in kind.issues.items():
            # By the title, since a key has lost the letters that no key can have.
            mine = [line for line in lines if kinds[line] is kind and kind.holds(key, pack["families"][line]["title"])]
            if mine:
                found[key] = {**issue, "families": mine}
    for key, issue in pack["issues"].items():
        families = [f for f in issue["families"] if f in kept]
        if key in known.contract.issues:
            families = [*services, *families]
        for line, trade in kinds.items():
            also = trade.also if trade else None
            if also is None:
                also = known.contract.issues if (trade.contract if trade else signed) else known.goods
            families += [line] * (key in also)
        if families:
            found[key] = {**issue, "families": list(dict.fromkeys(families))}
    pack["issues"] = found


def _add_tools(pack: Pack, known: CommonArchetype, kinds: dict[str, Archetype | None], signed: bool) -> None:
    """Tools that hold for any trade and the trades' own; one a family until there are as many as the task needs."""
    lines = list(kinds)
    tools: dict[str, Any] = {}
    for kind in {k.name: k for k in kinds.values() if k}.values():
        mine = [line for line in lines if kinds[line] is kind]
        tools |= {key: {**tool, "families": mine} for key, tool in kind.tools.items()}
        pack["parameters"].update(kind.parameters)
        pack["results"] = [*pack.get("results", ()), *(form.model_dump(mode="json") for form in kind.results)]
    kept = set(pack["families"])
    for key in known.tools:
        tool = pack["tools"][key]
        families = [f for f in tool.get("families", ()) if f in kept]
        if len(families) < len(tool.get("families", ())):
            families = [*lines, *families]
        tools[key] = {**tool, "families": families}
    steps = [step for i in pack["issues"].values() for step in i["steps"] if isinstance(step, dict)]
    used = {step["tool"] for step in steps if step.get("tool")}
    for key in sorted(used - set(tools)):
        tools[key] = {**pack["tools"][key], "families": []}
    rest = [f for f in pack["families"] if pack["families"][f]["root"] not in ("story", "legal", "privacy", "events")]
    for family in rest:
        for key in known.tools:
            if sum(max(len(t["families"]), 1) for t in tools.values()) >= TOOLS:
                break
            tool = tools[key]
            if "{family}" not in tool["description"]:
                tool["description"] += ": {family}"
            if family not in tool["families"]:
                tool["families"] = [*tool["families"], family]
    pack["tools"] = tools
    if kinds and all(kind.contract if kind else signed for kind in kinds.values()):
        # Who has signed a contract has no order to be named; money goes back by the contract, or by the booking.
        by = next((kind.refund_by for kind in kinds.values() if kind and kind.refund_by), known.contract_number)
        for key, tool in tools.items():
            swap = {known.order: by} if key == known.refund else {}
            tools[key] = {**tool, "parameters": [swap.get(name, name) for name in tool["parameters"]]}


def _mend_references(pack: Pack) -> None:
    """Take out what points to aspects and properties that are gone."""
    aspects = set(pack["aspects"])
    for family in pack["families"].values():
        family["aspects"] = [a for a in family.get("aspects", []) if a in aspects]
    for aspect in pack["aspects"].values():
        aspect["after"] = [a for a in aspect.get("after", []) if a in aspects]


__all__ = ["expand_brand"]
