"""When is handing over right? The rule that judges are given has versions, and each version's verdicts are kept.

The world knows the answer (`Task.transfer_right`), so every version of the rule has an error rate, and from one
version to the next every verdict stays, is mended, is broken, or moves from one wrong answer to another. The versions
that CX Lab comes with lie in prompts/escalation.yaml, one's own beside the data, in rules/escalation.yaml of the store.

    python -m cxlab rejudge RUN --judge ...     # asks what was not asked yet: cxlab/runner/stored/rejudge.py
    page Judges, Bias, Escalation             # rates, flips, tests: cxlab/views/escalation/queries.py
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError, model_validator

from cxlab import files
from cxlab.benchmarks.mmtaup2.prompts import judge_prompts
from cxlab.errors import BadFile, BadOption, UnknownName
from cxlab.records import content_id
from cxlab.records.base import Record
from cxlab.store import layout

FILE = judge_prompts.HERE / "escalation.yaml"
LONGEST = 4000
_HEAD = """\
# Your own versions of the rule about handing over; they count on from those that CX Lab comes with.
# `found` says what was wrong with the version before, `rule` is what judges read.
"""


def _check_rule(rule: str) -> str:
    if not rule.strip():
        raise ValueError("the rule says nothing")
    return rule


Rule = Annotated[str, Field(min_length=1, max_length=LONGEST), AfterValidator(_check_rule)]


class EscalationRule(Record):
    """One version: the rule as judges read it, and what was found wrong with the one before.

    `domains`: domain → the rule with that domain's own cases; conversations of any other are judged by `rule`.
    """

    version: int = Field(ge=1)
    found: str = Field(max_length=LONGEST)
    rule: Rule
    domains: dict[str, Rule] = {}

    def say(self, domain: str) -> str:
        """The rule as judges of this domain's conversations read it."""
        return self.domains.get(domain, self.rule)

    @property
    def question(self) -> str:
        """Hash of all that judges read beside the conversation: verdicts belong to it, not to the number."""
        own = [self.domains] if self.domains else []
        return content_id(judge_prompts.outcome_prompt(self.version).hash, self.rule, *own)


class _File(Record):
    rules: tuple[EscalationRule, ...]

    @model_validator(mode="after")
    def _counted(self) -> _File:
        numbers = [rule.version for rule in self.rules]
        if numbers and numbers != list(range(numbers[0], numbers[0] + len(numbers))):
            raise ValueError(f"versions must count up by one, not {', '.join(map(str, numbers))}")
        return self


def rules() -> tuple[EscalationRule, ...]:
    """All versions, the first one first: those of CX Lab, then one's own."""
    shipped = _read(FILE, FILE.stat().st_mtime_ns)
    path = own_file()
    try:
        own = _read(path, path.stat().st_mtime_ns)
    except FileNotFoundError:
        return shipped
    if own and own[0].version != shipped[-1].version + 1:
        problem = f"begins with version {own[0].version}, but CX Lab comes with {len(shipped)}"
        raise BadFile(path, None, problem, f"count on from {len(shipped) + 1}")
    return (*shipped, *own)


def own_file() -> Path:
    """Where one's own versions lie; it need not be there."""
    return layout.home() / "rules" / "escalation.yaml"


def find(version: int | None = None, among: Sequence[EscalationRule] | None = None) -> EscalationRule:
    """A version of the rule, the last one for None."""
    known = rules() if among is None else among
    if version is None:
        return known[-1]
    for rule in known:
        if rule.version == version:
            return rule
    raise UnknownName("version of the rule about handing over", version, [rule.version for rule in known])


def add(rule: str, found: str) -> EscalationRule:
    """Write a new version behind the last one, into one's own file; BadOption for one that says nothing new."""
    known = rules()
    text = " ".join(rule.split())
    for one in known:
        if " ".join(one.rule.split()) == text:
            raise BadOption(f"version {one.version} of the rule says just that")
    if not text or len(text) > LONGEST or len(found) > LONGEST:
        raise BadOption(f"a rule has from 1 to {LONGEST:,} characters, and so has what was found")
    fresh = EscalationRule(version=known[-1].version + 1, found=" ".join(found.split()) or "Not said.", rule=text)
    path = own_file()
    mine = [one for one in known if one.version > len(_read(FILE, FILE.stat().st_mtime_ns))]
    entries = [one.model_dump(exclude_defaults=True) for one in (*mine, fresh)]
    body = files.dump_yaml({"rules": entries})
    layout.write_whole(path, (_HEAD + body).encode())
    return fresh


def questions(facets: Mapping[str, str], options: Mapping[str, Any]) -> dict[str, str]:
    """Judged field → what judges are asked of it; where handing over counts, with the versions of the rule that the
    run's options name. The same of all samples."""
    del facets
    found = dict[str, str]()
    for group in judge_prompts.TURN_GROUPS:
        found |= judge_prompts.turn_prompt(group).points
    found |= judge_prompts.annoyance_prompt().points
    given = options.get("escalation")
    texts = [str(each.get("rule", "")) for each in given] if isinstance(given, list | tuple) else [find(given).rule]
    rule = "\n".join(f"When handing over to a person counts as solving the matter: {text}" for text in texts)
    asked = judge_prompts.outcome_prompt(find().version).points
    return found | {name: f"{text}\n{rule}" for name, text in asked.items()}


def write_option(versions: Sequence[EscalationRule]) -> list[dict[str, Any]]:
    """The versions as the option `escalation` of a run keeps them, text and all: what was asked stays readable."""
    return [{**rule.model_dump(), "question": rule.question} for rule in versions]


def read_option(option: Any) -> tuple[EscalationRule, ...] | None:
    """The versions of an option that has several; None for one that names a version, or is not given.

    BadOption where the judges' prompt has changed since: its verdicts would be filed under another question.
    """
    if not isinstance(option, list | tuple):
        if option is not None and (isinstance(option, bool) or not isinstance(option, int)):
            raise BadOption(f"escalation={option!r}: must be the number of a version")
        return None
    found = []
    for entry in option:
        if not isinstance(entry, Mapping):
            raise BadOption("escalation takes one version; to compare versions: python -m cxlab rejudge")
        try:
            known = EscalationRule.model_fields.keys() & entry.keys()
            rule = EscalationRule.model_validate({name: entry[name] for name in known})
        except ValidationError as error:
            raise BadOption(f"escalation: {error.errors()[0]['msg']}") from None
        if entry.get("question") != rule.question:
            raise BadOption("the judges' prompt has changed since this was planned; ask anew: python -m cxlab rejudge")
        found.append(rule)
    return tuple(found)


@functools.lru_cache(maxsize=8)
def _read(path: Path, changed: int) -> tuple[EscalationRule, ...]:
    """The versions of a file as it is; `changed` makes that another question once it is written anew."""
    return files.load_model(path, _File, "see prompts/escalation.yaml of this benchmark").rules
