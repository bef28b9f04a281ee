"""The agents' loops: what is read from a reply, what comes back, how an attempt ends, and what its trace keeps."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from cxlab.benchmarks.crmarena.ablation import KINDS, PAIRS, Removed, measures
from cxlab.benchmarks.crmarena.agents.function_calling import read_written_call
from cxlab.benchmarks.crmarena.agents.observations import observe
from cxlab.benchmarks.crmarena.agents.tagged import read_reply
from cxlab.benchmarks.crmarena.agents.toolsets import list_tools
from cxlab.benchmarks.crmarena.options import CrmOptions
from cxlab.benchmarks.crmarena.tools import DEFINITIONS, GENERIC
from cxlab.llm.base import Completion, ProviderFault
from cxlab.records import Sample, ToolCall
from tests.benchmarks.crmarena.crm_play import Scripted, play, values_of, verdict_of

COUNT = "SELECT COUNT() FROM Case"


@pytest.fixture(scope="module")
def samples(small_store: tuple[Path, list[Sample]]) -> Iterator[list[Sample]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXLAB_HOME", str(small_store[0]))
        yield small_store[1]


@pytest.fixture
def region(samples: list[Sample]) -> Sample:
    return next(each for each in samples if each.task == "best_region_identification" and each.expected["answer"])


@pytest.mark.parametrize(
    ("text", "thought", "query", "answer"),
    [
        (f"<thought>Count.</thought>\n<execute> {COUNT} </execute>", "Count.", COUNT, None),
        ("<submit> GA </submit>", "", None, "GA"),
        ("<respond>GA</respond>", "", None, "GA"),
        (f"<submit>GA</submit><execute>{COUNT}</execute>", "", COUNT, None),
        (f"<execute>```sql\n{COUNT}\n```</execute>", "", COUNT, None),
        ("<execute></execute>", "", None, None),
        ("GA", "", None, None),
        # Where a server stops at the closing tag.
        ("<submit>GA", "", None, "GA"),
        (f"<THOUGHT>Count.</THOUGHT>\n<Execute>\n```sql\n{COUNT}\n```", "Count.", COUNT, None),
        ("```xml\n<submit>\n```\nGA\n```\n</submit>\n```", "", None, "GA"),
    ],
)
def test_tags(text: str, thought: str, query: str | None, answer: str | None) -> None:
    said = read_reply(text)
    assert (said.thought, said.query, said.answer) == (thought, query, answer)


@pytest.mark.parametrize(
    ("text", "thought", "name", "arguments"),
    [
        ('Action: submit\nAction Input: {"content": "GA"}', "", "submit", '{"content": "GA"}'),
        ('I know.\nAction: submit\nAction Input: {"content": "}"}\nObservation: made up', "I know.", "submit", None),
        ("Action: `get_issues`\nAction Input: ```json\n{}\n```", "", "get_issues", "{}"),
        ("Action: get_issues", "", "get_issues", "{}"),
        ('Action: submit\nAction Input: {"content": ', "", "submit", '{"content":'),
        ("**Action:** `get_issues`\n**Action Input:** {}", "", "get_issues", "{}"),
        ('action: functions.get_issues()\naction input:\n```json\n{"a": 1}\n```', "", "get_issues", '{"a": 1}'),
        ("I know.\n\n**Final Answer:** GA", "I know.", "submit", '{"content": "GA"}'),
        ("Final answer: `None`.", "", "submit", '{"content": "None"}'),
    ],
)
def test_calls_in_words(text: str, thought: str, name: str, arguments: str | None) -> None:
    said, call = read_written_call(text, 3)
    assert call is not None
    assert (said, call.name, call.id) == (thought, name, "call_3")
    assert call.arguments == ('{"content": "}"}' if arguments is None else arguments)
    assert read_written_call("no call here", 1) == ("no call here", None)


def test_an_observation_is_cut_at_whole_records_and_says_so() -> None:
    rows = [{"Id": str(n)} for n in range(100)]
    whole, cut = observe(rows), observe(rows, 60)
    assert (whole.records, whole.characters) == (100, len(whole.text))
    listed, _, note = cut.text.partition("\n")
    assert rows[: len(json.loads(listed))] == json.loads(listed)
    assert len(listed) <= 60
    assert f"The first {len(json.loads(listed))} of 100" in note
    assert (cut.records, cut.characters) == (100, whole.characters)
    assert observe("x" * 50, 10).text.startswith("x" * 10 + "\n(40 more")
    assert observe("Error: MALFORMED_QUERY: no").error == "MALFORMED_QUERY"
    assert observe("Error: there are no cases").error == "tool"


@pytest.mark.parametrize("framework", ["act", "react"])
def test_a_query_an_error_and_an_answer(region: Sample, framework: str) -> None:
    gold = region.expected["answer"]
    replies = [
        "I would like to count them.",
        "<thought>So.</thought>\n<execute>SELECT Nothing FROM Case</execute>",
        f"<thought>Again.</thought>\n<execute>{COUNT}</execute> and more",
        "<execute>FIND {boots} IN ALL FIELDS RETURNING Product2(Id)</execute><submit>TX</submit>",
        f"<submit>{gold}</submit>",
    ]
    model = Scripted(replies)
    attempt = play(region, model, {"framework": framework})
    assert (attempt.output, attempt.ended_by, attempt.outcome) == ({"answer": gold}, "submit", "ok")
    roles = [(message.role, message.turn) for message in attempt.messages]
    assert roles == [
        *[("customer", 1), ("agent", 1), ("system", 1), ("agent", 2), ("tool", 2), ("agent", 3), ("tool", 3)],
        *[("agent", 4), ("tool", 4), ("agent", 5)],
    ]
    names = [call.name for message in attempt.messages for call in message.tool_calls]
    assert names == ["issue_soql_query", "issue_soql_query", "issue_sosl_query", "submit"]
    shown = [message for message in attempt.messages if message.role == "tool"]
    assert [message.data["error"] for message in shown] == ["INVALID_FIELD", None, None]
    assert shown[1].text == '[{"expr0":240}]'
    assert attempt.messages[5].data["raw"] == replies[2].strip()
    assert "raw" not in attempt.messages[3].data, "what thought and action say is kept once"
    slips = [(failure.where, failure.type) for failure in attempt.failures]
    assert slips == [("agent", "no_action"), ("tool", "INVALID_FIELD"), ("agent", "several_actions")]
    assert attempt.usage.prompt_tokens == 50
    assert attempt.latency_s == 2.5
    # What the model read is what the trace says.
    sent = model.requests[-1].messages
    assert [message["role"] for message in sent] == ["system", "user", *["assistant", "user"] * 4]
    assert sent[1]["content"] == region.inputs["query"]
    assert sent[-1]["content"] == f"<observation>\n{shown[2].text}\n</observation>"
    assert {request.temperature for request in model.requests} == {0.0}
    values = values_of(region, attempt)
    assert (values["score"], values["turns"], values["recovery"], values["format_error"]) == (100, 5, 100, 100)
    assert values["errors"] == pytest.approx(100 / 3)


def test_replies_run_out(region: Sample) -> None:
    attempt = play(region, Scripted([f"<execute>{COUNT}</execute>"]), {"framework": "act", "actions": 3})
    assert (attempt.ended_by, attempt.output["answer"], attempt.outcome) == ("actions", None, "ok")
    assert values_of(region, attempt)["score"] == 0
    nothing = play(region, Scripted(["What?"]), {"framework": "react", "actions": 3})
    assert nothing.outcome == "format"
    verdict = verdict_of(region, nothing)
    assert (verdict.field, verdict.owner, verdict.turn) == ("format", "agent", 1)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (
            Completion("", (ToolCall(id="c", name="get_cases", arguments='{"sta'),), finish_reason="length", limit=900),
            "format: reply cut off at the token limit",
        ),
        (Completion("I cannot help with that.", finish_reason="refusal"), "format: the model declined"),
        ("What?", "format: no action that can be read"),
    ],
    ids=["cut", "declined", "words"],
)
def test_why_no_action_could_be_read_is_told(region: Sample, reply: Any, reason: str) -> None:
    attempt = play(region, Scripted([reply]), {"framework": "function_calling", "actions": 3})
    assert (attempt.ended_by, attempt.outcome) == ("actions", "format")
    assert verdict_of(region, attempt).reason == reason
    assert values_of(region, attempt)["format_error"] == 100
    if "cut off" in reason:
        assert {failure.type for failure in attempt.failures} == {"truncated"}
        assert "limit of 900 tokens" in attempt.failures[0].message
        assert "raise max_output_tokens of scripted" in attempt.failures[0].message


QUERY: Any = ("get_issues", "{}")


@pytest.mark.parametrize("framework", ["react", "function_calling", "create_agent"])
@pytest.mark.parametrize(
    ("replies", "asked", "reason"),
    [
        ([""], 3, "format: no action that can be read"),
        ([Completion("", finish_reason="length", limit=900)], 3, "format: reply cut off at the token limit"),
        (["Let me look."], 5, "format: no action that can be read"),
        ([f"I think about it, {n}." for n in range(20)], 6, "format: no action that can be read"),
    ],
    ids=["silent", "cut", "the same", "never acts"],
)
def test_a_model_that_has_come_to_a_stop_is_not_asked_on(
    region: Sample, replies: list[Any], asked: int, reason: str, framework: str
) -> None:
    model = Scripted(replies)
    attempt = play(region, model, {"framework": framework})
    assert (attempt.ended_by, len(model.requests), attempt.outcome) == ("stuck", asked, "format")
    assert attempt.failures[-1].where == "agent"
    verdict = verdict_of(region, attempt)
    assert (verdict.value, verdict.owner, verdict.reason) == ("failed", "agent", reason)
    assert values_of(region, attempt)["score"] == 0


def test_the_same_action_over_and_over_is_named_and_slow_starters_are_left_alone(region: Sample) -> None:
    model = Scripted([QUERY])
    attempt = play(region, model, {"framework": "function_calling"})
    assert (attempt.ended_by, len(model.requests)) == ("stuck", 5)
    assert verdict_of(region, attempt).reason == "query: never asked for states"
    answer: Any = ("submit", '{"content": "GA"}')
    slow: list[Any] = [
        *["", "", "Let me think."], "One moment.", QUERY, QUERY, QUERY, QUERY, "Now I know.", "", "", QUERY, answer,
    ]  # fmt: skip
    attempt = play(region, Scripted(slow), {"framework": "function_calling"})
    assert (attempt.ended_by, attempt.output["answer"]) == ("submit", "GA")


CALLS: list[Any] = [
    "Let me see.",
    ("get_cases", '{"statuses": ["Closed"'),
    ("find_everything", "{}"),
    ("issue_soql_query", json.dumps({"query": COUNT})),
    Completion("", (ToolCall(id="", name="get_issues", arguments="{}"), ToolCall(id="b", name="x", arguments="{}"))),
    ("submit", '{"content": "GA"}'),
]


@pytest.mark.parametrize("framework", ["function_calling", "create_agent"])
def test_calls_of_tools(region: Sample, framework: str) -> None:
    model = Scripted(CALLS)
    attempt = play(region, model, {"framework": framework})
    assert (attempt.output, attempt.ended_by) == ({"answer": "GA"}, "submit")
    shown = [message for message in attempt.messages if message.role == "tool"]
    assert [message.data["error"] for message in shown] == ["tool", "tool", "tool", None]
    assert "no JSON" in shown[0].text
    # LangChain says it in words of its own.
    assert all(name in shown[place].text for place, name in ((1, "find_everything"), (2, "issue_soql_query")))
    kinds = [failure.type for failure in attempt.failures]
    assert kinds == ["no_action", "bad_arguments", "tool", "tool", "several_actions"]
    offered = [tool["function"]["name"] for tool in model.requests[0].tools or ()]
    assert len(offered) == 25
    assert not set(offered) & set(GENERIC)
    last = model.requests[-1].messages
    assert last[-1]["role"] == "tool"
    # Servers refuse calls without a result, and arguments that are no JSON.
    calls = [call for message in last for call in message.get("tool_calls") or ()]
    assert [call["function"]["name"] for call in calls] == [
        *("get_cases", "find_everything", "issue_soql_query", "get_issues"),
    ]
    assert all(isinstance(json.loads(call["function"]["arguments"]), dict) for call in calls)
    assert {call["id"] for call in calls} == {m["tool_call_id"] for m in last if m["role"] == "tool"}


def test_both_loops_ask_the_same(region: Sample) -> None:
    """LangChain's agent differs from ours in its loop alone."""
    asked = []
    for framework in ("function_calling", "create_agent"):
        model = Scripted([("get_issues", "{}"), ("submit", '{"content": "GA"}')])
        attempt = play(region, model, {"framework": framework})
        said = [(m.role, m.text, m.turn, m.tool_calls) for m in attempt.messages]
        asked.append((said, [(m["role"], m.get("content") or "") for m in model.requests[-1].messages]))
    assert asked[0] == asked[1]


def test_create_agent_ends_when_no_reply_is_left(region: Sample) -> None:
    attempt = play(region, Scripted([("get_issues", "{}")]), {"framework": "create_agent", "actions": 3})
    assert (attempt.ended_by, attempt.output["answer"]) == ("actions", None)
    assert sum(message.role == "agent" for message in attempt.messages) == 3


def test_a_server_without_tools_is_asked_in_words(region: Sample) -> None:
    refusal = ProviderFault("bad_request", "tools are not supported")
    submitted = 'Action: submit\nAction Input: {"content": "GA"}'
    replies: list[Any] = [refusal, "Action: get_issues\nAction Input: {}", submitted]
    model = Scripted(replies)
    attempt = play(region, model, {"framework": "function_calling"})
    assert (attempt.output["answer"], attempt.failures) == ("GA", ())
    assert model.requests[0].tools
    assert not model.requests[1].tools
    assert "Action Input:" in model.requests[1].messages[0]["content"]
    native = play(region, Scripted([refusal]), {"framework": "function_calling", "tool_calls": "native"})
    assert native.ended_by == "provider"


@pytest.mark.parametrize("framework", ["act", "function_calling", "create_agent"])
def test_a_provider_that_fails_leaves_the_attempt_unscored(region: Sample, framework: str) -> None:
    attempt = play(region, Scripted([ProviderFault("timeout", "no reply")]), {"framework": framework})
    assert (attempt.outcome, attempt.ended_by, attempt.failures[0].role) == ("provider", "provider", "agent")
    assert values_of(region, attempt)["score"] is None
    verdict = verdict_of(region, attempt)
    assert (verdict.value, verdict.owner) == ("unscored", "provider")


def test_asking_for_more_than_can_be_read_is_the_agents_doing(region: Sample) -> None:
    replies: list[Any] = ["<execute>SELECT Id FROM Case</execute>", ProviderFault("too_long", "too many tokens")]
    attempt = play(region, Scripted(replies), {"framework": "act"})
    verdict = verdict_of(region, attempt)
    assert (verdict.value, verdict.owner, verdict.field) == ("failed", "agent", "query")
    assert values_of(region, attempt)["score"] == 0


def test_what_the_agent_is_told(region: Sample) -> None:
    told = {}
    for name, options in {"plain": {}, "aided": {"aided": "true"}, "react": {"framework": "react"}}.items():
        model = Scripted(["<submit>GA</submit>", ("submit", '{"content": "GA"}')])
        play(region, model, options)
        told[name] = model.requests[0].messages[0]["content"]
    assert "Q3: July" not in told["plain"]
    assert "Q3: July" in told["aided"]
    assert all("Today is 2021-12-30." in text for text in told.values())
    assert "OwnerId" in told["react"]
    assert "OwnerId" not in told["plain"], "agents that call tools are not told of the objects"


def test_toolsets() -> None:
    def names(task: str, **options: str) -> set[str]:
        return set(list_tools(task, CrmOptions.read(options)))

    assert len(names("handle_time")) == 25
    assert names("handle_time", toolset="full") == set(DEFINITIONS)
    for pair in PAIRS:
        for given in (pair.function, pair.kind, "all"):
            found = names(pair.task, toolset="ablation", removed=given)
            assert pair.function not in found
            assert set(GENERIC) < found
    assert names("knowledge_qa", toolset="ablation") == names("knowledge_qa")
    assert names("handle_time", toolset="ablation", removed="query_independent") == names("handle_time")


def test_the_pairs_are_the_papers_table_15_and_a_run_a_function_measures_them() -> None:
    assert Counter(pair.kind for pair in PAIRS) == dict.fromkeys(KINDS, 4)
    assert {pair.function for pair in PAIRS} < set(DEFINITIONS)
    assert set(get_args(Removed)) == {"all", *KINDS, *(pair.function for pair in PAIRS)}
    by_kind = {pair for pair in PAIRS if measures(pair.kind, pair)}
    # Where two functions of one kind come with one task, a run of the kind takes away both and measures neither.
    both = {(pair.kind, pair.task) for pair in PAIRS if pair not in by_kind}
    assert both == {
        ("query_independent", "named_entity_disambiguation"),
        ("query_dependent", "handle_time"),
        ("calculation_independent", "transfer_count"),
    }
    assert len(by_kind) == 10
    for pair in PAIRS:
        assert measures(pair.function, pair)
        tools = set(list_tools(pair.task, CrmOptions.read({"toolset": "ablation", "removed": pair.function})))
        assert set(list_tools(pair.task, CrmOptions())) - tools == {pair.function}
