"""Records: an organisation's objects, and one record with what happened around it."""
