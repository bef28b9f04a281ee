"""Whose doing a turn was: every way in which agent, panel, account and card can be alike has one class and verdict."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product

from cxlab import benchmarks
from cxlab.benchmarks.contract import Scored
from cxlab.benchmarks.sage import attribution
from cxlab.benchmarks.sage.attribution import attribute, split
from cxlab.benchmarks.sage.rules import Trace as Route
from cxlab.benchmarks.sage.verdict import judge_attempt
from cxlab.records import Attempt, Trace

ROUTES = {name: Route(("stage1", f"stage-{name}"), {"Action": name}, ()) for name in "abcd"}
DUE = {
    # agent = panel, agent = account, panel = card: class, verdict, owner
    (True, True, True): ("none", "passed", ""),
    (True, True, False): ("none", "passed", ""),
    (True, False, True): ("account_off", "unscored", "customer"),
    (True, False, False): ("both_off", "unscored", "judge"),
    (False, True, False): ("panel", "unscored", "judge"),
    (False, True, True): ("account_off", "unscored", "customer"),
    (False, False, True): ("field", "failed", "agent"),
    (False, False, False): ("field", "failed", "agent"),
}


def ways() -> Iterator[tuple[Route, Route, Route, Route]]:
    """Agent, panel, account and card in all ways in which four can be alike: 15 of them, each once."""
    for names in product("abcd", repeat=4):
        first = sorted(set(names), key=names.index)
        if first == sorted(first) and len(first) == ord(max(names)) - ord("a") + 1:
            agent, panel, told, card = (ROUTES[name] for name in names)
            yield agent, panel, told, card


def conclude(*errors: str) -> tuple[str, str, int | None]:
    """Verdict, owner and turn of an attempt with turns of these classes."""
    attempt = Attempt(id="a", run_id="r", sample_id="s", trial=0, messages=(), started=datetime.now(UTC))
    traces = tuple(
        Trace(attempt_id="a", turn=turn, last=turn == len(errors), parsed=error != "format", error=error)
        for turn, error in enumerate(errors, 1)
    )
    found = judge_attempt("dialogue", attempt, Scored(traces=traces))
    return found.value, found.owner, found.turn


def test_each_way_in_which_four_can_be_alike_has_its_class_and_verdict() -> None:
    met = set()
    for agent, panel, told, card in ways():
        cell = (agent == panel, agent == told, panel == card)
        error = attribute(agent, agent, panel, told, card)
        value, owner, turn = conclude(error)
        assert (error, value, owner) == DUE[cell], (agent, panel, told, card)
        assert turn == (None if value == "passed" else 1)
        met.add(cell)
    assert len(list(ways())) == 15
    assert met == DUE.keys()


def test_an_action_that_the_panel_alone_calls_right_is_no_luck() -> None:
    def routed(path: str, action: str) -> Route:
        return Route(("stage1", path), {"Action": action}, ())

    agent, panel, card = routed("a", "comfort"), routed("b", "comfort"), routed("c", "compensate")
    assert attribute(agent, agent, panel, routed("c", "compensate"), card) == "field"
    assert attribute(agent, agent, panel, routed("c", "comfort"), card) == "lucky"
    assert attribute(agent, agent, panel, None, card) == "lucky"


def test_the_table_of_the_module_says_what_is_done() -> None:
    told = {"same": True, "other": False}
    rows = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in (attribution.__doc__ or "").splitlines()
        if line.startswith("| ") and "---" not in line
    ][1:]
    for with_panel, with_account, card, classes, verdict in rows:
        if with_panel not in told or with_account not in told:
            continue
        value, owner = ([*re.split(r"[,:] ", verdict), ""])[:2]
        for cell, (error, *due) in DUE.items():
            if cell[:2] == (told[with_panel], told[with_account]) and card in ("", "yes" if cell[2] else "no"):
                assert f"`{error}`" in classes
                assert due == [value, owner if value != "passed" else ""]


def test_without_an_account_the_panel_decides_and_without_a_panel_nobody() -> None:
    a, b = ROUTES["a"], ROUTES["b"]
    assert [attribute(a, a, panel, None, b) for panel in (a, b)] == ["none", "field"]
    assert {attribute(a, a, None, told, b) for told in (a, b, None)} == {"unscored"}
    assert conclude("unscored") == ("unscored", "judge", 1)


def test_an_attempt_passes_when_every_turn_does_and_fails_at_the_first_that_fails() -> None:
    assert conclude("none", "none") == ("passed", "", None)
    assert conclude("none", "unscored", "none") == ("unscored", "judge", 2)
    assert conclude("none", "both_off", "none") == ("unscored", "judge", 2)
    assert conclude("account_off", "panel", "none") == ("unscored", "customer", 1)
    assert conclude("both_off", "action", "field") == ("failed", "agent", 2)
    assert conclude("panel", "format") == ("failed", "agent", 2)
    assert conclude() == ("unscored", "judge", None)


def test_every_class_has_words_and_a_meaning() -> None:
    procedures = benchmarks.get("sage").procedures
    assert procedures is not None
    classes = {*procedures.misread, *procedures.deviations, *procedures.others}
    assert classes == {*attribution.ERRORS, *attribution.DISPUTED}
    assert classes <= procedures.meanings.keys()


def test_the_error_split() -> None:
    good = Route(("stage1", "stage2"), {"Action": "A"}, ())
    other = Route(("stage1", "stage3"), {"Action": "B"}, ())
    assert split(good, good, good) == "none"
    assert split(other, other, good) == "field"
    assert split(Route(other.path, good.action, ()), other, good) == "lucky"
    assert split(Route(other.path, good.action, ()), good, good) == "execution"
    assert split(Route(good.path, other.action, ()), good, good) == "action"
    assert split(good, good, None) == "unscored"
