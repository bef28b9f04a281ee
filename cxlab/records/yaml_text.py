"""YAML as plain data, by libyaml where PyYAML was built with it, which is ten times as fast.

    load(path.read_text(encoding="utf-8"))      # raises yaml.YAMLError

Files that a person writes are read more strictly by `cxlab.benchmarks.yaml_files`.
"""

from typing import Any

# No file that a person writes is nested half as deep.
DEEPEST = 40


def fastest_loader() -> Any:
    """The class of the safe loader that this installation has."""
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load(text: str, loader: Any = None) -> Any:
    """The text as plain data; `loader` is a class made from `fastest_loader()`."""
    import yaml

    loader = loader or fastest_loader()
    depth = 0
    # Both of PyYAML's loaders go down into what is nested, libyaml's until the process dies; events do not nest.
    for event in yaml.parse(text, Loader=loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            mark: Any = event.start_mark
            raise yaml.MarkedYAMLError(problem=f"nested more than {DEEPEST} deep", problem_mark=mark)
    return yaml.load(text, Loader=loader)
