"""HTML of our own from templates: every value is escaped, unless it is Markup that was made here.

render("grid", head=…)                        # ui/templates/grid.html
render("cxlab.views.persona:card", …)         # views/persona/templates/card.html
"""

import re
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape


def render(template: str, **values: Any) -> Markup:
    """The template with its values; text of customers, models and pages goes in as it is and comes out as text."""
    package, _, name = template.rpartition(":")
    return Markup(_environment(package or "cxlab.ui").get_template(f"{name}.html").render(**values))


@lru_cache(maxsize=16)
def _environment(package: str) -> Environment:
    found = Environment(
        loader=PackageLoader(package), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    found.filters["breakable"] = breakable
    return found


def breakable(text: object) -> Markup:
    """The text with places where a long name like InfoCompleteness may break."""
    return Markup(re.sub(r"(?<=[a-z])(?=[A-Z])", "<wbr>", str(escape(text))))
