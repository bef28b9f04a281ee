"""Forms of words by their stem, stop words, languages, and where what was sought stands."""

import pytest

from cxlab.word_forms import (
    Sought,
    Term,
    find_language,
    find_question_language,
    find_starts,
    read_terms,
    seek,
    stem,
    stop_words,
)

FORMS = {
    "en": ("promise promised promises promising", "try tries tried trying", "hope hoping hoped", "pay pays paying",
           "study studies studied", "refund refunds refunded"),
    "fr": ("rembourser remboursement remboursé", "acheter achète achetés", "envoyer envoie envoyé", "appeler appelle",
           "payer paie payé", "facture factures"),
    "de": ("haus häuser hauses", "rechnung rechnungen", "kündigung kündigungen kündigen", "strasse straße straßen",
           "erstatten erstattet erstattung"),
}  # fmt: skip


@pytest.mark.parametrize("language", FORMS)
def test_every_form_has_the_stem_and_one_of_the_starts_of_every_other(language: str) -> None:
    for forms in map(str.split, FORMS[language]):
        assert len({stem(form.casefold(), language) for form in forms}) == 1, forms
        for word in forms:
            starts = find_starts(word.casefold(), language)
            assert all(form.casefold().startswith(starts) for form in forms), (word, starts)


def test_words_of_other_stems_are_not_joined_and_other_languages_join_nothing() -> None:
    assert stem("universe", "en") != stem("university", "en")
    assert stem("compromised", "en") != stem("promised", "en")
    assert stem("car", "en") != stem("care", "en")
    assert (stem("promised", ""), find_starts("promised", "")) == ("promised", ("promised",))


def test_what_is_typed_is_read_as_words_and_phrases_each_once() -> None:
    assert read_terms('Refund, "next month"! refund TP-19 2026 " "') == (
        Term("Refund"), Term("next month", exact=True), Term("TP-19", exact=True), Term("2026", exact=True),
    )  # fmt: skip
    assert read_terms('refund "Refund"') == (Term("refund", exact=True),)


def test_the_language_is_that_of_most_stop_words() -> None:
    assert find_language(["Guten Tag, ich habe eine Frage zu der Rechnung."]) == "de"
    assert find_language(["Je veux que vous me remboursiez cette facture."]) == "fr"
    assert find_language(["Hello, I have a question about my bill."]) == "en"
    assert find_language(["Hola, quiero que me devuelvan el dinero de la factura."]) == ""
    assert find_language([]) == find_language(["Refund!"]) == "en"
    assert find_question_language("die Rechnung wurde nicht bezahlt") == "de"
    assert find_question_language("le client veut un remboursement") == "fr"
    assert find_question_language("customers on hold") == find_question_language("refund") == "en"
    assert {"the", "was"} <= stop_words("en")
    assert "die" in stop_words("de") - stop_words("en")
    assert stop_words("xx") == frozenset()


def test_forms_are_whole_words_and_phrases_stand_anywhere() -> None:
    sought = seek(
        [Term("promised"), Term("(a+b)", exact=True), Term("is (a", exact=True)], ["promises", "Promise"], "en"
    )
    assert sought == Sought(frozenset({"promises", "promise"}), ("(a+b)", "is (a"))
    text = "Compromise: a PROMISE is (a+b), promises."
    assert [text[start:end] for start, end in sought.find(text)] == ["PROMISE", "is (a", "promises"]
    assert not Sought()
    assert Sought().find(text) == []
