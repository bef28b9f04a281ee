"""What is embedded and searched: a conversation as single messages, as windows of three, or whole.

for unit in split(conversation, "window"):
    unit.text, unit.conversation_id
"""

from cxlab.benchmarks.cdr.units.split import GRANULARITIES, WINDOW, Granularity, Unit, split
from cxlab.benchmarks.cdr.units.unit_text import UnitText, cut_middle

__all__ = ["GRANULARITIES", "WINDOW", "Granularity", "Unit", "UnitText", "cut_middle", "split"]
