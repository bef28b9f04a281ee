"""Rating: how realistic people find an organisation."""
