"""An organisation as people browse it, beside the same answers by hand and by SOQL."""

from pathlib import Path

import pytest

from cxlab.errors import BadFile
from cxlab.store import write
from cxlab.views.crm import organisation as desk
from cxlab.views.crm.organisation import Organisation
from cxlab.views.crm.records.timeline import ChatMessage, read_chat, tell
from tests.conftest import use
from tests.stores.crm import (
    AGENT,
    ARTICLE,
    CASE,
    CHAT,
    CONTACT,
    CUSTOMER,
    DATASET,
    ITEM,
    NEXT_AGENT,
    ORDER,
    PRODUCT,
    make_crm,
)  # fmt: skip


@pytest.fixture
def shoes(crm_store: Path, monkeypatch: pytest.MonkeyPatch) -> Organisation:
    use(crm_store, monkeypatch)
    return desk.load(DATASET)


def test_records_are_found_by_either_length_of_id_and_by_nothing_else(shoes: Organisation) -> None:
    found = shoes.find(CASE)
    assert found is not None
    assert (found.id, found.object.name, found.values["Priority"]) == (CASE, "Case", "High")
    short = shoes.find(CASE[:15])
    assert short is not None
    assert short.id == CASE
    for wrong in ("", "x", CASE[:-1], "latent_skills", "../Case", CASE.lower() + "'", "500" + "9" * 15):
        assert shoes.find(wrong) is None, wrong


def test_what_records_are_called(shoes: Organisation) -> None:
    called = {id: shoes.title(id) for id in (CUSTOMER, ORDER, ITEM, CHAT, PRODUCT, ARTICLE)}
    assert called == {
        CUSTOMER: "Dana Moss", ORDER: "Order of 2020-04-20", ITEM: "1 × Trail Running Shoe",
        CHAT: "Chat of 2020-05-03 09:20", PRODUCT: "Trail Running Shoe", ARTICLE: "Return Policy",
    }  # fmt: skip
    assert shoes.title("500") == "500"


def test_where_fields_lead_declared_or_not(shoes: Organisation) -> None:
    case = shoes.find(CASE)
    assert case is not None
    leads = {lead.field.name: ([each.id for each in lead.to], lead.declared) for lead in shoes.leads(case)}
    assert leads["AccountId"] == ([CUSTOMER], True)
    assert leads["OwnerId"] == ([NEXT_AGENT], True)
    assert leads["OrderItemId__c"] == ([ITEM], False)
    email = next(each for each in shoes.ways_back(case) if each.object.name == "EmailMessage").ids[-1]
    record = shoes.find(email)
    assert record is not None
    assert [(lead.field.name, lead.to[0].id) for lead in shoes.leads(record)] == [("ParentId", CASE), ("ToIds", AGENT)]


def test_every_way_back_is_what_a_query_finds(shoes: Organisation, crm_store: Path) -> None:
    sandbox = desk.open_sandbox(write.load_dataset(DATASET, crm_store))
    for id in (CUSTOMER, CONTACT, ORDER, ITEM, CASE, AGENT, PRODUCT):
        record = shoes.find(id)
        assert record is not None
        ways = {(way.object.name, way.field.name): set(way.ids) for way in shoes.ways_back(record)}
        for info, field in shoes.references_to(record.object.name):
            found = sandbox.soql(f"SELECT Id FROM {info.name} WHERE {field.name} = '{id}'")
            assert ways.get((info.name, field.name), set()) == {row["Id"] for row in found}


def test_words_are_searched_in_all_texts_newest_first(shoes: Organisation) -> None:
    found = shoes.search("EmailMessage", "PINCH <img")
    assert found["ParentId"].to_list() == [CASE]
    assert shoes.search("Case", "no such words").is_empty()
    times = shoes.search("Case", "").get_column("CreatedDate").to_list()
    assert times == sorted(times, reverse=True)
    shown = shoes.readable(shoes.search("Case", CASE), "Case").row(0, named=True)
    assert (shown["AccountId"], shown["OwnerId"], shown["CreatedDate"]) == ("Dana Moss", "Ann1 Lee", "2020-05-03 09:00")


def test_the_timeline_of_a_case_is_its_order_history_emails_and_chats(shoes: Organisation) -> None:
    case = shoes.find(CASE)
    assert case is not None
    told = [(event.when, event.kind, event.words) for event in tell(shoes, case)]
    assert told == [
        ("2020-04-20", "order", "Order placed: 1 × Trail Running Shoe, 2 × Café Boots"),
        ("2020-05-03 09:00", "opened", "Case opened"),
        ("2020-05-03 09:00", "assigned", "Given to Ann0 O'Neil"),
        ("2020-05-03 09:20", "chat", "Chat of 2 messages ended"),
        ("2020-05-04 10:00", "handed over", "Handed over from Ann0 O'Neil to Ann1 Lee"),
        ("2020-05-04 10:00", "email", "E-mail from the customer: Size"),
        ("2020-05-04 11:00", "email", "E-mail to the customer: Size"),
        ("2020-05-05 12:30", "closed", "Case closed"),
    ]
    chat = shoes.find(CHAT)
    assert chat is not None
    assert [event.id for event in tell(shoes, chat)] == [event.id for event in tell(shoes, case)]


def test_an_account_an_order_and_an_item_tell_the_same_story(shoes: Organisation) -> None:
    for id in (CUSTOMER, CONTACT, ORDER, ITEM):
        record = shoes.find(id)
        assert record is not None
        events = [(event.kind, event.id) for event in tell(shoes, record)]
        assert events == [("order", ORDER), ("opened", CASE), ("closed", CASE)], record.object.name
    product = shoes.find(PRODUCT)
    assert product is not None
    assert tell(shoes, product) == []


def test_chats_are_read_line_by_line_or_left_as_they_are() -> None:
    assert read_chat("[09:01] A B (Agent): x &lt;b&gt;\nand more<br>[09:02] C: y: z") == [
        ChatMessage("09:01", "A B", "Agent", "x <b>\nand more"),
        ChatMessage("09:02", "C", "", "y: z"),
    ]
    assert read_chat("Nobody said when.\n[09:02] C: y") == []
    assert read_chat("") == []


def test_latent_variables_are_no_records(shoes: Organisation) -> None:
    assert "latent_skills" not in shoes.tables
    assert set(shoes.tables) == set(shoes.schema.objects)


def test_a_damaged_table_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(tmp_path, monkeypatch)
    make_crm(tmp_path)
    assert [each.id for each in desk.datasets()] == [DATASET]
    folder = tmp_path / "datasets" / DATASET
    (folder / "Case.parquet").write_bytes(b"PAR1 nothing of that kind")
    with pytest.raises(BadFile, match=r"Case\.parquet"):
        desk.load(DATASET)
    for path in folder.glob("*.parquet"):
        if path.stem in desk.load_default().objects:
            path.unlink()
    assert not desk.has_organisation(DATASET)
