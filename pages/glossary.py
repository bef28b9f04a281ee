"""Glossary: what do the words mean?"""

from cxlab import ui
from cxlab.views.glossary import show_glossary

ui.routed()
ui.header("Glossary", "What do the words, metrics and facets on these pages mean?")
show_glossary()
