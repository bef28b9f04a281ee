"""Error attribution: where an evaluated turn went wrong, and whose doing it was.

Two witnesses say what was due at a turn: the panel's labels, and what was told by the customer's own account, each with
the rule engine behind it. The agent is right where both say so, and wrong where both say so. Where they do not agree on
it nobody is scored, and the customer's card, which neither the panel nor the agent sees, says which of them is off: a
panel that reads just what stands on the card has read it in the customer's words.

| agent and panel | agent and account | the panel leads where the card leads | class | verdict, owner |
| --- | --- | --- | --- | --- |
| same | same | | `none` | passed |
| same | other | yes | `account_off` | unscored, customer |
| same | other | no | `both_off` | unscored, judge |
| other | same | no | `panel` | unscored, judge |
| other | same | yes | `account_off` | unscored, customer |
| other | other | | `field`, `lucky`, `execution`, `action` | failed, agent |
| the panel is tied | | | `unscored` | unscored, judge |
| same | unknown | | `none` | passed |
| other | unknown | | `field`, `lucky`, `execution`, `action` | failed, agent |

An action that the panel alone calls right is no luck: `lucky` asks that the account calls it right, too; else it is
`field`.

A passed attempt needs every evaluated turn right; at its end the customer must have told all it had (`verdict.py`).
"""

from cxlab.benchmarks.sage.rules import Trace as Route
from cxlab.records.evaluation import Owner

ERRORS = ("field", "lucky", "execution", "action")
"""The agent's own, as `split` tells them apart."""
DISPUTED: dict[str, Owner] = {"panel": "judge", "both_off": "judge", "account_off": "customer"}
"""Classes of turns on which the witnesses do not agree whether the agent was right, and whose doing that is."""


def split(predicted: Route, own: Route, reference: Route | None) -> str:
    """Where a turn went wrong.

    `field`: the rule engine on the agent's own fields leads elsewhere; `lucky`: it does, and yet the
    action is right; `execution`: right fields, another path; `action`: right path, wrong action.
    """
    if reference is None:
        return "unscored"
    if (own.path, own.action) != (reference.path, reference.action):
        return "lucky" if predicted.action == reference.action else "field"
    if predicted.path != reference.path:
        return "execution"
    return "none" if predicted.action == reference.action else "action"


def attribute(predicted: Route, own: Route, panel: Route | None, told: Route | None, card: Route) -> str:
    """The class of a turn: the table above, row by row.

    `predicted` and `own`: what the agent reported, and where its fields lead. The others are where the panel's labels,
    what was told so far and the customer's whole card lead; None where the panel is tied, or the customer gave no
    account or one that leads nowhere.
    """
    error = split(predicted, own, panel)
    if panel is None or told is None:
        return error
    right, right_by_account = error == "none", split(predicted, own, told) == "none"
    if right == right_by_account:
        return "field" if error == "lucky" and predicted.action != told.action else error
    read_the_card = (panel.path, panel.action) == (card.path, card.action)
    if read_the_card:
        return "account_off"
    return "both_off" if right else "panel"
