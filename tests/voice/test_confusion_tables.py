"""The confusion tables are data that people edit; each line has to make a difference."""

import pytest

from cxlab.voice import LANGUAGES
from cxlab.voice.confusion_tables import tables
from cxlab.voice.confusions import candidates, halves, neighbours, sound
from cxlab.voice.words import key


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_entry_is_heard_as_itself(language: str) -> None:
    table = tables(language)
    for block in (table.homophones, table.near, table.numbers, table.digits, table.letters, table.names):
        assert block
        same = [(said, other) for said, heard in block.items() for other in heard if key(said) == key(other)]
        # French elisions and German capitals may be equal once signs are gone; they are skipped when drawn.
        assert len(same) <= len(block) // 20, same
    assert all(len(said.split()) == 2 and len(heard[0].split()) == 1 for said, heard in table.joins.items())
    assert all(len(said.split()) == 1 and len(heard[0].split()) >= 2 for said, heard in table.splits.items())


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_digit_can_be_misheard(language: str) -> None:
    digits = tables(language).digits
    assert {digit for digit in digits if len(digit) == 1} == set("0123456789")
    assert all(heard.isdigit() for others in digits.values() for heard in others)


def test_sounds_bring_like_words_together() -> None:
    table = tables("en")
    for one, other in (("night", "knight"), ("phone", "fone"), ("check", "chek"), ("right", "write")):
        assert sound(one, table) == sound(other, table)
    assert "bat" not in neighbours("bat", "en")
    assert "pack" in neighbours("back", "en")
    assert dict(candidates("their", "en"))["homophone"] == ("there", "they're")


def test_seams() -> None:
    assert halves("password", "en") == "pass word"
    assert halves("follow-up", "en") == "follow up"
    assert halves("lieferadresse", "de") == "liefer adresse"
    assert halves("xylophone", "en") is None
