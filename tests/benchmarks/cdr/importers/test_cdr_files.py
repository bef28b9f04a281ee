"""The published files: what is taken, and each thing that is odd."""

import json

import pytest

from cxlab import retrieval
from cxlab.benchmarks.cdr import evaluate
from cxlab.benchmarks.cdr.importers import read_cdr_files
from cxlab.errors import BadFile

CORPUS = {
    "corpus_0": "user: Where is my parcel?\nIt was due\non Monday.\nassistant: It left the depot.\nuser: Thanks.",
    "corpus_1": "assistant: Anybody there?",
    "corpus_2": "no speaker at all",
    "corpus_3": "",
    "corpus_4": "Title\nuser: \nassistant: My note: call us.",
    "corpus_5": 7,
}
QUERIES = {"query_0": "user asks for a parcel", "query_1": "nothing fits", "query_2": " "}
RELEVANT = {"query_0": ["corpus_0", "corpus_0", "corpus_9"], "query_7": ["corpus_0"], "query_1": "corpus_0"}


def save(folder, **contents):
    files = {"corpus": CORPUS, "queries": QUERIES, "relevant_docs": RELEVANT, **contents}
    for name, content in files.items():
        (folder / f"{name}.json").write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def test_what_is_taken_and_what_is_told(tmp_path):
    found = read_cdr_files(save(tmp_path))
    assert list(found.corpus) == ["corpus_0", "corpus_1", "corpus_4"]
    first = found.corpus["corpus_0"].messages
    assert [(each.role, each.turn) for each in first] == [("customer", 1), ("agent", 1), ("customer", 2)]
    assert first[0].text == "Where is my parcel?\nIt was due\non Monday."
    assert found.corpus["corpus_4"].messages[1].text == "My note: call us."
    assert (found.queries, found.relevant) == (
        {"query_0": "user asks for a parcel", "query_1": "nothing fits"},
        {"query_0": ["corpus_0"]},
    )
    assert (found.repeated, found.dangling, found.pairs) == (1, 1, 1)
    assert [str(each) for each in found.rejected] == [
        "corpus.json, corpus_2: 17 characters before the first speaker are left out",
        "corpus.json, corpus_3: no messages",
        "corpus.json, corpus_5: no text",
        "queries.json, query_2: no text",
        "relevant_docs.json, query_0: 'corpus_9' is no conversation",
        "relevant_docs.json, query_7: is no query",
        "relevant_docs.json, query_1: no list of conversation ids",
    ]
    assert [str(each).partition(", ")[2] for each in found.notices] == [
        "corpus_1: one side speaks alone",
        "corpus_4: 5 characters before the first speaker are left out",
        "corpus_4: 1 of 2 messages have no text",
        "query_1: nothing is relevant to this query",
    ]
    assert found.lines()[0] == "3 conversations, 2 queries, 1 pairs"


def test_they_can_be_evaluated(tmp_path):
    found = read_cdr_files(save(tmp_path))
    result = evaluate(found.corpus, found.queries, found.relevant, retrieval.load("bm25"), "turn")
    assert result.metrics["acc@1"] == 0.5  # one of two queries has something relevant
    assert (result.units.count, result.units.empty) == (6, 1)


@pytest.mark.parametrize(
    ("content", "said"),
    [("[1]", "no JSON object"), ('{"a": 1,\n "a": 2}', ":2: the key 'a' stands twice"), ("{", "not JSON")],
)
def test_files_that_cannot_be_read(tmp_path, content, said):
    with pytest.raises(BadFile, match=said):
        read_cdr_files(save(tmp_path, corpus=content))


def test_a_missing_file(tmp_path):
    with pytest.raises(BadFile, match=r"corpus\.json: does not exist"):
        read_cdr_files(tmp_path)
