"""What two articles say twice: sentences or figures in common, and no pattern that both were made by."""

from cxlab.benchmarks.cxmarena.evaluation.one_subject import Subjects
from cxlab.benchmarks.cxmarena.evaluation.repetitions import find_repetitions

CARE = [
    "Rinse the pan with warm water before it is used for the first time.",
    "A drop of oil keeps the surface from drying out between two meals.",
    "Never leave the empty pan on a hot plate for longer than it takes to fetch the oil.",
    "Steel wool scratches the surface, and a scratched surface holds on to food.",
    "The handle stays cool on gas and gets warm in the oven.",
    "Let the pan cool on the hob and not in the sink.",
    "Two spoons of salt and a cloth take away what has burnt in.",
]
OWN = [
    "Write to us with a picture if the coating comes off.",
    "The receipt is enough, and the box may be gone.",
    "A new one is sent on the day on which we have read your message.",
]


def article(title: str, *lines: str) -> str:
    return "\n\n".join((title, " ".join(lines)))


def pairs(texts: dict[str, str]) -> list[tuple[str, str]]:
    return [(each.first, each.second) for each in find_repetitions(texts, Subjects(texts))]


def test_what_stands_in_both_word_for_word_is_said_twice() -> None:
    texts = {
        "A_1": article("Caring for the pan", *CARE),
        "A_2": article("The pan and its guarantee", *CARE[:6], *OWN),
        "A_3": article("The guarantee", *OWN),
    }
    # Three sentences that stand in a longer article are all that the shorter one says.
    assert pairs(texts) == [("A_1", "A_2"), ("A_2", "A_3")]


def test_an_overview_and_the_page_of_one_thing_in_it_repeat_nothing() -> None:
    def page(name: str, weight: int, wide: int, years: int) -> list[str]:
        return [
            f"{name} weighs {weight} grams without its lid.",
            f"The pan {name} is {wide} centimetres wide at the rim.",
            f"The guarantee on {name} is {years} years.",
        ]

    brill, marl = page("Brill", 900, 24, 5), page("Marl", 1400, 28, 8)
    texts = {
        "A_1": article(
            "Pans", "All pans are made in Redcar.", *[line.replace(" is ", " was ") for line in brill + marl]
        ),
        "A_2": article("Brill", "Brill is the smaller of two pans.", *brill),
        "A_3": article("Marl", "Marl is the larger of two pans.", *marl),
    }
    assert pairs(texts) == []


def test_one_article_in_other_words_with_the_same_figures_is_a_repetition() -> None:
    bags = ["Passengers may bring 2 bags of 20 kg each into the cabin.", "Larger luggage goes into the hold for 15 €."]
    anew = ["Into the cabin passengers may each bring 2 bags of 20 kg.", "For 15 € larger luggage goes into the hold."]
    dear = [line.replace("2 bags of 20 kg", "3 bags of 25 kg").replace("15 €", "18 €") for line in anew]
    texts = {
        "A_1": article("What to bring", *bags),
        "A_2": article("What to pack", *anew),
        "A_3": article("What to pay", *dear),
    }
    assert pairs(texts) == [("A_1", "A_2")]
