"""Parts of the page Judges."""
