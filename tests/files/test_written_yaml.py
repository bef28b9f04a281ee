"""A YAML file as a model replies with it."""

from pathlib import Path

import pytest

from cxlab.files import Complaint, written_yaml


@pytest.mark.parametrize(
    "text", ["id: a\nb: 1", "```yaml\nid: a\nb: 1\n```", "Here it is:\n```\nid: a\nb: 1\n```\nDone."]
)
def test_a_fence_and_what_stands_around_it_are_taken_off(text: str) -> None:
    assert written_yaml.strip_fence(text) == "id: a\nb: 1\n"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("id: shop", "shop"),
        ("a: 1\nid: 'x_2'", "x_2"),
        ("id: ../../etc", "pack"),
        ("id: 7", "pack"),
        (" id: in", "pack"),
    ],
)
def test_an_id_names_a_file_and_is_no_path(text: str, name: str) -> None:
    assert written_yaml.find_id(text, "pack") == name


def test_it_is_checked_as_the_file_that_it_will_be() -> None:
    def check(path: Path) -> list[Complaint]:
        assert path.name == "shop.yaml"
        return [Complaint(path.name, 1, path.read_text(encoding="utf-8"), "")]

    (found,) = written_yaml.check_text("id: shop\n", "shop", check)
    assert "id: shop" in str(found)
