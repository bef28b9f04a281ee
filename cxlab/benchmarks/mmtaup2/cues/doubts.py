"""The wordings by which an act is possible and not plain; `dialogue_acts` leaves open what they stand in.

They are wide on purpose: what one of them finds is not said to be the act, only not said to be none.
"""

import re

_I = re.IGNORECASE
_LEAD = (
    r"^\W*(?:(?:and|so|then|also|but|ok|okay|alright|all right|great|sure|perfect|thanks?|thank you|now|well|first"
    r"|lastly|finally|before that|for (?:this|that)|in that case|please|may i (?:know|ask)|can you tell me"
    r"|just)\W+){0,3}"
)
# A question that no yes answers.
OPEN = re.compile(
    _LEAD + r"(?:(?:for|to|at|on|in|from|by|of|with|around) )?"
    r"(?:what(?! (?:about|if)\b)|which|when|where|who|whose|whom|why|how(?! about\b| do(?:es)? [^?]*\bsound"
    r"| would you (?:like|feel about) \w+ing))\b",
    _I,
)
# The same behind a clause: "There are six trains, what time would you like?"
OPEN_WITHIN = re.compile(
    r"(?:[,;:]|\b(?:and|so|but|know|(?:tell|ask) (?:you|me)))\s+(?:(?:and|so|for|on|at|from|to|in) )?"
    r"(?:what(?! (?:about|if)\b)|which (?:one|of|would|do|\w+ (?:would|do|are|is))|when|where"
    r"|how (?:many|much|long|would|do|should))\b",
    _I,
)
# What a closing offer is about; "Would you like anything else?" alone may be an offer of something.
SERVES = re.compile(
    r"\b(?:help|assist\w*|do (?:\w+ else |\w+ more )?for you"
    r"|support|questions?|be all|be of (?:\w+ )?(?:service|help|assistance)|add)\b",
    _I,
)
NOTHING_MORE = re.compile(
    r"\b(?:anything else|nothing (?:more|else)|any(?:thing)? (?:other|further|more|additional)|your questions)\b", _I
)
MORE = re.compile(r"\b(?:else|more|further|other|another|additional|anything|something|how (?:can|may|could) i)\b", _I)

# A request for a yes put straight, which stands whatever else the message asks for.
DIRECT = re.compile(
    r"\(?yes\b|\b(?:proceed|go ahead|do you confirm|shall i|should i (?:book|reserve|buy|get|go)"
    r"|would you like (?:for )?me to"
    r"|do you want me to|may i)\b"
    r"|\bis (?:that|this|everything) (?:correct|right|ok|okay|all right)\b",
    _I,
)
PARTICULAR = re.compile(r"\b(?:which|what|ids?|numbers?|whether|how)\b", _I)
# What a question must hold to ask for a yes, where it asks for a fact by its other words.
STRONG = re.compile(
    r"\b(?:confirm\w*|proceed\w*|go(?:ing)? ahead|approv\w+|agree\w*|consent\w*|permission|shall i|should i|want me"
    r"|like me|like for me|may i (?!have|know|ask)|okay|ok|all right|alright|(?:to|i|me|you) (?:book|reserve)"
    r"|(?:book|reserve) (?:it|this|that|them|one|an?)|correct|right|sounds?|works?|yes)\b",
    _I,
)
REQUEST_WITHOUT_A_QUESTION = re.compile(
    r"\b(?:confirm\w*|proceed\w*|go ahead|approv\w*|agree\w*|consent\w*|permission|let me know"
    r"|let me review|if you\w*|just say|ready|verify"
    r"|would you|do you want"
    r"|shall|your (?:word|ok|okay|decision))\b|^\W*(?:(?:so|ok|okay|and|then)\W+)*you(?:'d| would)? (?:like|want)\b",
    _I,
)
_ACT = (
    r"(?:add|apply|book|buy|cancel|change|charge|enter|exchange|issue|make|modify|order|place|play|process|refund"
    r"|replace|reserve|return|schedule|send|submit|switch|transfer|update|upgrade)"
)
# What is announced is held out to be stopped: who answers "Fine" may have agreed to it.
ANNOUNCES = re.compile(
    r"\b(?:i|we)(?:'ll| will|'m going to| am going to| are going to)"
    r"(?: (?:now|then|go ahead and|just|also|proceed to))*"
    rf" {_ACT}\b|\b(?:i|we) can {_ACT} (?:an?|the|it|this|that|your|you|one|for you)\b",
    _I,
)

FACT = re.compile(
    r"\b(?:do you (?:have|know|prefer|need)|did you|have you|were you|is there an?|are there any"
    r"|any (?:particular|specific|certain|(?:other )?preference\w*)|an? (?:certain|specific|particular)"
    r"|prefer(?:ence|red)?)\b",
    _I,
)
# What only a fact or a choice is asked by, whatever else the message asks.
TELL_ME = re.compile(
    r"\b(?:provide|specify|share|indicate|tell me|let me know|give me) (?:me )?(?:with )?"
    r"(?:which|what|how|when|where|who|(?:an?|the|your) (?!(?:explicit |final )?(?:confirmation|approval|consent"
    r"|go-ahead"
    r"|okay|ok|permission|yes|green)\b)\w+)",
    _I,
)
PREFERENCE = re.compile(
    r"\b(?:preference\w*|prefer|price range|in mind|(?:particular|specific|certain) \w+|are you (?:looking|travel\w+)"
    r"|looking for|(?:how many|how much|what) \w+)\b",
    _I,
)
OFFER = re.compile(
    r"\b(?:would you like|shall|should i|may i|can i|could i|want (?:me|to|it|that)|like me|how about|what about"
    r"|interested|book|reserve|else)\b",
    _I,
)
# "Please hold on", "please switch it off": something is to be done, and nothing told.
_TO_DO = (
    r"(?:allow|be|bear|call|click|close|connect|contact|disconnect|do|don't|feel|follow|go|grant|hold|insert|install|keep"
    r"|leave|log|make|note|open|plug|press|put|reboot|reconnect|remove|rest|restart|set|stay|switch|take|tap|touch|try"
    r"|turn|unplug|use|visit|wait)"
)
WANTS_TO_HEAR = re.compile(
    rf"\b(?:let me know|please(?! (?:(?:now|then|just|also|do) )*{_TO_DO}\b)"
    r"|need|tell me|provide|specify|which|confirm|share|specific|particular|prefer)\b",
    _I,
)

YES = re.compile(
    r"\b(?:y(?:es|eah|ep|up|a)|ok(?:ay)?|k|sure|fine|alright|all right|great|good|perfect|excellent|wonderful|awesome"
    r"|nice|cool|lovely|right|correct|exactly|absolutely|definitely|certainly|of course|agree\w*|accept\w*|confirm\w*"
    r"|approv\w*|proceed|go (?:ahead|for|with)|do (?:it|that|so|this)|please|let'?s|sounds?|works?|take"
    r"|(?:i(?:'d| would)?|we) (?:like|love|want)|(?:that|it|which)(?:'ll| will| would|'d)|i(?:'ll| will)|book|reserve"
    r"|buy|rent|order|happy|glad|indeed|you (?:can|may)|suits?|thank\w*|appreciate|got it|(?:asked|looking) for"
    r"|(?:more |most )?interested in)\b",
    _I,
)
THANKS = re.compile(r"\bthank\w*(?: you)?|\bappreciate\b", _I)
# Said first, a yes stands whatever follows it.
OUTRIGHT = re.compile(
    r"^\W*(?:(?:ok|okay|oh|well|hi|um|uh|great|perfect)\W+)?(?:y(?:es|eah|ep|up)|sure|absolutely|definitely|certainly"
    r"|of course|correct|exactly|confirm(?:ed|ing)?|approved|that(?:'s| is) (?:right|correct)|please (?:do|proceed"
    r"|go))\b(?! not\b)",
    _I,
)
# A go-ahead that names what is to be done, and so answers what may have been no plain request.
EXPLICIT = re.compile(
    r"(?<!to )(?<!n't )(?<!not )\b(?:proceed|go ahead|(?:i |yes,? )confirm(?:ed)?|(?:please|let'?s) (?:book|cancel"
    r"|return|exchange|change|do|upgrade|refund|modify|update|process|finali[sz]e|complete))\b"
    r"|(?<!n't )(?<!not )\b(?:like|want|happy|ready) to (?:proceed|go ahead)\b",
    _I,
)
# "Sure, it is 1Q2W3E" gives what was asked for.
GIVES = re.compile(
    r"^\W*(?:(?:ok|okay|yes|oh)\W+)?(?:sure|of course|certainly|absolutely|no problem)\b.*(?:\bis\b|'s\b"
    r"|\bare\b|#|\d|@"
    r"|\bmy\b|\bi(?:'m| am|'d like| need| want)\b)",
    _I | re.DOTALL,
)
DOUBT = re.compile(
    r"\b(?:but|except|unless|instead|rather|wait|however|only if|not sure|unsure|maybe|perhaps|though|hold on|depends"
    r"|otherwise|hmm+|another|others?|else|different|scrap|scratch|disregard|forget|alternativ\w*|later)\b",
    _I,
)
ASKS_BACK = re.compile(r"\b(?:what|where|when|which|who|how|why|find|show|tell|search|look|is|are|do|does)\b", _I)

NO = re.compile(
    r"\b(?:(?:just|only) (?:need|want)(?:ed)? to (?:know|check|ask)|if i decide"
    r"|maybe|perhaps|in a (?:little )?while|some other time|no|not|nope|nah|never|none|nothing|neither|cannot"
    r"|\w+n't|dont|wont|cant|but|instead|rather|prefer\w*|other"
    r"|another|different|else|too|stop|wait|hold|actually|however|cancel|forget|leave|skip|pass|change\w*|later"
    r"|how about|what about|cheaper|earlier|\w+er\b than|more|less|keep|unless|decline|reject|refuse|sorry"
    r"|alternativ\w*|anyway|myself|mind)\b",
    _I,
)
SAYS_NO = re.compile(r"^\W*(?:(?:oh|um|uh|wait|sorry|hm+|ok|okay)\W+)*(?:no|nope|nah)\b", _I)
# What turns something down, or gives up a wish, even where nothing is held out.
GIVES_UP = re.compile(
    r"^\W*(?:(?:oh|um+|well|sorry|actually)\W+)*(?:no|nope|nah)\b|\b(?:never ?mind|forget (?:it|that|about)"
    r"|changed? my mind"
    r"|not interested|no longer|stick with|stay with|i'll pass|skip (?:it|that)|hold off|decline|refuse|reject"
    r"|not ready"
    r"|look elsewhere|other options|(?:leave|keep) (?:it|that|things|everything) (?:as|the way)|cancel (?:it"
    r"|that|this)"
    r"|i'?ll (?:just )?keep|too (?:much|late|early|long|far|expensive|high)|how about|what about|something else"
    r"|anything else|instead"
    r"|(?:don't|do not|won't|wouldn't|didn't) (?:\w+ )?(?:want|book|think (?:i|that))|won't (?:\w+ )?(?:need|work|be)"
    r"|(?:don't|do not) (?:\w+ )?(?:need|like) (?:it|that|this|the|an?|any))\b",
    _I,
)
# A no to something that was told or shown, whether or not it was held out.
PLAIN_NO = re.compile(
    r"^\W*(?:(?:no|nope|nah|sorry)\W+)*(?:(?:that|this|it)(?: one)? (?:doesn't|does not|won't|wouldn't|would not"
    r"|will not) "
    r"(?:\w+ )?(?:work|suit|do|fit)\b|(?:i'm |i am )?not (?:interested\b|a (?:\w+ )?fan\b|too sure about (?:that"
    r"|this)\b))"
    r"|^\W*(?:no|nope|nah)\W+i (?:\w+ )?(?:don't|do not) (?:\w+ )?(?:want|like|need|think so)\b",
    _I,
)
# A summary of what has been, which asks whether it was so.
PAST = re.compile(r"^\W*so\b[^?]*\b(?:was|were|did|had)\b[^?]*\?", _I)
# Told to do something, and perhaps not to tell it: "Choose your side with care."
INSTRUCTS = re.compile(
    r"^\W*(?:(?:and|also|then|first),? )?(?:give|choose|select|enter|state|send|read)\b(?! (?:me|us)\b)", _I
)
# A yes to this is a choice among several, which no yes makes.
ONE_OF = re.compile(r"\b(?:any of (?:these|those|them)|a different|another|or (?:are|would|do) you)\b", _I)
NO_OTHER = re.compile(
    r"^\W*(?:no|nope)\b(?:[^.!?]*\b(?:any|anything|nothing|no|not)\W+(?:\w+ )?|,? )(?:other|more|further|else)\b", _I
)
LEAVES = re.compile(r"\b(?:all|everything|thank(?:s| you) (?:\w+ )?for|bye)\b", _I)
WISH = re.compile(
    r"\b(?:i|we)(?:'d| would| really| also| do| just| actually)* (?:like|want|need|prefer|wish)\b"
    r"|\b(?:find|show|try|look|give|search)\b|\?",
    _I,
)

# A correction is plain where something is called wrong, or one's own words are taken up again.
PUTS_RIGHT = re.compile(
    r"\bi (?:said|meant)\b|\bthat(?:'s| is| was) (?:not (?:right|correct|what|true|it)|wrong|incorrect)\b"
    r"|\b(?:a|the|my|some) (?:mistake|error)\b|\byou (?:misheard|misunderstood|got (?:it|that) wrong)\b"
    r"|\bi (?:misspoke|mistyped|misread|mixed)\b|\bi (?:already|just) (?:told|said|gave)\b|\bnot what i\b"
    r"|\bshould (?:be|have been)\b",
    _I,
)
# Said to a request for a yes, another particular in place of the one that was held out: "Actually, make it two".
RESTATES = re.compile(
    r"^\W*(?:(?:oh|ah|um+|uh+)\W+)?(?:no|nope|actually|sorry|wait|i'm sorry|i am sorry)\b.*"
    r"(?:\bmake (?:it|that)\b|\bchange (?:it|that) to\b|\bshould be\b|\bchanged my mind\b"
    r"|\bi(?:'ll| will)? only (?:want|need) (?:an? |one\b|two\b|three\b|four\b|five\b|six\b|\d)"
    r"|\bi(?:'ll| will) (?:just|only) (?:get|take|have|need)\b|\bactually i want\b)",
    _I | re.DOTALL,
)
CORRECTION = re.compile(
    r"\b(?:actually|wrong|mistake|error|not|\w+n't|no|nope|mean|meant|sorry|instead|wait|chang\w+|but|should|thought"
    r"|sure|correct\w*|again|said|told|make (?:it|that)|rather|only|prefer|oh|oops|double|check|remember|positive"
    r"|certain|believe|recall|already|however|what about|scrap|scratch|disregard|forg[eo]t\w*)\b",
    _I,
)
# What puts something right where only a fact was asked for, or nothing.
CORRECTION_UNASKED = re.compile(
    r"\b(?:actually|wrong|(?<!by )mistake\w*|error|misspoke|oops|instead|should (?:be|have been)|again|(?:double"
    r"|re)-?\s?check|meant"
    r"|thought|remember|odd|strange|(?:isn't|wasn't|not|doesn't) (?:\w+ )?(?:right|true|correct|what|my|the)"
    r"|(?:didn't|did not) (?:\w+ )?(?:say|ask|want|mean)|(?:already|just) (?:told|said|gave|mentioned)|confus\w+"
    r"|forg[eo]t"
    r"|(?:didn't|did not) (?:even )?(?:get|give|listen|book|read|answer)|don't understand|no such"
    r"|i (?:typed|put in|wrote|entered|clicked|picked)|(?:do not|don't) (?:actually )?(?:need|want) (?:an?|the"
    r"|it|that|this|any)|says? (?:there|no|that there))\b|^\W*(?:no|sorry)\b|[.,;:!?…] ?no\b(?! (?:thank"
    r"|problem|need|worries)\w*)"
    r"|\bsays? ['\"“]",
    _I,
)
# A sentence that says no more than no, or that something was not understood, is not known or is to be said again.
NO_MORE_THAN_LOST = re.compile(
    r"^\W*(?:no|(?:(?:no|sorry|i'm sorry|oh)\W+)*i (?:don't|do not|didn't|did not|can't) (?:\w+ )?"
    r"(?:understand|know|follow|catch|get|hear|remember)(?: (?:you|that|it|this|what you mean))?"
    r"|(?:please )?(?:say|tell me) (?:that|it) again\b.*|once more\b[^\d]*please|[^.!]*\?|thank\w*(?: you)?)\W*$",
    _I,
)
# "No, that was all", to the question whether there is more.
NO_THAT_IS_ALL = re.compile(
    r"^\W*no\W+(?:that|this)(?:'s| is| was|'ll be| will be)(?: all| it| everything)\b(?!.*\bbut\b)", _I
)
TAKEN_BACK = re.compile(r"\b(?:but|except|actually|instead|only|sorry|wait|rather|change|should|wrong|mistake)\b", _I)
GOES = re.compile(r"\b(?:good ?)?bye\b|\bbeen (?:a )?(?:great|very|so|helpful)\b|\bhave a (?:\w+ )?day\b", _I)
FAREWELL = re.compile(
    r"\b(?:feel free|let me know|welcome|hold on|have a (?:\w+ )?(?:day|trip)|good ?bye|take care)\b", _I
)
# Another figure than the one that was held out, or a wish told anew.
ANEW = re.compile(r"\b(?:i|we)(?:'d| would)? (?:like|want|need)\b|\d", _I)
