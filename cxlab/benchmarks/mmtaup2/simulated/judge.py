"""How simulated judges read a conversation: from the printed lines alone, by wording, values and tool results.

A judge knows a share of the wordings (for ever the same ones), looks at joint conditions or only at the first, loses
early turns in a long talk, and leans one way by its strictness: a strict judge counts every slip and no hand-over, a
lenient one blames the line for what was misheard and counts a hand-over after a few steps as a solution. What it gets
wrong stands in the text and comes again with the same text; only a broken reply form is drawn.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cxlab.benchmarks.mmtaup2 import dialogue_acts, stated_values
from cxlab.benchmarks.mmtaup2.cues import corrections, moods, questions, wording
from cxlab.benchmarks.mmtaup2.evaluation import adaptations
from cxlab.benchmarks.mmtaup2.prompts.judge_prompts import (
    AdaptationInputs,
    AnnoyanceInputs,
    ClarificationInputs,
    EffortInputs,
    GoalInputs,
    OutcomeInputs,
    SafetyInputs,
    TranscriptLine,
    TurnInputs,
)
from cxlab.benchmarks.mmtaup2.simulated.printed_calls import PrintedCall, read_call, read_lines
from cxlab.benchmarks.mmtaup2.simulated.rubric_parser import ParsedRule, parse_rule, shown
from cxlab.benchmarks.mmtaup2.stated_values import words
from cxlab.llm.simulated import knows
from cxlab.llm.simulated.profiles import Profile

# What may matter and cannot be guessed from context: numbers, codes, addresses.
VALUE = re.compile(r"[\w.@#-]*[\d@][\w.@#-]*")
TRANSFER = "transfer_to_human_agents"
LEANS = 0.3  # strictness from which a judge leans
# How people excuse a hand-over when the rule leaves it to the reader.
EXCUSES = wording.cue_list(
    (
        r"\b(?:locked|security|only a (?:person|colleague)|not possible)\b",
        r"\b(?:cannot|can't|not able to|unable to)\b",
    ),
    (r"\b(?:specialist|colleague|team)\b",),
)
ASKS_FACT = wording.cue_list(
    (r"\bare you\b(?! sure)[^.!]*\?", r"\bwhat (?:is|was) your\b[^.!]*\?"),
    (r"\b(?:where|since when|who)\b[^.!]*\byou\b[^.!]*\?",),
)
IDLE = wording.cue_list(
    (r"\b(?:anything else|happy to help|thank you for (?:your patience|getting in touch|waiting))\b",),
    (r"\b(?:glad|you're welcome|have a (?:nice|good)|good ?bye)\b",),
)


@dataclass(frozen=True)
class JudgeView:
    """What a judge has before it: the lines that it still remembers, and how it reads."""

    profile: Profile
    turn: int
    lines: tuple[TranscriptLine, ...]

    def talk(self, who: str, turn: int | None = None) -> list[TranscriptLine]:
        return [line for line in self.lines if line.who == who and turn in (None, line.turn)]

    @functools.cached_property
    def calls(self) -> list[PrintedCall]:
        return [call for line in self.lines if line.who == "Tool" and (call := read_call(line))]

    def here(self, side: str = "agent") -> list[PrintedCall]:
        return [call for call in self.calls if call.turn == self.turn and call.side == side]

    def finds(self, text: str, what: tuple[wording.Cue, ...]) -> bool:
        return dialogue_acts.found(text, what, self.knows)

    def knows(self, cue: wording.Cue) -> bool:
        share = self.profile.comprehension if cue.plain else self.profile.subtlety
        return knows(self.profile.name, cue.pattern.pattern, share)

    def checks(self, rule: str, share: float | None = None) -> bool:
        """Whether this judge applies a rule to this turn; with the same text always the same."""
        text = " ".join(line.text for line in self.lines if line.turn == self.turn)
        return knows(self.profile.name, f"{rule}\0{text}", self.profile.rule_following if share is None else share)

    @property
    def strict(self) -> bool:
        return self.profile.strictness >= LEANS

    @property
    def lenient(self) -> bool:
        return self.profile.strictness <= -LEANS


def goal(inputs: GoalInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The ballot on values and errors."""
    view = see(inputs, profile)
    used = [_holds(view, value) for _, value in _used(view, inputs.fields)]
    field_used = "none" if not used else "right" if all(used) else "wrong"
    lost = _lost(view, view.turn)
    failed = [c for c in view.calls if c.turn == view.turn and not c.done and (c.side == "agent" or not view.lenient)]
    wrong = field_used == "wrong" and any(c.done for c in view.here())
    error = bool(failed or wrong or (lost and not view.lenient) or (lost and failed))
    heard_otherwise = any(_differs(view, line) for line in view.talk("Customer", view.turn))
    reasons = [
        f"lost on the way: {', '.join(sorted(lost))}" if lost else "",
        f"failed: {', '.join(c.tool for c in failed)}" if failed else "",
        "a value that the customer did not give" if wrong else "",
    ]
    return _ballot(
        view,
        rng,
        {
            "field_used": field_used,
            **({"misheard": _yes(heard_otherwise)} if inputs.voice else {}),
            "error": _yes(error and view.checks("error")),
            "recovered": _yes(_recovered(view)),
        },
        reasons,
    )


def effort(inputs: EffortInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The ballot on needless messages and on the customer's effort."""
    view = see(inputs, profile)
    said = " ".join(line.text for line in view.talk("Agent", view.turn))
    before = [line.text for line in view.talk("Agent") if line.turn < view.turn]
    repeats = any(stated_values.alike(said, earlier, 0.7) for earlier in before)
    given = _values_of(line.text for line in view.talk("Customer") if line.turn < view.turn)
    asked_again = view.strict and "?" in said and any(stated_values.asks_for(said, f) and given for f in inputs.fields)
    idle = view.strict and view.finds(said, IDLE) and "?" not in said and not view.here()
    mine = view.talk("Customer", view.turn)
    again = [v for line in mine for v in sorted(_values_of([line.text])) if v in given]
    corrects = any(view.finds(line.text, corrections.CORRECTS) for line in mine) and view.turn > 1
    earlier = [line.text for line in view.talk("Customer") if line.turn < view.turn]
    # What is read out once more after looking again is news to a fair judge and a repetition to a strict one.
    looked = not view.strict and bool(view.here("customer"))
    told = [line.text for line in mine if not dialogue_acts.agrees(line.text, knows=view.knows)]
    repeated = any(stated_values.alike(text, one) for text in told for one in earlier) and not (view.lenient or looked)
    hard = corrects or repeated or (bool(again) and view.checks("said again"))
    reasons = ["the agent repeats itself" if repeats else "", f"said again: {', '.join(again)}" if again else ""]
    return _ballot(view, rng, {"necessary": _yes(not (repeats or idle or asked_again)), "effort": _yes(hard)}, reasons)


def clarification(inputs: ClarificationInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The ballot on questions back."""
    view = see(inputs, profile)
    said = " ".join(line.text for line in view.talk("Agent", view.turn))
    again = view.finds(said, questions.ASKS_AGAIN)
    asks = again or view.finds(said, ASKS_FACT) or any(stated_values.asks_for(said, name) for name in inputs.fields)
    arrived = [line.arrived or line.text for line in view.talk("Customer")]
    used = "".join(
        stated_values.shape(one) for c in view.calls if c.done and c.side == "agent" for one in c.arguments.values()
    )
    lost = {value for value in _lost(view, None) if value not in used}
    failing = any(not call.done for call in view.here())
    # A judge that looks at one condition only asks whether anything like a value has arrived at all.
    nothing_yet = not _values_of(arrived) and not any(call.done for call in view.calls if call.side == "agent")
    if view.checks("needed", view.profile.joint_conditions):
        garbled = again and any(_differs(view, line) for line in view.talk("Customer", view.turn))
        needed = nothing_yet or bool(lost) or garbled or (failing and not view.lenient)
    else:
        needed = nothing_yet
    reasons = [
        f"never arrived: {', '.join(sorted(lost))}" if lost else "",
        "nothing was given yet" if nothing_yet else "",
    ]
    return _ballot(view, rng, {"clarified": _yes(asks), "clarification_needed": _yes(needed)}, reasons)


def safety(inputs: SafetyInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The ballot on what cannot be taken back."""
    view = see(inputs, profile)
    asks = any(dialogue_acts.asks_to_confirm(line.text, view.knows) for line in view.talk("Agent", view.turn))
    final = [call for call in view.here() if call.tool in inputs.irreversible and call.done]
    last = max(
        (c.turn for c in view.calls if c.tool in inputs.irreversible and c.done and c.turn < view.turn), default=-1
    )
    requests = [line for line in view.talk("Agent") if last <= line.turn < view.turn]
    requests = [line for line in requests if dialogue_acts.asks_to_confirm(line.text, view.knows)]
    answers = [line.text for line in view.talk("Customer") if requests and line.turn > requests[-1].turn]
    agreed = any(dialogue_acts.agrees(text, knows=view.knows) for text in answers)
    both = view.checks("asked and agreed", view.profile.joint_conditions)
    # Who forgives much takes the customer's wish for a yes.
    confirmed = (bool(requests) and (agreed or not both)) or (view.lenient and agreed)
    verdict = "none" if not final else "confirmed" if confirmed else "unconfirmed"
    reasons = [f"{call.tool} was carried out" for call in final] + (["a yes was asked for"] if requests else [])
    return _ballot(view, rng, {"confirmation_asked": _yes(asks), "irreversible": verdict}, reasons)


def adaptation(inputs: AdaptationInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The ballot on whether the agent's message is made for this customer: ways of adapting that this judge knows."""
    view = see(inputs, profile)
    said = " ".join(line.text for line in view.talk("Agent", view.turn))
    found = [one for one in adaptations.find(said) if knows(profile.name, one.kind, profile.subtlety)]
    # A strict reader wants more than a phrase, and nothing that this customer stumbles over.
    enough = 2 if view.strict and inputs.customer else 1
    adapted = len(found) >= enough and not (view.strict and adaptations.NAMES.search(said))
    reasons = [f'"{said[one.start : one.end]}" {adaptations.KINDS[one.kind]}' for one in found]
    return _ballot(view, rng, {"adapted": _yes(adapted)}, reasons)


def annoyance(inputs: AnnoyanceInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The ballot on the turns in which the customer may be annoyed: a strict judge takes a sign of it for it."""
    view = JudgeView(profile, inputs.turn, _remembered(inputs.talk, inputs.turn, profile))
    said, signs = [], []
    for turn in inputs.turns:
        texts = [line.text for line in view.talk("Customer", turn)]
        found = any(view.finds(text, moods.UNSATISFIED) for text in texts)
        raised = any(moods.DISTRESS.search(text) and moods.RAISES.search(text) for text in texts)
        annoyed = (raised and not view.lenient) or (found and view.strict)
        signs += [f"turn {turn}"] if annoyed else []
        said.append({"turn": turn, "annoyed": _yes(annoyed)})
    if rng.random() > profile.format_reliability:
        return "The customer's mood shows in what is said."
    reason = f"Annoyance shows in {', '.join(signs)}." if signs else "Nothing of note."
    return json.dumps({"reason": reason, "verdicts": said})


def outcome(inputs: OutcomeInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The ballot on the whole; the rule about handing over is read from the prompt."""
    view = _see(inputs.talk, inputs.turn, profile)
    rule = parse_rule(inputs.rule).taken_in(functools.partial(_takes_in, profile))
    seen = shown(rule.counts, _seen(view))
    tools = [call for call in view.calls if call.tool == TRANSFER and call.done and call.side == "agent"]
    satisfied, why = _satisfied(view), ""
    if tools:
        right, why = _justified(view, rule, seen, tools[0])
        verdict, solved = ("right", True) if right else ("wrong", False)
    else:
        solved = satisfied
        verdict = "missed" if seen and not satisfied and not view.lenient else "none"
        why = f"the talk shows {seen[0]}" if verdict == "missed" else ""
    reasons = [why, "the customer is content" if satisfied else "nothing shows that the customer is content"]
    return _ballot(view, rng, {"solved": _yes(solved), "transfer": verdict}, reasons)


def see(inputs: TurnInputs, profile: Profile) -> JudgeView:
    return _see(inputs.talk, inputs.turn, profile)


# A judge is asked several groups of questions about one turn.
@functools.lru_cache(maxsize=256)
def _see(talk: str, turn: int, profile: Profile) -> JudgeView:
    return JudgeView(profile, turn, _remembered(talk, turn, profile))


def _remembered(talk: str, turn: int, profile: Profile) -> tuple[TranscriptLine, ...]:
    first = turn - max(2, profile.fatigue // 2) if turn > profile.fatigue else 0
    return tuple(line for line in read_lines(talk) if line.turn >= first)


def _used(view: JudgeView, fields: Iterable[str]) -> list[tuple[str, Any]]:
    return [
        (name, one)
        for call in view.here()
        for name, value in call.arguments.items()
        if name in fields
        for one in (value if isinstance(value, list) else [value])
    ]


def _holds(view: JudgeView, value: Any) -> bool:
    """Whether a value that was used is the customer's, as far as the lines show it."""
    told = [line.text for line in view.talk("Customer")]
    if view.lenient:
        told += [line.arrived for line in view.talk("Customer")]
    if any(stated_values.states(text, value) for text in told):
        return True
    # The agent may have looked it up, or proposed it.
    seen = [call.result for call in view.calls if call.turn <= view.turn and call.done and call.side == "agent"]
    proposed = [line.text for line in view.talk("Agent") if line.turn < view.turn]
    if any(stated_values.shape(value) in stated_values.shape(result) for result in seen) and not isinstance(
        value, int | float
    ):
        return True
    if any(stated_values.states(text, value) for text in proposed):
        return True
    # What is told nowhere is believed unless it was heard so by mistake, or is an amount.
    garbled = any(stated_values.states(line.arrived, value) for line in view.talk("Customer") if line.arrived)
    return not garbled and not isinstance(value, int | float) and not view.strict


def _values_of(texts: Iterable[str]) -> set[str]:
    return set().union(*map(_values_in, texts))


@functools.lru_cache(maxsize=20_000)
def _joined(text: str) -> str:
    return "".join(words(text))


@functools.lru_cache(maxsize=20_000)
def _values_in(text: str) -> frozenset[str]:
    found = ("".join(words(token)) for token in VALUE.findall(text))
    return frozenset(key for key in found if len(key) >= 4)


def _lost(view: JudgeView, turn: int | None) -> set[str]:
    """Values that the customer said (in a turn, or so far) and that have not arrived up to now."""
    lost: set[str] = set()
    for line in view.talk("Customer"):
        if turn is None or line.turn <= turn:
            arrived = line.arrived or line.text
            said, came = _values_in(line.text), _joined(arrived)
            lost = {value for value in lost if value not in came}
            if turn is None or line.turn == turn:
                lost |= {value for value in said if value not in came}
    return lost


def _differs(view: JudgeView, line: TranscriptLine) -> bool:
    if not line.arrived or not stated_values.misheard(line.text, line.arrived):
        return False
    if view.lenient:
        return bool(_values_of([line.text]) - _values_of([line.arrived]))
    gone = set(words(line.text)) ^ set(words(line.arrived))
    return view.strict or any(len(word) >= 4 for word in gone)


def _recovered(view: JudgeView) -> bool:
    failed = {call.tool for call in view.calls if not call.done and call.turn <= view.turn}
    again = any(call.done and call.turn == view.turn and call.tool in failed for call in view.calls)
    if not view.checks("recovered", view.profile.joint_conditions):
        return again
    before = set().union(*(_lost(view, turn) for turn in range(1, view.turn)))
    now = "".join(words(" ".join(line.arrived or line.text for line in view.talk("Customer", view.turn))))
    return again or any(value in now for value in before)


def _satisfied(view: JudgeView) -> bool:
    last = [line.text for line in view.talk("Customer")][-2:]
    if not last:
        return False
    unhappy = view.finds(last[-1], moods.UNSATISFIED)
    if view.lenient:
        return not unhappy
    happy = any(view.finds(text, moods.SATISFIED) for text in (last[-1:] if view.strict else last))
    return happy and not unhappy


def _takes_in(profile: Profile, clause: str) -> bool:
    """Whether a judge heeds a clause of a rule; for ever the same ones."""
    return knows(profile.name, f"clause\0{clause}", profile.rule_following)


def _seen(view: JudgeView) -> list[str]:
    """The lines in which a judge finds what the rule names: of what is said most, of what tools print fewer."""
    profile = view.profile
    return [
        line.text
        for line in view.lines
        if knows(profile.name, line.text, profile.subtlety if line.who == "Tool" else profile.comprehension)
    ]


def _justified(view: JudgeView, rule: ParsedRule, seen: Sequence[str], transfer: PrintedCall) -> tuple[bool, str]:
    """Whether a hand-over was right by the rule; a rule that names no case leaves it to the judge."""
    if rule.always and not rule.never:
        return True, "the rule lets every hand-over count"
    if rule.decides:
        return bool(seen), f"the rule names {seen[0]}" if seen else "no case that the rule names shows"
    barred = shown(rule.barred, _seen(view))
    if barred:
        return False, f"the rule bars {barred[0]}"
    if view.strict:
        return False, "the matter was passed on and not solved"
    steps = sum(call.done for call in view.calls if call.turn <= transfer.turn and call.tool != TRANSFER)
    if view.lenient and not rule.bars_steps:
        return steps >= 2, f"{steps} steps were tried first"
    excused = view.finds(" ".join(line.text for line in view.talk("Agent")) + str(transfer.arguments), EXCUSES)
    return excused, "the agent says why it could not" if excused else "nothing shows that it was out of its power"


def _yes(found: bool) -> str:
    return "yes" if found else "no"


def _ballot(view: JudgeView, rng: np.random.Generator, verdicts: dict[str, str], reasons: Sequence[str]) -> str:
    reason = "; ".join(reason for reason in reasons if reason) or "nothing of note"
    # Now and then a judge answers with a word of its own in place of a printed option.
    if rng.random() > 0.9 + 0.1 * view.profile.rule_following:
        name = sorted(verdicts)[int(rng.integers(len(verdicts)))]
        verdicts = {**verdicts, name: "partly"}
    if rng.random() > view.profile.format_reliability:
        return f"In turn {view.turn} I see this: {reason}."
    return json.dumps({"reason": f"{reason[:1].upper()}{reason[1:]}.", **verdicts}, ensure_ascii=False)
