"""YAML as plain data, the same by libyaml and without it."""

import pytest
import yaml

from cxlab.records import yaml_text

TEXT = "a: [1, two, true]\nb:\n  - {c: 'ä'}\n  - null\n"


@pytest.mark.parametrize("loader", [yaml.SafeLoader, yaml_text.fastest_loader()])
def test_both_loaders_read_the_same(loader: type) -> None:
    assert yaml_text.load(TEXT, loader) == {"a": [1, "two", True], "b": [{"c": "ä"}, None]}


def test_what_is_nested_too_deep_is_refused() -> None:
    fits = "[" * yaml_text.DEEPEST + "]" * yaml_text.DEEPEST
    assert yaml_text.load(fits)
    with pytest.raises(yaml.YAMLError, match="nested more than"):
        yaml_text.load(f"[{fits}]")
