"""Whole simulated dialogues: coverage, variety, roles, and that failures have their cause in the text."""

import asyncio
import collections
import dataclasses
import re

import numpy as np

from cxlab.benchmarks.contract import Setup
from cxlab.benchmarks.sage import generate, rules, run
from cxlab.benchmarks.sage.benchmark import BENCHMARK
from cxlab.benchmarks.sage.conditions import same
from cxlab.benchmarks.sage.customer_card import make_card, mood_of, told_until
from cxlab.benchmarks.sage.prompts import scenario_prompts
from cxlab.benchmarks.sage.simulated import signal_reader
from cxlab.benchmarks.sage.simulated.check_phrases import guides
from cxlab.benchmarks.sage.simulated.phrases import phrases_of
from cxlab.llm import load
from cxlab.llm.simulated import knows
from tests.benchmarks.sage.played import EVERY, play


def said(attempts):
    """What was said, without the time that it took."""
    return [[m.model_copy(update={"latency_s": None}) for m in attempt.messages] for attempt in attempts]


def test_every_leaf_is_played_at_every_level(samples) -> None:
    found = collections.Counter((s.facets["scenario"], s.facets["leaf"]) for s in samples)
    wanted = {(name, leaf.id) for name in rules.ids() for leaf in rules.load(name).leaves()}
    assert set(found) == wanted
    assert set(found.values()) == {3}
    by_leaf = collections.defaultdict(list)
    for sample in samples:
        by_leaf[sample.facets["scenario"], sample.facets["leaf"]].append(sample)
    for group in by_leaf.values():
        for key in ("fields", "system", "slots", "personality", "intent"):
            assert len({repr(s.inputs[key]) for s in group}) == 1, "levels must compare the same situation"


def test_the_situation_synthesises_its_leaf(samples) -> None:
    for sample in samples:
        s = rules.load(sample.facets["scenario"])
        trace = s.trace(sample.inputs["fields"], sample.inputs["system"])
        assert list(trace.path) == sample.expected["path"]
        assert trace.action == sample.expected["action"]


def test_same_seed_same_samples_and_other_seed_other_ones() -> None:
    a = BENCHMARK.generate_now({"scenarios": ["telecom_package"]}, 3)[1]
    generate._samples_of.cache_clear()
    assert a == BENCHMARK.generate_now({"scenarios": ["telecom_package"]}, 3)[1]
    c = BENCHMARK.generate_now({"scenarios": ["telecom_package"]}, 4)[1]
    assert {s.id for s in a}.isdisjoint({s.id for s in c})


def test_same_seed_same_dialogue(samples) -> None:
    one, two = (play("base", samples[:6]) for _ in range(2))
    assert said(one) == said(two)
    assert said(one) != said(play("base", samples[:6], trial=1))


def test_customers_do_not_sound_alike(dialogues) -> None:
    attempts = [a for found in dialogues.values() for a in found]
    openings = [a.messages[0].text for a in dialogues["strong"]]
    assert len(set(openings)) / len(openings) >= 0.8
    said = collections.Counter(text for a in attempts for text in {m.text for m in a.messages if m.role == "customer"})
    text, times = said.most_common(1)[0]
    # Each customer is met by every model.
    assert times / len(attempts) <= 0.025, (text, times)


def test_no_customer_repeats_itself_within_a_dialogue(dialogues) -> None:
    repeats = 0
    for attempt in (a for found in dialogues.values() for a in found):
        own = [m.text for m in attempt.messages if m.role == "customer"]
        repeats += len(own) - len(set(own))
    assert repeats <= 0.005 * sum(len(found) for found in dialogues.values())


# What says that something stands further up; "once more" and the like may as well be said of a question.
BEFORE = re.compile(
    r"\b(?:(?:as|like) i (?:said|wrote|told|stated|explained)|as mentioned|i (?:think|wrote|mentioned|said|told)"
    r"(?: that| it| so)? (?:before|earlier|further up)|didn'?t i |had i not said|same (?:answer|question)"
    r"|asked me that|times do i have to|ive told you that)\b"
)


def test_what_is_called_said_before_was_said_in_these_words(samples, dialogues) -> None:
    """A fact is told again as it was told; other wordings of it may add what was never said, or say the contrary."""
    claimed = 0
    for sample, attempt in zip(samples[::EVERY], dialogues["weak"], strict=True):
        played = run.play_card(sample, Setup(load("simulated:weak"), load("simulated:customer"), (), "r"), 0, {})
        script = played.card._script
        told: dict[int, str] = {}
        for message in (m for m in attempt.messages if m.role == "customer"):
            text = plain(message.text)
            for n in set(message.data["told"]) & told.keys() - set(message.data["taken_back"]):
                wordings = [plain(w) for w in script.facts[n - 1].wordings]
                # A mistake is taken back in other words, and what a concern gives away is later put plainly.
                if any(w in told[n] for w in wordings):
                    assert any(w in text and w in told[n] for w in wordings), (told[n], text)
                    claimed += bool(BEFORE.search(message.text.lower()))
                else:
                    assert not BEFORE.search(message.text.lower()), text
            for n in message.data["told"]:
                told[n] = f"{told.get(n, '')} {text}"
    assert claimed >= 10


def plain(text: str) -> str:
    return re.sub(r"[^a-z0-9 ]", "", text.lower())


def test_hostile_customers_are_told_apart_by_their_words(samples, dialogues) -> None:
    """A reader who only counts shouting and fighting words ranks strong above zero nearly always."""
    warmth = collections.defaultdict(list)
    for sample, attempt in zip(samples[::EVERY], dialogues["strong"], strict=True):
        if mood_of(rules.load(sample.facets["scenario"]), sample.inputs["facts"]) == "calm":
            continue  # hostile in cold blood, without a raised voice
        words = [m.text for m in attempt.messages if m.role == "customer"]
        warmth[sample.facets["level"]].append(sum(signal_reader.heat(t) for t in words) / len(words))
    pairs = [(s, z) for s in warmth["strong"] for z in warmth["zero"]]
    assert sum(s > z for s, z in pairs) / len(pairs) >= 0.9


def test_each_fact_is_told_before_the_goodbye(samples, dialogues) -> None:
    """A reader that knows every wording gets the leaf's fields from nearly all finished dialogues."""
    right = total = 0
    for sample, attempt in zip(samples[::EVERY], dialogues["strong"], strict=True):
        if attempt.ended_by != "goodbye":
            continue
        s = rules.load(sample.facets["scenario"])
        heard = [m.text for m in attempt.messages if m.role == "customer"]
        found = signal_reader.read(guides(s, phrases_of(s)), heard, signal_reader.ReaderSkill("all"))
        for fact in sample.inputs["facts"]:
            total += 1
            right += same(found[fact["field"]][0], fact["value"])
    assert right / total >= 0.97, (right, total)


def test_goodbye_only_when_everything_is_told(samples, dialogues) -> None:
    for sample, attempt in zip(samples[::EVERY], dialogues["strong"], strict=True):
        if attempt.ended_by == "goodbye":
            known = told_until(sample.inputs["facts"], attempt.messages)
            assert known is not None
            assert not known.untold(len(sample.inputs["facts"]))


def test_every_model_meets_the_same_customer(samples, dialogues) -> None:
    """The same card, the same first words and the same wordings, whoever answers; another trial is another day."""
    for a, b in zip(dialogues["strong"], dialogues["weak"], strict=True):
        assert a.output["script"] == b.output["script"]
        assert a.messages[0].text == b.messages[0].text
    again = play("strong", samples[: 4 * EVERY : EVERY], trial=1)
    assert all(a.output["script"] != b.output["script"] for a, b in zip(dialogues["strong"], again, strict=False))


def test_a_card_is_kept_for_the_next_model_and_for_nothing_else(samples, monkeypatch) -> None:
    sample, setup = samples[0], Setup(load("simulated:strong"), load("simulated:customer"), (), "r")
    made = run.play_card(sample, setup, 0, {})
    assert run.play_card(sample, dataclasses.replace(setup, model=load("simulated:weak")), 0, {}) is made
    others = [
        run.play_card(sample, setup, 1, {}),
        run.play_card(sample, dataclasses.replace(setup, seed=1), 0, {}),
        run.play_card(sample, dataclasses.replace(setup, customer=None), 0, {}),
        run.play_card(sample, setup, 0, {"account": "open"}),
        run.play_card(sample.model_copy(update={"inputs": {**sample.inputs, "patience": 9}}), setup, 0, {}),
    ]
    assert all(other is not made for other in others)
    assert (others[3].card.system, others[4].card.patience) == ({"account": "open"}, 9)
    # A scenario that was edited since makes other customers.
    edited = rules.load(sample.inputs["scenario"]).model_copy(update={"role": "somebody else"})
    monkeypatch.setattr(run, "load", lambda scenario: edited)
    assert run.play_card(sample, setup, 0, {}).card.role == "somebody else"


def test_a_card_does_not_contradict_itself(samples) -> None:
    """A cheerful person may be hostile today, and the first message gives away nothing that is to be held back."""
    for sample in samples:
        s = rules.load(sample.facets["scenario"])
        card = make_card(s, sample.inputs, {}, np.random.default_rng(0))
        text = "\n".join(part["content"] for part in scenario_prompts.CUSTOMER.render(card))
        assert text.index("Your usual manner, as somebody who knows you tells it: ") < text.index(
            "Your attitude this time, which goes before"
        )
        assert ("Begin with your concern" in text) == (not card.facts)
        assert "when nobody asks" not in text, "before the first message nobody could"


def test_nobody_believes_the_contrary_of_the_own_concern(samples) -> None:
    """Who calls to have the fee back may misspeak, but cannot hold for true that they want none."""
    seen = set()
    for sample in samples:
        s = rules.load(sample.facets["scenario"])
        rests = s.intents[sample.inputs["intent"]].when
        card = make_card(s, sample.inputs, {}, np.random.default_rng(0))
        for fact, shown in zip(sample.inputs["facts"], card.facts, strict=True):
            if fact["delivery"] != "corrected" or fact["wrong"] is None:
                assert "misspeak" not in shown.how
                assert "believe this" not in shown.how
                continue
            field, wrong = fact["field"], fact["wrong"]
            against = field in rests and not s.applies({field: rests[field]}, {field: wrong})
            assert ("you misspeak" in shown.how, "and believe this" in shown.how) == (against, not against)
            seen.add(against)
    assert seen == {True, False}


def test_what_customers_say_they_told_can_be_read_from_their_words(samples, dialogues) -> None:
    """A reader that knows every wording finds each told fact in the message that tells it, and no other fact."""
    right = total = 0
    for sample, attempt in zip(samples[::EVERY], dialogues["strong"], strict=True):
        s = rules.load(sample.facets["scenario"])
        facts = sample.inputs["facts"]
        for message in (m for m in attempt.messages if m.role == "customer" and m.data["told"]):
            found = signal_reader.read(guides(s, phrases_of(s)), [message.text], signal_reader.ReaderSkill("all"))
            total += len(message.data["told"])
            right += sum(found[facts[n - 1]["field"]][1] is not None for n in message.data["told"])
    assert right / total >= 0.97, (right, total)


def test_nobody_says_as_i_said_or_asks_after_the_goodbye(dialogues) -> None:
    for attempt in (a for found in dialogues.values() for a in found):
        agent = [m.text for m in attempt.messages if m.role == "agent"]
        assert not any("as i said" in text.lower() for text in agent)
        closed = [n for n, text in enumerate(agent) if "Goodbye" in text]
        assert all(n == len(agent) - 1 for n in closed), agent


def test_agents_keep_to_forty_words_but_for_the_eloquent(samples) -> None:
    for model, share in (("strong", 0.0), ("curt", 0.0)):
        attempts = play(model, samples[:40])
        texts = [m.text for a in attempts for m in a.messages if m.role == "agent"]
        assert sum(len(t.split()) > 40 for t in texts) / len(texts) <= share
    warm = [m.text for a in play("eloquent", samples[:40]) for m in a.messages if m.role == "agent"]
    assert any(len(t.split()) > 40 for t in warm)


def test_hiding_the_system_information_hides_it_from_both(samples) -> None:
    seen: list[str] = []

    class Spy:
        simulated = True

        def __init__(self, inner) -> None:
            self.inner, self.name = inner, inner.name

        async def complete(self, request):
            seen.append("\n".join(m["content"] for m in request.messages))
            return await self.inner.complete(request)

        async def aclose(self) -> None: ...

    sample = next(s for s in samples if s.inputs["system"].get("Penalty", 0) > 0)
    for hidden in (False, True):
        seen.clear()
        setup = Setup(
            Spy(load("simulated:strong")), Spy(load("simulated:customer")), (), "r", 0, {"system_info": not hidden}
        )
        asyncio.run(BENCHMARK.run(sample, setup, 0))
        shown = [f"- early-exit fee due: {sample.inputs['system']['Penalty']}" in text for text in seen]
        assert all(shown) != hidden
        assert any(shown) != hidden


def test_no_prompt_holds_the_expected_answer(samples) -> None:
    """The agent's prompt changes with the dialogue and the system information only."""
    sample = samples[0]
    s = rules.load(sample.facets["scenario"])
    other = sample.model_copy(update={"expected": {"path": ["stage9"], "action": {"Action": "X"}, "fields": {}}})
    assert said(play("strong", [sample])) == said(play("strong", [other]))
    for prompt in (scenario_prompts.agent_prompt(s), scenario_prompts.judge_prompt(s), scenario_prompts.CUSTOMER):
        assert prompt.check() == []


def test_failures_have_their_cause_in_the_text(samples) -> None:
    """Where the weak agent misreads a field, the customer hinted, took back, denied, shouted, or spoke long ago."""
    setup = Setup(load("simulated:weak"), load("simulated:customer"), (), "r")

    async def go():
        misread = explained = 0
        for sample in samples[1::7]:
            attempt = await BENCHMARK.run(sample, setup, 0)
            s = rules.load(sample.facets["scenario"])
            heard = [m.text for m in attempt.messages if m.role == "customer"]
            last = attempt.messages[-1].data.get("fields")
            if not last:
                continue
            full = signal_reader.read(guides(s, phrases_of(s)), heard, signal_reader.ReaderSkill("all"))
            for name, value in last.items():
                truth, evidence = full[name]
                if evidence is None or same(value, truth):
                    continue
                misread += 1
                option = phrases_of(s).fields[name].options[truth]
                fact = next((f for f in sample.inputs["facts"] if f["field"] == name), {})
                explained += (
                    evidence.wording in option.subtle
                    or not knows("weak", evidence.wording, 0.75)
                    or fact.get("delivery") in ("corrected", "contrast")
                    or any(signal_reader.heat(t) for t in heard)
                    or len(heard) > 5
                )
        return misread, explained

    misread, explained = asyncio.run(go())
    assert misread > 10
    assert explained == misread
