"""What Compare says where a paper prints nothing of what is looked at."""

from cxlab.views.benchmarks import published_tables
from cxlab.views.compare.no_published import has_published, say_no_published


def test_what_the_papers_do_report_is_told_in_the_words_of_overview() -> None:
    tables = [each for each in published_tables("crmarena") if each.board is not None]
    assert tables
    told = say_no_published(tables[:1])
    assert told.startswith("The papers print no figure for this metric and grouping. What they do report stands on ")
    assert tables[0].caption.rstrip(".") in told
    assert say_no_published(tables[:1] * 3).endswith("stands on Overview: 3 tables.")
    assert "Overview" not in say_no_published([])


def test_where_no_paper_prints_anything_nothing_is_offered() -> None:
    assert has_published("crmarena")
    assert not has_published("nowhere")
