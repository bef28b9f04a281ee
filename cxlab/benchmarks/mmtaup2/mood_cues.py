"""The wordings by which a customer's mood is told: annoyed, content, not content; cues as in `act_cues`."""

import re

from cxlab.benchmarks.mmtaup2.act_cues import cue_list

# What happened to somebody, or the weather, may be awful without anybody to blame.
MISFORTUNE = re.compile(
    r"\b(?:weather|traffic|storm|snow|roads?|accident|news|conditions?|pain|headache)\b[^.!?]{0,25}"
    r"\b(?:terrible|awful|horrible|worst|bad|crazy|sucks?)\b|\b(?:not|isn't|never|aren't) (?:\w+ )?"
    r"(?:frustrated|annoyed|angry|upset|mad|disappointed)\b",
    re.IGNORECASE,
)
FRUSTRATED = cue_list(
    (
        r"\b(?:sucks|(?:you|they|guys) suck|stinks|trash|garbage|lousy|rude(?:ly|ness)?|disgust\w+|miserable"
        r"|worst(?! case))\b",
        r"\b(?:poor|bad|no|zero) (?:\w+ )?(?:service|communication|support|compassion)\b(?! (?:for|in|here|signal))",
        r"\b(?:shit\w*|crap\w*|bs|sucked|horrendous|atrocious|abysmal|dreadful|unprofessional\w*|uncalled for|sub-?par"
        r"|shameful|incompeten\w+|clueless)\b|\bhate (?:your?|dealing|this (?:airline|company|shop|service))\b",
        r"#\w*(?:worst|terrible|fail|shame|ripoff|poor|unacceptable|disappoint|brutal|awful|pathetic|horrible|joke)\w*",
        r"\b(?:don't|do not) appreciate\b|\bnot (?:reasonable|acceptable)\b|\black of (?:\w+ )?(?:service"
        r"|communication)\b",
        r"\bashamed of (?:your|him|her|them)sel\w+|\brip(?:ped|ping|s)? (?:me|us|people|customers) off\b|\bwtf\b",
        r"\bthanks for nothing\b|\bnever (?:again\b|(?:flying|using|buying|ordering|shopping|booking|fly|use|buy|order"
        r"|shop) (?:with |from )?(?:you|here|them|this)\b)",
        r"\bnot (?:best |too |so |exactly )?(?:pleased|impressed|amused)\b|\bpay attention\b",
        r"\bare you (?:\W*\w+\W+)?kidding\b|\bwhat the (?:hell|heck)\b|\bi literally just (?:told|said)\b",
        r"\b(?:i|we)(?:'ve| have)?(?: \w+)? (?:gave|given) up\b|\bhours? gave up\b",
        r"\b(?:you|they|guys|things?)\b[^.!?]{0,25}\bmess(?:ed|ing)? (?:\w+ )?up\b",
        r"\b(?:frustrat\w+|annoy(?:ed|ing)|upset|angry|furious|mad at|(?:so|very|really|getting) mad)\b",
        r"\b(?:irritat\w+|outrag\w+|exasperat\w+)\b",
        r"\b(?:disappoint\w+|unhappy|dissatisf\w+|not (?:very |at all |really )?(?:happy|satisfied|pleased))\b",
        r"\b(?:terrible|awful|horrible)\b(?! (?:\w+ )?(?:accident|crash|collision|incident|rollover|storm|fire|flood"
        r"|loss|injury|illness|pain|cold|headache))",
        r"\b(?:ridiculous|unacceptable|appalling|absurd|a joke|useless|pathetic|nonsense)\b",
        r"\bdriv(?:es|ing) me (?:\w+ )?(?:crazy|mad|nuts|insane|up the wall)\b"
        r"|\b(?:damn|bloody|freaking|bullshit|wtf)\b",
        r"\b(?:fed up|sick (?:and tired )?of|tired of|waste of (?:my )?time|had enough|losing (?:my )?patience)\b",
        r"\b(?:really|very|so|extremely|incredibly) (?:inconvenient|stressful|confusing|stressed)\b",
        r"\b(?:can't believe|how many times|already told you|keep asking|nothing (?:works|helps))\b",
    ),
    (
        r"\b(?:way|far|much) too? long\b|\b(?:hours?|minutes?|days?|weeks?|this|that|it)(?: is|'s) (?:just |so "
        r"|totally )?"
        r"(?:crazy|insane|nuts)\b",
        r"\bi give up\b|\bthis is (?:getting|becoming) \w+|\bstill waiting\b|\bfor the (?:third|fourth|last) time\b",
        r"\b(?:too (?:fast|complicated)|don't (?:get|understand) (?:any|a word)|makes? no sense|goes? nowhere)\b",
    ),
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
