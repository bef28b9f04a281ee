"""A real writer over HTTP: it makes a company of a paragraph and a whole tiny organisation, from what the prompts say,
and its slips are caught."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from llm.fault_server import FaultServer

from cxlab.benchmarks.crmarena.generation import company_prompts, cost, examples, generate, plan, prompts, sizes
from cxlab.benchmarks.crmarena.generation.dataset_figures import list_checks
from cxlab.benchmarks.crmarena.generation.prompts import CaseFacts, CaseText, Line, find_faults
from cxlab.benchmarks.crmarena.generation.records import case_id
from cxlab.benchmarks.crmarena.options import CrmGenerateOptions
from cxlab.benchmarks.crmarena.organisation import company as companies
from cxlab.benchmarks.crmarena.organisation.integrity import find_faults as find_organisation_faults
from cxlab.benchmarks.generation import GenerationContext
from cxlab.benchmarks.generation.budget import GenerationBudget, OutOfBudget
from cxlab.benchmarks.generation.stages import GenerationStopped, finish
from cxlab.errors import BadOption
from tests.benchmarks.crmarena.generation.bank_writer import BRIEF
from tests.benchmarks.crmarena.generation.conftest import MadeOrganisation, make
from tests.benchmarks.crmarena.generation.crm_writer import Writer, write_settings

TINY = {"size": "tiny", "model": "endpoint:writer", "brief": BRIEF}


@dataclass(frozen=True)
class Written:
    made: MadeOrganisation
    writer: Writer
    calls: int
    spent: dict[str, Any]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Written]:
    home: Path = tmp_path_factory.mktemp("crm-writer")
    with pytest.MonkeyPatch.context() as patch, FaultServer() as server:
        writer = Writer()
        scene = server.scene(reply=writer)
        patch.setenv("CXLAB_HOME", str(home))
        write_settings(home, scene.url)
        made = make(home, **TINY)
        yield Written(made, writer, scene.calls, made.dataset.config["spending"])


def test_a_real_writer_makes_a_tiny_organisation_in_under_a_hundred_calls(written: Written) -> None:
    about_cases = {"name_people", "write_cases", "find_rule", "pick", "reword"}
    assert set(written.writer.asked) == about_cases | {"tell", "sell", "explain", "talk"}
    assert written.calls < 100
    assert written.spent["calls"] == written.calls
    assert written.spent["cost_usd"] > 0
    told = plan(CrmGenerateOptions(**TINY), GenerationContext())
    assert told is not None
    # What had to be made again is not foreseen.
    assert told.calls <= written.calls <= told.calls + 20
    assert sum(cost.count_calls(sizes.read_size("tiny"), brief=True).values()) == told.calls


def test_a_company_of_a_paragraph_is_a_folder_like_those_that_people_write(written: Written) -> None:
    config = written.made.dataset.config
    folder = written.made.home / config["written_company"]
    company = companies.load(folder)
    assert company.profile.name == config["company"] == "Larkfield Savings Bank"
    assert len(company.profile.issues) == len(company.profile.conduct_policies) == 4
    assert len(company.articles) == 8
    assert {policy.article for policy in company.profile.conduct_policies} <= company.articles.keys()
    assert written.made.tables["Knowledge__kav"].height == 8
    assert set(written.made.tables["Issue__c"]["Name"]) == {issue.name for issue in company.profile.issues}
    # Each slip was sent back with what is wrong with it, and mended. Two batches were discarded, whose second reply was
    # wrong again: articles (an answer that stands nowhere, then another amount), and talks in no form.
    assert written.writer.bank.slips == {"number", "category", "answer", "figure", "breach", "form", "again"}
    assert written.made.dataset.config["writing"]["company"] == {
        "batches": 8, "discarded": 2, "again": 0, "refused": 0, "similar": 0, "told_anew": 0,
        "left_out": 0,
    }  # fmt: skip
    # Also the article with another amount: what is stored says what the bank's own articles say.
    bank = written.writer.bank.bank.articles
    assert {slug: article.body for slug, article in company.articles.items()} == {
        slug: bank[slug].body for slug in company.articles
    }
    assert company_prompts.hashes().items() <= config["prompts"].items()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"model": "simulated:strong"}, "cannot make a company of a paragraph"),
        ({"brief": "A bank."}, "a sentence or two"),
        ({"company": "somewhere"}, "not both"),
    ],
)
def test_what_cannot_become_a_company_is_refused_before_anything_is_asked(
    settings: dict[str, str], told: str, written: Written, tmp_path: Path
) -> None:
    options = CrmGenerateOptions.read({**TINY, **settings})
    with pytest.raises(BadOption, match=told):
        plan(options, GenerationContext(3, tmp_path))
    with pytest.raises(BadOption, match=told):
        finish(generate(options, GenerationContext(3, tmp_path)))


def test_its_texts_are_the_ones_that_are_stored(written: Written) -> None:
    made = written.made
    assert made.tables["User"]["FirstName"].str.starts_with("Zo").all()
    assert made.tables["Case"]["Subject"].str.starts_with("Trouble with").all()
    assert made.tables["Case"]["Description"].str.contains("make trouble").all()
    worded = [s for s in made.samples if s.inputs["query"].startswith("Please tell me this: ")]
    asked = [s for s in made.samples if s.task != "knowledge_qa"]
    assert len(asked) - len(worded) == made.dataset.config["writing"]["questions"]["refused"] > 0
    assert not any("1999" in sample.inputs["query"] for sample in made.samples)


def test_its_slips_are_caught_made_again_and_counted(written: Written) -> None:
    counts = written.made.dataset.config["writing"]
    assert {"name", "order", "case"} <= written.writer.slips
    assert written.writer.faint
    # One case was told in the words of another, and once more in its own.
    assert (counts["cases"]["similar"], counts["cases"]["told_anew"]) == (1, 1)
    assert "w17x7" in written.made.tables["Case"].filter(pl.col("Id") == case_id(17))["Description"].item()
    # A repair within a call is no discarded batch, two replies in the wrong form are; what no reader found was written
    # again.
    assert [counts[name]["discarded"] for name in ("users", "customers", "cases")] == [1, 0, 1]
    assert "801Ws0000000999AAA" not in "".join(written.made.tables["Case"]["Description"])
    assert counts["cases"]["again"] == 1
    assert counts["cases"]["refused"] == 0
    names = written.made.tables["User"]["Name"].to_list()
    assert len(set(names)) == len(names)
    orders = dict(written.made.tables["OrderItem"].select("Id", "OrderId").iter_rows())
    for row in written.made.tables["Case"].iter_rows(named=True):
        if "Order " in row["Description"]:
            assert orders[row["OrderItemId__c"]] in row["Description"]


def test_a_second_try_pays_for_nothing(written: Written) -> None:
    before = Counter(written.writer.asked)
    made = finish(generate(CrmGenerateOptions(**TINY), GenerationContext(3)))
    assert made.dataset.id == written.made.dataset.id
    assert written.writer.asked == before


FACTS = CaseFacts(
    number=1, form="email", customer="Ann", agent="Bo", colleague=None, told=True, product="boots", days=3,
    issue="Late", description="It is late.", identified=True, order="801X", email="a@x.example", rule=None,
    breach=None, rules=(),
)  # fmt: skip
SAID = [("customer", "My boots: 801X, a@x.example"), ("agent", "Hello. Bo"), ("customer", "Thanks.")]
HANDED = FACTS.model_copy(update={"colleague": "Cy"})


@pytest.mark.parametrize(
    ("facts", "lines", "fault"),
    [
        (FACTS, SAID, None),
        (FACTS, SAID[1:], "does not begin"),
        (FACTS, [SAID[0], SAID[2]], "nobody answers"),
        (FACTS, [*SAID, ("colleague", "Hi")], "does not change hands"),
        (FACTS, [("customer", "My boots, a@x.example"), SAID[1]], "order number is missing"),
        (FACTS.model_copy(update={"identified": False}), SAID, "e-mail address is told"),
        (HANDED, SAID, "does not say that Cy"),
        (HANDED, [*SAID, ("agent", "Cy takes over.")], None),
        (HANDED.model_copy(update={"told": False}), SAID, "colleague does not answer"),
        (HANDED.model_copy(update={"told": False}), [*SAID, ("colleague", "I am Cy.")], None),
        (HANDED.model_copy(update={"told": False}), [*SAID, ("agent", "Cy!"), ("colleague", "Yes.")], "not say a word"),
    ],
)
def test_what_a_text_must_hold(facts: CaseFacts, lines: list[tuple[Any, str]], fault: str | None) -> None:
    text = CaseText(number=1, subject="Boots", lines=[Line(speaker=who, text=said) for who, said in lines])
    told = find_faults(facts, text)
    assert any(fault in each for each in told) if fault else told == []


def test_prompts_say_what_they_need_and_nothing_of_the_script() -> None:
    facts = FACTS.model_copy(update={"script": (Line(speaker="customer", text="SECRET"),), "subject": "SECRET"})
    inputs = prompts.CasesInputs(description="Sells boots.", cases=(facts, HANDED))
    told = "\n".join(message["content"] for message in prompts.CASES.render(inputs))
    assert "SECRET" not in told
    assert "801X" in told
    assert "Cy takes over" in told
    assert "\n\n\n" not in told


def test_each_prompt_can_be_read_as_a_real_model_gets_it() -> None:
    shown = {prompt.name: prompt.render(inputs) for prompt, inputs in examples.list_examples()}
    assert shown.keys() == {**prompts.hashes(), **company_prompts.hashes()}.keys()
    for name, messages in shown.items():
        told = "\n".join(message["content"] for message in messages)
        assert "{{" not in told, name
        assert "\n\n\n" not in told, name
    seen: list[Any] = []

    class Listening:
        name, simulated, prices = "listening", True, None

        async def complete(self, request: Any) -> Any:
            seen.append(request.prompt.name)
            raise BadOption("nobody is at home")

        async def aclose(self) -> None:
            """Nothing to close."""

    examples.ask_writer(Listening())
    assert seen == list(shown)


def test_what_an_interrupted_try_paid_for_is_not_paid_for_again(
    written: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FaultServer() as server:
        writer = Writer()
        scene = server.scene(reply=writer)
        monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
        write_settings(tmp_path, scene.url)
        options = CrmGenerateOptions(**TINY)
        # A call costs 0.00012 dollars here: the money ends when the company is there.
        with pytest.raises(OutOfBudget, match="is spent"):
            finish(generate(options, GenerationContext(3, tmp_path, budget=GenerationBudget(0.0012))))
        spent = scene.calls
        assert 5 < spent < 20
        made = finish(generate(options, GenerationContext(3, tmp_path)))
        assert made.dataset.id == written.made.dataset.id
        # A reply that could not be used is not kept, and asked for again.
        assert written.calls <= scene.calls <= written.calls + 1
        assert made.dataset.config["spending"]["calls"] == scene.calls


def test_a_case_that_is_refused_each_time_is_left_out_whole_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"size": "tiny", "model": "endpoint:writer"}
    cases = sizes.read_size("tiny").cases
    with FaultServer() as server:
        writer = Writer(refuses={4, 9, 14})
        scene = server.scene(reply=writer)
        monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
        write_settings(tmp_path, scene.url)
        with pytest.raises(GenerationStopped, match=f"did not write 2 of {cases} cases as asked in 3 tries each"):
            make(tmp_path, **options)
        # What was left out is asked for again by the next try, and nothing else of it is.
        writer.refuses = {14}
        made = make(tmp_path, **options)
    assert made.tables["Case"].height == made.tables["latent_cases"].height == cases - 1
    assert case_id(4) in made.tables["Case"]["Id"]
    for name, frame in made.tables.items():
        for column in frame.select(pl.col(pl.String)):
            assert not column.eq(case_id(14)).any(), (name, column.name)
    assert not any(case_id(14) in sample.model_dump_json() for sample in made.samples)
    assert not find_organisation_faults(made.tables, made.sandbox.schema)
    assert made.dataset.config["writing"]["cases"]["left_out"] == 1
    assert made.dataset.config["left_out"] == {"cases": 1}
    assert made.dataset.config["note"] == (
        f"1 of {cases} cases are left out: endpoint:writer did not write them in 3 tries"
    )
    assert f"{cases - 1} cases" in made.dataset.name
    checks = list_checks(made.dataset)
    assert "1 case is left out" in checks.finding
    assert checks.frame.row(by_predicate=pl.col("label") == "Texts of cases", named=True)["left_out"] == 1
