"""The words of a search: which of them are looked for."""

from cxlab.word_forms import Term, carries_meaning, find_question_language, read_terms

MOST_TERMS = 8


def split_terms(text: str) -> tuple[Term, ...]:
    """Words as they were typed, without those that any message holds, unless there are no others; what stands in double
    quotes is one and always counts."""
    told, language = read_terms(text), find_question_language(text)
    kept = tuple(each for each in told if each.exact or carries_meaning(each.text, language))
    return (kept or told)[:MOST_TERMS]


def left_out(text: str) -> tuple[str, ...]:
    """The words that `split_terms` leaves out, as they carry nothing or are too many."""
    kept = split_terms(text)
    return tuple(each.text for each in read_terms(text) if each not in kept)
