"""The pipeline: whole datasets or none, the same after a kill, gold that scores 100, faults that are told."""

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from cxlab import llm
from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.contract import Setup
from cxlab.benchmarks.cxmarena.brand import brand_pack, brief_plan, ledger, pack_files
from cxlab.benchmarks.cxmarena.conversations import channel_mix, noise
from cxlab.benchmarks.cxmarena.generation import dataset_config, dataset_statistics, dataset_tables, pipeline, sizes
from cxlab.benchmarks.generation import Generated, parallel, stages
from cxlab.cli import main
from cxlab.errors import BadFile, BadOption, CxError, UnknownName
from cxlab.llm.base import Completion, ProviderFault, Request
from cxlab.records import Article, Message, Sample
from cxlab.store import write
from tests.benchmarks.cxmarena.cxm_brand import read_conversation
from tests.benchmarks.cxmarena.shard_work import write_rows

TASKS = {"kb_refinement", "intent", "quality", "article_search", "multi_turn", "tools"}
SETTINGS = {"brand": "talvero", "size": "40", "wer": 0.2}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        # Else a file that is edited while the tests run would make the same order another one.
        patch.setattr(pipeline, "SIMULATED", ())
        yield tmp_path_factory.mktemp("generated")


@pytest.fixture(scope="module")
def built(home: Path) -> Generated:
    return stages.finish(pipeline.build(dataset_config.read_config(SETTINGS, 3), home))


@pytest.fixture
def samples(built: Generated, home: Path, monkeypatch: pytest.MonkeyPatch) -> list[Sample]:
    monkeypatch.setenv("CXLAB_HOME", str(home))
    return write.load_samples(built.dataset.id)


def read_tables(folder: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.name != "dataset.json" and path.is_file()
    }


def test_gold_scores_100_and_nothing_scores_0_in_all_six_tasks(samples: list[Sample], built: Generated) -> None:
    assert {sample.task for sample in samples} == set(built.tasks) == TASKS
    check = REGISTRY["cxmarena"].check
    assert [complaint for sample in samples for complaint in check(sample)] == []
    assert len({sample.id for sample in samples}) == len(samples)
    assert {sample.facets["language"] for sample in samples} == {"de"}


def test_what_samples_point_at_is_there(samples: list[Sample], built: Generated) -> None:
    articles = write.load_table(built.dataset.id, "articles")
    corpora: dict[str, set[str]] = {}
    for name, where in articles.select("article_id", "corpus").iter_rows():
        for corpus in where:
            corpora.setdefault(corpus, set()).add(name)
    assert len(articles) == len(articles["article_id"].unique())
    tools = set(write.load_table(built.dataset.id, "tools")["name"])
    conversations = set(write.load_table(built.dataset.id, "conversations")["conversation_id"])
    # People read a fact's property by its name in the brand's language, not by the key in its file.
    called = dict(write.load_table(built.dataset.id, "facts").select("property", "name").iter_rows())
    assert called == {key: pack_files.load("talvero").properties[key].name for key in called}
    for sample in samples:
        inputs, expected = sample.inputs, sample.expected
        if sample.task == "kb_refinement":
            assert {i for pairs in expected.values() for pair in pairs for i in pair} <= corpora["refinement"]
        elif sample.task == "article_search":
            assert expected["article_id"] in corpora["search"]
        elif sample.task == "multi_turn":
            assert set(expected["article_ids"]) <= corpora["multi_turn"]
        elif sample.task == "tools":
            right = {call["name"] for call in expected["tools"]}
            assert all(right <= set(offered) <= tools for offered in inputs["candidates"].values())
            assert set(inputs["articles"]) <= corpora["multi_turn"]
        if sample.task in ("intent", "quality", "multi_turn", "tools"):
            assert inputs["conversation_id"] in conversations
    for row in articles.filter(articles["format"] == "pdf").iter_rows(named=True):
        assert (built.folder / "files" / row["file"]).read_bytes().startswith(b"%PDF")
    assert set(articles["format"]) == {"text", "table", "html", "markdown", "pdf"}
    assert pack_files.load(built.folder / "files" / "brand.yaml").id == "talvero"
    facts = set(write.load_table(built.dataset.id, "facts")["fact_id"])
    assert {fact for told in articles["facts"] for fact in told} <= facts


def test_clean_and_noisy_stand_side_by_side_and_each_kind_can_be_taken_off(built: Generated, home: Path) -> None:
    frame = write.load_table(built.dataset.id, "conversations", home)
    kinds = {"fragmentation": 0, "wer": 0, "opening": 0}
    for row in frame.iter_rows(named=True):
        clean = [Message.model_validate(each) for each in json.loads(row["messages"])]
        served = tuple(Message.model_validate(each) for each in json.loads(row["noisy"]))
        settings = noise.Noise.model_validate_json(row["noise"])
        assert noise.add_noise(clean, settings).messages == served
        assert settings.language == "de"
        assert (row["channel"] == "voice") == bool(settings.wer or settings.opening)
        for kind in kinds:
            kinds[kind] += bool(getattr(settings, kind))
        without = settings.model_copy(update={"opening": None})
        assert (
            noise.add_noise(clean, without).messages
            == served[len(served) - len(noise.add_noise(clean, without).messages) :]
        )
    assert all(0 < count < len(frame) for count in kinds.values())


def test_one_switch_moves_no_other_noise(built: Generated, home: Path) -> None:
    pack, frame = pack_files.load("talvero"), write.load_table(built.dataset.id, "conversations", home)
    talks = [read_conversation(row) for row in frame.iter_rows(named=True)]
    every = channel_mix.plan(talks, pack, dataset_config.NOISE, 0.2, 3)
    assert [each.model_dump_json() for each in every] == frame["noise"].to_list()
    for kind, field in (("ivr", "opening"), ("speech", "wer"), ("fragmentation", "fragmentation")):
        less = channel_mix.plan(talks, pack, [one for one in dataset_config.NOISE if one != kind], 0.2, 3)
        off = noise.Noise.model_fields[field].default
        assert less == [each.model_copy(update={field: off}) for each in every]


def test_a_killed_build_goes_on_and_gives_the_same_bytes(built: Generated, tmp_path: Path) -> None:
    config = dataset_config.read_config(SETTINGS, 3)
    for last in ("issues", "check quality"):
        for step in (steps := pipeline.build(config, tmp_path)):
            if step.stage == last:
                break
        steps.close()
        assert not list((tmp_path / "datasets").glob("*"))
        (work,) = [path for path in (tmp_path / "work").iterdir() if path.is_dir()]
        told = max(work.glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns)
        told.write_bytes(told.read_bytes()[:-7])  # a kill tears the last line
    again = stages.finish(pipeline.build(config, tmp_path))
    assert again.dataset.id == built.dataset.id
    assert read_tables(again.folder) == read_tables(built.folder)
    assert again.dataset.config == built.dataset.config
    assert not [path for path in (tmp_path / "work").iterdir() if path.is_dir()]
    assert list(pipeline.build(config, tmp_path)) == []  # the third time there is nothing to do


def test_another_seed_gives_another_dataset_id(built: Generated, home: Path) -> None:
    path = brand_pack.FOLDER / "talvero.yaml"
    one, two = (
        pipeline.work_key(dataset_config.read_config(SETTINGS, n), pack_files.load("talvero"), path) for n in (3, 4)
    )
    assert one != two
    frames = {name: write.load_table(built.dataset.id, name, home) for name in ("facts", "topics")}
    assert dataset_tables.digest(frames, iter([1])) != dataset_tables.digest(frames, iter([2]))
    assert dataset_tables.digest(frames, iter([1])) != dataset_tables.digest(
        {**frames, "topics": frames["topics"].head(1)}, iter([1])
    )


def test_counts_and_statistics_stand_beside_the_published_ones(built: Generated) -> None:
    counts = built.dataset.config["counts"]
    assert list(counts) == list(dataset_statistics.published_counts())
    size = sizes.read_size("40")
    assert counts["Conversations: Conversations"] == size.conversations == 25
    assert counts["Knowledge base: Information articles"] + counts["Knowledge base: Issue articles"] == 40
    assert counts["Multi-turn: Tools"] == 150
    text = "\n".join(dataset_statistics.describe(built.dataset))
    assert "0.747" in text
    assert "1,289.9" in text
    assert set(built.dataset.config["validation"]) == {"intent", "article_search", "multi_turn", "quality"}
    assert all(f"{each['rate']:.1%}" in text for each in built.dataset.config["validation"].values())


@pytest.mark.parametrize("task", sorted(TASKS - {"kb_refinement"}))
def test_a_model_can_be_evaluated_on_it(task: str, samples: list[Sample]) -> None:
    sample = next(each for each in samples if each.task == task)
    judge = llm.load("simulated:judge-strict")
    setup = Setup(llm.load("simulated:strong"), None, (judge,), "run", options={"sizes": "16"})

    async def evaluate() -> Any:
        attempt = await REGISTRY["cxmarena"].run(sample, setup, 1)
        return attempt, await REGISTRY["cxmarena"].score(sample, attempt, setup)

    attempt, scored = asyncio.run(evaluate())
    assert attempt.outcome == "ok"
    headline = next(each.metric for each in REGISTRY["cxmarena"].card.tasks if each.id == task)
    assert any(score.metric == headline and score.value is not None for score in scored.scores)


@pytest.mark.parametrize(
    ("given", "mistake", "told"),
    [
        ({"language": "it"}, BadOption, "unknown language 'it'; known: en, fr, de"),
        ({"brand": "talvero", "language": "fr"}, BadOption, "written in 'de', not 'fr'.*take solvanne"),
        ({"brand": "nobody"}, UnknownName, "unknown brand 'nobody'.*hearthwise"),
        ({"brand": "talvero", "brief": "A maker of lamps."}, BadOption, "not both"),
        ({"brief": " "}, BadOption, "the brief is empty"),
        ({"size": "huge"}, BadOption, "--size 'huge'"),
        ({"size": "12"}, BadOption, "from 37 to"),
        ({"noise": "rain"}, UnknownName, "unknown noise 'rain'"),
        ({"wer": 1.5}, BadOption, "from 0 to 1"),
        ({"wer": "much"}, BadOption, "from 0 to 1"),
        ({"model": "simulated:nobody"}, UnknownName, "simulated model"),
        ({"colour": "red"}, UnknownName, "unknown option of cxmarena's generator 'colour'"),
    ],
)
def test_a_wrong_order_is_refused_before_anything_is_made(
    given: dict[str, Any], mistake: type[CxError], told: str
) -> None:
    with pytest.raises(mistake, match=told):
        dataset_config.read_config(given, 0)


def test_an_incomplete_brand_file_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "half.yaml"
    path.write_text(
        (brand_pack.FOLDER / "talvero.yaml").read_text(encoding="utf-8").split("\nissues:")[0], encoding="utf-8"
    )
    with pytest.raises(BadFile, match=r"half\.yaml.*issues"):
        stages.finish(pipeline.build(dataset_config.read_config({"brand": str(path)}, 0), tmp_path / "home"))
    assert not (tmp_path / "home").exists()


def test_a_brief_is_expanded_once(tmp_path: Path) -> None:
    told = (
        "Eine Manufaktur aus Kassel, die Schreibtischlampen, Stehleuchten und Leselampen fertigt und online verkauft."
    )
    writer = llm.load("simulated:strong")
    asked = dataset_config.read_config({"brief": told, "language": "de"}, 0)
    with pytest.raises(brief_plan.OpenQuestions, match="What is the company called"):
        stages.finish(pipeline.find_brand(asked, tmp_path, writer))
    answers = {"called": "Leuchtwerk", "sells": ("Schreibtischlampen", "Stehleuchten"), "trade": "plugged"}
    config = dataset_config.read_config({"brief": told, **answers}, 0)
    path = stages.finish(pipeline.find_brand(config, tmp_path, writer))
    before = path.stat().st_mtime_ns
    assert stages.finish(pipeline.find_brand(config, tmp_path, writer)) == path
    assert path.stat().st_mtime_ns == before
    assert pack_files.load(path).language_id == "de"


class Failing:
    """The simulated writer, whose line is cut after so many calls."""

    def __init__(self, calls: int) -> None:
        self.inner, self.left, self.asked = llm.load("simulated:strong"), calls, 0
        self.opened: set[asyncio.AbstractEventLoop] = set()
        self.name, self.simulated = "openai:failing", False

    async def complete(self, request: Request) -> Completion:
        self.opened.add(asyncio.get_running_loop())
        if self.asked >= self.left:
            raise ProviderFault("timeout", "no answer within 60 s", True)
        self.asked += 1
        return await self.inner.complete(request)

    async def aclose(self) -> None:
        self.opened.remove(asyncio.get_running_loop())


def test_a_provider_that_fails_stops_with_a_message_and_what_it_said_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Failing(30)
    monkeypatch.setattr(llm, "load", lambda name: model)
    config = dataset_config.read_config({"brand": "talvero", "size": "37", "model": "openai:failing"}, 1)
    with pytest.raises(
        stages.GenerationStopped,
        match=r"openai:failing did not deliver \(no answer within 60 s\); .*run the same command again",
    ):
        stages.finish(pipeline.build(config, tmp_path))
    assert not (tmp_path / "datasets").exists()
    assert model.opened == set(), "a stage left connections open in a loop that is gone"
    (work,) = [path for path in (tmp_path / "work").iterdir() if path.is_dir()]
    kept = sum(len(stages.load(path)) for path in work.glob("*.jsonl"))
    # Nothing that was answered is asked for again; an article that was asked for twice is one row.
    assert 25 <= kept <= 30
    model.left = 60
    with pytest.raises(stages.GenerationStopped):
        stages.finish(pipeline.build(config, tmp_path))
    assert sum(len(stages.load(path)) for path in work.glob("*.jsonl")) > kept + 20


def test_shards_are_gathered_and_mistakes_come_back_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_preloaded", [write_rows.__module__])
    # A page that was tested before in this process left its script as the main module, which workers would import.
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    items = [f"w{n}" for n in range(7)]
    write_rows(["w3"], tmp_path / "shout.shards" / "5")  # what a killed try left
    stages.finish(parallel.fill("shout", items, str, write_rows, tmp_path, 2, worth=2))
    assert stages.load(tmp_path / "shout.jsonl") == {item: {"said": item.upper()} for item in items}
    with pytest.raises(stages.GenerationStopped, match=r"x\.yaml:3: is bad"):
        stages.finish(parallel.fill("shout", [*items, "bad", "w8"], str, write_rows, tmp_path, 2, worth=1))
    assert "w8" in stages.load(tmp_path / "shout.jsonl")
    with pytest.raises(stages.GenerationStopped, match="a worker process died"):
        stages.finish(parallel.fill("shout", ["die", "w9"], str, write_rows, tmp_path, 2, worth=1))


def test_an_article_that_a_format_would_spoil_stays_text(tmp_path: Path) -> None:
    from cxlab.benchmarks.cxmarena.knowledge.article_noise import add_noise_to_article

    # No substitute is known for these signs, so no PDF can hold them.
    article = Article(id="KB_1", kind="information", topic=("a",), title="T", body="T\n\nEs kostet 12 € 漢字 genau.")
    row = add_noise_to_article(article, "pdf", 1, ["12 €"], {}, tmp_path, "de", "Talvero")
    assert row["format"] == "text"
    assert row["body"] == article.body
    assert not list(tmp_path.glob("*.pdf"))


def test_the_values_that_noise_must_keep_are_those_of_the_article() -> None:
    facts = ledger.make(pack_files.load("talvero"), 1, 1)
    fact = next(iter(facts.facts.values()))
    article = Article(id="KB_1", kind="information", topic=("a",), title="T", body="T", properties={"facts": [fact.id]})
    from cxlab.benchmarks.cxmarena.knowledge.article_noise import values_of

    assert facts.show(fact) in values_of(article, facts)


def test_the_command_tells_its_stages_and_the_next_step(
    built: Generated, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(home))
    monkeypatch.setenv("CXLAB_JOB", "job-1")
    words = ["generate", "cxmarena", "--brand", "talvero", "--size", "40", "--wer", "0.2", "--seed", "3"]
    monkeypatch.setattr(sys, "argv", ["cxlab", *words])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code in (0, None)
    said = capsys.readouterr().out
    assert f"python -m cxlab run cxmarena --dataset {built.dataset.id}" in said
    assert "Table 9" in said
    told = json.loads((home / "jobs" / "job-1.stages").read_text())
    assert told == {"stages": [], "dataset": built.dataset.id}
    monkeypatch.setattr(sys, "argv", ["cxlab", *words, "--json"])
    with pytest.raises(SystemExit):
        main()
    assert json.loads(capsys.readouterr().out)["tasks"] == built.tasks


def test_only_the_command_line_reads_a_brief_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    file, latin = tmp_path / "brief.txt", tmp_path / "latin.txt"
    file.write_text("Lampenwerk baut Lampen und Leuchten für Küchen und Bäder.", encoding="utf-8")
    latin.write_bytes("Büro".encode("latin-1"))
    words = ["generate", "cxmarena", "--model", "openai:gpt-4.1", "--language", "de", "--plan"]
    for more, code, says in (
        (["--brief-file", str(file)], 0, "about"),
        (["--brief-file", str(file), "--brief", "Lampen"], 2, "not both"),
        (["--brief-file", str(latin)], 2, "cannot be read as UTF-8 text"),
        (["--brief-file", str(tmp_path / "none.txt")], 2, "cannot be read"),
        (["--brief-file", str(tmp_path)], 2, "cannot be read"),
    ):
        monkeypatch.setattr(sys, "argv", ["cxlab", *words, *more])
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        assert (left.value.code or 0) == code, said.err
        assert says in said.out + said.err
    assert dataset_config.read_config({"brief": str(file)}, 0).brief == str(file)


def test_a_stage_board_tells_each_stage_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from cxlab.runner.display.stages import StageDisplay

    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    monkeypatch.setenv("CXLAB_JOB", "job-2")
    board = StageDisplay(stream=sys.stdout)
    for done in (0, 32, 60, 60):
        board.tell("issues", done, 60)
    board.tell("formats", 1, 3)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1
    assert lines[0].split()[:4] == ["issues", "60", "of", "60"]
    board.write("cxmarena-x")
    told = json.loads((tmp_path / "jobs" / "job-2.stages").read_text())
    assert told["stages"] == [{"stage": "issues", "done": 60, "total": 60}, {"stage": "formats", "done": 1, "total": 3}]
    assert told["dataset"] == "cxmarena-x"


def test_the_bench_asks_for_enough_and_sees_this_process() -> None:
    from cxlab.bench import generation

    with pytest.raises(BadOption, match="at least 320"):
        generation.main(["--articles", "100"])
    assert generation._tree_mib() > 20
