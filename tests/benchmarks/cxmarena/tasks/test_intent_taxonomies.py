"""Three taxonomies from issues and conversations; labels that follow from the issue a conversation was made from."""

import json
from collections import defaultdict
from pathlib import Path

import pytest

from cxlab.benchmarks.cxmarena.evaluation.task_metrics import is_two_level
from cxlab.benchmarks.cxmarena.tasks import intent_taxonomies
from cxlab.benchmarks.generation import stages
from cxlab.errors import BadOption
from cxlab.llm.base import Completion, Request
from cxlab.metrics.labels import check_equal_length
from tests.benchmarks.cxmarena.cxm_brand import make


@pytest.fixture(scope="module")
def found():
    made = make()
    return intent_taxonomies.make(made.conversations, made.articles, made.model, 1)


@pytest.fixture(scope="module")
def derived(found):
    return stages.finish(found)


def label(row: dict[str, str | None]) -> str:
    return f"{row['l1']}:{row['l2']}" if row["l2"] else str(row["l1"])


def test_every_conversation_has_a_label_of_each_taxonomy_and_every_label_a_conversation(derived):
    rows, labels = derived
    used = defaultdict(set)
    for given in labels.values():
        for taxonomy, name in given.items():
            used[taxonomy].add(name)
    for taxonomy in intent_taxonomies.PUBLISHED:
        names = [label(row) for row in rows if row["taxonomy"] == taxonomy]
        assert len(set(map(str.casefold, names))) == len(names)
        assert set(names) == used[taxonomy]
        assert is_two_level(names) == (taxonomy == intent_taxonomies.TWO_LEVELS)
        assert all(row["description"] for row in rows)
    assert len(labels) == len(make().conversations)


def test_conversations_about_one_issue_of_one_kind_of_product_have_one_label(derived):
    _, labels = derived
    made = make()
    drafts = intent_taxonomies.draft(made.articles)
    seen: dict[int, dict[str, str]] = {}
    for conversation in made.conversations:
        own = drafts.where[conversation.labels["issue_article"]]
        flat = {t: name for t, name in labels[conversation.id].items() if t != intent_taxonomies.TWO_LEVELS}
        assert seen.setdefault(own, flat) == flat


def test_sizes_are_the_published_ones_at_the_published_size_and_grow_with_the_root():
    assert {
        t: intent_taxonomies.size(t, intent_taxonomies.CONVERSATIONS) for t in intent_taxonomies.PUBLISHED
    } == intent_taxonomies.PUBLISHED
    assert intent_taxonomies.size("A", 4 * intent_taxonomies.CONVERSATIONS) == 190
    assert intent_taxonomies.size("C", 1) == 2


def test_clusters_keep_first_levels_apart_and_reach_the_size_that_is_wanted():
    import numpy as np

    drafts = [intent_taxonomies.IntentDraft(f"t{n}", f"g{n % 2}", "", [f"c{n}"], l1=f"g{n % 2}") for n in range(8)]
    alike = np.ones((8, 8))
    nothing = np.zeros((8, 8))
    for wanted in (1, 2, 5, 8, 20):
        piles = intent_taxonomies.cluster(drafts, range(8), alike, nothing, "B", wanted)
        assert sorted(n for pile in piles for n in pile) == list(range(8))
        assert len(piles) == min(8, max(2, wanted))
        assert all(len({drafts[n].l1 for n in pile}) == 1 for pile in piles)


def test_what_is_taken_for_one_another_moves_together():
    import numpy as np

    drafts = [intent_taxonomies.IntentDraft(f"t{n}", f"g{n}", "", [f"c{n}"]) for n in range(4)]
    confused = np.zeros((4, 4))
    confused[1, 3] = confused[3, 1] = 1.0
    piles = intent_taxonomies.cluster(drafts, range(4), np.eye(4), confused, "A", 3)
    assert [1, 3] in piles


def test_kinds_of_products_are_split_into_lines_only_while_more_are_wanted():
    drafts = [
        intent_taxonomies.IntentDraft("a", "g", "", ["1", "2", "3"]),
        intent_taxonomies.IntentDraft("a", "h", "", ["4"]),
    ]
    lines = {"1": "x", "2": "y", "3": "y", "4": "z"}
    assert len(intent_taxonomies.split(drafts, lines, 2)[0]) == 2
    used, origin = intent_taxonomies.split(drafts, lines, 3)
    assert [(one.l1, one.conversations) for one in used] == [("x", ["1"]), ("y", ["2", "3"]), ("h", ["4"])]
    check_equal_length(used, origin)
    assert origin == [0, 0, 1]


def test_stages_go_on_where_they_stopped_and_give_the_same(derived, tmp_path: Path):
    made = make()
    begun = intent_taxonomies.make(made.conversations, made.articles, made.model, 1, tmp_path)
    for _ in range(3):
        next(begun)
    begun.close()
    assert any(tmp_path.iterdir())
    again = intent_taxonomies.make(made.conversations, made.articles, made.model, 1, tmp_path)
    assert stages.finish(again) == derived


class Namer:
    """Gives every cluster the same name, with a colon in it."""

    simulated = False
    name = "x:namer"

    async def complete(self, request: Request) -> Completion:
        draft = request.prompt.name == "cxm_intent"
        text = {"intent": "nothing of the list"} if draft else {"name": "Trouble: again.", "description": "d"}
        return Completion(json.dumps(text))

    async def aclose(self) -> None:
        """Nothing to close."""


def test_alike_names_of_a_model_are_told_apart_and_break_no_label():
    made = make()
    rows, _ = stages.finish(intent_taxonomies.make(made.conversations, made.articles, Namer(), 1))
    for taxonomy in intent_taxonomies.PUBLISHED:
        names = [label(row) for row in rows if row["taxonomy"] == taxonomy]
        assert len(set(names)) == len(names) > 1
        assert is_two_level(names) == (taxonomy == intent_taxonomies.TWO_LEVELS)
        assert all(name.count(":") == (taxonomy == intent_taxonomies.TWO_LEVELS) for name in names)


class Unreadable(Namer):
    """Names nothing the first time, and one cluster never."""

    def __init__(self) -> None:
        self.asked: dict[str, int] = {}

    async def complete(self, request: Request) -> Completion:
        if request.prompt.name != "cxm_name_intent":
            return await super().complete(request)
        cluster = next(one["content"] for one in request.messages if one["role"] == "user")
        self.asked[cluster] = self.asked.get(cluster, 0) + 1
        first = next(iter(self.asked))
        last_try = request.seed == 2 and cluster != first
        return await super().complete(request) if last_try else Completion("I would rather not.")


def test_an_unreadable_name_is_asked_for_again_and_else_an_articles_title_stands_for_it():
    made = make()
    model = Unreadable()
    rows, labels = stages.finish(intent_taxonomies.make(made.conversations, made.articles, model, 1))
    assert min(model.asked.values()) >= 2
    unnamed = [row for row in rows if not row["description"]]
    assert len(unnamed) == 1
    assert "Trouble" not in label(unnamed[0])
    assert label(unnamed[0]) in {one[str(unnamed[0]["taxonomy"])] for one in labels.values()}


def test_a_conversation_without_its_issue_is_refused():
    made = make()
    stray = made.conversations[0].model_copy(update={"labels": {"issue_article": "KB_none"}})
    with pytest.raises(BadOption, match="KB_none"):
        stages.finish(intent_taxonomies.make([stray], made.articles, made.model, 1))
