"""English abbreviations by what their full stop means, without that stop and in lower case; extend them freely."""

# Never the end of a sentence: Mr. Smith, e.g. this.
TITLES = frozenset(
    "mr mrs ms mx messrs mmes dr drs prof st ste gen maj col capt cpt lt sgt cpl adm cmdr rev fr hon sen rep gov pres "
    "supt amb mt ft vs cf e.g i.e al viz".split()
)

# The end of a sentence only before a word that often starts one: Acme Inc. The …
MAY_END = frozenset(
    "jr sr esq inc ltd co corp bros assn dept univ ave blvd rd hwy etc est approx ed eds govt natl intl "
    "jan feb apr aug sept oct nov dec tues thurs ph.d b.c a.d a.m p.m".split()
)

# Not the end of a sentence before a number: pp. 12, vol. 3, c. 1900.
BEFORE_NUMBERS = frozenset("p pp vol vols nos ca c ch chap para ver arts figs secs".split())

# The same, but words as well: No. 5, and no.
WORDS_BEFORE_NUMBERS = frozenset("no fig art mar sec op sep sat sun".split())

SENTENCE_STARTERS = frozenset(
    "The A An He She It They We I In On At This That These Those There His Her Its Their But And However After Before "
    "When While As For From Since Although Because If By With To Some Many Most One Two Both Each During Later Then "
    "Another Other No Not Our My You What Who Where Why How".split()
)
