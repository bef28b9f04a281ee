"""Sentences that cannot both be right and such as only look like it, of trades that no brand of ours has."""

import pytest

from cxlab.benchmarks.cxmarena.simulated.sentence_contrasts import other_rates, unlike_sentences

UNLIKE = [
    (
        "Refunds reach your account within five working days.",
        "Expect the refund in your account ten working days after the parcel.",
    ),
    (
        "You can cancel a class up to two hours before it starts.",
        "Classes can be cancelled until 24 hours before they begin, in the class list.",
    ),
    ("Gift cards cannot be exchanged for cash.", "A gift card can be exchanged for cash at any branch."),
    ("Breakfast is included in the price of every room.", "Breakfast is not included in the room."),
    ("We keep call recordings for 90 days.", "Call recordings are deleted after 30 days."),
    ("A replacement for a lost card costs £5.", "We make a replacement for a lost card free of charge."),
    ("The pool is closed on Mondays.", "The pool is open on Mondays to members."),
    ("The winter offer ends on 30 June 2026.", "Our winter offer runs until 15 July 2026."),
    ("The app works without a connection.", "The app needs a connection."),
    ("Die Frist für die Rückgabe beträgt 30 Tage.", "Eine Rückgabe ist möglich, die Frist beträgt 14 Tage."),
    (
        "Le remboursement arrive sur votre compte sous cinq jours.",
        "Comptez dix jours pour le remboursement sur le compte.",
    ),
    ("Our drivers never carry parcels upstairs.", "The driver carries a parcel upstairs on request."),
    ("You need a receipt to return an item.", "Items can be returned without a receipt."),
    ("Standard delivery takes three to five days.", "Standard delivery takes one week."),
    ("A transfer abroad costs 1.5 % of the amount.", "For transfers abroad we charge 2 % of the amount."),
    ("The warranty on batteries is two years.", "Batteries have a 12-month warranty."),
    ("Your room is ready from 3 pm on the day of arrival.", "On the day of arrival you get the room from 2 pm."),
]
# What a person sees at once and these means do not: a closing time in other words, half a fare that is not free.
NOT_SEEN = [
    (
        "The branch is open until 6 pm on weekdays and has a counter for cash.",
        "On weekdays the cash counter of the branch closes at 5 pm.",
    ),
    ("Dogs travel free on all our buses.", "Dogs on our buses pay half the fare."),
    ("Kinder fahren im Bus kostenlos mit.", "Im Bus kostet die Fahrt für Kinder 2 Euro, sie fahren mit Karte."),
]
BOTH_RIGHT = [
    ("Standard delivery takes three days.", "Express delivery takes one day."),
    ("You can return shoes within 30 days.", "You can exchange shoes within 60 days."),
    ("The gym opens at 6 am on weekdays.", "The gym opens at 8 am on Sundays."),
    ("Adults pay £9 for a day ticket.", "Children pay £4 for a day ticket."),
    ("A replacement card costs £5.", "A replacement PIN costs £2."),
    ("A refund takes five days to your card.", "The refund is on your card within five days."),
    ("The router cannot be returned once it is opened.", "The router can be returned within 14 days."),
    ("The warranty on batteries is two years.", "The warranty on batteries lasts 24 months."),
    ("Delivery is free from £40.", "Delivery costs £3.95 below £40."),
    ("We do not store your card number.", "We store your address for two years."),
    ("The pool is closed in August.", "The sauna is open all year."),
    ("The basic plan includes 5 users.", "The team plan includes 20 users."),
    ("A first reminder is sent after 7 days.", "A second reminder is sent after 21 days."),
    ("Call us between 8 am and 6 pm.", "We call you back within 2 hours."),
    ("The battery lasts 8 hours.", "The battery charges in 2 hours."),
    (
        "Cancel two days before your stay to get the full amount.",
        "Cancel one day before your stay to get half the amount.",
    ),
    ("Erwachsene zahlen 9 Euro für die Karte.", "Kinder zahlen 4 Euro für die Karte."),
    ("Letters are sent on Monday.", "The office is closed on Monday."),
    ("Membership costs £30 a month.", "Joining costs £25 once."),
    ("The filter lasts six months.", "Clean the filter every four weeks."),
    ("Wait ten minutes before you open the lid.", "After the wash, wait two minutes before you open the lid."),
    ("Opened packs cannot be returned to the shop.", "Unopened packs can be returned to the shop."),
    ("Le retrait en magasin est gratuit.", "La livraison à domicile coûte 5 €."),
    ("Your order ships in two days.", "Your order can be changed for one hour."),
]


@pytest.mark.parametrize(("first", "second"), UNLIKE)
def test_what_cannot_both_be_right_is_seen(first: str, second: str) -> None:
    for one, other in ((first, second), (second, first)):
        assert unlike_sentences(f"Help\n\n{one}", f"More\n\n{other}") == ((one, other),)


@pytest.mark.parametrize(("first", "second"), BOTH_RIGHT + NOT_SEEN)
def test_what_may_both_be_right_is_left_alone(first: str, second: str) -> None:
    for one, other in ((first, second), (second, first)):
        assert unlike_sentences(f"Help\n\n{one}", f"More\n\n{other}") == ()


def test_monthly_and_yearly_prices_are_two() -> None:
    assert other_rates("The fee is £5 a month.", "Billed yearly, it is £50.")
    assert not other_rates("The fee is £5 a month.", "The monthly fee is £6.")
    assert not other_rates("The fee is £5 a month.", "The fee is £6.")
