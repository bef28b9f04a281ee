"""The chart of a dataset beside the published one."""

import pytest

from cxlab.views.datasets.charts import draw_multiples


@pytest.mark.parametrize("dark", [False, True])
def test_the_mode_bar_has_room_above_the_heads_of_the_columns(dark: bool) -> None:
    names = {"ours": "This dataset", "published": "CXMArena", "real": "Real world"}
    rows = [{"label": "Vocabulary", "kind": "count", "ours": 978, "published": 18720, "real": 18710}]
    figure = draw_multiples(rows, "real", names, dark)
    heads = [each for each in figure.layout.annotations if each.yref == "paper"]
    lines = max(each.text.count("<br>") + 1 for each in heads)
    # The bar is 28 px high at the upper edge; a line of these letters is 1.3 times their size.
    assert figure.layout.margin.t >= 28 + lines * 1.3 * heads[0].font.size
    # Rows keep their height.
    taller = draw_multiples(rows * 3, "real", names, dark)
    assert taller.layout.height - figure.layout.height == 60
