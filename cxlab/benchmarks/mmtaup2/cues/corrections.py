"""The wordings by which somebody puts right what was said, noted or done; read by `dialogue_acts`."""

import re
from collections.abc import Iterable

from cxlab.benchmarks.mmtaup2.cues.wording import cue_list

CORRECTS = cue_list(
    (
        r"^\W*no\b[^.!?]*\bi (?:said|meant)\b|^\W*(?:(?:sorry|oh|oops|no|wait|actually)\W+)*i meant\b",
        r"^\W*(?:(?:sorry|oh|oops|no|wait|actually)\W+)*not [\w ]{2,20},? sorry\b",
        # A number put right: "Wait. No, it says 555-273-3113."
        r"(?:^|[.!?,;])\s*no,? (?:it|that) (?:is|was|says|reads)\b[^.!?]*\d",
        r"\bi (?:already|just) (?:told|said|gave|mentioned)\b",
        r"\b(?:that's|that is|this is) (?:not (?:right|correct|what)|wrong|incorrect)\b",
        r"\b(?:i repeat|let me (?:repeat|spell|correct)|as i (?:said|told))\b",
        r"\byou (?:misheard|misunderstood)\b",
        r"\b(?:there must be (?:a|some) (?:mistake|error)|(?:a|my) mistake\b)",
        r"\bactually,? i (?:\w+ )?(?:did|didn't|do\b|don't|only|meant|have|had|already|was|wasn't"
        r"|purchased|bought)\b(?! (?:also |just |still )?(?:wondering|hoping|curious|going to ask|another"
        r"|a question))",
        r"^\W*(?:oh |sorry,? |ah,? )?actually,? i (?:just )?(?:remembered|need to go|forgot)\b",
        r"^\W*(?:(?:sorry|actually|no|wait|oh|hm+)\W+)*(?:please )?make (?:it|that)\b(?! (?:so|quick|fast)\b)",
        r"^\W*(?:no|nope|nah)\W+i(?:'d| would)?(?: only)? (?:like|want|need) (?:it|them|that|only|just|\d+)\b",
        r"\bi (?:actually|definitely|certainly) (?:did|purchased|bought|have|had|paid|booked|ordered|returned"
        r"|sent)\b",
        r"\bi did (?!n't|not)(?:\w+ )?(?:purchase|buy|pay|book|order|send|return|have|receive|provide|give|say)\b",
        r"\b(?:double-?check|re-?check|verify|check|look) (?:that |this |it |the \w+ |that part )?"
        r"(?:again|once more)\b(?! for)",
        r"\bplease double-?check\b|\bdouble-?check that\b",
        r"\bi (?:was actually |actually )?(?:thought|was thinking|was told)\b",
        r"\b(?:i'm|i am) (?:\w+ )?(?:certain|positive|sure) (?:that )?(?:i|the|my|it|this|there)\b"
        r"[^.!?]*\b(?:(?!proceed|need)\w+ed|read|bought|did|was|were|had|should)\b",
        r"\b(?:wouldn't|shouldn't) (?:the|that|it|this|there)\b[^.!]*\bbe\b[^.!]*\?|\bthat can't be\b"
        r"|\bthat'?s odd\b",
        r"\bi (?:clearly|distinctly|definitely) (?:remember|recall)\b|(?<!all )(?<!what )\bi wanted\b"
        r"(?! to (?:ask|know|see|check))",
    ),
    (
        r"\bnot (?!bad\b|sure\b|now\b|really\b|only\b|just\b)[\w@.#-]+,? but\b",
        r"\bactually,? (?:can|could|would|will) (?:you|i|we)\b[^?]*\binstead\b|\bon second thoughts?\b",
        r"\b(?:i'm|i am|i was|we're|we are|we were) actually \w+ing\b|\blet'?s start over\b"
        r"|\bi didn't (?:actually|really want|really mean)\b",
        r"\bdisregard (?:everything|all|what)\b|^\W*sorry\W+i(?:'m| am| was)? (?:looking|need|want|meant)\b",
        r"\bi(?: actually|'d actually| would actually) (?:want|need|like|only|meant|prefer)\b",
        r"\bactually,? (?:make (?:it|that)|let's|maybe|i(?:'d| would)? (?:\w+ )?(?:want|need|like|prefer|changed))\b"
        r"(?! to (?:know|ask))",
        r"\b(?:it's|it is|i meant|i said|(?:it|that|this) should (?:be|say|read|have been)) [^.!?,]{1,40}, not\b",
        r"\bi (?:must|may|might) have (?:\w+ )?(?:mixed|confused|misread|mistyped|misremembered|got|gotten|given)\b"
        r"|\bi (?:mixed up|confused|misread|mistyped|misremembered)\b",
        r"^\W*(?:no,? )?the \w+ is (?:just|only) for\b",
        r"\bi(?:'ve| have)? changed my mind\b",
        r"(?<!\bso we can )\b(?:scrap|scratch|strike|disregard) (?:that|it|this)\b",
        r"^\W*(?:again|once more)\b",
        r"\bonly need\b[^.!?]*, not\b|^\W*(?:no|nope)\b[^.!?]*\bi only (?:want|need)\b",
    ),
)
# "Can you make it two?" puts something right, unless a change is what the talk is about.
CHANGES_IT = re.compile(
    r"\b(?:can|could|would|will) (?:you|we|i) (?:please )?(?:just )?(?:make|change) (?:it|that)\b"
    r"(?! (?:so|happen|quick|work)\b)",
    re.IGNORECASE,
)
WANTS_A_CHANGE = re.compile(r"\blike to (?:modify|change|exchange|update|switch)\b", re.IGNORECASE)

# Somebody insists that what was denied is so.
_DONE = (
    r"(?:added|booked|bought|paid|purchased|ordered|selected|chosen?|included|had|did|was|were|read|sent|returned"
    r"|received"
    r"|gave|told|requested|cancell?ed|happened|mentioned|used)"
)
INSISTS = re.compile(
    rf"\b(?:i(?:'m| am| was)) (?:\w+ )?(?:certain|positive|sure|convinced) (?:that )?(?:i|my|it"
    rf"|the \w+(?: \w+)?)\b[^.!?]*"
    rf"\b{_DONE}\b|\bactually,? i(?:'ve| have| did) (?:already )?(?:{_DONE}|purchase|buy|pay|book|order|add|send"
    rf"|return)\b"
    r"|\bi did (?:purchase|buy|pay|book|order|add|request|select|choose)\b"
    r"|\b(?:that|this) (?:can't|cannot) be (?:right|correct|true)\b|\bthat'?s (?:odd|strange|weird)\b"
    rf"|\bi (?:definitely|certainly) (?:{_DONE}|paid for)\b"
    r"|\bi (?:distinctly|clearly|definitely) (?:remember|recall)\b",
    re.IGNORECASE,
)
# A claim and the wish to have it looked at again: "I read that it is free. Could you double-check?"
_CLAIMS = r"\bi (?:was (?:\w+ )?)?(?:read|told|thought|thinking|believe|saw|heard|added|booked|bought|purchased)\b"
_AGAIN = r"\b(?:double-?\s?check|check (?:that |this |it )?again|re-?check|look again)\b"
DOUBTS_IT = re.compile(
    rf"{_CLAIMS}.*{_AGAIN}|(?:doesn't|does not|don't|can't) (?:seem|look|sound|believe)\b.*{_AGAIN}"
    rf"|\bare you sure about (?:that|this|it)\b.*{_AGAIN}|\bi don't believe (?:you|that|it)\b",
    re.IGNORECASE | re.DOTALL,
)
# Somebody takes up the own words again in the same breath: "2.60 high. No, sorry, 2.62."
_NOT_THANKS = r"(?! (?:thank|that's all|that is all|more|need|problem|worries|i'?m (?:good|fine))\b)"
REPAIRS = re.compile(
    r"(?:[.,;:!…]|\w\.\.\.)\s*no\W+(?:sorry|wait|hang on|hold on|rather|tell a lie|i (?:mean|lie|tell a lie)"
    r"|(?:scrap|scratch|make) that)\b|\bno,? i mean\b|\bwait,? no\b(?! one\b)"
    rf"|(?:\.\.\.|…) ?no,{_NOT_THANKS} \w"
    r"|(?<!\bno)[.,;] no, (?:i|it|he|she|we|they|that|there)\b[^.!?]*(?:\d|\b(?:\w+day|\w+(?:teen|ty|ieth|enth))\b)",
    re.IGNORECASE,
)
# Somebody says that the own words lacked something, or that the opposite was said.
LACKED = re.compile(
    r"\bi (?:forgot|left out|missed|missed out)(?: to (?:mention|add|say|type|give|put in))? the (?:['\"“]\w+['\"”]"
    r"|(?:first|last|second|third) (?:letter|digit|number|figure)|letter|digit|hash|dash|hyphen)(?!\w)"
    r"|\bi said (?:the (?:opposite|exact opposite|reverse)|nothing of the (?:kind|sort))\b"
    r"|^\W*(?:(?:no|sorry|oh)\W+(?:but )?)+i (?:wanted|asked for|ordered|booked) (?!to\b)",
    re.IGNORECASE,
)
# Something else in place of what was held out, begun by taking it back: "Actually, can you make it just the one?"
ACTUALLY = re.compile(
    r"^\W*(?:(?:oh|no|sorry|wait|hm+|um+)\W+)*actually\b[^.?!]*(?:\binstead\b|\b(?:make|change) (?:it|that)\b)",
    re.IGNORECASE,
)
# A number of five digits or more, in groups or not: of a line, an order, an account.
CODE = re.compile(r"\d(?:[ -]?\d){4,}")
# What was asked for is held against what was done: "I asked for a note, not a sermon."
HOLDS_AGAINST = re.compile(
    r"\bi (?:asked for|ordered|requested|booked|paid for|bought|said|meant) [^.!?]{2,40}, not\b"
    r"|\bthere(?:'s| is| was) no such\b(?![^.!]*\?)",
    re.IGNORECASE,
)
# What was said before is not to count any more, whatever comes in its place.
TAKES_BACK = re.compile(
    r"\bi(?:'ve| have)? (?:just )?changed? my mind\b|\b(?:(?:scrap|scratch) that|disregard (?:everything|all))\b"
    r"|\b(?:actually|on second thoughts?),? (?:can|could|would|will) (?:you|we|i) [^.!?]*\binstead\b"
    r"|\bi (?:didn't|did not) actually (?:need|want|ask|mean)\b|\blet'?s start over\b"
    r"|^\W*(?:(?:oh|no|wait)\W+)*not [\w ]{2,20},? sorry\b",
    re.IGNORECASE,
)
# "It was not weather", "there is no number 12": what the other side said, and a no to it.
_DENIES = re.compile(
    r"(?<!if )\b(?:it|that|this|there|they|he|she)(?:'s| is| was| were| are)?(?: not|n't| no) (?:an? |the |any )?"
    r"(?P<what>(?:[a-z]+ )?\d[\w-]*|[a-z]{4,})",
    re.IGNORECASE,
)
# A wish told anew behind a no or an excuse: "No, book it for four people."
ANEW = re.compile(
    r"^\W*(?:(?:oh|ah|um+|hm+|wait)\W+)*(?:no|nope|sorry|actually|i(?:'m| am) sorry|i(?:'ve)? changed? my mind"
    r"|that(?:'s| is) not (?:right|correct|good|it|what)|that(?:'s| is) (?:wrong|incorrect))\b.*"
    r"\b(?:(?:i|it|we)(?:'d| would|'ll| will)?(?: \w+)? (?:like|want|needs?|prefer|rather|should|going)"
    r"|(?:can|could|would) (?:you|we)|book|make|change|play|send|try|reserve|put|schedule|set|rather|have (?:it"
    r"|that|them)"
    r"|check me|i will|(?:it's|it is) (?:only|just|for))\b",
    re.IGNORECASE | re.DOTALL,
)
WISHED = re.compile(
    r"^\W*(?:i (?:actually |only |just )?(?:want|need)|i(?:'d| would) (?:like|prefer|rather)|(?:please )?(?:make"
    r"|have) (?:it|that)"
    r"|(?:please )?change (?:it|that) to|i(?:'ll| will) be|my \w+ (?:is|will be)"
    r"|(?:it|the (?:reservation|booking|table|order|ride|trip|tickets?))(?:'s| is| are) (?:only|just))\b"
    r"(?![^.!?]*\b(?:also|too|as well|plus|add)\b)",
    re.IGNORECASE,
)
INSTEAD = re.compile(r"\b(?:instead|i(?:'d| would) rather)\b", re.IGNORECASE)
TURNS_DOWN = re.compile(
    r"\b(?:thanks?|thank you|not (?:now|needed|yet|interested|today|right now|necessary|ready)|no need|later"
    r"|never ?mind"
    r"|(?:don't|do not|won't|can't) (?:\w+ )?(?:want|need|book|buy|rent|make|like|do|go)|good for now|cancel|else"
    r"|find|search"
    r"|show|check(?! (?:in|out)\b)|help me|(?:how|what) about|fine|good|great|ok(?:ay)?|another|others?|different"
    r"|more|transfer\w*)\b",
    re.IGNORECASE,
)
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBERS = {word: str(place) for place, word in enumerate(_WORDS, start=1)}
_NUMBER = rf"\d\d?|{'|'.join(_WORDS)}"
# Kind of particular → how it is told; what is found is taken out before the next kind is looked for.
_KINDS = {
    "time": re.compile(
        rf"\b(?:\d\d?:\d\d(?: ?[ap]m)?|(?:{_NUMBER}) ?(?:[ap]m|o'?clock)|noon|midnight|morning|afternoon|evening)\b",
        re.I,
    ),
    "day": re.compile(
        r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tomorrow|\d\d?(?:st|nd|rd|th))\b", re.IGNORECASE
    ),
    "count": re.compile(rf"\b(?:{_NUMBER})\b", re.IGNORECASE),
    "name": re.compile(r"(?<=[a-z,] )[A-Z][a-z]+"),
}
_COUNTED = re.compile(
    rf"\b({_NUMBER}) (?!for\b|and\b|the\b|that\b|with\b|from\b|stars?\b|option|of\b"
    rf"|more\b)([a-z]{{3,}})",
    re.IGNORECASE,
)


def _particulars(text: str) -> dict[str, set[str]]:
    """Times, days, numbers and names in a message, each in one spelling."""
    kinds = {}
    for kind, pattern in _KINDS.items():
        kinds[kind] = {_NUMBERS.get(word.lower(), word.lower()) for word in pattern.findall(text)}
        text = pattern.sub("", text)
    return kinds


def differs(text: str, asked: str, kinds: tuple[str, ...] = tuple(_KINDS)) -> bool:
    """Whether a message names another time, day, number or name than what was held out."""
    said, held = _particulars(text), _particulars(asked)
    return any(held[kind] and said[kind] - held[kind] for kind in kinds)


def _singular(noun: str) -> str:
    return "person" if noun.lower() in ("people", "persons", "guests") else noun.lower().rstrip("s")


def counts_otherwise(text: str, asked: str) -> bool:
    """Whether a message has another number of the very thing that was held out ("4 tickets" for "3 tickets")."""
    said, held = (
        {(_singular(noun), _NUMBERS.get(number.lower(), number)) for number, noun in _COUNTED.findall(one)}
        for one in (text, asked)
    )
    return any(noun == other and number != count for noun, number in said for other, count in held) and not said & held


def denies(said: Iterable[str], asked: Iterable[str]) -> bool:
    """Whether one of a message's sentences denies a word of what the other side has stated, and asked nothing."""
    stated = " ".join(asked)
    if "?" in stated:
        return False
    denied = [found["what"] for one in said if "?" not in one for found in _DENIES.finditer(one)]
    return any(re.search(rf"\b{re.escape(what)}\b", stated, re.IGNORECASE) for what in denied)
