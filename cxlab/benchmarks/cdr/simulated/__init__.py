"""Stand-ins: what answers this room's prompts where no real model is asked."""
