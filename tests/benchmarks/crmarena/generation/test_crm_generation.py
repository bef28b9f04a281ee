"""A generated organisation: whole, the same each time, driven by what is hidden, and true in every text."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cxlab import resources
from cxlab.benchmarks.crmarena import solvers
from cxlab.benchmarks.crmarena.benchmark import check
from cxlab.benchmarks.crmarena.generation import find_company, latent, prompts, sales, sizes
from cxlab.benchmarks.crmarena.generation.dataset_figures import list_figures
from cxlab.benchmarks.crmarena.options import CrmGenerateOptions
from cxlab.benchmarks.crmarena.organisation import company as companies
from cxlab.benchmarks.crmarena.organisation import schema_changes, talks
from cxlab.benchmarks.crmarena.organisation.integrity import find_faults
from cxlab.benchmarks.crmarena.organisation.schema import load_default
from cxlab.benchmarks.crmarena.organisation.tables import read_folder
from cxlab.benchmarks.crmarena.sandbox import Sandbox
from cxlab.benchmarks.crmarena.simulated import writer
from cxlab.benchmarks.crmarena.soql.errors import QueryError
from cxlab.benchmarks.crmarena.tasks import TASKS
from cxlab.benchmarks.generation import GenerationContext
from cxlab.errors import BadOption
from cxlab.llm.simulated.profiles import PROFILES
from tests.benchmarks.crmarena.generation.conftest import MadeOrganisation, make

# How an agent tells that somebody else has the case from now on.
TOLD = "giving your case to|handing you over to|passing case|takes over now|in our team"


def test_sizes_are_the_published_ones_at_paper_size_and_shares_of_them_else() -> None:
    paper = sizes.read_size("paper")
    assert (paper.users, paper.customers, paper.cases, paper.products) == (100, 196, 977, 500)
    assert (paper.orders, paper.items, paper.emails, paper.chats, paper.queries) == (2071, 7100, 3234, 387, 130)
    assert sizes.read_size(977) == paper
    for wrong in ("huge", 19, "10001"):
        with pytest.raises(BadOption):
            sizes.read_size(wrong)


def test_it_holds_together_and_has_as_much_as_was_planned(made: MadeOrganisation) -> None:
    size = sizes.read_size(150)
    assert find_faults(made.tables, load_default()) == []
    rows = {name: made.tables[name].height for name in load_default().objects}
    assert rows == made.dataset.config["rows"]
    assert (rows["Case"], rows["LiveChatTranscript"], rows["EmailMessage"]) == (size.cases, size.chats, size.emails)
    assert (rows["Order"], rows["OrderItem"], rows["Product2"]) == (size.orders, size.items, size.products)
    assert rows["PricebookEntry"] == rows["Product2"] * rows["Pricebook2"]
    for name in ("Product2", "User", "Account"):
        for field in ("Name", "Email", "PersonEmail", "Username"):
            if field in made.tables[name].columns:
                assert made.tables[name][field].is_unique().all(), (name, field)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> MadeOrganisation:
    return make(tmp_path_factory.mktemp("tiny"), size="tiny")


def test_the_same_seed_makes_the_same_and_another_seed_something_else(tiny: MadeOrganisation, tmp_path: Path) -> None:
    again = make(tmp_path, size="tiny")
    assert again.dataset.id == tiny.dataset.id
    assert again.samples == tiny.samples
    assert all(again.tables[name].equals(tiny.tables[name]) for name in tiny.tables)
    company, size = companies.load_default(), sizes.read_size("tiny")
    belongs = sales.belongs(company, sales.list_products(company, size))
    one, other = (latent.draw(company, size, belongs, seed) for seed in (3, 4))
    assert (one.skill != other.skill).all()


def test_prices_and_days_agree(made: MadeOrganisation) -> None:
    tables = made.tables
    items = tables["OrderItem"].join(
        tables["PricebookEntry"], left_on="PricebookEntryId", right_on="Id", suffix="_entry"
    )
    items = items.join(tables["Order"], left_on="OrderId", right_on="Id", suffix="_order")
    items = items.join(tables["Pricebook2"], left_on="Pricebook2Id", right_on="Id", suffix="_book")
    assert items.height == tables["OrderItem"].height
    assert (items["UnitPrice"] == items["UnitPrice_entry"]).all()
    assert (items["Product2Id"] == items["Product2Id_entry"]).all()
    assert (items["Pricebook2Id"] == items["Pricebook2Id_order"]).all()
    day = pl.col("EffectiveDate")
    assert items.filter((day < pl.col("ValidFrom").dt.date()) | (day > pl.col("ValidTo").dt.date())).is_empty()
    # An account orders once a day at most: a day names one order.
    assert tables["Order"].select("AccountId", "EffectiveDate").is_unique().all()


def test_a_case_is_about_what_its_customer_ordered_some_days_before(made: MadeOrganisation) -> None:
    tables = made.tables
    ages = {talk.id: talk.age for talk in talks.load_default()}
    rows = tables["Case"].join(tables["latent_cases"], left_on="Id", right_on="case_id")
    rows = rows.join(tables["OrderItem"], left_on="OrderItemId__c", right_on="Id", suffix="_item")
    rows = rows.join(tables["Order"], left_on="OrderId", right_on="Id", suffix="_order")
    assert rows.height == tables["Case"].height
    assert (rows["AccountId"] == rows["AccountId_order"]).all()
    assert (rows["Status_order"] == "Activated").all()
    for row in rows.iter_rows(named=True):
        age = (row["CreatedDate"].date() - row["EffectiveDate"]).days
        low, high = ages[row["talk"]]
        assert low <= age <= high, row["talk"]


def test_messages_come_between_opening_and_closing_and_are_answered_in_time(made: MadeOrganisation) -> None:
    tables = made.tables
    cases = {row["Id"]: row for row in tables["Case"].iter_rows(named=True)}
    end = made.dataset.config["today"]
    for row in tables["EmailMessage"].iter_rows(named=True):
        case = cases[row["ParentId"]]
        assert row["MessageDate"] >= case["CreatedDate"]
        assert str(row["MessageDate"].date()) < end
        if case["ClosedDate"] is not None:
            assert row["MessageDate"] <= case["ClosedDate"]
    threads = tables["EmailMessage"].sort("MessageDate").partition_by("ParentId")
    for thread in threads:
        waiting = None
        # The word that a case is closed is no answer.
        for row in thread.head(thread.height - 1).iter_rows(named=True):
            if row["FromAddress"].endswith("cobblewren.example"):
                assert waiting is None or (row["MessageDate"] - waiting).total_seconds() <= 20 * 3600
                waiting = None
            else:
                waiting = waiting or row["MessageDate"]
    for body in tables["LiveChatTranscript"]["Body"]:
        times = pl.Series(re.findall(r"^\[([\d: -]+)\]", body, re.M)).str.to_datetime()
        assert times.diff().drop_nulls().is_between(pl.duration(seconds=0), pl.duration(minutes=5)).all()


def test_texts_name_their_own_facts_and_nobody_elses(made: MadeOrganisation) -> None:
    tables = made.tables
    rows = tables["Case"].join(tables["OrderItem"], left_on="OrderItemId__c", right_on="Id", suffix="_item")
    accounts = {row["Id"]: row for row in tables["Account"].iter_rows(named=True)}
    agents = {row["Id"]: row["FirstName"] for row in tables["User"].iter_rows(named=True)}
    mails = tables["EmailMessage"].group_by("ParentId").agg("TextBody")
    texts = {case: "\n".join(each) for case, each in mails.iter_rows()}
    for case, body in tables["LiveChatTranscript"].select("CaseId", "Body").iter_rows():
        texts[case] = texts.get(case, "") + "\n" + body
    moves = tables["CaseHistory__c"].filter(pl.col("Field__c") == "Owner Assignment")
    holders = dict(moves.group_by("CaseId__c").agg("NewValue__c").iter_rows())
    order_ids, emails = re.compile(r"\b801\w{15}\b"), re.compile(r"[\w.]+@[\w.]+\.example")
    for row in rows.iter_rows(named=True):
        text, account = texts[row["Id"]], accounts[row["AccountId"]]
        assert "<" not in text, text
        assert set(order_ids.findall(text)) <= {row["OrderId"]}
        assert set(emails.findall(text)) <= {account["PersonEmail"]}
        assert set(re.findall(r"\b500\w{15}\b", text)) <= {row["Id"]}
        # Who signs an e-mail or speaks in the chat has had the case.
        signed = set(re.findall(r"([A-Z]\w+)$", text, re.M)) & set(agents.values())
        assert signed <= {agents[who] for who in holders[row["Id"]]} | {account["FirstName"]}
        assert set(re.findall(r"^Hello (\w+)", text, re.M)) <= {account["FirstName"]}


def test_hardly_a_case_is_told_in_the_words_of_another(made: MadeOrganisation) -> None:
    assert made.dataset.config["writing"]["cases"]["similar"] <= 0.03 * 150


def test_who_gives_a_case_away_says_so_unless_that_is_the_rule_that_is_broken(made: MadeOrganisation) -> None:
    hidden = {row["case_id"]: row for row in made.tables["latent_cases"].iter_rows(named=True)}
    moves = made.tables["CaseHistory__c"].filter(pl.col("OldValue__c").is_not_null())
    assert moves.height >= 15
    names = dict(made.tables["User"].select("Id", "FirstName").iter_rows())
    mails = made.tables["EmailMessage"].sort("MessageDate")
    for row in moves.iter_rows(named=True):
        case = row["CaseId__c"]
        assert hidden[case]["transferred"]
        before = mails.filter((pl.col("ParentId") == case) & (pl.col("MessageDate") <= row["CreatedDate"]))
        chats = made.tables["LiveChatTranscript"].filter(pl.col("CaseId") == case)["Body"].to_list()
        said = "\n".join([*before["TextBody"], *chats])
        told = re.search(TOLD, said) and names[row["NewValue__c"]] in said
        assert bool(told) == (hidden[case]["breach"] != "no-secret-transfer"), said


def test_rules_are_broken_where_it_was_planned_and_the_article_is_known(made: MadeOrganisation) -> None:
    company = companies.load_default()
    policies = {policy.id: policy for policy in company.profile.conduct_policies}
    titles = dict(made.tables["Knowledge__kav"].select("Id", "UrlName").iter_rows())
    broken = made.tables["latent_cases"].filter(pl.col("breach").is_not_null())
    assert broken.height == sizes.read_size(150).breaches
    of_talk = {talk.id: talk.breaches for talk in talks.load_default()}
    for row in made.tables["latent_cases"].iter_rows(named=True):
        assert row["breach"] == of_talk[row["talk"]]
        if row["breach"]:
            assert titles[row["article_id"]] == policies[row["breach"]].article


def test_hidden_causes_show_in_what_happens(made: MadeOrganisation) -> None:
    """Agents of higher pace take longer; those who lean to break rules do; no object of an organisation is hidden."""
    tables = made.tables
    closed = tables["Case"].filter(pl.col("ClosedDate").is_not_null())
    hours = (pl.col("ClosedDate") - pl.col("CreatedDate")).dt.total_seconds() / 3600
    agents = closed.group_by("OwnerId").agg(hours.mean().alias("hours"), pl.len().alias("n")).filter(pl.col("n") >= 5)
    agents = agents.join(tables["latent_agents"], left_on="OwnerId", right_on="agent")
    assert agents.select(pl.corr("hours", "pace", method="spearman")).item() > 0.4
    assert {name for name in tables if name.startswith("latent_")} == {
        *("latent_agents", "latent_skills", "latent_habits", "latent_defects", "latent_flaws", "latent_regions"),
        "latent_cases",
    }
    assert not {name for name in load_default().objects if name.startswith("latent")}


def test_every_question_has_just_the_answer_that_the_solver_finds(made: MadeOrganisation) -> None:
    asked = [sample for sample in made.samples if sample.task in solvers.SOLVERS]
    assert len(asked) == 7 * 20
    for sample in asked[::3]:
        sandbox = made.sandbox.at(sample.inputs.get("today", "2024-01-01"))
        found = solvers.solve(sandbox, sample.task, sample.expected["arguments"])
        assert list(found.answers) == sample.expected["answers"]
        assert found.answer == sample.expected["answer"]
        original = solvers.solve(sandbox.under("original"), sample.task, sample.expected["arguments"])
        assert original.answer == sample.expected["answer_original"]


def test_samples_look_like_imported_ones(made: MadeOrganisation) -> None:
    assert [sample.inputs["number"] for sample in made.samples] == list(range(len(made.samples)))
    for sample in made.samples:
        task = TASKS[sample.task]
        assert sample.facets["persona"] == task.persona
        assert sample.facets["answerable"] == ("yes" if sample.expected["answer"] is not None else "no")
        assert int(sample.facets["difficulty"]) >= 1
        assert {"number", "query", "required", "optional"} <= sample.inputs.keys()
        assert json.dumps(sample.expected["answers"])
        told = json.dumps([sample.inputs["query"], sample.inputs["required"], sample.inputs["optional"]])
        if task.answer in ("user", "article", "issue"):
            assert not any(answer in told for answer in sample.expected["answers"])
    for task in TASKS.values():
        without = [s for s in made.of_task(task.id) if s.expected["answer"] is None]
        assert len(without) == (round(0.3 * 20) if task.unanswerable else 0), task.id


def test_an_organisation_without_links_has_the_same_answers(tiny: MadeOrganisation, tmp_path: Path) -> None:
    loose = make(tmp_path, size="tiny", links=False)
    assert loose.tables["Case"]["IssueId__c"].is_null().all()
    assert loose.tables["Case"]["OrderItemId__c"].is_null().all()
    folder = loose.home / "datasets" / loose.dataset.id
    linked = Sandbox.open(folder, compat="policy", linked=True)
    for sample in loose.of_task("top_issue_identification"):
        arguments, today = sample.expected["arguments"], sample.inputs["today"]
        assert list(solvers.solve(linked.at(today), sample.task, arguments).answers) == sample.expected["answers"]
        assert solvers.solve(loose.sandbox.at(today), sample.task, arguments).answers == ()
    assert [sample.expected["answers"] for sample in loose.samples] == [s.expected["answers"] for s in tiny.samples]
    assert loose.dataset.id != tiny.dataset.id


def test_a_stored_folder_reads_as_an_organisation(made: MadeOrganisation, tmp_path: Path) -> None:
    for name in load_default().objects:
        made.tables[name].write_parquet(tmp_path / f"{name}.parquet")
    assert read_folder(tmp_path, load_default())["Case"].height == 150


def test_a_second_company_of_another_trade_is_made_the_same_way(tmp_path: Path) -> None:
    bank = make(tmp_path, size="60", industry="finance")
    assert find_faults(bank.tables, load_default()) == []
    assert bank.dataset.config["industry"] == "finance"
    assert set(bank.dataset.config["rows"]) == set(load_default().objects)
    assert {sample.task for sample in bank.samples} == set(TASKS)
    texts = "\n".join([*bank.tables["EmailMessage"]["TextBody"], *bank.tables["LiveChatTranscript"]["Body"]])
    assert not re.search(r"shoes?\b|boots?\b|Cobblewren|<", texts)
    assert re.search(r"\b(Harbor Checking account|Heron Card|Wheel Loan)\b", texts)


def test_a_company_of_ones_own_is_a_folder_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    own = find_company(CrmGenerateOptions(company=str(resources.data("crmarena", "finance"))), GenerationContext())
    assert own.name == "finance"
    for wrong in (
        CrmGenerateOptions(industry="ships"),
        CrmGenerateOptions(industry="../crmarena/shoes"),
        CrmGenerateOptions(company=str(tmp_path)),
    ):
        with pytest.raises(BadOption, match="known industries: finance, shoes"):
            find_company(wrong, GenerationContext())


def test_agents_reach_nothing_that_is_hidden(made: MadeOrganisation) -> None:
    for name in [name for name in made.tables if name.startswith("latent_")]:
        with pytest.raises(QueryError, match="INVALID_TYPE"):
            made.sandbox.soql(f"SELECT Id FROM {name}")
        with pytest.raises(QueryError, match="INVALID_TYPE"):
            made.sandbox.sosl(f"FIND {{boots}} RETURNING {name}(Id)")
    assert "latent" not in str(made.sandbox.soql("SELECT FIELDS(ALL) FROM Case LIMIT 5"))


def test_a_reader_of_the_texts_alone_finds_the_rule_that_was_broken(made: MadeOrganisation) -> None:
    """The simulated reader knows the hand-written talks and nothing of the case; names and handovers hide none."""
    rules = tuple(prompts.Rule(id=p.id, text=p.rule) for p in companies.load_default().profile.conduct_policies)
    chats = dict(made.tables["LiveChatTranscript"].select("CaseId", "Body").iter_rows())
    mails = made.tables["EmailMessage"].sort("MessageDate")
    looked = made.tables["Case"].filter(pl.col("Status") != "New")["Id"]
    right = []
    for row in made.tables["latent_cases"].filter(pl.col("case_id").is_in(looked.implode())).iter_rows(named=True):
        own = mails.filter(pl.col("ParentId") == row["case_id"])["TextBody"].to_list()
        inputs = prompts.BreachInputs(lines=(*chats.get(row["case_id"], "").split("\n"), *own), days=1, rules=rules)
        found = json.loads(writer.find_breach(inputs, PROFILES["strong"], np.random.default_rng(0)))
        right.append(found["rule"] == (row["breach"] or prompts.NO_RULE))
    assert len(right) > 100
    assert all(right)


def test_a_schema_of_ones_own_holds_through_a_whole_generation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dropped = "".join(
        f"[{name}]\n" + "".join(f"fields.{field} = {{ dropped = true }}\n" for field in sorted(fields))
        for name, fields in schema_changes.SPARE.items()
    )
    added = """
[Warranty__c]
prefix = "a5W"
about = "A longer warranty"
rows = 11
fields.Case__c = { type = "reference", to = "Case", children = "Warranties__r", about = "What it was bought in" }
fields.Note__c = { type = "text", about = "What the agent noted" }
"""
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    own = make(tmp_path, size="tiny", schema_changes=dropped + added)
    assert own.dataset.config["rows"]["Warranty__c"] == own.tables["Warranty__c"].height == 11
    assert own.dataset.config["writing"]["records"]["batches"] == 2
    assert own.tables["Warranty__c"]["Note__c"].str.starts_with("Case: ").all()
    for name, fields in schema_changes.SPARE.items():
        assert not fields & set(own.tables[name].columns)
    # Solvers, tools and what agents are told do without what was dropped.
    assert [complaint for sample in own.samples for complaint in check(sample)] == []
    assert own.sandbox.soql("SELECT COUNT() FROM Case WHERE Id IN (SELECT Case__c FROM Warranty__c)")[0]["expr0"] > 0
    sizes_shown, schema_shown, _ = list_figures(own.dataset)
    assert sizes_shown.frame["label"].to_list()[-1] == "Warranty__c"
    assert schema_shown.finding.startswith("17 objects with 21 references")
