"""What the simulated agent of telecom believes at a point of a talk, and what it takes its customer to be."""

from __future__ import annotations

import re

from cxlab.benchmarks.mmtaup2.simulated.agent_steps import AgentSteps
from cxlab.benchmarks.mmtaup2.simulated.dialogue_state import (
    ASKS_WHY,
    DISTRUST,
    FRUSTRATION,
    HURRY,
    IMPATIENT,
    SKILL,
    UPSET_FROM,
    DialogueState,
)
from cxlab.benchmarks.mmtaup2.simulated.known_words import knows
from cxlab.benchmarks.mmtaup2.simulated.telecom import free_speech, phrases, reactions

WONDERS = re.compile(r"\bwhat (?:is|do you mean)\b|means nothing to me|don't know what", re.IGNORECASE)
LOSES_TRACK = re.compile(r"have forgotten|so much at once", re.IGNORECASE)
# Requests in one message: for somebody who is known to be good at it, for nobody in particular, for a beginner.
BATCH_SKILLED, BATCH_USUAL = 3, 2
REMEDIES = frozenset((
    "airplane_off", "reseat_sim", "reset_apn", "reboot", "data_on", "roaming_on", "saver_off", "mode_new", "vpn_off",
    "wificalling_off", "grant_storage", "grant_sms", "resume_line", "enable_roaming", "refuel_data",
))  # fmt: skip
# What was seen of these is out of date once one of the others has been done.
STALE = {
    "signal": frozenset(("airplane_off", "reseat_sim", "reboot", "resume_line")),
    "speed": REMEDIES,
    "mms": REMEDIES,
}


class TelecomDialogueState(AgentSteps):
    """The states of the phone that the customer's words let the agent believe, and what was asked for when."""

    def __init__(self, mind: DialogueState) -> None:
        super().__init__(mind)
        self.beliefs: dict[str, tuple[str, int]] = {}
        said: dict[str, int] = {}
        for place, (at, text) in enumerate(mind.theirs):
            before = said.get(text, 0)
            said[text] = before + 1
            for fact, value in phrases.facts_in(text, mind.profile, mind.case, before).items():
                # The complaint itself is no finding: "no service" may have any cause.
                if place or fact == "abroad":
                    self.beliefs[fact] = (value, at)
            lines = bool(phrases.facts_said(text)) or free_speech.is_own(text)
            if place and mind.profile.comprehension > 0 and (not lines or free_speech.reads_screen(text)):
                # A person in the customer's place speaks as people do.
                told = free_speech.facts_in(text, mind.asked_before(at))
                self.beliefs |= {fact: (value, at) for fact, value in told.items()}
        self.asked: dict[str, list[int]] = {}
        for at, text in mind.own:
            for one in phrases.requests_in(text):
                self.asked.setdefault(one.name, []).append(at)
        # What a person says beside the matter is answered before the talk goes on with it.
        self.beside = reactions.find(mind.last) if mind.profile.comprehension > 0 else ""
        if len(mind.theirs) == 1 and self.beside not in ("upset", "silence", "language"):
            self.beside = ""  # how a talk begins is what it is about
        self.refused = self.turned_down()
        self.round_at = self.second_round()
        note = mind.note
        skill = SKILL.search(note)
        self.skill = int(skill[1]) if skill else None
        frustration = FRUSTRATION.search(note)
        upset = frustration is not None and int(frustration[1]) >= UPSET_FROM
        self.brisk = HURRY.search(note) is not None
        # Comfort is lost on somebody in a hurry.
        self.impatient = not self.brisk and (IMPATIENT.search(note) is not None or upset)
        # Shortly and kindly: to somebody who is known to be a beginner, or to be upset.
        self.gently = self.impatient or (self.skill is not None and self.skill <= 4)
        self.reasons = DISTRUST.search(note) is not None or self.heard_cue(ASKS_WHY, "why", self.profile.subtlety)

    def turned_down(self) -> set[str]:
        """What the customer was asked for and did not want to do: it is not asked for again.

        A person who turns something down is told once what it is for; who then still does not want to is left alone.
        """
        found: set[str] = set()
        once: set[str] = set()
        for at, text in self.mind.theirs:
            before = self.mind.asked_before(at)
            # A no to a question about a switch is an answer.
            if free_speech.refuses(text) and not free_speech.facts_in(text, before):
                asked = {one.name for one in phrases.requests_in(before)}
                found |= asked if free_speech.is_own(text) else asked & once
                once |= asked
        return found

    def second_round(self) -> int:
        """When a test first failed after all had been gone through: what was given up until then is open again."""
        tests = [at for name in ("run_speed_test", "can_send_mms") for at in self.asked.get(name, [])]
        if not tests or not knows(self.profile, f"{self.mind.case} second round", self.profile.joint_conditions):
            return -1
        for at, text in self.mind.theirs:
            told = phrases.facts_in(text, self.profile, self.mind.case)
            if at > min(tests) and (told.get("speed") in ("slow", "none") or told.get("mms") == "no"):
                return at
        return -1

    # What is believed

    def value(self, fact: str) -> str | None:
        """What holds of the phone as far as the customer has said; what was said before the last change is stale."""
        found = self.beliefs.get(fact)
        if found is None:
            return None
        if fact != "abroad" and found[1] < self.round_at:
            return None
        if fact in STALE and found[1] < self.last_at(STALE[fact]):
            return None
        return found[0]

    def last_at(self, names: frozenset[str]) -> int:
        """When one of these remedies was last asked for, or one of these tools last used."""
        asked = (at for name, places in self.asked.items() if name in names for at in places)
        used = (made.at for made in self.mind.made if made.tool in names and not made.error)
        return max((*asked, *used), default=-1)

    def heard_cue(self, pattern: re.Pattern[str], name: str, share: float) -> bool:
        # What is missed once may be noticed the next time.
        times = [place for place, (_, text) in enumerate(self.mind.theirs) if pattern.search(text)]
        return any(knows(self.profile, f"{self.mind.case} cue {name} {place}", share) for place in times)

    @property
    def plainly(self) -> bool:
        """Whether to speak without names: because it was told, or because the customer stumbled over one."""
        if self.skill is not None and self.skill <= 4:
            return True
        return self.heard_cue(WONDERS, "wonders", self.profile.subtlety)

    @property
    def batch(self) -> int:
        if self.gently:
            return 1
        if self.brisk:
            return BATCH_SKILLED
        if self.plainly or self.heard_cue(LOSES_TRACK, "loses track", self.profile.subtlety):
            return 1
        return BATCH_SKILLED if self.skill is not None and self.skill >= 6 else BATCH_USUAL
