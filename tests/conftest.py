"""For all tests: those of one `xdist_group` run on one worker, so that what they share is started once."""

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Write the group into the test's id where xdist looks for it.

    pytest-xdist 3.8 does so by an attribute that pytest 9.2 no longer reads; without this, groups are torn apart
    without a word. Where it still works, the id ends with the group already and is left as it is.
    """
    if not config.getoption("loadgroup", False):
        return
    for item in items:
        group = item.get_closest_marker("xdist_group")
        ending = f"@{group.args[0] if group.args else group.kwargs['name']}" if group else ""
        if not item.nodeid.endswith(ending):
            item._id = type(item._id).parse(item.nodeid + ending)  # type: ignore[attr-defined]
