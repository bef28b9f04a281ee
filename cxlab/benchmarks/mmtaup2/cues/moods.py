"""The wordings by which a customer's mood is told: annoyed, content, not content; cues as in `act_cues`."""

import re

from cxlab.benchmarks.mmtaup2.cues.wording import cue_list

# What happened to somebody, or the weather, may be awful without anybody to blame; and a phone without a signal has no
# service, which is what is wrong and says nothing of whoever tells it.
MISFORTUNE = re.compile(
    r"\b(?:ha(?:ve|s|d|ving)|'ve|got|gets?|getting|shows?|showing|sa(?:ys?|id|ying)|is|was|been|there's|it's|with|still"
    r"|just) (?:still |now |suddenly |currently |absolutely )?no (?:cell(?:ular)? |mobile |phone |network )?service\b"
    r"(?! (?:from|by|whatsoever|at all|desk|ethic)\b)|"
    r"\b(?:weather|traffic|storm|snow|roads?|accident|news|conditions?|pain|headache)\b[^.!?]{0,25}"
    r"\b(?:terrible|awful|horrible|worst|bad|crazy|sucks?)\b|\b(?:not|isn't|never|aren't) (?:\w+ )?"
    r"(?:frustrated|annoyed|angry|upset|mad|disappointed)\b",
    re.IGNORECASE,
)
# What is called bad must be the service or what came of it, and not a photograph, a piano or the worst case.
_SERVICE = (
    r"(?:service|support|communication|experience|company|airline|shop|store|app|website|site|staff|crew|agents?"
    r"|organi[sz]ation|management|policy|treatment|lot|flight|trip|journey|night|day|ever)"
)
_BAD = (
    r"(?:(?:god ?)?awful|terrible|horrible|horrific|rubbish|garbage|trash|lousy|hopeless|miserable|incompetent"
    r"|irresponsible|disgraceful|a (?:joke|disgrace|shambles|farce|scandal))"
)
HASHTAG = re.compile(
    r"#\w*(?:worst|terrible|fail|shame|ripoff|poor|unacceptable|disappoint|brutal|awful|pathetic|horrible|joke|fedup"
    r"|bad(?:service|airline|experience)|incompetent|disast)\w*",
    re.IGNORECASE,
)
FRUSTRATED = cue_list(
    (
        rf"\b(?:{_BAD}|worst) (?:\w+ ){{0,2}}{_SERVICE}\b",
        rf"\b(?:it|that|this|you|they|(?:your|the) \w+(?: \w+)?)(?:'s|'re| is| are| was| were| has been| have been)"
        rf"(?: \w+){{0,2}} {_BAD}\b(?=\W*$|[.,;!?]| (?:and|but|that|to|in|at|i|when)\b)",
        r"(?<!fear )(?<!expect )(?<!assume )(?<!for )(?<!me )\bthe worst\b(?=\W*$|[.!])",
        r"\b(?:sucks|(?:you|they|guys) suck|stinks|disgust\w+)\b",
        r"(?<!it )(?<!be )(?<!sound )\brude(?:ly|ness)?\b(?! (?:of me|to (?!me\b|us\b)))"
        r"|\bare you (?:even |actually )?(?:reading|listening)\b(?! (?:to music|books?)\b)",
        r"\bf+u+c+k\w*|\b(?:livid|fuming|pissed(?: off)?|scandalous|daylight robbery|uncaring)\b",
        r"\b(?:you're|you are|that's|that is|this is|that was) (?:not|no|un|hardly) ?help(?:ing|ful)?\b",
        r"\b(?:not|isn't|ain't) (?:nearly )?(?:good enough|acceptable|cool)\b(?=\W*$|[.,;!?]| for (?:me|us"
        r"|all)\b)",
        r"\b(?:you|they|she|he) (?:can't be serious|must be (?:joking|kidding)|(?:have|'ve) got to be (?:joking"
        r"|kidding))",
        r"\b(?:lift a finger|get (?:your|its|their) act together|too little,? too late|bone to pick|beyond belief)\b",
        r"\b(?:do(?:es)?n't|don't|not) (?:even )?(?:give (?:a|two|any|2)|care about (?:me|us|you|your|their|its)"
        r"|waste my time)\b",
        r"\b(?:i|we) (?:really |just )?(?:hate|despise) (?:this|you|your|dealing)\b|\bstuff your\b",
        r"\bi(?:'ve| have)? (?:just |literally |already )?(?:told|said)\b[^.!?]{0,40}!|\bi (?:just"
        r"|literally) said\W*$",
        r"\blast time (?:i|we)(?:'ll| will| ever)* (?:fly|use|buy|shop|order|book|call)\b|\byou(?:'re"
        r"| are) killing me\b",
        r"\bdon't (?:ever|you dare) \w+ me\b|\b(?:take|need to take) (?:some )?(?:accountability|responsibility)\b",
        r"\bthanks for the (?:vague|canned|useless|copy|standard|non-?answer)\b|\bnobody (?:told|warned) (?:me|us)\b"
        r"|\bwhat is wrong with you\b",
        r"\b(?:poor|bad|no|zero) (?:\w+ )?(?:service|communication|support|compassion)\b(?! (?:for|in|here|signal))",
        r"\b(?:\d? ?shits?|shitty|crap\w*|bs|sucked|horrendous|atrocious|abysmal|dreadful|unprofessional\w*"
        r"|uncalled for|sub-?par"
        r"|shameful|incompeten\w+|clueless)\b|\bhate (?:your?|dealing|this (?:airline|company|shop|service))\b",
        r"\b(?:don't|do not) appreciate\b|\bnot (?:reasonable|acceptable)\b|\black of (?:\w+ )?(?:service"
        r"|communication)\b",
        r"\bashamed of (?:your|him|her|them)sel\w+|\brip(?:ped|ping|s)? (?:me|us|people|customers) off\b|\bwtf\b",
        r"\bthanks for nothing\b|\bnever (?:again\b|(?:flying|using|buying|ordering|shopping|booking|fly|use"
        r"|buy|order"
        r"|shop) (?:with |from )?(?:you|here|them|this)\b)",
        r"\bnot (?:best |too |so |exactly )?(?:pleased|impressed|amused)\b|\bpay attention\b",
        r"\b(?:are )?you (?:\W*\w+\W+)?kidding(?: me)?\s*\?|\bwhat the (?:hell|heck)\b"
        r"|\bi literally just (?:told|said)\b",
        r"\b(?:i|we)(?:'ve| have)?(?: \w+)? (?:gave|given) up\b|\bhours? gave up\b",
        r"\b(?:you|they|guys|things?)\b[^.!?]{0,25}\bmess(?:ed|ing)? (?:\w+ )?up\b",
        r"\b(?:frustrat\w+|annoy(?:ed|ing)|upset|angry|furious|mad at|(?:so|very|really|getting) mad)\b",
        r"\b(?:irritat\w+|outrag\w+|exasperat\w+)\b",
        r"\b(?:dis+ap+oint\w+|unhappy|dissatisf\w+|not (?:very |at all |really )?(?:happy|satisfied|pleased))\b",
        r"\b(?:ridiculous|unacceptable|appalling|absurd|pathetic|outrageous)\b",
        r"\bdriv(?:es|ing) me (?:\w+ )?(?:crazy|mad|nuts|insane|up the wall)\b"
        r"|\b(?:damn|bloody|freaking|bullshit|wtf)\b",
        r"\b(?:fed up|sick (?:and tired )?of|tired of|waste of (?:my )?time|had enough|losing (?:my )?patience)\b",
        r"\b(?:really|very|so|extremely|incredibly) (?:inconvenient|stressful|confusing|stressed)\b",
        r"\b(?:can't believe|how many times|already told you|keep asking|nothing (?:works|helps))\b",
        # Oaths, and what one is called
        r"\bfor (?:heaven|god|goodness|pity|christ)'?s?'? sake\b|\bfor crying out loud\b|\bgood grief\b|\bffs\b",
        r"\b(?:lied to (?:me|us)|(?:you|they) (?:lied|cheated)|liars?|thieves|crooks|con artists|fobb(?:ed|ing)"
        r"|brush(?:ed|ing) (?:me|us) off|run ?around|pillar to post|taking the (?:mick\w*|piss)"
        r"|takes? (?:me|us) for (?:an? )?(?:fool|idiot)s?)\b",
        r"\b(?:wit'?s'? end|end of my (?:tether|rope)|last straw|beyond a joke|enough is enough|up to here|seething"
        r"|appalled|insult(?:ed|ing)|slap in the face)\b",
        r"\bi(?:'ve| have) had it\b(?! (?:for|since|on|in|with me|repaired|checked|done))",
        r"\bwhat an? (?:\w+ )?(?:joke|shambles|farce|disgrace|nightmare|rip-?off|waste|nerve|cheek)\b"
        r"|\b(?:an?|this) (?:absolute|complete|total|utter) (?:joke|shambles|farce|disgrace|nightmare|waste|mess)\b",
        # Reproach
        r"\byou (?:could|should|might)(?:'ve| have) (?:asked|told|said|warned|mentioned|checked|thought)\b",
        r"\bwhy (?:didn't|did|couldn't|could|do|don't|say|tell me|mention) (?:\w+ ){0,4}only now\b"
        r"|\bwhy (?:didn't|did not|couldn't) (?:you|they|anyone|anybody|nobody|your \w+) (?:just |simply )?"
        r"(?:say|tell|ask|warn|mention)\b",
        r"\bhow hard (?:can|is|could|would) (?:it|that) be\b|\b(?:it|that|this) (?:really )?too much to ask\b",
        r"\b(?:do(?:es)?|did) (?:anyone|anybody|any of you|you (?:people|lot)) (?:there |at \w+ )?"
        r"(?:even |actually |ever )?(?:read|listen|care|work|check|talk to)\b|\byou (?:people|lot)\b",
        r"\b(?:i don't (?:want|need)|spare me|save) (?:your |any |another |more |the )?"
        r"(?:apolog\w+|excuses?|sorr(?:y|ies))\b|\b(?:no|not) (?:more )?excuses\b",
        r"\bi (?:believe|buy) (?:none of|not a word of) (?:this|that|it)\b|\bno \w+,? no nothing\b"
        r"|\b(no|stop|why)(?:\W+\1){2,}\b",
        r"\bnot (?:receiving|getting|given) any (?:help|answers?|replies|service)\b|\bhaving too much trouble\b",
        r"\bi (?:won't|will not|shall not|don't think i(?:'ll| will| shall)) (?:\w+ )?"
        r"(?:ask|use|buy|order|shop|trust|call|recommend|fly|book)\b[^.!?]*\b(?:you|here|anybody|anyone)\b[^.!?]*"
        r"\b(?:again|any ?more|any longer)\b",
        r"\bforget it\W+(?:i(?:'m|'ll| am| will) )?(?:opening|taking|going|moving|buying|go|buy|take)\b[^.!?]*"
        r"\b(?:elsewhere|somewhere else|another (?:bank|shop|company|airline))\b",
    ),
    (
        r"\b(?:way|far|much) too? long\b|\b(?:hours?|minutes?|days?|weeks?|this|that|it)(?: is|'s) (?:just |so "
        r"|totally )?"
        r"(?:crazy|insane|nuts)\b",
        r"\bi give up\b|\bthis is (?:getting|becoming) \w+|\bstill waiting\b|\bfor the (?:third|fourth|last) time\b",
        r"\b(?:too (?:fast|complicated)|don't (?:get|understand) (?:any|a word)|makes? no sense|goes? nowhere)\b",
    ),
)
# What leaves open whether somebody is annoyed: most who are do not say so, but tell what went wrong, raise their voice,
# repeat themselves or turn to irony. Only a message without any of it is called calm.
MAY_BE_UPSET = re.compile(
    r"!{2,}|\?{2,}|\?!|:\(|\.\.\.|#\w|['\"“](?<=\s.)\w"
    r"|\b(?:wrong|late|delay\w*|miss(?:ed|ing)?|lost|broke\w*|fault\w*|damage\w*|scratch\w*|dent|fail\w*|refus\w+"
    r"|denied|den(?:y|ies)|declin\w+|block\w+|lock\w+|twice|cancel+ed|not (?:work\w*|there|here|come|arriv\w+)|gone"
    r"|charg\w+|fees?|cost\w*|refund\w*|compensat\w+|complain\w*|blame|fault|shout\w*|scream\w*|promis\w+|owe\w*"
    r"|whatever|forget it|as usual|typical|wow|bravo|brilliant|great job|truly|so glad|funny|rubbish|useless|silly"
    r"|stupid|idiot|fool|robot|bot|leaflet|machine|sermon|else(?:where)?|queue|human|person|supervisor|manager"
    r"|(?:no|not one|not a|without) (?:word|answer|reply|e-?mail|news|money|one|way|idea|help|call|sign)"
    r"|nothing|nobody"
    r"|what(?:'s| is) (?:going on|happening|the point)|where(?:'s| is) (?:my|our|it|the)|how (?:long|hard"
    r"|much longer|can)"
    r"|i (?:said|told|asked|wrote|explained|paid)|(?:told|promised|said) (?:me|us)|who are you|start again"
    r"|so i just|going to tell me|(?:of|for|with) what"
    r"|(?:\d+|two|three|four|five|six|seven|eight|nine|ten|several|many|few) (?:\w+ )?(?:minutes?|mins?|hours?"
    r"|hrs?|days?"
    r"|weeks?|months?|years?|times|people)|days|months|yesterday|but|only|even|too|just|enough|can't|cannot|couldn't"
    r"|don't|didn't|doesn't|won't|wasn't|isn't|haven't|hasn't|never|surely|actually|supposed|expect\w*|thought)\b",
    re.IGNORECASE,
)
# Raised over nothing that pleases: "18:20!"
RAISES = re.compile(
    r"^(?!.*\b(?:thank\w*|thx|hi|hello|hey|good|great|perfect|yes|yay\w*|sure|please|love\w*|wonderful|amazing"
    r"|awesome|bye|done"
    r"|welcome|cheers|morning|happy|glad|nice|fine|excellent|exactly|of course|fantastic|works?|worked|got it"
    r"|best|help\w*"
    r"|appreciate\w*|lucky|ok|okay|sorry|right)\b).*!",
    re.IGNORECASE,
)
# Words that many use who are annoyed, and others who are not.
DISTRESS = re.compile(
    r"!{2,}|:\(|\b(?:still|again|already|why (?:can|won|is|do|did|are|not)\w*|ever|keeps?|kept|hours?|weeks?|never"
    r"|nobody"
    r"|no one|trouble|worr\w+|unfair|fair|bad|hard|difficult|seriously|really"
    r"|terribl\w*|stress\w*|sad|hate|crazy|enough|patience|wast\w+|nonsense|come on|honestly|confus\w+|not happy"
    r"|wish|sucks?|trash|garbage|crap\w*|worst|rude\w*|poor\w*|aw?ful|lousy|mess\w*|joke|finally|at least|excuse\w*"
    r"|thanks for (?:nothing|letting)|lost|stuck|strand\w*|wait\w*|on hold|(?:too|so) long|now i(?:'m| am)"
    r"|could(?:'ve| have)"
    r"|would(?:'ve| have)|i(?:'d| would) be|stop \w+ing|response|ashamed|scr[ew]+|darn|damn|wtf|horse ?\w*|bull\w*"
    r"|any good|anymore|alive|reliable|should have"
    r"|supposed)\b",
    re.IGNORECASE,
)
# A word in capitals, but for codes and abbreviations.
LOUD = re.compile(
    r"\b(?:[A-Z]{4,}|(?:NO|NOT|MY|OUR|ALL|WHY|HOW|WHO|NOW|SO|THE|YOU|AND|FOR|DAY|BAG|OFF|WTF|OMG"
    r"|SAY|DID|HAS|WAS|CAN|GET|PAY|ANY|ONE|TOO|YET))\b"
)
SATISFIED = cue_list(
    (
        r"\b(?:works|working|fixed|solved|sorted|back) (?:now|again|fine|perfectly)\b",
        r"\b(?:is|it's|that's|all) (?:fixed|solved|sorted|done)\b",
        r"\bthat (?:solved|fixed|did) it\b",
    ),
    (r"\b(?:thank you|thanks)\b", r"\bthat(?:'s| is) (?:all|everything)\b", r"\b(?:perfect|wonderful)\b"),
)
UNSATISFIED = cue_list(
    (
        r"\bstill (?:not|no|isn't|doesn't|can't|cannot|won't|the same|have)\b",
        r"\b(?:doesn't|does not|isn't|is not) work",
        r"\bno (?:signal|service|change)\b",
    ),
    (r"\b(?:useless|waste of time|give up|nothing (?:changed|helped))\b",),
)
