"""The wordings by which somebody puts right what was said, noted or done; read by `dialogue_acts`."""

import re

from cxlab.benchmarks.mmtaup2.act_cues import cue_list

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
        r"|purchased|bought)\b(?! (?:also |just |still )?(?:wondering|hoping|curious|going to ask|another|a question))",
        r"^\W*(?:oh |sorry,? |ah,? )?actually,? i (?:just )?(?:remembered|need to go|forgot)\b",
        r"^\W*(?:(?:sorry|actually|no|wait|oh|hm+)\W+)*(?:please )?make (?:it|that)\b(?! (?:so|quick|fast)\b)",
        r"^\W*(?:no|nope|nah)\W+i(?:'d| would)?(?: only)? (?:like|want|need) (?:it|them|that|only|just|\d+)\b",
        r"\bi (?:actually|definitely|certainly) (?:did|purchased|bought|have|had|paid|booked|ordered|returned|sent)\b",
        r"\bi did (?!n't|not)(?:\w+ )?(?:purchase|buy|pay|book|order|send|return|have|receive|provide|give|say)\b",
        r"\b(?:double-?check|re-?check|verify|check|look) (?:that |this |it |the \w+ |that part )?"
        r"(?:again|once more)\b(?! for)",
        r"\bplease double-?check\b|\bdouble-?check that\b",
        r"\bi (?:was actually |actually )?(?:thought|was thinking|was told)\b",
        r"\b(?:i'm|i am) (?:\w+ )?(?:certain|positive|sure) (?:that )?(?:i|the|my|it|this|there)\b"
        r"[^.!?]*\b(?:(?!proceed|need)\w+ed|read|bought|did|was|were|had|should)\b",
        r"\b(?:wouldn't|shouldn't) (?:the|that|it|this|there)\b[^.!]*\bbe\b[^.!]*\?|\bthat can't be\b|\bthat'?s odd\b",
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
