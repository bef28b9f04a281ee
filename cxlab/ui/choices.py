"""Single choices that live in the address, and clicks that are new."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import streamlit as st

from cxlab.read import View
from cxlab.ui.address import set_view


def choose(
    current: View,
    field: str,
    title: str,
    options: Sequence[str],
    *,
    names: Mapping[str, str] | Callable[[str], str] = str,
    help: str | None = None,
    style: Literal["list", "segments"] = "list",
) -> str:
    """One value of a View's text field (of a list field: its first), set from the address and written to it.

    A value that is not among the options counts as the first one.
    """
    value = getattr(current, field)
    many = isinstance(value, tuple)
    now = (value[0] if value else "") if many else value
    key = f"cx-choose-{field}"
    st.session_state[key] = now if now in options else options[0]

    def name(option: str) -> str:
        return names.get(option, option) if isinstance(names, Mapping) else names(option)

    def changed() -> None:
        picked = st.session_state[key] or options[0]
        found = View.from_query({each: st.query_params.get_all(each) for each in st.query_params})
        set_view(found.change(**{field: (picked,) if many else picked}))

    if style == "segments":
        st.segmented_control(
            title, options, key=key, format_func=name, on_change=changed, help=help, label_visibility="collapsed"
        )
    else:
        st.selectbox(title, options, key=key, format_func=name, on_change=changed, help=help)
    return str(st.session_state[key] or options[0])


def choose_id(
    key: str, title: str, options: Sequence[str], name: Callable[[str], str] = str, help: str | None = None
) -> str:
    """One of the options, its id in the address under `key`; the first one needs no mention there.

    Streamlit's own binding writes what the list shows, so that links would have to know how things are shown. Such an
    address from before is understood.
    """
    given = st.query_params.get(key, "")
    shown = {name(each): each for each in options}
    st.session_state[key] = given if given in options else shown.get(given, options[0])

    def changed() -> None:
        picked = st.session_state[key]
        if picked != options[0]:
            st.query_params[key] = picked
        elif key in st.query_params:
            del st.query_params[key]

    return str(st.selectbox(title, options, key=key, format_func=name, on_change=changed, help=help))


def is_new(key: str, picked: Any) -> bool:
    """Whether a click or selection is another one than on the last run.

    Charts and tables keep their selection from run to run; without this the oldest one would win over a newer click.
    """
    before = st.session_state.get(f"cx-picked-{key}")
    st.session_state[f"cx-picked-{key}"] = picked
    return bool(picked) and picked != before
