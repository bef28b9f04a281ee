"""The page Run as links open it: ids in the address choose benchmark and dataset."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from cxlab import jobs, read, ui
from cxlab.benchmarks import REGISTRY
from cxlab.read.runs import run_record
from cxlab.records.settings import Switch
from cxlab.runner.arguments import to_arguments
from cxlab.runner.launch import ExecutionOptions, launch
from cxlab.runner.plan import SampleFilter
from cxlab.runner.request import RunRequest, create_runs
from cxlab.store import run_status, write
from cxlab.views import like_run
from cxlab.views.benchmarks import declared
from cxlab.views.run.told import call_job
from tests.conftest import use
from tests.pages.app_script import card_of, codes, open_page, picked, words
from tests.stores.runs import write_run
from tests.stores.searches import DATASET, make_searched_store

pytestmark = pytest.mark.xdist_group("pages")
LABEL = f"Searched · {DATASET}"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_searched_store(tmp_path_factory.mktemp("run-page"))


@pytest.fixture(autouse=True)
def _home(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(store, monkeypatch)


def chosen(app: AppTest) -> tuple[str, str]:
    assert not app.exception
    return app.selectbox(key="bench").value, app.selectbox(key="dataset").value


def asked(app: AppTest, key: str) -> str | None:
    found = app.query_params.get(key)
    return found[0] if isinstance(found, list) else found


def test_a_link_with_ids_chooses_benchmark_dataset_and_options() -> None:
    app = open_page("run", bench="cxmarena", dataset=DATASET, **{"option-retrieval": "lexical"})
    assert chosen(app) == ("cxmarena", DATASET)
    command = codes(app)[0]
    assert f"--dataset={DATASET}" in command
    assert "--option=retrieval=lexical" in command


def test_a_half_filled_form_is_there_again_after_a_look_at_another_page() -> None:
    app = open_page("run", bench="cxmarena", dataset=DATASET, limit="17")
    for stem in ("failures", "run"):
        # The menu leads to a bare address.
        app.query_params.clear()
        app.switch_page(f"pages/{stem}.py").run()
    assert chosen(app) == ("cxmarena", DATASET)
    assert app.number_input(key="limit").value == 17
    assert asked(app, "limit") == "17"
    # A link that says what is to be run is followed.
    app.switch_page("pages/failures.py").run()
    app.query_params.clear()
    app.query_params["bench"] = "sage"
    app.switch_page("pages/run.py").run()
    assert app.selectbox(key="bench").value == "sage"
    assert app.number_input(key="limit").value is None


def test_a_switch_that_no_run_can_have_is_refused_before_it_is_started() -> None:
    app = open_page("run", bench="mmtaup2", **{"option-agent_voice": "nons"})
    assert not app.exception
    (warning,) = (each.value for each in app.warning)
    assert "the text channel has no voices" in warning
    assert app.button(key="start").disabled
    assert not app.metric


def test_who_plays_the_customer_has_the_room_that_its_name_takes() -> None:
    app = open_page("run", bench="mmtaup2")
    assert app.selectbox(key="customer").value == "simulated:customer"
    narrow = [box.key for column in app.columns if column.weight < 0.5 for box in column.selectbox]
    assert "customer" not in narrow


def test_an_address_from_before_with_labels_still_works() -> None:
    assert chosen(open_page("run", bench="CXMArena", dataset=LABEL)) == ("cxmarena", DATASET)


def test_nothing_else_is_offered_in_the_place_of_an_unknown_id() -> None:
    for query in ({"bench": "nothing"}, {"dataset": "../.."}):
        app = open_page("run", **query)
        assert f"no {'benchmark' if 'bench' in query else 'dataset'} “{next(iter(query.values()))}”" in words(app)
        assert not [each for each in app.button if each.key == "start"]
        app.button(key="cx-unknown").click().run()
        assert chosen(app) == ("sage", "")
    # A dataset of another benchmark stays in the address when one looks at this one.
    assert chosen(open_page("run", dataset=DATASET)) == ("sage", "")


def test_a_choice_goes_into_the_address_as_an_id() -> None:
    app = open_page("run")
    assert (asked(app, "bench"), chosen(app)) == (None, ("sage", ""))
    app.selectbox(key="bench").select("cxmarena").run()
    assert (asked(app, "bench"), chosen(app)) == ("cxmarena", ("cxmarena", DATASET))
    app.selectbox(key="bench").select("sage").run()
    assert (asked(app, "bench"), chosen(app)) == (None, ("sage", ""))


@pytest.fixture
def killed(store: Path) -> Iterator[str]:
    """A demo whose process is gone and left no exit code: nobody holds its lock."""
    with closing(jobs._open()) as table:
        jobs._insert(table, "job-killed", jobs.DEMO)
    yield "job-killed"
    with closing(jobs._open()) as table:
        table.execute("delete from jobs")


def test_what_was_killed_stays_and_can_be_resumed(killed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert jobs.find_job(killed).state == "stalled"
    started: list[tuple[str, ...]] = []
    monkeypatch.setattr(jobs, "start", lambda words: started.append(tuple(words)) or jobs.find_job(killed))
    for page, key in (("overview", "overview-resume"), ("run", f"resume-{killed}")):
        app = open_page(page)
        assert not app.exception
        assert "Its process is gone without a word" in words(app)
        app.button(key=key).click().run()
        assert not app.exception
    assert started == [jobs.DEMO, jobs.DEMO], "a demo goes on as a demo"


def test_faults_are_tried_again_from_the_history(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = store / "runs" / read.latest_runs(1)["run_id"][0] / "status.json"
    before = path.read_bytes() if path.exists() else None
    run_status.write(path, run_status.Status("partly", 4, 4, ok=3, provider=1, updated=run_status.now()))
    started: list[tuple[str, ...]] = []
    monkeypatch.setattr(jobs, "start", lambda words: started.append(tuple(words)) or SimpleNamespace(id="job-x"))
    try:
        app = open_page("run", state={ui.table_key("history", read.latest_runs(100)): picked(0)})
        assert app.button(key="resume").disabled, "nothing is left to be made"
        app.button(key="again").click().run()
        assert [words[2:] for words in started] == [("--faults", "--quiet")]
    finally:
        if before is None:
            path.unlink()
        else:
            path.write_bytes(before)


def test_what_was_run_last_is_called_by_its_models_and_leads_to_its_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    runs = tuple(write_run(tmp_path, n, model, {("s1", 1): 90.0, ("s2", 1): 10.0}) for n, model in ((1, "a"), (2, "b")))

    def made(*runs: str) -> jobs.Job:
        args = ("run", "sage", "--model=a")
        return jobs.Job("job-1", "run", args, datetime.now(UTC), None, "done", 0, runs, tmp_path / "log")

    assert call_job(made(*runs)) == "a and b on SAGE"
    assert call_job(made()) == "Evaluation on SAGE"
    assert call_job(replace(made(), args=("run", f"--resume={runs[1]}", "--quiet"))) == "b on SAGE"
    # A run that was deleted meanwhile is not spoken of.
    assert call_job(made(runs[0], "run-gone")) == "a on SAGE"
    monkeypatch.setattr(jobs, "list_jobs", lambda *limit: [made("run-gone"), made(runs[0])])
    page = open_page()
    assert not page.exception
    assert "Nothing is running. Last: a on SAGE" in words(page)
    queries = {each.proto.label: parse_qs(each.proto.query_string) for each in page.get("page_link")}
    assert queries["Compare with other runs"] == {"benchmark": ["sage"], "run": list(runs), "sides": ["runs"]}
    assert queries["Read the dialogues"] == {"benchmark": ["sage"], "run": [runs[0]], "verdict": ["all"]}
    compared = open_page("compare", **queries["Compare with other runs"])
    assert not compared.exception
    assert "a ahead of b" in card_of(compared) or "a level with b" in card_of(compared)


def test_what_was_set_stays_open_and_a_job_stays_for_who_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    limits = {each.label: each.proto.expanded for each in open_page("run").expander}
    assert limits["Limits and set-up"] is False
    limits = {each.label: each.proto.expanded for each in open_page("run", limit="20").expander}
    assert limits["Limits and set-up"] is True
    done = jobs.Job("job-1", "run", ("run", "sage"), datetime.now(UTC), None, "done", 0, (), tmp_path / "log")
    monkeypatch.setattr(jobs, "list_jobs", lambda *most: [done])
    monkeypatch.setattr(jobs, "find_job", lambda id: done)
    assert "Evaluation on SAGE" not in [each.value for each in open_page("run").subheader]
    back = open_page("run", state={"cx-run-job": "job-1"})
    assert "Evaluation on SAGE" in [each.value for each in back.subheader]


def is_facet(name: str, id: str) -> bool:
    return id == "wer" or any(facet.id == id for facet in REGISTRY[name].facets)


def other_value(switch: Switch) -> Any:
    """A value that the switch has not by itself; None for free text."""
    match switch.kind:
        case "flag":
            return not switch.default
        case "choice":
            return next(value for value in switch.values if value != switch.default)
        case "choices":
            return list(switch.choices[:2])
        case "integer" | "number":
            return next(n for n in (switch.low, switch.high, 7) if n not in (None, switch.default))
        case "text" if switch.choices:
            return next(each for each in switch.choices if each != switch.default)
        case "list":
            return [1, 4]
        case _:
            return None


@pytest.mark.parametrize("name", ["cdr", "cxmarena", "mmtaup2", "sage"])
def test_the_form_is_filled_in_as_a_stored_run_was_ordered(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark, dataset = REGISTRY[name], DATASET
    if benchmark.own_data:
        use(tmp_path, monkeypatch)
        made, samples = benchmark.generate_now({})
        write.save_dataset(made, samples[:6])
        dataset = made.id
    # Paragraphs stand in no address, and what the samples say themselves is refused.
    switches = benchmark.Options.switches()
    shown = [each for each in switches if each.on_page and not each.long and not is_facet(name, each.name)]
    options = {each.name: value for each in shown if (value := other_value(each)) is not None}
    judged = benchmark.needs_judges or bool(benchmark.default_judges)
    order = RunRequest(
        name, ("endpoint:local/some-model",), "endpoint:local" if benchmark.with_customer else None,
        ("simulated:judge-fair", "endpoint:local/other") if judged else (), dataset, SampleFilter(5), trials=3, seed=9,
        options=options, concurrency=4, budget_usd=2.5, cache=True,
    )  # fmt: skip
    (run,) = create_runs(replace(order, judges=order.judges[:1], budget_usd=None))
    record = run_record(run.id)
    assert record is not None
    record |= {"judges": list(order.judges), "setup": {**record["setup"], "budget_usd": order.budget_usd}}
    monkeypatch.setattr(like_run, "run_record", lambda _: record)
    app = open_page("run", **like_run.form_of(run.id))
    assert not app.exception
    told = codes(app)[0]
    assert sorted(told.removeprefix("python -m cxlab ").split()) == sorted(" ".join(to_arguments(order)).split())


def test_a_picked_run_fills_the_form_and_what_lacks_a_constant_agent_offers_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(tmp_path, monkeypatch)
    made, samples = REGISTRY["sage"].generate_now({})
    write.save_dataset(made, samples[:6])
    order = RunRequest(
        "sage", ("simulated:strong", "simulated:curt"), "simulated:customer", ("simulated:judge-fair",), made.id,
        SampleFilter(2), seed=4, options={"turns": 3},
    )  # fmt: skip
    launch([run.id for run in create_runs(order)], ExecutionOptions(workers=1, quiet=True))
    app = open_page("run", state={ui.table_key("history", read.latest_runs(100)): picked(0)})
    (like,) = (each.proto for each in app.get("link_button") if each.proto.label == "Use these settings")
    filled = open_page("run", **parse_qs(like.url.removeprefix("?")))
    assert not filled.exception
    first = replace(order, models=(read.latest_runs(100)["model"][0],))
    assert codes(filled)[0] == "python -m cxlab " + " ".join(to_arguments(first))
    for stem in ("overview", "compare"):
        shown = (each.proto for each in open_page(stem).get("page_link"))
        (there,) = [each for each in shown if "Run the constant agents" in each.label]
        query = parse_qs(there.query_string)
        assert (query["agents"], query["dataset"], query["seed"]) == (
            list(declared("sage").floor_models),
            [made.id],
            ["4"],
        )
        assert (query["judges"], query["option-turns"]) == (["simulated:judge-fair"], ["3"])


def set_up_endpoints(home: Path, *names: str) -> None:
    (home / "models.toml").write_text(
        "\n".join(
            f'[endpoints.{each}]\nbase_url = "http://127.0.0.1:1/v1"\nkey_required = false\nprompt_usd = 1\n'
            f"completion_usd = 4\n"
            for each in names
        )
    )


def test_real_models_that_are_set_up_are_offered_and_taken_by_one_click_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(tmp_path, monkeypatch)
    monkeypatch.delenv("CXLAB_MODELS", raising=False)
    # What ships and asks for no key is nobody's choice here.
    assert "run-take-real" not in {each.key for each in open_page("run", bench="mmtaup2").button}
    set_up_endpoints(tmp_path, "acme", "rival", "umpire")
    app = open_page("run", bench="mmtaup2")
    assert app.multiselect(key="agents").value == ["simulated:strong"], "nothing that costs money stands ready"
    assert app.multiselect(key="agents").options[:3] == ["endpoint:acme", "endpoint:rival", "endpoint:umpire"]
    app.button(key="run-take-real").click().run()
    assert not app.exception
    assert app.multiselect(key="agents").value == ["endpoint:acme"]
    assert app.multiselect(key="judges").value == ["endpoint:rival", "endpoint:umpire"]
    assert app.selectbox(key="customer").value == "endpoint:rival"
    assert "run-take-real" not in {each.key for each in app.button}, "no stand-in is left"
    # Where real models have run before, they take the parts that they had.
    made, samples = REGISTRY["mmtaup2"].generate_now({})
    write.save_dataset(made, samples[:4])
    create_runs(
        RunRequest("mmtaup2", ("endpoint:rival", "endpoint:acme"), "endpoint:umpire", ("endpoint:umpire",), made.id)
    )
    app = open_page("run", bench="mmtaup2")
    app.button(key="run-take-real").click().run()
    assert set(app.multiselect(key="agents").value) == {"endpoint:rival", "endpoint:acme"}
    assert app.multiselect(key="judges").value == ["endpoint:umpire"]
    assert app.selectbox(key="customer").value == "endpoint:umpire"


def test_chips_are_names_and_an_address_may_hold_ids() -> None:
    app = open_page("run", bench="mmtaup2", **{"only-exposure": ["profile", "nothing"], "option-exposure": "1"})
    assert not app.exception
    only = app.multiselect(key="only-exposure")
    assert only.value == ["profile", "nothing"]
    assert only.options == ["told nothing", "told the persona", "infers a profile"]
    assert ui.plain("infers a profile: profile") in only.proto.help
    assert app.selectbox(key="option-exposure").options == [
        "as the sample says", "told nothing", "told the persona", "infers a profile",
    ]  # fmt: skip
    command = codes(app)[0]
    assert "--where=exposure=profile" in command
    assert "--option=exposure=1" in command
