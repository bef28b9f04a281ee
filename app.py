"""The app's entry: page config and navigation; each page is a file in pages/."""

from pathlib import Path

import streamlit as st

from cxlab import ui

ROOT = Path(__file__).parent
GROUPS = {
    "Explore": {"overview": "Overview", "compare": "Compare", "failures": "Failures"},
    "Benchmarks": {"sop_paths": "SOP paths", "judges": "Judges"},
    "Build": {"run": "Run", "models": "Models"},
}

ICON = str(ROOT / ".streamlit" / "favicon.png")
st.set_page_config(page_title="CX Lab", page_icon=ICON, layout="wide")
st.logo(ICON, size="large")
pages = {
    group: [
        st.Page(path, title=title, url_path=stem, default=stem == "overview")
        for stem, title in titles.items()
        if (path := ROOT / "pages" / f"{stem}.py").is_file()
    ]
    for group, titles in GROUPS.items()
}
page = st.navigation({group: listed for group, listed in pages.items() if listed}, expanded=True)
ui.enter(page, [each for listed in pages.values() for each in listed])
with ui.guarded():
    page.run()
