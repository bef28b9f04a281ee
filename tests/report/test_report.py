"""A report says what the pages say, in one file that asks nobody for anything, and text in it stays text."""

import html
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cxlab.benchmarks import REGISTRY
from cxlab.cli import app
from cxlab.errors import CxError
from cxlab.read import View, attempt
from cxlab.read.comparison.decision import decide
from cxlab.read.comparison.ranking import describe_sides, rank
from cxlab.read.comparison.sets import Unit
from cxlab.read.comparison.words import say_leader
from cxlab.read.results.headlines import may_lead
from cxlab.records.benchmark_card import Declaration
from cxlab.records.metric_names import name_metric
from cxlab.report import queries, write
from cxlab.report.content import Section, find_section
from cxlab.report.decision_figures import list_figures
from cxlab.report.dialogues import cut, read_answer, read_lines
from cxlab.report.write import write_report
from cxlab.views.compare import queries as compared
from tests.pages.app_script import open_page, words
from tests.read.comparison.test_comparison_sets import FLOOR, steady
from tests.stores.judged import HOSTILE, MODELS
from tests.stores.runs import write_run

ABOUT = REGISTRY["sage"].declaration
FACETS = {f"s{i}": {"level": "weak" if i % 2 else "strong"} for i in range(30)}


class Page(HTMLParser):
    """The elements and attributes of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def call(*words: str) -> str:
    done = CliRunner().invoke(app, ["report", *words], catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


def words_of(page: Page) -> str:
    return " ".join(page.text.split())


@pytest.fixture(scope="module")
def ranked_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("ranked")
    write_run(home, 1, "a", steady(0, seed=1), facets=FACETS)
    write_run(home, 2, "b", steady(9, seed=2), facets=FACETS)
    write_run(home, 3, "a", steady(-20, seed=3), facets=FACETS, options={"turns": 5})
    write_run(home, 4, FLOOR, dict.fromkeys(steady(0), 20.0), facets=FACETS)
    return home


@pytest.fixture
def home(ranked_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(ranked_home))
    return ranked_home


@pytest.mark.usefixtures("home")
def test_models_are_told_as_the_ranking_tells_them() -> None:
    (found,) = rank(ABOUT, View("sage")).tasks
    section = find_section(ABOUT, View("sage"), "model")
    assert section.decision == say_leader(found).capitalize() == "B leads for sure"
    between = decide(ABOUT, found)
    assert between is not None
    assert section.tasks[0].figures == tuple(
        list_figures(ABOUT, found, between, describe_sides(found), name_metric(found.task.metric), str)
    )
    told = words_of(Page(write_report([(ABOUT, View("sage"), "model")])))
    for figure in section.tasks[0].figures:
        assert f"{figure.label}{figure.value}{figure.note} {figure.rule}".rstrip() in told
    rows = {row["side"]: row for row in section.tasks[0].rows}
    assert list(rows) == ["b", "a", FLOOR]
    assert [rows[side]["value"] for side in "ba"] == found.table["value"].to_list()
    assert (rows[FLOOR]["floor"], rows[FLOOR]["value"], rows[FLOOR]["verdict"]) == (True, 20.0, "not ranked")
    (group,) = section.tasks[0].groupings
    assert [row[0] for row in group.rows] == about_levels()
    assert all(cell.endswith("n = 15") for row in group.rows for cell in row[1:])
    assert len(group.chart.dots) == 4
    assert all(dot.low is not None and dot.low < dot.x < (dot.high or 0) for dot in group.chart.dots)
    weak = find_section(ABOUT, View("sage").narrow(level=("weak",)), "model")
    assert [row["samples"] for row in weak.tasks[0].rows] == [15, 15, 15]
    assert [(run["attempts"], run["counted"]) for run in weak.runs] == [(30, 15)] * 3


def about_levels() -> list[str]:
    return [ABOUT.value("level", each) for each in ABOUT.in_order("level", ["strong", "weak"])]


@pytest.mark.usefixtures("home")
def test_runs_are_told_with_what_differs_and_floors_beside() -> None:
    runs = tuple(f"run-260101-{number:06d}-aaaaaaaa" for number in (1, 3))
    section = find_section(ABOUT, View("sage", runs=runs), "run_id")
    assert list(section.apart) == ["Turns"]
    assert sorted(section.apart["Turns"].values()) == ["15", "5"]
    assert "Turns" not in dict(section.same)
    assert section.decision == "A, turns 15 leads for sure"
    # Compare's runs have the same constant agents beside them as the report's.
    judged = compared.ranked(View("sage", runs=runs), "run_id")
    assert judged is not None
    assert judged.floors.select("side", "value", "samples").rows() == [(FLOOR, 20.0, 30)]
    floor = section.tasks[0].rows[-1]
    assert (floor["side"], floor["value"], floor["samples"]) == (FLOOR, 20.0, 30)
    text = write_report([(ABOUT, View("sage", runs=runs), "run_id")])
    assert "These runs differ in turns: that is what is compared." in words_of(Page(text))
    assert section.simulated
    assert not section.others_simulated


@pytest.mark.parametrize(("shift", "said"), [
    (None, "The same model twice, under the same settings, with the same score on every sample"),
    (1, "The same model twice, under the same settings: 0.2 points apart, which cannot be told from chance"),
    (-20, "The same model twice, under the same settings: 20.0 points apart, more than chance explains"),
])  # fmt: skip
def test_a_repeat_of_a_model_is_no_rival(empty_home: Path, shift: int | None, said: str) -> None:
    first = steady(0, seed=1)
    again = first if shift is None else steady(shift, seed=4)
    runs = tuple(write_run(empty_home, number, "a", values) for number, values in enumerate((first, again), 1))
    view = View("sage", runs=runs)
    section = find_section(ABOUT, view, "run_id")
    assert re.sub(r"\d+\.\d", "N", section.decision) == re.sub(r"\d+\.\d", "N", said)
    labels = [figure.label for figure in section.tasks[0].figures]
    assert not [label for label in labels if "settle" in label or "wins" in label]
    page = open_page("compare", benchmark="sage", run=list(runs), sides="runs")
    assert not page.exception
    assert section.decision in words(page)
    assert "who leads" not in words(page)
    assert "these runs differ in nothing." in words(page)
    # Another setting makes it another contestant.
    other = write_run(empty_home, 3, "a", again, options={"turns": 5})
    led = find_section(ABOUT, View("sage", runs=(runs[0], other)), "run_id").decision
    assert "the same model" not in led.lower()


def test_text_of_customers_models_and_judges_stays_text(judged_home: Path) -> None:
    text = write_report([(ABOUT, View("sage", runs=("run-0", "run-1")), "run_id")], title=HOSTILE)
    page = Page(text)
    assert not {"script", "img", "a", "link", "iframe", "object", "form", "input"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("href", "src", "action")]
    assert not [value for _, value in page.attributes if "://" in value]
    assert page.text.count(HOSTILE) == 4  # the title in the tab and on the page, the customer and the agent
    assert html.escape("<script>") in text
    assert not re.search(r"url\(|@import", text)
    assert "default-src 'none'" in text


def test_failures_lead_to_what_was_said(judged_home: Path) -> None:
    section = find_section(ABOUT, View("sage"), "model")
    assert [row["failed"] for row in section.runs] == [1, 1]
    assert section.failed == 2 == sum(n for verdict, _, n, _ in section.owners if verdict == "failed")
    said = {line.text for failure in section.failures for line in failure.lines}
    assert {"All right.", "I would like another one, please 1"} <= said
    assert all(failure.simulated and failure.owner == "agent" for failure in section.failures)
    assert section.simulated
    assert section.others_simulated
    told = {failure.title: failure.facts[0] for failure in section.failures}
    assert told["Read core intention as exchange, it was return or refund"] == (
        "In turn 1 the agent read core intention as exchange, the judges as return or refund and took 1 → 2 → 3 → "
        "exchange, due was 1 → 2 → 3 → refund"
    )
    (unread,) = (title for title in told if title.startswith("Unreadable reply"))
    assert told[unread].startswith("strong, ")  # nothing of it could be held against the procedure
    (procedure,) = section.procedures
    # Each model's turns that could be followed; one of each ends elsewhere than the panel's fields lead.
    assert procedure.sides == (("eloquent", 2, 1), ("strong", 1, 0))
    assert [counts for _, counts in procedure.stages] == [((2, 0, 0), (1, 0, 0))] * 3
    assert {(side, n) for side, _, _, n in procedure.wrong} == {("eloquent", 1), ("strong", 1)}


def test_what_breaks_most_is_what_the_pages_say(empty_home: Path) -> None:
    from cxlab.read import ask, failures
    from tests.stores.troubled import make_troubled_store

    make_troubled_store(empty_home)
    view = View("sage", verdict="failed")
    groups = {row["alike"]: row for row in failures.groups(view, 10_000).iter_rows(named=True)}
    found = queries.telling(View("sage"), 10_000)
    assert {each["alike"]: each["attempts"] for each in found} == {
        alike: row["attempts"] for alike, row in groups.items()
    }
    failed = ask("SELECT count(*) FROM attempts WHERE verdict = 'failed' AND run_id <> 'run-3'").item()
    assert {each["of"] for each in found} == {failed}
    for each in found:  # whoever stands for a group is in it
        held = failures.of_attempt(each["run_id"], each["attempt_id"])
        assert each["alike"] in held["alike"].to_list()
    few = queries.telling(View("sage"), 4)
    assert few[0]["alike"] == next(iter(groups)), "the first is what Overview names"
    kinds = [(each["kind"], each["owner"], each["detail"]) for each in few]
    assert len(set(kinds)) == 4, "the largest of each kind comes before the second of any"


def test_the_short_report_names_both_counts_of_what_breaks_most(empty_home: Path) -> None:
    values: dict[tuple[str, int], float | None] = {(f"s{i}", 1): 10.0 if i < 3 else 90.0 for i in range(8)}
    for number, (model, turns, reasons) in enumerate((
        ("m", 15, ("late", "late", "rude")), ("n", 15, ("late", "slow", "rude")), ("m", 5, ("rude", "slow", "odd")),
    ), 1):  # fmt: skip
        told = {f"s{place}": reason for place, reason in enumerate(reasons)}
        write_run(empty_home, number, model, values, reasons=told, options={"turns": turns})
    text = words_of(Page(write_report([(ABOUT, View("sage"), "model")], short=True)))
    assert (
        "What breaks most In all runs, whatever their settings, as Overview has them: Nothing stands out: 2 kinds of "
        "failure in 3 dialogues each. One of them: Late. 3 dialogues, of 9 that failed. 2 of the 3 are m's. "
        "Among what is compared here: Late (the agent's doing). 3 dialogues, of 6 that failed. 2 of the 3 are m's."
    ) in text
    assert "3 of 6 failed dialogues among those compared have a failure alike" in text
    assert "run of" not in text, "runs that no side is named by say nothing to whoever decides"
    one = words_of(Page(write_report([(ABOUT, View("sage", models=("n",)), "model")], short=True)))
    assert "1 dialogue, of 3 that failed. It is n's." in one
    assert "Overview has them" not in one


@pytest.mark.parametrize("values", [{}, {("s0", 1): None}, {("s0", 1): 0.0}, {("s0", 1): 100.0}])
def test_next_to_nothing_is_told_as_such(empty_home: Path, values: dict[tuple[str, int], float | None]) -> None:
    write_run(empty_home, 1, "lonely " * 40, values, judges=())
    target = empty_home / "report.html"
    assert "MB" in call("run-260101-000001-aaaaaaaa", "--to", str(target))
    told = words_of(Page(target.read_text(encoding="utf-8")))
    scored = any(value is not None for value in values.values())
    assert ("Nothing has been scored that could be compared" in told) != scored
    assert ("so nobody leads" in told) == scored
    assert "leads for sure" not in told
    assert ("No failed dialogues" in told) == (set(values.values()) <= {100.0})
    assert ("for nothing was finished" in told) == (not values)


@pytest.mark.parametrize("words", [["nobody"], ["run-0", "nobody"]])
def test_an_unknown_run_is_named(judged_home: Path, tmp_path: Path, words: list[str]) -> None:
    with pytest.raises(CxError, match="unknown run 'nobody'"):
        call(*words, "--to", str(tmp_path / "report.html"))
    assert not list(tmp_path.iterdir())


def test_what_leads_is_chosen_as_for_compare(empty_home: Path, tmp_path: Path) -> None:
    lead = next(metric for metric in may_lead(ABOUT) if metric != ABOUT.card.headline)
    first, second = steady(9, seed=1), steady(0, seed=2)
    write_run(empty_home, 1, "one", first, also={lead: second})
    write_run(empty_home, 2, "two", second, also={lead: first})
    assert find_section(ABOUT, View("sage"), "model").decision == "One leads for sure"
    target = tmp_path / "led.html"
    call("--to", str(target), "--lead", lead)
    told = words_of(Page(target.read_text(encoding="utf-8")))
    assert "Two leads for sure" in told
    assert f"two ahead of one, {name_metric(lead)}" in told
    with pytest.raises(CxError, match="unknown metric that may lead 'shine'"):
        call("--to", str(tmp_path / "other.html"), "--lead", "shine")


def test_an_empty_store_and_a_file_that_is_there_are_refused(judged_store: Path, empty_home: Path) -> None:
    with pytest.raises(CxError, match="nothing has been run yet"):
        call()
    shutil.copytree(judged_store, empty_home, dirs_exist_ok=True)
    there = empty_home / "mine.html"
    there.write_text("mine")
    with pytest.raises(CxError, match="there already"):
        call("run-0", "--to", str(there))
    assert there.read_text() == "mine"
    call("--to", str(there), "--force")
    assert all(model.removeprefix("simulated:") in there.read_text() for model in MODELS)


def test_what_was_asked_and_answered_is_shown_where_nobody_spoke(
    ranked_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(ranked_home))
    found = attempt("run-260101-000001-aaaaaaaa", "a1-s0-1")
    assert read_lines(found, None) == read_answer(found) == ()
    sample = {"inputs": {"transcript": f"one\n{HOSTILE}", "tools": ["t"] * 200}, "expected": {"label": "due"}}
    given = replace(
        found,
        sample=sample,
        attempt={**found.attempt, "output": {"label": None, "steps": {"search": {"latency_s": 0.01}}, "kept": {}}},
    )
    (_, asked), (_, answered), (_, due) = read_answer(given)
    assert asked.startswith(f"transcript: one\n{HOSTILE}\ntools: [")
    assert asked.endswith("more characters)")
    assert (answered, due) == ("label: null\nkept: {}", "label: due")


def test_long_texts_are_cut_and_say_so() -> None:
    assert cut("abc", 3) == "abc"
    assert cut("abcde", 3) == "abc … (2 more characters)"


def test_several_benchmarks_begin_with_what_was_found_in_each(empty_home: Path) -> None:
    for number, (benchmark, task) in enumerate((("sage", "dialogue"), ("mmtaup2", "telecom")), 1):
        for place, gain in enumerate((0, 9)):
            name = f"model-{place}"
            write_run(empty_home, 10 * number + place, name, steady(gain), benchmark=benchmark, task=task)
    abouts = [REGISTRY[name].declaration for name in ("sage", "mmtaup2")]
    text = write_report([(about, View(about.card.id), "model") for about in abouts])
    short = text[text.index("<h2>In short</h2>") : text.index("</nav>")]
    for about in abouts:
        assert f'<a href="#{about.card.id}">{about.card.name}</a>: model-1 leads for sure' in short
        assert f'id="{about.card.id}"' in text
    assert short.count("No constant agent has run here") == 2


@pytest.mark.usefixtures("judged_home")
def test_ten_failures_are_shown_in_all_and_three_of_each_at_least(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    # The same section again and again: what is told is how many failures each was to have.
    section = find_section(ABOUT, View("sage"), "model", None, 1)

    def note(about: Declaration, view: View, unit: Unit, corrections: None, failures: int) -> Section:
        asked.append(failures)
        return section

    monkeypatch.setattr(write, "find_section", note)
    for many, each in ((1, 10), (2, 5), (5, 3)):
        write_report([(ABOUT, View("sage"), "model")] * many)
        assert asked == [each] * many
        asked.clear()
    assert (len(section.failures), section.failed) == (1, 2)
