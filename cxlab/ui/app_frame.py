"""The shell around a page: routing, look, theme of the viewer, faults."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st
from streamlit.errors import StreamlitAPIException

from cxlab.charts.theme import Palette, palette
from cxlab.errors import CxError, explain
from cxlab.store import home, layout
from cxlab.ui.address import close_opened, come_back, has_opened
from cxlab.ui.labels import Badge, badge, error
from cxlab.ui.render import render

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator
    from streamlit.navigation.page import Page

    from cxlab.runner.stored.migrate import MigrationProgress

_STYLE = """<style>
[data-testid="stMainBlockContainer"] {padding-top: 2.2rem; padding-bottom: 3rem; padding-left: 2.4rem;
  padding-right: 2.4rem; max-width: 1500px;}
[data-testid="stMetricValue"] {font-variant-numeric: tabular-nums;}
[data-testid="stSidebarNav"] {padding-bottom: .5rem;}
[data-testid="stMain"] [data-testid="stPageLink-NavLink"] {padding-left: 0;}
/* A long one goes on in a second line: its end is what it is about. */
[data-testid="stMain"] [data-testid="stPageLink-NavLink"] :is(span, p) {white-space: normal; overflow: visible;}
[data-testid="stMain"] [data-testid="stPageLink-NavLink"] p, [class*="st-key-cx-link-"] button p {
 color: #31456a; text-decoration: underline; text-align: start;}
[class*="st-key-cx-link-"] button {min-height: 1.7rem; padding: 0;}
[data-testid="stMain"] [data-testid="stBaseButton-tertiary"] p {text-align: start;}
[data-testid="stChatMessageAvatarUser"] {background-color: #56B4E9; color: #0f172a;}
[data-testid="stChatMessageAvatarAssistant"] {background-color: #31456a; color: #ffffff;}
[class*="st-key-cx-say-customer"] {border-left: 3px solid #56B4E9; padding-left: .8rem;}
[class*="st-key-cx-say-agent"] {border-left: 3px solid #31456a; padding-left: .8rem;}
[class*="st-key-cx-say-system"], [class*="st-key-cx-say-tool"], [class*="st-key-cx-say-ivr"]
  {border-left: 3px solid #999999; padding-left: .8rem;}
[data-testid="stSelectbox"] input {text-overflow: ellipsis;}
/* What is picked is read whole, in a second line where it is long. */
[data-testid="stSidebar"] [data-tag] {max-width: 100%; height: auto;}
[data-testid="stSidebar"] [data-tag] > span {max-width: none; overflow: visible; white-space: normal;
  overflow-wrap: anywhere;}
[class*="st-key-cx-hidden-"] {display: none;}
@media (max-width: 1100px) {
  [class*="st-key-cx-hidden-"] {display: flex;}
  section[data-testid="stSidebar"] {width: 220px !important; min-width: 220px !important;}
  [data-testid="stSidebar"] [data-testid="stSelectbox"] input {font-size: .8rem; padding-left: .5rem;
    padding-right: 0;}
  [data-testid="stMainBlockContainer"] {padding-left: 1.4rem; padding-right: 1.4rem;}
}
.st-key-cx-menu, .st-key-cx-window {display: none;}
[class*="st-key-cx-say-"] [data-testid="stText"] {font-family: inherit; white-space: pre-wrap; overflow-wrap: anywhere;}
</style>"""


# The accent of the dark theme is light: words on it must be dark to be read.
_DARK_STYLE = """<style>
[data-testid="stMain"] [data-testid="stPageLink-NavLink"] p, [class*="st-key-cx-link-"] button p {color: #8fb0e8;}
[data-testid^="stBaseButton-primary"]:not(:disabled), [data-testid^="stBaseButton-primary"]:not(:disabled) p,
  [data-testid="stMultiSelectTagsContainer"] [data-tag], [data-testid="stMultiSelectTagsContainer"] [data-tag] *
  {color: #0f172a !important;}
</style>"""


def enter(page: "Page", pages: Sequence["Page"], upgrade: "Callable[[], Iterable[MigrationProgress]]") -> None:
    """Called by app.py alone, before a page runs: remembers where we are and mends cold deep links (see `routed`).

    `upgrade` is called for a store that an older version left, before anything of it is shown.
    """
    # Plotly looks at a pandas that is already loaded, and two sessions that come at once on a fresh server may find it
    # half loaded by the other. An import waits until it is whole.
    import_module("pandas")
    st.session_state["cx_routed"] = page.url_path or "overview"
    known = {each.url_path or "overview": each for each in pages}
    if (wanted := st.query_params.get("goto")) is not None:
        rest = {key: st.query_params.get_all(key) for key in st.query_params if key != "goto"}
        st.switch_page(known.get(wanted, page), query_params=rest)
    come_back()
    _upgrade_store(upgrade)
    st.html(_STYLE + (_DARK_STYLE if dark() else ""))
    # Our own constant look and scripts of a page: nothing from the store can get here.
    st.html(render("shell"), unsafe_allow_javascript=True)
    if has_opened():
        _heed_menu()


# To Streamlit the menu entry of the page one is on means "run it again, at the same address".
_MENU = """export default ({setTriggerValue}) => {
  const heed = (click) => {
    const entry = click.target.closest("[data-testid=stSidebarNavLink][aria-current=page]");
    if (!entry || click.ctrlKey || click.metaKey || click.shiftKey) return;
    click.preventDefault();
    click.stopPropagation();
    setTriggerValue("click", true);
  };
  document.addEventListener("click", heed, true);
  return () => document.removeEventListener("click", heed, true);
}"""


def _heed_menu() -> None:
    """Where a dialogue is open, a click on the page's own entry in the menu closes it."""
    with st.container(key="cx-menu"):
        # A component belongs to the running server, so each run names it anew.
        st.components.v2.component("cx_menu", js=_MENU)(key="cx-menu-click", on_click_change=close_opened)


# What could not be upgraded is tried again once a process, and when something came or went: home → time of its runs.
_tried: dict[Path, int] = {}


def _upgrade_store(upgrade: "Callable[[], Iterable[MigrationProgress]]") -> None:
    runs = home() / "runs"
    if layout.is_up_to_date(home()) or not runs.is_dir():
        return
    if _tried.get(home()) == (now := runs.stat().st_mtime_ns):
        return
    bar, left = st.empty(), tuple[str, ...]()
    with guarded():
        for step in upgrade():
            bar.progress(step.done / max(step.total, 1), f"Upgrading the store, once: {step.done} of {step.total}")
            left = step.left
    _tried[home()] = now
    bar.empty()
    for reason in left:
        error(f"Left as it is: {reason}")


def page_of(file: Path, title: str, url_path: str) -> "Page | None":
    """A page of the app's menu, that of the Overview the one it opens on; None where there is no such file."""
    known = _page_of(file, title, url_path)
    # Streamlit marks the one that it runs: each run has its own.
    return copy(known) if known else None


# Streamlit looks the way to each file up, and a server's pages stay what they are.
@lru_cache(maxsize=64)
def _page_of(file: Path, title: str, url_path: str) -> "Page | None":
    return st.Page(file, title=title, url_path=url_path, default=file.stem == "overview") if file.is_file() else None


def routed() -> None:
    """First line of every page. On a fresh server a deep link runs the page file without app.py: then go there first.

    A page that is run by itself (AppTest.from_file on it) has no app.py to go to and runs as it is.
    """
    if st.session_state.get("cx_routed"):
        return
    frame = inspect.currentframe()
    caller = frame.f_back if frame else None
    stem = Path(caller.f_code.co_filename).stem if caller else "overview"
    query = {key: st.query_params.get_all(key) for key in st.query_params}
    try:
        st.switch_page("app.py", query_params={**query, "goto": stem})
    except StreamlitAPIException:
        return


@contextmanager
def guarded() -> Iterator[None]:
    """Show a user's mistake as one box that says what to do; let everything else through."""
    try:
        yield
    except CxError as mistake:
        error(str(mistake))
    except Exception as fault:  # of many kinds, and none of them a bug: what the system says of a file or disk
        told = explain(fault)
        if told is None:
            raise
        error(str(told))


def dark() -> bool:
    """Whether the viewer sees the dark theme."""
    return st.context.theme.type == "dark"


def colours() -> Palette:
    """The palette of the viewer's theme."""
    return palette(dark())


def zone() -> ZoneInfo:
    """The viewer's time zone; UTC when the browser does not tell."""
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


# A page on a projector: nothing on the screen but what an audience looks at.

LARGE = "large"
# Until the browser has told: a window in which all must be seen.
_LEAST_WINDOW = (1024, 768)
ALONE = """
    section[data-testid="stSidebar"], [data-testid="stExpandSidebarButton"], #cx-copy {display: none;}
    [data-testid="stMainBlockContainer"] {padding-top: 1rem; padding-bottom: .5rem; max-width: none;}
    [data-testid="stMain"] h3 {font-size: clamp(1.15rem, 1.9vw, 1.8rem);}
"""
"""The look of a page without its frame, as CSS."""
# Of a page that shows one picture: a small title over it, and for the picture what is left of the window.
_ONE_SCREEN = """
    [data-testid="stMain"] h1 {font-size: 1.4rem; padding: 0;}
    [data-testid="stMainBlockContainer"] {padding-bottom: 0;}
    [data-testid="stMainBlockContainer"] > [data-testid="stVerticalBlock"] {gap: .4rem;}
    @media (max-width: 1100px) {[data-testid="stMain"] h3 {font-size: 1.1rem;}}
"""
_WINDOW = """export default ({data, setStateValue}) => {
  let waiting;
  const tell = () => {
    if (innerWidth !== data.size[0] || innerHeight !== data.size[1]) setStateValue("size", [innerWidth, innerHeight]);
  };
  const later = () => { clearTimeout(waiting); waiting = setTimeout(tell, 400); };
  tell();
  addEventListener("resize", later);
  return () => { clearTimeout(waiting); removeEventListener("resize", later); };
}"""


def is_large() -> bool:
    """Whether the address asks for the page as it is shown to an audience."""
    return st.query_params.get("show") == LARGE


def show_head(title: str, question: str, badges: Sequence[Badge] = ()) -> "DeltaGenerator":
    """The page's name with the switch to and from an audience, and, but for one, what the page answers; the row of the
    name, for what a page adds to it."""
    row = st.container(horizontal=True, vertical_alignment="center")
    with row:
        st.title(title, anchor=False, width="content")
        for word in badges:
            badge(word)
        _show_switch()
    if not is_large():
        st.caption(question)
    return row


def _show_switch() -> None:
    st.session_state["large"] = is_large()

    def turn() -> None:
        if st.session_state["large"]:
            st.query_params["show"] = LARGE
        else:
            st.query_params.pop("show", None)

    st.toggle("Presentation", key="large", help="Larger text, fewer words, one screen.", on_change=turn)
    if is_large():
        st.html(f"<style>{ALONE}{_ONE_SCREEN}</style>")


def read_window() -> tuple[int, int]:
    """Width and height of the viewer's window in pixels; before the browser has told them, the least that serves."""
    known: tuple[int, int] = st.session_state.get("cx-window-size", _LEAST_WINDOW)
    with st.container(key="cx-window"):
        # A component belongs to the running server, so each run names it anew.
        watch = st.components.v2.component("cx_window", js=_WINDOW)
        size = watch(key="cx-window-told", data={"size": list(known)}, on_size_change=lambda: None).get("size")
    if size:
        known = st.session_state["cx-window-size"] = (int(size[0]), int(size[1]))
    return known


_SCREEN = """<style>
@media screen {
  [data-testid="stMainBlockContainer"]:has(.st-key-cx-screen) {display: flex; flex-direction: column; height: 100dvh}
  [data-testid="stLayoutWrapper"]:has(> .st-key-cx-screen) {flex: 1 1 0; min-height: 20rem}
  .st-key-cx-screen {height: 100% !important; flex: none}
}
</style>"""


def screen() -> "DeltaGenerator":
    """What a page shows to an audience as its one picture: as high as the window leaves below the words, however many
    lines these take."""
    st.html(_SCREEN)
    return st.container(key="cx-screen")
