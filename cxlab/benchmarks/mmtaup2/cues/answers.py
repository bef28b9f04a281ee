"""The wordings by which somebody answers a request or an offer: yes, no, yes with a string attached, something else."""

import re

from cxlab.benchmarks.mmtaup2.cues.wording import FINE, cue_list

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
        rf"\b(?:that|it|this|everything|all)(?:'s| is| looks?| sounds?| seems?) (?:all )?(?:{FINE}|great|perfect)\b",
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
