"""Article noise: every value survives every format; PDFs are real files; bad ones are refused by name."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pypdf import PdfReader, PdfWriter

from cxlab.benchmarks.cxmarena.knowledge import formats
from cxlab.benchmarks.cxmarena.knowledge.blocks import read_blocks
from cxlab.benchmarks.cxmarena.knowledge.formats import (
    FORMATS,
    STYLES,
    apply_format,
    html_text,
    missing_values,
    plan_formats,
)
from cxlab.benchmarks.cxmarena.knowledge.pdf import (
    LAYOUTS,
    PLAIN,
    Untypable,
    read_pdf,
    read_pdf_bytes,
    typable,
)
from cxlab.errors import BadFile, BadOption, CxError, UnknownName
from cxlab.records import Article

CLEAN = """The Ember Mini is a small speaker. It costs £89.99 and plays for 24 hours on a charge.

Key facts
Price: £89.99
Warranty: 36 months
Größe: 1.299,50 €
Prix conseillé: 1 299,00 €
Colours: black | white

How to reset it
1. Hold the button for 10 seconds. A tone sounds.
2. Wait until the light is green.

- Send it back within 30 days
- Keep the code 4711-AB

Opening hours of the œuvre « été »: from 9:30 to 18:00, see https://example.com/a_b*c.
"""
VALUES = ["£89.99", "24 hours", "36 months", "1.299,50 €", "1 299,00 €", "10 seconds", "30 days", "4711-AB", "9:30"]
ALL = [(format, style) for format in FORMATS for style in STYLES[format]]


def article(body: str = CLEAN, title: str = "Ember Mini – réglages", id: str = "KB_1") -> Article:
    return Article(id=id, kind="information", topic=("Products", "Sound & Vision"), title=title, body=body)


def test_blocks_are_read_and_lose_nothing() -> None:
    blocks = read_blocks(CLEAN)
    kinds = [block.kind for block in blocks]
    assert kinds == ["paragraph", "heading", "facts", "heading", "steps", "points", "paragraph"]
    assert blocks[2].rows[0] == ("Price", "£89.99")
    assert blocks[4].items == ("Hold the button for 10 seconds. A tone sounds.", "Wait until the light is green.")


@settings(deadline=None)
@given(st.text(max_size=300) | st.lists(st.sampled_from(CLEAN.split("\n"))).map("\n".join))
def test_every_word_stands_in_one_block(clean: str) -> None:
    words = "".join(
        block.text + "".join(block.items) + "".join(a + b for a, b in block.rows) for block in read_blocks(clean)
    )
    kept = [char for char in clean if char.isalpha()]
    assert [char for char in words if char.isalpha()] == kept


@pytest.mark.parametrize(("format", "style"), ALL)
def test_every_value_survives_every_format(format: formats.Format, style: str, tmp_path: Path) -> None:
    served = apply_format(article(), format, 1, style=style, values=VALUES, folder=tmp_path)
    assert missing_values(VALUES, CLEAN, served.body) == []
    assert served.clean == CLEAN
    assert (served.format, served.style) == (format, style)
    assert (served.body == CLEAN) == (format == "text")
    if format in ("table", "markdown", "pdf", "text"):
        # Where nothing is marked up, values are also found by plain search.
        plain = served.body.replace("**", "")
        assert all(value in plain for value in VALUES)
    again = apply_format(article(), format, 1, style=style, values=VALUES, folder=tmp_path / "again")
    assert again == served


def test_formats_look_like_what_they_are(tmp_path: Path) -> None:
    def body(format: formats.Format, style: str) -> str:
        return apply_format(article(), format, 1, style=style, values=VALUES, folder=tmp_path).body

    assert "| Price" in body("table", "pipes")
    assert "+--" in body("table", "grid")
    assert "<ol>\n<li>Hold the button" in body("html", "page")
    assert "<h1>Ember Mini – réglages</h1>" in body("html", "page")
    assert "Sound &amp; Vision" in body("html", "page")
    assert "<b>24 hours</b>" in body("html", "wiki")
    assert "**24 hours**" in body("markdown", "stars")
    assert "\n---\n" in body("markdown", "dashes")
    assert "# Ember Mini" in body("markdown", "tables")
    prose = apply_format(article("It is loud. It costs £5."), "table", 1, values=["£5"], language="de").body
    assert "Hinweis" in prose
    assert "It costs £5." in prose


@pytest.mark.parametrize("format", FORMATS)
def test_a_title_with_a_colon_is_a_title_and_stands_once(format: formats.Format, tmp_path: Path) -> None:
    title = "Delivery: parcel is late"
    kept = article(f"{title}\n\nCauses\n\nThe depot is full.", title)
    text = apply_format(kept, format, 1, folder=tmp_path, publisher="Maker").body
    assert text.replace(f"<title>{title}</title>", "").count(title) == 1
    assert "| parcel is late" not in text
    assert "<dt>" not in text


@pytest.mark.parametrize("format", FORMATS)
def test_acronyms_come_first_and_the_clean_text_stays(format: formats.Format, tmp_path: Path) -> None:
    body = "Take the Home Care Plan. " * 12 + "The Home Care Plan Plus costs £5."
    keep = ["Home Care Plan Plus", "£5"]
    served = apply_format(article(body), format, 2, values=keep, acronyms={"Home Care Plan": "HCP"}, folder=tmp_path)
    assert served.clean == body
    assert 0 < served.acronyms["Home Care Plan"] < 12
    assert served.body.count("HCP") == served.acronyms["Home Care Plan"]
    assert missing_values(keep, body, served.body) == []


def test_a_lost_value_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing_values(["£89.99", "nowhere"], "a £89.99", "a £89.98") == ["£89.99"]
    assert missing_values(["36 months"], "36 months", "36\n  months") == []
    assert missing_values(["36 months"], "36 months", "<p>36 <b>months</b></p>") == []
    monkeypatch.setattr(formats, "_table_text", lambda *_: "nothing left")
    with pytest.raises(formats.LostValue, match=r"'£89\.99'"):
        apply_format(article(), "table", 1, values=VALUES)


LETTERS = st.characters(codec="cp1252", exclude_characters="\xad", exclude_categories=["Cc"])
SAFE = st.text(LETTERS, min_size=1, max_size=40)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(SAFE, st.integers(0, 99_999)), min_size=1, max_size=30),
    st.sampled_from([pair for pair in ALL if pair[0] != "text"]),
    st.integers(0, 99),
)
def test_any_western_text_keeps_its_values(
    tmp_path: Path, lines: list[tuple[str, int]], kind: tuple[formats.Format, str], seed: int
) -> None:
    values = [f"{number} €" for _, number in lines]
    body = "\n\n".join(f"Kosten {text} und {value} im Jahr." for (text, _), value in zip(lines, values, strict=True))
    served = apply_format(article(body), kind[0], seed, style=kind[1], values=values, folder=tmp_path)
    assert missing_values(values, body, served.body) == []


@pytest.mark.parametrize("layout", LAYOUTS)
def test_pdfs_are_kept_and_are_what_is_served(layout: str, tmp_path: Path) -> None:
    long = CLEAN + "\n" + "Ember Mini lasts 24 hours and comes back within 30 days. " * 150
    how = {"style": layout, "values": VALUES, "folder": tmp_path, "publisher": "Lumen Häuser"}
    served = apply_format(article(long), "pdf", 3, **how)
    assert served.file == "KB_1.pdf"
    path = tmp_path / served.file
    assert read_pdf(path) == served.body
    reader = PdfReader(path)
    assert len(reader.pages) >= 2
    for number, page in enumerate(reader.pages, 1):
        text = page.extract_text()
        assert "Lumen Häuser" in text
        assert f"Page {number}" in text
    assert served.body.count("24 hours") >= 150, "no line or page break cuts a value"
    first = path.read_bytes()
    apply_format(article(long), "pdf", 3, **how)
    assert path.read_bytes() == first, "same seed, same bytes"
    assert [p.name for p in tmp_path.iterdir()] == ["KB_1.pdf"]


def test_layouts_differ(tmp_path: Path) -> None:
    bodies = {apply_format(article(), "pdf", 1, style=s, folder=tmp_path / s).body for s in LAYOUTS}
    assert len(bodies) == 3
    ink = {s: PdfReader(tmp_path / s / "KB_1.pdf").pages[0].get_contents() for s in LAYOUTS}
    lines = {s: len(re.findall(rb"[\d.] (?:l|re)\s+[SfB]", content.get_data())) for s, content in ink.items()}
    assert lines["form"] > lines["one_column"] == lines["two_columns"] == 0, "only the form has boxes"
    drawn = {apply_format(article(id=f"KB_{i}"), "pdf", 1, folder=tmp_path).style for i in range(20)}
    assert drawn == set(LAYOUTS)


def test_what_the_fonts_lack_is_replaced_and_told_or_refused(tmp_path: Path) -> None:
    arrow = article("Go to Settings → Sound. Müller lives in Łódź, Š ž Œ œ € ß é. 1\u202f299\u202f€ only.")
    served = apply_format(arrow, "pdf", 1, values=["1\u202f299\u202f€", "Łódź"], folder=tmp_path)
    assert "Settings -> Sound" in served.body
    assert "Lódz, Š ž Œ œ € ß é. 1 299 € only" in " ".join(served.body.split())
    assert served.replaced["→"] == "->"
    assert {"ź", "Ł"} <= set(served.replaced)
    assert "€" not in served.replaced
    with pytest.raises(Untypable, match=r"KB_1\.pdf.*U\+65E5.*another format"):
        apply_format(article("日本"), "pdf", 1, folder=tmp_path / "new")
    assert not (tmp_path / "new").exists(), "nothing half-written"


def test_every_replacement_is_typable_itself() -> None:
    for char, plain in PLAIN.items():
        assert typable(plain) == (plain, {}), char
        assert typable(f"a{char}b") == (f"a{plain}b", {char: plain})


def test_bad_pdfs_are_refused_with_name_and_fix(tmp_path: Path) -> None:
    apply_format(article(), "pdf", 1, folder=tmp_path)
    good = (tmp_path / "KB_1.pdf").read_bytes()
    locked = PdfWriter(clone_from=tmp_path / "KB_1.pdf")
    locked.encrypt("secret", algorithm="RC4-128")
    locked.write(tmp_path / "locked.pdf")
    blank = PdfWriter()
    blank.add_blank_page(100, 100)
    blank.write(tmp_path / "scan.pdf")
    for name, data in (("empty", b""), ("text", b"hello"), ("cut", good[:400]), ("head", b"%PDF-1.3\n")):
        (tmp_path / f"{name}.pdf").write_bytes(data)
    wanted = {
        "locked": "is encrypted; save it without a password", "scan": "no text", "empty": "is empty",
        "text": "no PDF file", "cut": "corrupt", "head": "corrupt", "gone": "no such file",
    }  # fmt: skip
    for name, problem in wanted.items():
        with pytest.raises(BadFile, match=problem) as raised:
            read_pdf(tmp_path / f"{name}.pdf")
        assert f"{name}.pdf" in str(raised.value)
    open_ = PdfWriter(clone_from=tmp_path / "KB_1.pdf")
    open_.encrypt("", "owner", algorithm="RC4-128")
    open_.write(tmp_path / "open.pdf")
    assert "24 hours" in read_pdf(tmp_path / "open.pdf"), "an empty user password locks nobody out"


@pytest.fixture(scope="module")
def pdf_bytes(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("pdf")
    apply_format(article(), "pdf", 1, folder=folder)
    return (folder / "KB_1.pdf").read_bytes()


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damage_anywhere_is_text_or_a_message(pdf_bytes: bytes, data: st.DataObject) -> None:
    damaged = bytearray(pdf_bytes)
    for _ in range(data.draw(st.integers(1, 20))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    told: list[bool] = []
    end = data.draw(st.sampled_from([len(damaged), len(damaged), 900, 300]))
    try:
        text = read_pdf_bytes(bytes(damaged[:end]), "x.pdf")
    except CxError as error:
        text = str(error)
        told.append(text.startswith("x.pdf: "))
    assert text
    assert all(told)


def test_scripts_are_data() -> None:
    evil = article('Press <script>alert("x")</script> & <b>go</b> for 5 days.', title="A </title><script>1</script>")
    for style in STYLES["html"]:
        body = apply_format(evil, "html", 1, style=style, values=["5 days"]).body
        assert "<script" not in body
        assert "&lt;script&gt;" in body
    assert html_text("<p>a<script>steal()</script><style>p{}</style> b</p><p>c &amp; d") == "a b\nc & d"
    assert html_text("<p>un<closed <b>x") != ""
    assert "alert" in html_text(apply_format(evil, "html", 1).body), "what was text stays text"


def test_formats_are_planned_by_share_and_stable() -> None:
    ids = [f"KB_{i}" for i in range(4000)]
    plan = plan_formats(ids, 7)
    for name, share in formats.SHARES.items():
        assert list(plan.values()).count(name) / 4000 == pytest.approx(share, abs=0.03)
    assert plan_formats(ids[:10], 7) == {each: plan[each] for each in ids[:10]}
    assert plan_formats(ids, 8) != plan
    assert set(plan_formats(ids, 1, {"pdf": 1}).values()) == {"pdf"}
    for shares in ({}, {"pdf": 0}, {"pdf": -1.0, "text": 2.0}):
        with pytest.raises(BadOption, match="format shares"):
            plan_formats(ids, 1, shares)
    with pytest.raises(UnknownName, match="docx"):
        plan_formats(ids, 1, {"docx": 1})


def test_wrong_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="folder"):
        apply_format(article(), "pdf", 1)
    with pytest.raises(UnknownName, match="one_column"):
        apply_format(article(), "pdf", 1, style="poster", folder=tmp_path)
    with pytest.raises(UnknownName, match="markdown"):
        apply_format(article(), "docx", 1)


def test_an_id_cannot_leave_the_folder(tmp_path: Path) -> None:
    served = apply_format(article(id="../../up/KB 1"), "pdf", 1, folder=tmp_path / "files")
    assert (tmp_path / "files" / str(served.file)).is_file()
    assert "/" not in str(served.file)
