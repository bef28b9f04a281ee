"""MM-tau-p2: agent and customer both act, with a persona, in text or by voice."""
