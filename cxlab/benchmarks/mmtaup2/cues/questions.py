"""The wordings by which an agent asks: for a yes before it acts, for a fact or a choice, or to hear something again."""

import re

from cxlab.benchmarks.mmtaup2.cues.wording import FINE, cue_list

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
        rf"|\s+(?:if|that|whether) (?:everything|all|this|that|these|it)\b[^.?!]{{0,30}}(?<!\bthe )\b{FINE}\b"
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
        rf"\b(?:sounds?|is that|are you) {FINE}(?: (?:to|for|with) you)?\s*\?|\b{_WISH} (?:this|that|the) one\s*\?",
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
        rf"\b(?:is|would|will) (?:that|this|it)(?: be)?(?: all)? {FINE}(?: (?:with|for|by) you)?\s*\?",
        r"^\W*(?:do you |did you )?(?:want|need) to (?:book|buy|get|reserve|order|cancel|return)\b"
        r"(?![^?]*,? or (?!not\b))[^?]*\?",
        rf"\bwill [^?.!]{{2,60}}\b(?:be {FINE}|work(?: (?:ok|okay|fine))?)(?: for you)?\s*\?",
        r"\bare you (?:looking to|interested in|planning on|ready to) "
        r"(?:reserv|book|buy|purchas|order|rent|mak|sign)\w*(?![^?]*,? or (?!not\b))[^?]*\?",
        r"\b(?:you(?:'re| are)|are you) (?:ok|okay|happy|fine) (?:for me|with me|if i)\b",
        rf"\bi (?:can|could|'ll|will) (?:try to |also |just )?{_CARRY_OUT} [^?!]*[.,] ?(?:ok|okay|all right|alright)\?",
        # "I can book it if you want"
        rf"\bi(?: can| could|'ll| will| would)?(?: try to| also| just)? {_CARRY_OUT} "
        rf"[^.?!]*\b{_IF_YOU_WISH}(?: me to)?\W*$",
        rf"\b(?:does|do) (?:that|this|it|everything|all|these|the details)[^.?!]*\b(?:look|sound|seem)s? {FINE}\b",
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
