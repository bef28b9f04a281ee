"""The benchmark of cxlab/benchmarks/README.md: built from that page, run from the command line, found by what reads."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from runner.shell import Shell, make_shell

from cxlab import benchmarks, read
from cxlab.benchmarks import REGISTRY
from cxlab.read import View, failures
from cxlab.read.comparison.ranking import rank
from tests.pages.app_script import codes, open_page, words

PAGE = Path(benchmarks.__file__).with_name("README.md")
NAMED = re.compile(r"^`(refunds/[\w.]+)`\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """One folder, one line in the registry, and three runs."""
    base = tmp_path_factory.mktemp("toy")
    files = dict(NAMED.findall(PAGE.read_text(encoding="utf-8")))
    for name, text in files.items():
        (base / name).parent.mkdir(exist_ok=True)
        (base / name).write_text(text, encoding="utf-8")
    assert sum(bool(line.strip()) for line in files["refunds/benchmark.py"].splitlines()) < 60
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(base))
        patch.setitem(REGISTRY.modules, "refunds", "refunds.benchmark")
        shell = make_shell(base / "home", patch)
        for words in (["--model", "simulated:weak"], ["--option", "rule=false", "--where", "age=late"]):
            said = shell.call("run", "refunds", "--model", "simulated:strong", *words, "--json", "--workers", "1")
            assert said.returncode == 0, said.stderr
        yield shell
        for module in [name for name in sys.modules if name.split(".")[0] == "refunds"]:
            del sys.modules[module]


def test_it_is_scored_task_by_task(toy: Shell) -> None:
    (ranked,) = rank(REGISTRY["refunds"].declaration, View(benchmark="refunds")).tasks
    assert ranked.task.metric == "correct"
    # The strong one's run without the rule is not held against the others' with it.
    assert sorted(ranked.table["side"]) == ["simulated:strong", "simulated:weak"]
    assert ranked.table["samples"].to_list() == [12, 12]
    board = read.leaderboard(View(benchmark="refunds", metric="correct"))
    assert sorted(board["model"]) == ["simulated:strong", "simulated:weak"]


def test_its_facets_narrow_and_its_switch_counts(toy: Shell) -> None:
    late = View(benchmark="refunds", models=("simulated:strong",)).narrow(age=("late",))
    assert read.attempts(late).total == 12
    # Without the rule nobody can know the window: the six late ones are failures, each with its reason.
    counts = failures.counts(View(benchmark="refunds"))
    assert counts["failed"] >= 6
    runs = read.ask("SELECT json_extract_string(setup, '$.options.rule') AS rule FROM runs ORDER BY ALL")
    assert runs["rule"].to_list() == ["false", "true", "true"]
    reasons = read.ask("SELECT DISTINCT verdict, verdict_reason FROM attempts WHERE verdict <> 'passed'")
    assert reasons.rows() == [("failed", "the window of 30 days was missed")]


def test_the_command_line_knows_it(toy: Shell) -> None:
    said = toy.call("run", "refunds", "--help").stdout
    assert "--rule / --no-rule" in said
    assert "item (Item), age (Age)" in said
    assert (
        "unknown facet 'size'; known: age, item"
        in toy.call("run", "refunds", "--model", "simulated:strong", "--where", "size=1").stderr
    )
    made = json.loads(toy.call("generate", "refunds", "--json").stdout.splitlines()[-1])
    assert made["tasks"] == {"refund": 12}
    assert "the gold of 12 samples holds" in toy.call("check", made["dataset"]).stdout


def test_pages_find_it(toy: Shell) -> None:
    overview = open_page()
    assert not overview.exception
    assert overview.subheader[0].value.startswith("Refunds: ")
    assert "correct" in overview.dataframe[0].value
    failed = open_page("failures", benchmark="refunds")
    assert not failed.exception
    assert failed.metric[0].label == "Answers"
    assert any("the window of 30 days was missed" in each.value for each in [*failed.caption, *failed.markdown])
    assert failed.multiselect(key="cx-filter-age").options == ["in time", "late"]
    row = failures.rows(View(benchmark="refunds", verdict="failed", metric="correct")).frame.row(0, named=True)
    one = open_page("failures", attempt=f"{row['run_id']}/{row['attempt_id']}")
    assert not one.exception
    assert "The window of 30 days was missed." in words(one)
    compared = open_page("compare", benchmark="refunds", field="age")
    assert not compared.exception
    assert compared.selectbox(key="cx-filter-metric").value == "correct"
    assert "Rule: true" in words(compared)
    run = open_page("run", bench="refunds")
    assert not run.exception
    assert run.toggle(key="option-rule").value is True
    # Nobody judges, so no judge is proposed nor counted.
    assert "Judges" not in [each.label for each in run.multiselect]
    assert [each.value for each in run.metric if each.label == "Calls"] == ["12"]
    run.toggle(key="option-rule").set_value(False).run()
    assert "--option=rule=false" in codes(run)[0]
