"""Statistics of texts: small cases by hand, MinHash against exact similarity."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.benchmarks.cxmarena.generation import dataset_statistics
from cxlab.metrics import text_statistics as stats
from cxlab.records import Conversation, Message


def test_moving_average_by_hand() -> None:
    assert stats.mattr(["a", "b", "a", "b"], 2) == 1.0
    assert stats.mattr(["a", "a", "b", "b"], 2) == pytest.approx((1 + 2 + 1) / 3 / 2)
    assert stats.mattr(["a", "a"], 5) == 0.5
    assert stats.mattr([], 5) == 0.0


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=60), st.integers(1, 12))
def test_moving_average_equals_the_plain_definition(stream: list[str], window: int) -> None:
    parts = [stream[i : i + window] for i in range(max(len(stream) - window + 1, 1))]
    plain = sum(len(set(p)) / len(p) for p in parts) / len(parts)
    assert stats.mattr(stream, window) == pytest.approx(plain)


def test_conversations_are_counted_as_in_table_9() -> None:
    def message(role: str, text: str) -> Message:
        return Message(role=role, text=text, turn=1)

    said = (
        message("customer", "one two"),
        message("customer", "three"),
        message("agent", "four five six"),
        message("tool", "not spoken"),
        message("agent", ""),
    )
    found = stats.conversations([Conversation(id="c", messages=said)])
    assert (found["turns_mean"], found["consecutive_mean"], found["consecutive_max"]) == (3.0, 1.5, 2.0)
    assert (found["message_tokens_mean"], found["conversation_tokens_mean"]) == (2.0, 6.0)
    assert found["vocabulary"] == 6.0
    # Every published row of conversations is measured, under the key of the published table.
    assert {*dataset_statistics.published()} - {"article_tokens_mean"} <= {*found}
    assert stats.conversations([])["turns_mean"] == 0.0


def test_vocabulary_counts_no_word_with_a_digit() -> None:
    found = stats.vocabulary(["Order HW123 left at 9, order left", "l’ordre 2nd"])
    assert found == {"vocabulary": 4.0, "vocabulary_raw": 7.0}
    assert stats.diversity(["Order HW123 left at 9, order left", "l’ordre 2nd"])["vocabulary"] == 4.0


def test_published_figures_stand_beside_ours() -> None:
    assert dataset_statistics.published()["mattr"] == (0.747, 0.754)
    rows = dataset_statistics.beside_published({"mattr": 0.7, "articles": 3.0})
    assert rows == [("Moving-average type-token ratio", 0.7, 0.747, 0.754)]


def test_frames_mask_names_and_figures() -> None:
    found = stats.frames(
        ["Ember costs £3.50 today. Fine weather.", "Dial costs £4 today. Ember costs £9 today."], ["Ember", "Dial"]
    )
    assert found["NAME costs £# today."] == 2
    assert found["Fine weather."] == 1


def test_near_duplicates_are_those_above_the_threshold() -> None:
    base = [f"w{i}" for i in range(400)]
    close, far = base.copy(), base.copy()
    close[200] = "x"
    far[::12] = ["y"] * len(far[::12])
    texts = [" ".join(t) for t in (base, close, far, base[::-1])]
    assert stats.near_duplicates(texts) == [(0, 1)]
    same = float((stats.signatures(texts)[0] == stats.signatures(texts)[2]).mean())

    def shingles(words: list[str]) -> set[tuple[str, ...]]:
        return {tuple(words[i : i + stats.SHINGLE]) for i in range(len(words) - stats.SHINGLE + 1)}

    exact = len(shingles(base) & shingles(far)) / len(shingles(base) | shingles(far))
    assert same == pytest.approx(exact, abs=0.2)
    assert stats.near_duplicates(["", ""]) == [(0, 1)]
