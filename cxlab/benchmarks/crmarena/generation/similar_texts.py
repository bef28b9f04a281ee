"""Cases whose texts are nearly those of earlier ones, whatever names and numbers they hold.

Two texts are alike when one has most runs of five words with an earlier one in common, its own facts (names, order,
address, product) put aside. Each run of words remembers which cases had it that were like none before; those that are
like one are no more compared with, so that copies cost nothing.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from cxlab.benchmarks.crmarena.generation.prompts import CaseFacts, CaseText

RUN = 5
ALIKE_FROM = 0.6
_WORD = re.compile(r"[\w'@.-]*\w")


def find_similar(cases: Sequence[CaseFacts], texts: Mapping[int, CaseText]) -> dict[int, int]:
    """Number of a case → that of the earlier one that its text is nearly the same as."""
    owners: dict[tuple[str, ...], list[int]] = defaultdict(list)
    found: dict[int, int] = {}
    for case in cases:
        runs = _runs_of(case, texts[case.number])
        votes = Counter(number for run in runs if run in owners for number in owners[run])
        owner, shared = votes.most_common(1)[0] if votes else (0, 0)
        if runs and shared >= ALIKE_FROM * len(runs):
            found[case.number] = owner
        else:
            for run in runs:
                owners[run].append(case.number)
    return found


def _runs_of(case: CaseFacts, text: CaseText) -> set[tuple[str, ...]]:
    whole = "\n".join(line.text for line in text.lines)
    for fact in sorted(filter(None, _list_facts(case)), key=len, reverse=True):
        whole = whole.replace(fact, "…")
    return list_runs(whole)


def list_runs(text: str) -> set[tuple[str, ...]]:
    """Each five words of a text that stand together."""
    words = [word.lower() for word in _WORD.findall(text)]
    return {tuple(words[place : place + RUN]) for place in range(len(words) - RUN + 1)}


def _list_facts(case: CaseFacts) -> Iterable[str]:
    return (case.customer, case.agent, case.colleague or "", case.product, case.order, case.email)


def open_of(text: CaseText) -> str:
    """How a case begins, for a writer who shall not begin like it."""
    return " ".join(text.lines[0].text.split()[:20])
