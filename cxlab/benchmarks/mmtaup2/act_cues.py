"""The wordings by which dialogue acts are told: modal questions, performatives, hedges, what people say who decline.

Each cue is a pattern of its own, so that a reader can know some and not others: `plain` ones say it outright,
`oblique` ones in passing. `dialogue_acts` reads messages by them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Cue:
    """One wording and how directly it says what it says; each is made once and looked up by identity."""

    pattern: re.Pattern[str]
    plain: bool


Knows = Callable[[Cue], bool]


def cue_list(plain: tuple[str, ...], oblique: tuple[str, ...] = ()) -> tuple[Cue, ...]:
    return tuple(
        Cue(re.compile(text, re.IGNORECASE), direct)
        for texts, direct in ((plain, True), (oblique, False))
        for text in texts
    )


# What a request for a yes proposes: to go on, or an act of the agent's. Looking something up needs no yes.
GO_ON = r"(?:proceed|go (?:ahead|forward|through)|continue|move forward|confirm)"
CLOSE = r"(?:finali[sz]e|complete|submit|cancel|return|exchange|place|book|refund|process|issue)"
# What is carried out for a customer, named by the thing: "Do you want tickets?"
_SERVICE = (
    r"(?:an? |the |some |any |your )?(?:\w+ )?(?:tickets?|refund|replacement|reservations?|bookings?|appointments?"
    r"|table|ride|room|receipt|callback|transfer)"
)
# What an agent may carry out, asked for in the first person.
_CARRY_OUT = (
    r"(?:cancel|return|exchange|change|make|place|process|book|issue|add|update|submit|refund|charge|complete"
    r"|finali[sz]e"
    r"|transfer|apply|remove|switch|buy|purchase|order|reserve|rent|send|open|close|block|unblock|lock|unlock|activate"
    r"|deactivate|suspend|resume|renew|upgrade|downgrade|extend|waive|credit|register|schedule|reschedule|replace"
    r"|delete"
    r"|enable|disable|reset|restart|connect|forward|start|play|deliver|ship)"
)
_LOOK_UP = (
    r"(?:search|look|check|help|assist|explain|tell|show|list|find|provide|see|repeat|describe|read|know|narrow|expand"
    r"|recommend|suggest|compare)\b"
)
_WISH = r"(?:would you (?:still |instead |rather )?(?:like|prefer|care)|do you (?:still )?(?:want|wish))"
_IF_YOU_WISH = r"(?:if|whether) you(?:'d| would)?(?: still)? (?:like|want|wish|agree)"
_FINE = r"(?:ok|okay|all right|alright|fine|correct|right|good|accurate|acceptable|in order)"

# "Please provide your confirmation" asks for a yes and no fact.
_A_YES = (
    r"(?:me |us )?(?:with )?(?:(?:your|an?|the|explicit|clear|final) )*"
    r"(?:confirmations?|consent|approval|go-ahead|permission|okay)\b(?! (?:code|number|e-?mail))"
)

# "Please confirm your booking" asks for a yes, "your booking number" for a fact.
_TO_BE_DONE = (
    r"(?:changes?|booking|order|reservation|appointment|ride|cancell?ation|return|exchange|request|action|purchase"
    r"|refund|transfer|payment request)\b(?! (?:ids?|numbers?|codes?|dates?|details)\b)"
)

ASKS_TO_CONFIRM = cue_list(
    (
        rf"\b(?:provide|give) {_A_YES}",
        rf"\b{_WISH} to {GO_ON}\b",
        r"\byes\s*(?:/|or)\s*no\b",
        r"\bdo you (?:agree|accept|consent|approve)\b",
        r"(?<!love to )(?<!like to )\b(?:answer|reply|respond|say|type|provide|give)(?: me)?(?: with)?(?: an?)? "
        r"(?:explicit |clear )?[\"'“]?yes\b",
        # "Please confirm", with what comes after it a go-ahead and no fact
        r"\b(?:please|can you|could you|do you|will you|would you)\b[^.?!]*?\b(?:confirm|agree)\b"
        r"(?:\s*[.,!?:;]|\s*$|\s+(?:with|by|to (?!me\b|us\b)\w+|yes|so (?:i|that)|and i)\b"
        rf"|\s+{_IF_YOU_WISH}\b|\s+that you(?:'d| would)? (?:like|want|wish|agree)\b"
        r"|\s+(?:if|that|whether) you(?:'re| are) (?:ok|okay|happy|fine|sure)\b"
        rf"|\s+(?:if|that|whether) (?:everything|all|this|that|these|it)\b[^.?!]{{0,30}}(?<!\bthe )\b{_FINE}\b"
        r"|\s+(?:this|these|that|it|all|everything|the above|the details|your details"
        rf"|(?:the|you|your) {_TO_BE_DONE})\b(?!\s*[.?!]?\s*:))",
        r"\bconfirm (?:the|your|these|this) (?:\w+ ){0,2}(?:details|changes|information|plans?)\s*:\s*\S"
        r"|\bconfirm the following\b(?: (?:details|information|changes))?\W*$",
        r"\b(?:let'?s|let me|(?:like|want|wanted) to) make sure\b[^.?!]*\b(?:right|correct\w*|that you)\b"
        r"|^\W*(?:so )?is (?:this|that) (?:correct|right|ok|okay):",
        r"\bneed you to confirm\b(?! (?:which|what|your|the|how|when|where))[^.]*\?",
        r"\blet me (?:clarify|confirm|summari[sz]e) your (?:\w+ )?(?:plans?|order|request|booking|details):",
        r"\bdid i get (?:this|that|it|everything) (?:all )?(?:right|correct)\b|\b(?:did i|have i) (?:got|get"
        r"|understood) "
        r"(?:this|that|it|you|everything) (?:right|correctly)\b",
        r"^\W*(?:(?:yes|ok|okay|sure|alright)\W+)+(?:just )?to confirm\b[^?]*\?",
        # A summary held out for a yes: "Confirming: two nights, is that right?", "So you would like me to cancel it?"
        r"^\W*(?:(?:so|ok|okay|sure|great|got it|alright|all right|please|then|now|and"
        r"|to (?:review|recap|sum up|summari[sz]e))\W+)*"
        r"(?:confirm(?:ing)?:|confirming\b|(?:just )?to (?:be (?:clear|sure)|make sure)\b"
        r"|(?:just )?(?:to (?:re-?)?confirm(?: \w+){0,3}|for confirmation)[,:]"
        r"|you(?:'d| would)? (?:like|want|wish)\b[^?]*\?$)",
        r"^\W*(?:please )?confirm (?:me )?(?:your|the) (?:request|order|booking|reservation|purchase|details)\s*[.:!]",
        r"\bconfirm the following[^:.?!]*:\s*\S|\bplease confirm your \w+ details\b",
        r"\bplease confirm (?!which|what|how|when|where|who|whether|if|your|the|me|us|their|that|receipt|and|or|in)\w+",
        rf"\b(?:{CLOSE}|transfer|send|change|add|remove|buy|order)\b[^?]*,? (?:right|correct)\?$",
        r"\bconfirm (?:to |for )?(?:me )?(?:that )?you(?:'d| would)? (?:like|want|wish)\b",
        # A summary put as a question: "So a table for two at seven?"
        r"^\W*(?:(?:ok|okay|sure|great|got it|alright|all right|right)\W+)?so,? "
        r"(?:that's |it's |that is |it is |that was )?"
        r"(?:an?|the|\d[\d:]*|one|two|three|four|five|six|seven|eight) [^?]*\?$",
        r"\b(?:kindly|please) (?:ensure|make sure|verify) that\b|\bplease (?:verify|check) (?:the following|these|this)"
        r"\b[^:.?!]*:\s*\S|^\W*i (?:assume|take it|gather)\b[^?]*\?",
        r"^\W*let me (?:review|recap|sum up|repeat|make sure)(?: (?:one more time|once more|again))?\W*$"
        r"|\b(?:seeking|requesting|awaiting) (?:your )?(?:approval|consent|confirmation|permission|go-?ahead)\b",
        r"\blet(?:'s| us| me) (?:confirm|verify) (?:the|your) details\b|\b(?:confirm|verify) (?:me |that )*the above\b",
        r"\b(?:if|whether) i(?:'ve| have)? (?:got|understood) (?:everything|it all|that|this) (?:right|correctly?)\b",
        r"^\W*(?:(?:then|so|please)\W+)*(?:confirm an?|verify the (?:demand|request|order|details|booking|transfer))\b",
        rf"^\W*(?:so\W+)?(?:{CLOSE}|buy|transfer|send|reserve|rent)\b [^?]*\?$",
        r"\bgive (?:me |us )?(?:the|your) "
        r"(?:green light|go-?ahead|ok(?:ay)?|approval|consent)\b|\bplease give (?:me )?(?:your |a )?confirmation\b",
        r"\b(?:check and review|please review) (?:the|these) (?:following |above )?details\b",
        r"^\W*(?:(?:okay|ok|so|and)\W+)*(?:the|your) \w+ (?:should|will|would) (?:\w+ )?be\b[^?]*\?$",
        rf"\blet me know\b[^.?!]*\b{_IF_YOU_WISH}(?: me| us)? to (?:{GO_ON}|{CLOSE})\b",
        rf"\b(?:{_IF_YOU_WISH}(?: me| us)? to|would like to) (?:{GO_ON}|{CLOSE})\b[^.?!]*"
        r"\b(?:let me know|say (?:so|yes)|tell me|reply)\b",
        r"\b(?:shall|should|may|can) i (?:please )?(?:now |then |just )?(?:go ahead|proceed|do (?:that|this|it|so))\b",
    ),
    (
        rf"\b(?:{_WISH} (?:for )?(?:me|us) to|you like (?:me|us)(?: to)?+) (?!{_LOOK_UP})\w+",
        rf"\b{_WISH} to (?:make|schedule) (?:reservations|bookings|appointments)\b|\b{_WISH} to try (?:for|it|again)\b",
        # What the agent is about to do, put as a question: "So I should send it to Ely?"
        rf"^\W*(?:(?:ok|okay|so|alright)\W+)*i should (?:instead |then |now )?{_CARRY_OUT}\b[^?]*\?",
        r"^\W*(?:(?:ok|okay|sure|alright|great)\W+)*so,? (?:(?:we(?:'re| are)|i(?:'m| am)) going to|i(?:'ll"
        r"| will)) [^?]*\?",
        rf"\b(?:sounds?|is that|are you) {_FINE}(?: (?:to|for|with) you)?\s*\?|\b{_WISH} (?:this|that|the) one\s*\?",
        r"\bdo you (?:still )?(?:want|wish|need) to (?:make|reserve|schedule|perform|play"
        r"|get)\b(?![^?]*,? or (?!not\b))",
        rf"\b{_WISH} to (?:make|schedule) an? (?!change|selection|choice|different|new)\w+(?![^?]*,? or (?!not\b))"
        r"|\b(?:any plans?|are you planning|do you plan) to (?:buy|book|purchase|rent|reserve|make an?)\b",
        rf"\b{_WISH} to {CLOSE}\b(?![^?]*,? or (?!not\b|is there|would you))",
        rf"\bshall i (?!{_LOOK_UP}|let you\b)\w+",
        rf"\b(?:should|may|can|could|will) i (?:now |then |just |try to )?{_CARRY_OUT}\b",
        r"\b(?:should|may|can|could) i (?:get|buy|order|reserve) you\b[^?]*\?",
        r"\b(?:help|assist|assistance)(?: you)?(?: with| in)? (?:an? |the |your |making an? )?"
        r"(?:booking|reserv|purchas|order)\w*\b[^?]*\?",
        # "Want me to book it?", the question without its first words
        rf"^\W*(?:and |so |then |ok,? |okay,? |do you )?want (?:me|us) to (?!{_LOOK_UP})\w+[^?]*\?",
        r"(?<!\bor )\bare you (?:sure(?! (?:that )?(?:there|all))|ok|okay|happy|fine|comfortable|ready)\b[^.?!]*\?",
        rf"\b(?:is|would|will) (?:that|this|it)(?: be)?(?: all)? {_FINE}(?: (?:with|for|by) you)?\s*\?",
        r"^\W*(?:do you |did you )?(?:want|need) to (?:book|buy|get|reserve|order|cancel|return)\b"
        r"(?![^?]*,? or (?!not\b))[^?]*\?",
        rf"\bwill [^?.!]{{2,60}}\b(?:be {_FINE}|work(?: (?:ok|okay|fine))?)(?: for you)?\s*\?",
        r"\bare you (?:looking to|interested in|planning on|ready to) "
        r"(?:reserv|book|buy|purchas|order|rent|mak|sign)\w*(?![^?]*,? or (?!not\b))[^?]*\?",
        r"\b(?:you(?:'re| are)|are you) (?:ok|okay|happy|fine) (?:for me|with me|if i)\b",
        rf"\bi (?:can|could|'ll|will) (?:try to |also |just )?{_CARRY_OUT} [^?!]*[.,] ?(?:ok|okay|all right|alright)\?",
        # "I can book it if you want"
        rf"\bi(?: can| could|'ll| will| would)?(?: try to| also| just)? {_CARRY_OUT} "
        rf"[^.?!]*\b{_IF_YOU_WISH}(?: me to)?\W*$",
        rf"\b(?:does|do) (?:that|this|it|everything|all|these|the details)[^.?!]*\b(?:look|sound|seem)s? {_FINE}\b",
        r"\b(?:does|will|would) (?:that|this|it) (?:work|suit)(?: (?:for )?you)?\s*[?.]|\bdoes (?:that"
        r"|this) work for you\b",
        r"(?<!ask for )\byour (?:explicit )?(?:confirmation|go-ahead|approval|consent|permission|okay)\b"
        r"(?! (?:code|number|e-?mail))",
    ),
)
# "Once you confirm, I will do it", said of a fact where the message asks which.
ONCE_CONFIRMED = re.compile(
    r"\bonce you(?:'ve| have)? confirm(?:ed)?\b"
    r"(?! (?:which|what|your|the (?!above|details|change|booking|order)))",
    re.IGNORECASE,
)
CONFIRM_WHICH = re.compile(r"\bconfirm (?:which|what|the \w+ (?:id|number)s?)\b", re.IGNORECASE)
# An offer to carry something out, which asks for a yes where nothing else is asked: in a row of questions it is one
# particular among others.
OFFERS_SERVICE = cue_list(
    (
        rf"^\W*(?:\w+[,!] )?(?:and |so |then )?(?:{_WISH}|(?:do )?you (?:want|need|require)) {_SERVICE}\b"
        r"(?![^?]*,? or (?!not\b))[^?]*\?",
        rf"(?:\b{_WISH}|^\W*want) to (?:buy|purchase|rent|order|reserve|get|pay)\b(?![^?]*,? or (?!not\b))[^?]*\?",
    ),
)
# "How would you like to proceed?" asks for a choice.
OPEN_QUESTION = re.compile(r"\b(?:how|which|what|when|where|who)\b(?:\s+[\w'-]+){0,6}\s*$", re.IGNORECASE)

ASKS_AGAIN = cue_list(
    (
        r"(?<!shall i )(?<!should i )(?<!me to )\b(?:repeat|spell|rephrase|clarify)\b[^.!]*\?",
        r"\b(?:once more|one more time|say (?:that|it|this) again|letter by letter|digit by digit)\b",
        r"\b(?:didn't|did not|couldn't|could not) (?:quite )?(?:catch|hear|get|understand|make out)\b",
        r"\bplease (?:repeat|spell)\b",
    ),
    (
        r"\b(?:did (?:you|i) (?:say|mean|hear)|(?:do|what do|which one do) you mean)\b",
        r"\b(?:have|got|heard|get|understood|understand) (?:that|it|this|you) (?:right|correctly)\b"
        r"(?! (?:here|away|now)\b)",
        r"\bi (?:heard|noted|understood)\b[^.!]*\?",
    ),
)
_TELL = (
    r"(?:provide|share|specify|give|tell (?:me|us)\b(?! (?:plainly|clearly))|send"
    r"|supply|enter|state|spell|repeat|rephrase|clarify|choose|select"
    r"|indicate|describe|read (?:me|out))"
)
ASKS_FOR_INFORMATION = cue_list(
    (
        rf"\b(?:please|kindly|(?:could|can|would|will) you)\b[^.?!]*\b{_TELL}\b(?! {_A_YES})",
        rf"^\W*(?:and |also |then |first,? )?{_TELL} (?:me |us )?(?:the|your|which|what|how|a|an)\b",
        r"\blet me know (?:which|what|how|when|where|who|your|the|whether you (?:have|are|see))\b",
        r"\blet me know if you(?:'d| would)? (?:like|prefer|want) to (?:use|add|keep|have|pay)\b",
        r"\blet me know if you (?:have a|prefer|need to)\b",
        r"(?<!happy to )(?<!glad to )(?<!i can )"
        rf"\bconfirm (?:which|what|how|when|where|your (?!{_TO_BE_DONE})"
        rf"|the (?!above|following|details|(?:\w+ ){{0,2}}(?:details|changes|information|plan)s?\s*:|{_TO_BE_DONE}))",
        # With the things themselves behind it, it is a summary held out for a yes.
        r"\bconfirm if the\b|\bconfirm the following\b(?![^:.?!]*:\s*\S)(?! (?:details|information"
        r"|changes)\W*$)(?!\W*$)",
        r"(?<!if )(?<!that )(?<!what )\byou (?:would|will) (?:please )?(?:give|tell|send) me\b",
        r"\bi(?:'ll| will| would|'d)?(?: also| first| still| just)? (?:need|require)\b"
        r"(?! to (?!know|gather|have|get)| your (?:explicit )?(?:confirmation|go-ahead|approval|consent|permission))",
        r"\bif you can (?:\w+ )?(?:provide|share|tell|give)\b",
        r"\b(?:may|can|could) i (?:please )?(?:have|get|know|ask(?: for)?) "
        r"(?:your|what|which|why|when|where|who|how)\b",
        # A question that is put without its mark
        r"^\W*(?:(?:and|so|then|ok|okay|alright|great|sure)\W+)*"
        r"(?:what|where|when|which|how (?:many|much|long)) (?:is|are|do|would|will) you(?:r)?\b",
    ),
)
CLOSING_OFFER = re.compile(
    r"\b(?:how|what|(?<!try )anything|(?<!try )something|nothing|any(?! (?:specific|particular)))\b[^?]*"
    r"(?<!that might )(?<!that could )(?<!that would )\b(?:help|assist|do for you|else(?! that would)|support)\b"
    r"|\b(?:help|assist)\b[^?]*\b(?:anything|something|more|further|else)\b"
    r"|\bany (?:other|further|more|additional) (?:\w+ )?(?:services?|info(?:rmation)?|help|assistance|questions?"
    r"|requests?|matters?)\b|\bany (?:help|assistance)\b|\b(?:further|more|additional|other) (?:help|assistance"
    r"|support)\b|\b(?:look for|search for|find|book|buy|order) any (?:other|more)\b|\b(?:will|is) that (?:be )?all\b",
    re.IGNORECASE,
)

YES = cue_list(
    (
        r"^\W*(?:(?:actually|well|oh|ah|um+|uh+|hm+|so|and|ok|okay|hey|hi)\W+)?"
        r"(?:yes|yeah|yep|yup|correct|exactly|agreed|indeed|confirm(?:ed|ing)?|approved"
        r"|that(?:'s| is) (?:right|correct|it|the one|exactly (?:right|it|what)))\b"
        r"(?!,? (?:my|the) [^.!?]* is\b)",
        r"(?:^|[,;:]\s*)(?:then |oh |well )?yes\b(?!,? (?:my|the) [^.!?]* is\b)",
    ),
)
GOES_AHEAD = cue_list(
    (
        r"^\W*(?:sure|certainly|absolutely|definitely|of course|by all means)\b(?! not)",
        r"^\W*very (?:good|well|nice)\b",
        r"^\W*(?:(?:let's )?go for it|why not|i would|please)\W*$",
        r"^\W*(?:please )?(?:cancel|return|exchange|book|refund|order|do) "
        r"(?:it|them|that|this|both|all)\b",
        r"\b(?:that|it)(?:'d| would) be (?:\w+ )?(?:great|good|fine|nice|lovely|helpful|perfect|wonderful)\b",
        r"\byou (?:can|may) (?:go ahead|proceed|continue|do (?:it|that|so))\b|\bfine by me\b",
        r"(?<!to )(?<!not )(?<!n't )\b(?:go ahead|proceed with|please (?:proceed|continue)|proceed now)\b",
        r"^\W*(?:so |then |great,? |okay,? )?(?:please )?proceed\b",
        r"\b(?:please do|do it|do that|make it so)\b",
        r"\bi(?:'d| would)? (?:hereby )?(?:confirm|agree|accept|approve|consent)\b",
        r"\bi(?:'d| would) (?:like|love) (?:that|to (?:proceed|go ahead|continue))\b|\bi'?ll go ahead\b",
        r"\blet'?s (?:just |please |also )?"
        r"(?:go (?:ahead|with|for)|proceed|do (?:it|that|this)|move forward|continue|get (?:it|this|that) done"
        r"|(?:finali[sz]e|complete) (?:it|this|that|the)(?! later))\b",
        r"\bi(?:'d| would) appreciate (?:that|it|being|receiving|speaking)\b",
    ),
    (
        r"^\W*(?:ok|okay|alright|all right|fine|great|perfect|right|very well)\b(?!,? i understand)",
        rf"\b(?:that|it|this|everything|all)(?:'s| is| looks?| sounds?| seems?) (?:all )?(?:{_FINE}|great|perfect)\b",
        r"\b(?:that|this|it)(?:'ll| will) (?:do|have to do|work|be (?:fine|good|great|perfect|all right))\b",
        r"\b(?:that|this|it) works\b|\bworks for me\b|\bsuits me\b"
        r"|\b(?:sounds|looks) (?:good|great|fine|right|perfect|nice|lovely|wonderful|excellent|awesome|interesting)\b",
        r"\bi(?:'m| am) (?:fine|ok|okay|happy|good|comfortable) with\b",
    ),
)
AGREES = (*YES, *GOES_AHEAD)
# What is outright wherever it stands in a message.
LETS_GO_AHEAD = re.compile(
    r"^\W*(?:(?:yes|yeah|so|ok|okay|but)\W+)*(?:please |let'?s )?(?:go ahead|proceed)\b", re.IGNORECASE
)
# A yes with a string attached, or a wish to know more first: nobody has agreed yet.
HEDGE = re.compile(
    r"\bnot (?:\w+ )?sure\b|\blet me think\b|^\W*(?:wait|hold on)\b"
    r"|\b(?:maybe|perhaps|not yet)\b|\bbefore (?:you|we|i)\b"
    r"|\b(?:as long as|only if|provided(?: that)?|unless)\b|\bif (?!that|this|it(?:'s| is| must| has to| really)\b|so\b"
    r"|possible|you|need be|necessary|there(?:'s| is) no )"
    r"|^\W*(?:but|however|although)\b|\bi(?:'d| would)? (?:need|like|want) to (?:know|check|think"
    r"|see (?:if|whether|how|what|the))\b"
    r"|\bwhat (?:exactly|do you|does|about)\b|\bhow (?:much|long|do|does|can)\b",
    re.IGNORECASE,
)
YES_BUT = re.compile(
    r"\b(?:yes|yeah|sure|ok|okay|alright|fine|good|great|perfect|sounds?\W+\w+|right|like|love|interesting|nice|cool)\b"
    # "Yes, but only to that" says what the yes is to, and takes nothing of it back.
    r"[^.!]*\b(?:but(?! (?:only|just) (?:to|for) (?:that|this|it)\b)|though|except(?! for))\b"
    r"|^\W*(?:yes|yeah|sure|ok|okay|alright|fine|good|great|perfect)\b[^.!]*\bexcept for\b",
    re.IGNORECASE,
)
# "No, I don't have any other changes" turns nothing down.
NO_MORE = (
    r"(?:i (?:don't|do not) have|there (?:aren't|isn't|are|is)(?: not?)?) "
    r"(?:any|no)?(?:thing)? ?(?:other|more|further|else)\b"
)
WITHDRAWS = cue_list(
    (
        r"(?<!\bso we can )\b(?:scrap|scratch|strike|disregard) (?:that|it|this)\b",
        r"\bi(?:'ll| will) think (?:about|on) it\b[^.?!]*\b(?:get back|later|let you know)\b",
        r"\b(?:hold off|never ?mind|i'?ll pass|forget (?:it|about (?:it|that)))\b",
        r"\bchang(?:ed?|ing) my mind\b",
        # "Actually, don't book it just yet"
        r"^\W*(?:(?:no|nope|actually|wait|oh|sorry)\W+)*(?:please )?(?:don't|do not) "
        r"(?:book|buy|order|reserve|rent|cancel|make|proceed|send)\b",
        r"\b(?:not|isn't|won't be|wouldn't be) necessary\b|\bunnecessary\b"
        r"|\bno (?!longer)\w+ (?:is |are )?(?:necessary|needed|required)\b"
        r"|^\W*(?:you know what\W+)?don't (?:worry about it|bother)\b",
        r"\bi(?:'ll| will| can) (?:(?:do|book|order) [^.?!]*\b(?:later|myself|on my own)"
        r"|take care of (?:it|that|the \w+))\b",
        r"\b(?:don't|do not|won't) (?:actually |really )?(?:need|want) to "
        r"(?:book|buy|purchase|order|reserve|make an?)\b",
        r"\b(?:don't|do not|won't) (?:actually |really )?(?:need|want) (?!anything else)(?:to )?"
        r"(?:\w+ ){0,3}?(?:booked|reserved|ordered|yet|any ?more|right now|after all)\b",
        r"\b(?:prefer|rather|want|like) not (?:to )?be\b|\bdon't want to be\b",
        r"^\W*(?:no|nope),? (?:please )?(?:change|make|try|book|find|use|cancel|keep|leave|take|put|do)\b",
        r"\b(?:don't|do not|doesn't|does not) like (?:the (?:sound|look|idea) of )?(?:that|this|it)\b",
        r"\b(?:don't|do not) (?:need|want) (?:anything|it|that|this|any of (?:it|them|that)|you to)\b(?! else)"
        r"(?: to)? ?(?:be )?\w+(?:ed|done)\b|\b(?:hold|stop) (?:that|it)\b(?! (?:thought|for))",
    ),
)
REFUSES = (
    *WITHDRAWS,
    *cue_list(
        (
            r"^\W*(?:(?:wait|oh|um+|uh+|hm+)\W+)*(?:no|nope|nah)"
            r"(?:\W*$|\s*[.,;!]|\s+(?:thank|way|i|please|not|don't|it|that|let|but)\b)"
            rf"(?!\W*(?:problem|worries|rush|{NO_MORE}))",
            r"\b(?:do not|don't|won't|won't be able to|wouldn't|not going to|not be able to|can't|cannot) "
            r"(?:want|wish|like|proceed|go ahead|go (?:on|through)|do (?:it|that|this)|cancel|continue|agree|accept)\b",
            r"\bdon't (?:really |quite )?(?:think|believe) (?:i|it|that|this|they|we)\b[^.?!]*\b(?:like|want|enjoy"
            r"|works?|suits?|fits?)\b|\b(?:don't|do not|didn't) (?:really |quite |much )?(?:fancy|care for|love)\b",
            r"\b(?:won't|will not|doesn't|does not|wouldn't|would not|isn't going to) work\b"
            r"(?! (?:on|with|when|if|at all)\b)",
            r"\bnot (?:\w+ )?ready\b|\b(?:don't|do not) think (?:i|we)(?:'ll| will|'d| would| want| need)\b"
            r"|^\W*(?:no,? )?not (?:that|this|those|these|it)(?: one)?\W*$",
            r"\bnot (?:\w+ ){0,2}interested\b|\b(?:doesn't|does not|don't) (?:sound|look|seem) (?:\w+ )?"
            r"(?:good|great|right|nice|appealing)\b",
            r"\b(?:not (?:now|today|yet|just yet|as of now|for now|right now|interested"
            r"|really|comfortable|at (?:the|this) (?:moment|time))"
            r"|rather not)\b",
            r"\b(?:prefer|rather|want|like) not to\b|\bdon't want to be\b",
            r"\b(?:prefer|rather) to (?:keep|stay|leave|wait)\b",
            r"\b(?:i decline|let's not|leave it (?:as|like)|no,? thanks?|no need|please don't|never(?! ?mind)\W*$)\b",
            r"^\W*(?:absolutely|certainly|definitely|of course|please) (?:do )?not\b",
            r"\b(?:above|over|beyond|exceeds?|outside|out of)\b[^.?!]*\b(?:budget|limit)\b",
            r"\bmore than i(?:'m| am)?\b[^.?!]*\b(?:willing|want|can|like|afford|pay)\b|\b(?:can't|cannot) afford\b",
            r"\btoo (?:expensive|high|costly|much (?:money|for me))\b",
            r"\bappreciate (?:the|your) (?:offer|suggestion)\b[^.?!]*\bbut\b",
        ),
        (r"\bstop\b(?!ping| for)",),
    ),
)
# What somebody says who is offered one thing and wants another.
ELSEWHERE = re.compile(
    r"\b(?:find|show|give|tell|look|search|try|want|like)\b[^.?!]*\b(?:something|anything|someone|another one) else\b"
    r"|\b(?:do you have|do you know of|have you got|(?:is|are) there|there(?:'s| is| are))\b[^.?!]{0,20}"
    r"\b(?:(?:anything|something) else|others\b)|^\W*(?:what|how) about (?:something|another|a different)\b"
    r"|\b(?:find|show|give|tell|look for|search for)\b[^.?!]{0,12}\b(?:any other|some other|another|other"
    r"|a different) (?!one of\b)\w+|^[^.?!]*\b(?:can|could|would) you\b[^.?!]*\bbut (?:with|on|at|for|in|from|to) \w+"
    r"|^\W*(?:something|anything) else\b(?! (?:on|for|with|about|to|you|i)\b)"
    r"|\b(?:is|are) there (?:any|some) (?:other|more|different)\b"
    r"|\b(?:do you have|do you know of|have you got|what are|how about)\b[^.?!]{0,12}\b(?:others?|another)\b"
    r"|\b(?:find|show|give|search for|look for|want|need|try|prefer)\b[^.?!]{0,12}\b(?:something|anything|some|any) "
    r"(?:different|more|others?)\b|\bkeep looking\b|\b(?:another|a different) (?:option|one|choice)\b"
    r"|\balternatives?\b|\b(?:do you have|can you try|could you try)\b[^.?!]*\binstead\b"
    r"|\b(?:do you have|is there|are there|can you (?:find|get|show|give)|have you got)\b[^.?!]*"
    r"\b(?:earlier|later|sooner|cheaper|closer|nearer|better|bigger|larger|smaller|longer|shorter)\b"
    r"|^\W*(?:\w+\W+)?i(?:'d| would)? (?:actually |really |strongly |much )?prefer\b"
    r"(?! (?:to (?:proceed|go ahead|continue)|not|(?:that|this)(?: \w+)?[.!]?$)(?:\b|$))"
    r"|\b(?:i'd|i would) rather (?!not\b)\w+|\bwhat else (?:is|are|do|can)\b"
    r"|\b(?:but|however|though),? (?:i(?:'m|'d| am| would)? )(?:actually |really |rather )?"
    r"(?:looking for|want|wanted|like|need|prefer)\b(?! to (?:know|see if|check|ask|think))",
    re.IGNORECASE,
)
# "That's okay" turns an offer down when the speaker goes another way in the same breath.
DECLINES_KINDLY = re.compile(
    r"^\W*(?:that'?s|it'?s|that is) (?:ok|okay|all right|alright|fine)\b.*"
    r"\b(?:instead|later|myself|no need|i'?ll (?:handle|manage|wait|think|try))\b",
    re.IGNORECASE | re.DOTALL,
)
YES_NO_QUESTION = re.compile(
    r"(?:^(?:and |so |but )?|,\s*|\bplease )(?:is|are|was|were|do|does|did|have|has|had|would|will|shall|should|may"
    r"|confirm (?:if|that)|can i|could i|correct|right)\b[^.!]*\?|\bconfirm (?:if|that|whether) ",
    re.IGNORECASE,
)
