"""The page Persona lab as a script sees it."""

import re
import wave
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from cxlab.benchmarks.mmtaup2 import stage
from cxlab.charts.persona import course_frame, draw_course
from cxlab.store import write
from cxlab.ui.persona import heard, name_place, short_titles
from cxlab.ui.persona_choices import SETS, Column
from cxlab.voice import audio
from tests.pages import open_page, words

pytestmark = pytest.mark.xdist_group("pages")


def html_of(app: AppTest) -> str:
    return "\n".join(each.proto.body for each in app.get("html") if not each.proto.body.startswith("<style"))


def test_a_presenter_plays_three_personas_and_the_address_keeps_it(empty_home: Path) -> None:
    app = open_page("persona_lab")
    assert not app.exception
    assert html_of(app).count("What can I do for you?") == 3
    assert app.query_params["variant"] == ["none-0-text", "easy-0-text", "hard-0-text"]
    app.button(key="step").click().run()
    assert app.query_params["beats"] == "1"
    assert html_of(app).count("Customer · 1") == 3
    app.button_group(key="pace").set_value("once").run()
    app.button(key="play").click().run()
    assert not app.exception
    assert "reach the goal" in words(app)
    assert html_of(app).count("Goal ") == 3
    beats, shown = app.query_params["beats"], html_of(app)
    assert int(beats) > 5
    app.button(key="keep").click().run()
    assert not app.exception
    run = app.session_state["persona-kept"]
    assert [each.id for each in write.list_runs()] == [run]
    assert write.finished(run) == {(sample.id, 0) for sample in write.load_samples(write.load_run(run).dataset_id)}
    failures = open_page("failures", run=run)
    assert not failures.exception
    assert re.search(r"\b3 (answers|dialogues)\b", words(failures))
    app.button(key="restart").click().run()
    assert "beats" not in app.query_params
    assert html_of(app).count("Customer · 1") == 0
    # Whoever gets the address sees what the presenter saw.
    assert html_of(open_page("persona_lab", beats=beats)) == shown


def test_voice_profile_and_presentation(empty_home: Path) -> None:
    app = open_page("persona_lab", variant=["hard-1-text", "hard-2-voice-30"], beats="16", show="large")
    assert not app.exception
    shown = html_of(app)
    assert "<del>" in shown
    assert "<mark" in shown
    assert "The agent was told" in shown
    assert "The agent infers" in shown
    assert not app.selectbox or all(box.key != "persona-domain" for box in app.selectbox)
    app.toggle(key="large").set_value(False).run()
    assert "show" not in app.query_params
    assert "Voice has no sound here" in words(app)


class Ears:
    """A recogniser that hears all but the last word of a second of silence."""

    def __init__(self, keep: Path) -> None:
        self.keep = keep

    def listen(self, side: str, text: str, seed: int) -> tuple[str, dict[str, object]]:
        self.keep.mkdir(parents=True, exist_ok=True)
        with wave.open(str(self.keep / f"{side}.wav"), "wb") as file:
            file.setparams((1, 2, 16_000, 0, "NONE", ""))
            file.writeframes(bytes(32_000))
        return " ".join(text.split()[:-1]), {"wav": f"{side}.wav", "seconds": 1.0}


def test_real_audio_is_played_where_it_is_installed_and_told_of_where_not(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["easy-0-text", "easy-0-sound"]
    monkeypatch.setattr(audio, "missing", lambda: ["espeak-ng"])
    app = open_page("persona_lab", variant=lines)
    assert not app.exception
    assert app.query_params["variant"] == ["easy-0-text", "easy-0-voice-15"]
    assert "Real audio is not installed" in words(app)
    assert not app.get("audio")
    monkeypatch.setattr(audio, "missing", list)
    monkeypatch.setattr(stage, "real_ears", lambda domain, keep: Ears(keep))
    app = open_page("persona_lab", variant=lines)
    app.button(key="step").click().run()
    assert not app.exception
    assert len(app.get("audio")) == 1
    assert "not installed" not in words(app)
    assert "<del>" in html_of(app)


def test_taking_over_as_the_customer(empty_home: Path) -> None:
    app = open_page("persona_lab", domain="retail", variant=["easy-0-text", "hard-0-text"])
    app.toggle(key="persona-hand-1").set_value(True).run()
    app.chat_input(key="persona-say-1").set_value("<img src=x onerror=alert(1)> **Hello**, who is this?").run()
    assert not app.exception
    shown = html_of(app)
    assert "&lt;img src=x onerror=alert(1)&gt; **Hello**, who is this?" in shown
    assert "<img" not in shown
    assert "You, as the customer" in shown
    # What was typed is in no address, so that none pretends to replay it.
    assert "beats" not in app.query_params
    app.button(key="persona-hang-1").click().run()
    assert "the customer hung up" in html_of(app)


def test_an_address_that_makes_no_sense_plays_the_usual(empty_home: Path) -> None:
    app = open_page(
        "persona_lab", domain="space", case="x", seed="-4", agent="nobody", variant=["rude-9-smell"], beats="9" * 30
    )
    assert not app.exception
    assert app.query_params["domain"] == "telecom"
    assert app.query_params["variant"] == ["none-0-text", "none-0-text"]


def test_columns_change_by_their_lists(empty_home: Path) -> None:
    app = open_page("persona_lab", beats="3")
    app.button(key="persona-set-What the agent knows").click().run()
    assert app.query_params["variant"] == ["hard-0-text", "hard-1-text", "hard-2-text"]
    assert "beats" not in app.query_params
    app.selectbox(key="persona-modality-2").set_value("voice").run()
    app.selectbox(key="persona-wer-2").set_value(30).run()
    app.button(key="persona-remove-0").click().run()
    assert app.query_params["variant"] == ["hard-1-text", "hard-2-voice-30"]
    assert not app.exception


def test_codes_are_read_as_they_are_written() -> None:
    for columns in SETS.values():
        assert tuple(Column.read(column.code) for column in columns) == columns
    assert Column.read("hard-2-voice-7") == Column("hard", 2, "voice", 7)


def test_what_was_heard_is_told_from_what_was_said() -> None:
    assert (
        heard("see <b> now", "sea now") == '<del>see &lt;b&gt;</del> <mark title="said: see &lt;b&gt;">sea</mark> now'
    )
    assert heard("as it is", "as it is") == "as it is"


def test_titles_say_what_sets_columns_apart() -> None:
    assert short_titles(SETS["Personas"]) == ["No persona", "Easy persona", "Hard persona"]
    assert short_titles([Column("easy"), Column("easy")])[1].endswith("(2)")
    assert name_place(("customer", "device", "airplane_mode")) == "phone: airplane mode"


def test_the_chart_holds_the_numbers_of_its_table() -> None:
    titles, courses = ["a <b>", "c"], [((1, 0.0), (2, 0.5)), ((1, 1.0),)]
    figure = draw_course(titles, courses, dark=False)
    assert [trace.name for trace in figure.data if trace.mode == "lines"] == ["a &lt;b&gt;", "c"]
    assert course_frame(titles, courses)["share"].to_list() == [0.0, 0.5, 1.0]
    drawn = [next(map(float, row)) for trace in figure.data if trace.mode == "lines" for row in trace.customdata]
    assert drawn == [0.0, 50.0, 100.0]
