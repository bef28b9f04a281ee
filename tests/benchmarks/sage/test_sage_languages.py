"""What customers of other languages are sent, and what is made of a procedure that is written in one."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cxlab.benchmarks import get
from cxlab.benchmarks.prompt_renderings import record, to_rendering
from cxlab.benchmarks.sage import conversation_check
from cxlab.benchmarks.sage.customer_card import LANGUAGES, truth_of
from cxlab.benchmarks.sage.rules import FieldSpec
from cxlab.cli import app
from cxlab.errors import BadOption
from cxlab.records import Sample
from cxlab.runner.loaded_run import open_run
from cxlab.runner.request import RunRequest, create_runs
from cxlab.store import write
from tests.benchmarks import prompt_rules

OTHER_LANGUAGE = "What stands above may be in another language"


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sample:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    return get("sage").generate_now({"scenarios": "telecom_package", "levels": "strong"})[1][1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_customer_is_told_its_language_and_that_its_card_may_be_in_another(sample: Sample, language: str) -> None:
    recording = record(get("sage"), sample, options={"language": language, "turns": 3}, scripted=False)
    texts = [
        to_rendering("sage", sample.id, one).messages[0]["content"]
        for one in recording.requests
        if one.role == "customer"
    ]
    assert texts
    assert all(f", in {LANGUAGES[language]}, as such a person types" in text for text in texts)
    assert all((OTHER_LANGUAGE in text) == (language != "en") for text in texts)
    asked = prompt_rules.read("sage", sample, recording)
    broken = [complaint for rule in prompt_rules.RULES.values() for complaint in rule(asked)]
    assert not broken


def test_stand_ins_still_refuse_what_they_cannot_write(sample: Sample) -> None:
    with pytest.raises(BadOption, match="simulated customers write English"):
        record(get("sage"), sample, options={"language": "de"})


@pytest.mark.parametrize("language", ["en", "de"])
def test_attempts_are_of_the_language_in_which_their_customers_write(sample: Sample, language: str) -> None:
    dataset, _ = get("sage").generate_now({"scenarios": "telecom_package", "levels": "strong"})
    # Conversations that took place elsewhere are in no language of the run's.
    elsewhere = {"id": "elsewhere", "task": conversation_check.TASK, "facets": {"scenario": "telecom_package"}}
    write.save_dataset(dataset, [sample, sample.model_copy(update=elsewhere)])
    switches, model = {"language": language}, "endpoint:local"
    (run,) = create_runs(RunRequest("sage", (model,), model, dataset_id=dataset.id, options=switches))
    found = {id: each.facets.get("language") for id, each in open_run(run.id).samples.items()}
    assert found == {sample.id: language, "elsewhere": None}


def test_prompts_takes_switches_of_the_run(sample: Sample) -> None:
    said = CliRunner().invoke(app, ["prompts", "sage", "customer", "--sample", sample.id, "--option", "language=pt"])
    assert said.exit_code == 0, said.output
    assert "in Portuguese" in said.output


FIELDS = [
    ("MotifRetour", "cassé", {"description": "l’objet est arrivé cassé"}),
    ("Rückzahlung", True, {"description": "will das Geld zurück."}),
    ("motivo_de_baja", "OtraCompañía", {"description": "se va a otra compañía"}),
]


@pytest.mark.parametrize(("name", "value", "option"), FIELDS)
def test_a_fact_without_the_customers_words_has_only_those_of_its_file(
    name: str, value: object, option: dict[str, str]
) -> None:
    spec = FieldSpec.model_validate({"description": "?", "default": value, "options": {value: option}})
    told = truth_of(spec, name, value)
    ours = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", f"{name} {value} {option['description']}").lower()
    assert set(re.findall(r"[^\W\d_]+", told.lower())) <= set(re.findall(r"[^\W\d_]+", ours))
    assert told.endswith(".")
    assert not told.endswith("..")
