"""The wordings of what is held out to be taken or left, and of what takes it up; read by `dialogue_acts`."""

import re

from cxlab.benchmarks.mmtaup2.cues import answers

# What is held out to be taken or left, without being asked for a yes: "How about a later one?", "I found two."
PROPOSES = re.compile(
    r"\b(?:how|what) about\b|\bhow would you (?:like|consider|fancy) \w+ing\b"
    r"|\bhow do(?:es)? [^?]* sound\b|\bwhy not\b|\bhow do you feel about\b"
    r"|\b(?:may|can|could|would|might) i (?:suggest|recommend|offer|interest you)\b"
    r"|\bi have (?:one|two|three|four|five|\d+|some) (?:\w+ )?(?:recommendations?|suggestions?|options?)\b"
    r"|\b(?:does|do) [^?]*\b(?:sound|look) (?:good|fine|all right|ok|okay)\b"
    r"|\byou (?:might|may) want to (?:try|visit|see|go to)\b|\bif you(?:'re| are) interested\b(?! to)"
    r"|\b(?:do you|you might|you may|you'll|you will|you would|you'd) (?:like|enjoy|love)\b(?! to\b)"
    r"|\bhow(?:'s| is) th(?:is|at) \w+|\bwhat do you think (?:of|about)\b|\bif you(?:'d| would)? (?:like|want|wish)\b"
    r"|\bi(?:'d| would| can| could| might)? (?:suggest|recommend) (?!\w+ing\b)"
    r"|\b(?:would|will) [^.?!]{3,40}\bwork\b[^.?!]*\?"
    r"|\b(?:would you be|you(?:'d| would) be|are you) interested\b"
    r"|\b(?:may|might|could|would) be (?:an? )?(?:good|great|nice|perfect|fun)\b|\blet's (?:start|begin) with\b"
    r"|\b(?:may|might|could|should|would) (?:work for|suit|interest|appeal to|fit) you\b"
    r"|\bi have (?:\d+|one|two|three|four|five|six) [^.?!]*(?:\bfor\b|\?)"
    r"|^\W*(?:(?:ok|okay|so|then|alright)\W+)+(?:you(?:'d| would)? (?:need|want|like)|it's|that's|it is|that is)\b"
    r"|\bi(?:'ve| have)? (?:found|got) (?:you )?(?:an?|one|two|three|\d+|another)\b"
    r"|\b(?:an?|one|\d+) [^.?!]*\bi(?:'ve| have) found\b"
    r"|\bi have an? [^.?!]*(?:\d|\$)|\bthere(?:'s| is| are) (?:an?|one|two|three|\d+|some)\b[^.?!]*(?:\d|\$)"
    r"|\b(?:another|one) (?:\w+ )?(?:option|choice|possibility|alternative)\b[^.?!]* is\b"
    r"|\byou (?:should|could|can|may|might|ought to) (?:also )?"
    r"(?:look (?:into|at|for)|check out|go to|visit|try|watch|choose)\b"
    r"|\b(?:is|are|will be) (?:taking place|take place|playing|coming up|available|worth)\b"
    r"|\b(?:has|have) (?:a|some|\d+)\b[^.?!]*\bavailable\b|^\W*(?:confirm\w*:|booking an?\b)"
    # "The airline has a flight that leaves at 4:05"
    r"|(?<!you )\b(?:has|have)(?: \w+)? (?:an?|one) (?:\w+ ){1,2}(?:that|which|for|at|leaving|from)\b[^?!]*\d",
    re.IGNORECASE,
)
OFFERS = re.compile(
    r"^\W*(?:so |then )?(?:would you like|do you want|would you prefer)\b(?![^?]* or\b)[^?]*\?", re.IGNORECASE
)
# A choice among several is no offer that a yes takes up.
WHICH = re.compile(
    r"\b(?:let me know|tell me|say|choose) (?:\w+ )?which\b|\bwhich (?:\w+ ){0,3}(?:would|do) you\b", re.IGNORECASE
)
LIST = re.compile(r"^\s*[2-9][.)]\s", re.MULTILINE)
# Thanks and a farewell after a bare "okay" agree to nothing.
LEAVES = re.compile(
    r"\bthat(?:'s| is| was|'ll be| will be| should be| would be) (?:\w+ )?(?:all|it|everything)\b(?! right)"
    r"|\bthat covers\b",
    re.IGNORECASE,
)
# "Ok, what is the address?" takes note of an offer and no more.
TAKES_NOTE = re.compile(
    r"^\W*(?:ok|okay|alright|all right|fine|right|very well)\W+(?:and |so )?"
    r"(?:could|can|would|will|what|where|which|how|who|when|is|are|do|does)\b",
    re.IGNORECASE,
)
ASKS_IN_THE_SAME_BREATH = re.compile(
    r"^\W*(?:ok|okay|alright|all right|fine|right)[,\s]+(?:and |so )?"
    r"(?:(?:tell|show) me|what|where|which|how|who|when)\b",
    re.IGNORECASE,
)
BARE = re.compile(r"^\W*(?:ok|okay|alright|all right|fine|right|very well)\b\W*", re.IGNORECASE)

# What is only said of something held out, whatever the words of the offer were.
_GOOD = (
    r"(?:great|good|fine|nice|lovely|helpful|perfect|wonderful|awesome|excellent|ideal|cool|fun|amazing|fantastic"
    r"|brilliant|terrific)"
)
_OPENS = r"^\W*(?:(?:ok|okay|yes|yeah|great|good|oh|hm+|well|sure|thanks|thank you)\W+)*"
_FIRST = rf"{_OPENS}(?:that|it|this)"
_SUITS = (
    rf"{_FIRST}(?:'d| would| will|'ll) (?:be (?:\w+ )?{_GOOD}|work|do|suit me)\b"
    r"|\b(?:that|it|this)(?:'s|s)? suite?s? me\b"
)
SUITS = re.compile(_SUITS, re.IGNORECASE)
APPROVES = re.compile(
    _SUITS
    # What "sounds good" is still to come; "That's great" may be said of any news, and with a farewell of what is over.
    + rf"|{_OPENS}(?:(?:that|it|this) )?(?:does )?(?:sounds?|seems?|looks?) (?:\w+ )?{_GOOD}\b(?! to (?!me\b))"
    r"(?![^?]*\bthank(?:s| you) for)"
    r"|^\W*(?:\w+\W+)?i (?:really |quite |do )?(?:like|love) (?:the (?:sound|look|idea) of )?(?:that|this|it)"
    rf"(?: one)?\b|^\W*(?:yes|yeah|yep)\W+(?:that|it|this)(?:'s| is) (?:\w+ )?{_GOOD}\b"
    rf"|^\W*(?:that|this) \w+ (?:is|sounds|looks) {_GOOD}\b"
    rf"|,\s*(?:very |really |that's |it's |sounds ){_GOOD}\W*$"
    r"|\b(?:can|could|would) you (?:please )?(?:book|reserve|rent|order|buy) (?:it|that|this|them)\b"
    r"|\b(?:can|could|may) i (?:please )?(?:book|buy|get|have|rent|reserve|take|order) (?:it|that|this|them|one)\b"
    r"|\blet'?s (?:go (?:ahead )?(?:with|for)|take|do) (?:that|this|it|them)\b"
    # "I'll take it", "I want to see that"
    r"|\bi(?:'ll| will|'d like to| would like to|'d love to| want to|(?: think i)? can)(?: \w+)? "
    r"(?:take|have|book|rent|buy|reserve|order|choose|watch|see|try|visit|get|go with) (?:it|that|this|them|both)\b"
    r"(?! (?:again|back|up|off|out|apart|home|changed|cancell?ed|fixed|sorted|done|checked)\b)",
    re.IGNORECASE,
)
# What affirms a statement that asked nothing: "That is correct."
AFFIRMS = re.compile(
    r"^\W*(?:(?:yes|yeah|yep|yup)\W+)?(?:that'?s|that is|it'?s|it is) (?:right|correct)\b"
    r"|^\W*(?:yes|yeah|yep|yup)\W+(?:that'?s|that is) it\b"
    r"|^\W*(?:yes|yeah|yep|yup)\W*(?:please|thanks|thank you|confirmed|i confirm\b.*)?\W*$",
    re.IGNORECASE,
)
# "I'd like a transfer", which answers "Do you want to transfer money?"
WISHES = re.compile(
    r"^\W*i(?:'d| would) (?:like|love) (?:an?|the|some|to) (?P<what>\w{4,})\b(?!.*\b(?:instead|but)\b)", re.IGNORECASE
)
TAKES = re.compile(
    r"\b(?:i(?:'d| would) (?:like|love) to|i want to|i'?ll|i will|let'?s|can you|could you|please) "
    r"(?:go with |go for |go ahead with )?"
    r"(?:rent|see|watch|try|take|have|book|buy|get|reserve|order|visit|choose)? ?(?P<what>[^.?!]*)(?<!instead)\W*$",
    re.IGNORECASE,
)

# What is asked whether it is wanted, be it a thing or a service; "No, ..." turns it down.
BOOKS = re.compile(
    r"\b(?:can|could|would) you (?:please )?(?:book|reserve|rent|order|buy)\b(?! (?:me )?(?:another|a different))",
    re.IGNORECASE,
)
WANTED = re.compile(
    r"\b(?:would you (?:like|prefer|be interested)|do you (?:want|need)|are you (?:interested|open to|willing))\b"
    r"[^?]*\?",
    re.IGNORECASE,
)
NO = re.compile(
    r"^\W*(?:(?:uh|um|oh|hm+|well)\W+)?(?:no|nope)\b[.,](?! (?:i )?(?:any|either|it doesn't matter)\b)"
    rf"(?! {answers.NO_MORE})",
    re.IGNORECASE,
)
# What asks for another wish than the one that cannot be met is answered by it, and turned down by nothing.
ASKS_FOR_A_WISH = re.compile(
    r"\b(?:try|change|different|another|other|else)\b[^?]*\?|\b(?:what|which|when|where)\b[^?]*\?", re.IGNORECASE
)
COUNTERS = re.compile(r"^\W*(?:(?:well|hm+|ok|okay)\W+)?(?:how about|what about an?)\b", re.IGNORECASE)
# One act in other words: "Please book it" answers "Shall I make a reservation?"
ACQUIRES = r"(?:book|reserv|rent|order|buy|purchas|get you|tickets?)"
# "Please book for eight", which answers "Shall I book it?"
ORDERS = re.compile(
    r"^\W*(?:(?:ok|okay|great|sure|perfect)\W+)?(?:please )?(?:go ahead and )?"
    r"(?P<what>book|buy|reserve|rent|order|cancel|return|exchange|refund|transfer|change|send|add|remove|upgrade)\b",
    re.IGNORECASE,
)
# "How about a later one?" asks for no fact.
SUGGESTS = re.compile(r"^\W*(?:\w+\W+){0,2}how about\b(?!.*\b(?:how|which|what|when|where)\b)", re.IGNORECASE)
# News of what is done, or of what is the customer's own, is held out to nobody.
NEWS = re.compile(
    r"\b(?:your|booked|reserved|done|completed|success\w*|cancell?ed|sent|updated|changed|confirmed|refunded"
    r"|processed)\b",
    re.IGNORECASE,
)
PRAISES = re.compile(rf"{_FIRST}(?:'?s| is) (?:\w+ )?{_GOOD}\b(?!.*\bthank)", re.IGNORECASE)
# "The Efes is fine", "La Mimosa will do"
NAMED = re.compile(
    r"^\W*(?:(?:ok|okay|sure|yes|well)\W+)?(?P<what>[\w' -]{3,40}?) "
    rf"(?:(?:is|sounds|seems|looks|would be|will be) (?:\w+ )?{_GOOD}|will do|would do|works|will work)\b",
    re.IGNORECASE,
)
# "That is not right."
NOT_SO = re.compile(
    r"^\W*(?:(?:oh|um+|uh+|hm+|well|sorry)\W+)*(?:that|it|this)(?:'s| is) (?:not|wrong|incorrect)\b(?! (?:a problem"
    r"|bad|an issue))",
    re.IGNORECASE,
)
# Of several things none is taken.
NONE_WILL_DO = re.compile(
    r"^\W*(?:none|neither) of (?:these|those|them|the|your)\b[^.!?]*\b(?:works?|suits?|will|would|do|fits?)\b",
    re.IGNORECASE,
)
