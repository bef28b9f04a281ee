"""The simulated customer: does on its phone what it understands of the agent's words, and says what it then sees.

It keeps no memory of its own: what it was asked, did and saw is read from the talk each time, as a model would have
to. Its persona's traits decide what it understands (`plain_words`, `one_step`), what it gives unasked, and how it
puts what it sees.
"""

from __future__ import annotations

import numpy as np

from cxlab.benchmarks.mmtaup2.prompts.dialogue_prompts import CustomerInputs
from cxlab.benchmarks.mmtaup2.simulated.instructed_customer import InstructedCustomer, is_directed
from cxlab.benchmarks.mmtaup2.simulated.move_format import written
from cxlab.benchmarks.mmtaup2.simulated.retail.customer import RetailCustomer
from cxlab.benchmarks.mmtaup2.simulated.telecom.customer import TelecomCustomer
from cxlab.llm.base import Completion
from cxlab.llm.simulated import Profile


def customer(inputs: CustomerInputs, profile: Profile, rng: np.random.Generator) -> str | Completion:
    """The next move: calls of the phone's tools, or a message, in the form that was asked for."""
    if any(tool["function"]["name"] == "reboot_device" for tool in inputs.tools):
        calls, text = TelecomCustomer(inputs, rng).move()
    else:
        calls, text = [], (InstructedCustomer if is_directed(inputs.reason) else RetailCustomer)(inputs, rng).move()
    return written(calls, text, inputs.as_text, len(inputs.history))
