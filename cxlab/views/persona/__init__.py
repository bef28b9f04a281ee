"""Parts of the page Persona lab."""
