"""The simulated editor of acronyms."""

import numpy as np

from cxlab.benchmarks.cxmarena.knowledge.acronyms import ACRONYM, AcronymInputs, AcronymReply
from cxlab.benchmarks.cxmarena.text import word_set
from cxlab.llm.simulated.profiles import Profile

# Words that no acronym should look like, in the three languages together.
ORDINARY = word_set(
    """
    am an as at be by do go he if in is it me my no of on or so to up us we ad all and any app are bad bag bar
    bed bit box bus but buy can cap car cat cut dad day die end fan far fat few for fun gas get gun had has
    hat her him his hot how ice ill its job let lot low mad man may new not now off old one our out own pay
    per pet put sad say sea see set she sit six sun tax tea ten the tie too two use war was way who why win
    yes you au ce de du en et il je la le les ma mes ou par pas que qui sa se ses si son sur ta te tu un une
    das dem den der des ein er es ich ihr im mit ob sie um und uns von wer wie wir zu ass sex hell damn dead
    """
)
CALENDAR = word_set(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december montag dienstag mittwoch donnerstag freitag samstag sonntag januar
    februar märz mai juni juli oktober dezember
    """
)
# First words of sentences and headings, which have a capital for that alone.
OPENERS = word_set(
    """
    the a an this that these your our if when how what why please to for in on with once after before der die
    das ein eine wenn wie was bitte nach vor le la les un une votre notre si quand comment pour avec après
    avant
    """
)


def simulate(inputs: AcronymInputs, profile: Profile, rng: np.random.Generator) -> str:
    """The simulated editor: initials, checked against ordinary words; a weak one lets some through or misses some."""
    kept: dict[str, str] = {}
    for phrase in inputs.phrases:
        words = phrase.text.split()
        acronym = "".join(word[0] for word in words).upper()
        plain = {word.lower() for word in words}
        poor = (
            acronym.lower() in ORDINARY
            or bool(plain & CALENDAR)
            or words[0].lower() in OPENERS
            or acronym in kept.values()
            or any(phrase.text in longer for longer in kept)
        )
        careless = rng.random() > profile.rule_following
        missed = rng.random() > profile.comprehension
        if (poor and not careless) or missed or not ACRONYM.match(acronym):
            continue
        kept[phrase.text] = acronym
    listed = [{"phrase": phrase, "acronym": acronym} for phrase, acronym in kept.items()]
    reply = AcronymReply.model_validate({"acronyms": listed}).model_dump_json()
    return reply if rng.random() < profile.format_reliability else f"Here is the list: {reply[:-1]}"
